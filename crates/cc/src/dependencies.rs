//! Files of dependencies (`-MD` and its like): which files a compilation read.

use std::path::{Path, PathBuf};

use crate::command::Command;
use crate::options::Role;

/// The file of dependencies that the user has the compiler write for the object `object`; none if none is asked for.
pub fn asked_for(command: &Command, object: &str) -> Option<PathBuf> {
    if !command.has(Role::Dependencies) {
        return None;
    }
    let named = command.with(Role::DependencyFile).next_back();
    let named = named.map(|argument| argument.value.clone());
    let by_preprocessor = || {
        let mut asked = command.with(Role::Dependencies);
        asked.find_map(|argument| Some(argument.value.strip_prefix(',')?.to_string()))
    };
    let default = || {
        Path::new(object)
            .with_extension("d")
            .to_string_lossy()
            .into_owned()
    };
    Some(
        named
            .or_else(by_preprocessor)
            .unwrap_or_else(default)
            .into(),
    )
}

/// The files behind the first target of a file of dependencies.
pub fn read(text: &str) -> Vec<String> {
    let Some((_, mut rest)) = text.split_once(": ").or_else(|| text.split_once(":\t")) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    let mut file = String::new();
    loop {
        let mut characters = rest.chars();
        let (character, mut behind) = match characters.next() {
            Some(character) => (character, characters.as_str()),
            None => break,
        };
        match character {
            '\\' if behind.starts_with('\n') => {
                behind = &behind[1..];
                finish(&mut file, &mut files);
            }
            '\\' if behind.starts_with([' ', '#', '\\']) => {
                file.push(characters.next().expect("it was looked at"));
                behind = characters.as_str();
            }
            '$' if behind.starts_with('$') => {
                file.push('$');
                behind = &behind[1..];
            }
            '\n' => break,
            _ if character.is_whitespace() => finish(&mut file, &mut files),
            _ => file.push(character),
        }
        rest = behind;
    }
    finish(&mut file, &mut files);
    files
}

fn finish(file: &mut String, files: &mut Vec<String>) {
    if !file.is_empty() {
        files.push(std::mem::take(file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_dependencies_are_read() {
        let text =
            "x/a.o: a.c /usr/include/stdio.h \\\n  with\\ blank.h \\\n $$cash.h has\\#.h\n\na.c:\n";
        let expected = [
            "a.c",
            "/usr/include/stdio.h",
            "with blank.h",
            "$cash.h",
            "has#.h",
        ];
        assert_eq!(read(text), expected);
        assert!(read("").is_empty() && read("nothing").is_empty());
        assert_eq!(read("a.o: a.c"), ["a.c"]);
    }

    #[test]
    fn the_users_file_is_found() {
        let file = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_string).collect();
            let command = Command::parse(&words, crate::Language::C);
            asked_for(&command, "o/a.o").map(|path| path.to_string_lossy().into_owned())
        };
        assert_eq!(file("-c a.c"), None);
        assert_eq!(file("-MD -c a.c"), Some("o/a.d".into()));
        assert_eq!(file("-MMD -MF x.d -MT y -c a.c"), Some("x.d".into()));
        assert_eq!(file("-Wp,-MD,.deps/a.d -c a.c"), Some(".deps/a.d".into()));
    }
}
