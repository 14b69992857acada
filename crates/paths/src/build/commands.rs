//! `compile_commands.json`: how a build system compiles each file.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::BuildError;
use super::words::Words;

/// An entry of the list, as <https://clang.llvm.org/docs/JSONCompilationDatabase.html> has it.
#[derive(Debug, Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    command: String,
}

/// The list.
#[derive(Debug, Default)]
pub struct Commands {
    entries: Vec<Entry>,
}

/// How one file is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compilation {
    /// Where.
    pub directory: PathBuf,
    /// With which words for the compiler.
    pub words: Vec<String>,
}

impl Commands {
    /// Reads the list.
    pub fn read(path: &Path) -> Result<Commands, BuildError> {
        let text = fs::read(path).map_err(|error| BuildError::File(path.into(), error))?;
        let entries = serde_json::from_slice(&text)
            .map_err(|error| BuildError::CompileCommands(path.into(), error))?;
        Ok(Commands { entries })
    }

    /// How the build system compiles this file, if it does.
    pub fn find(&self, file: &Path) -> Option<Compilation> {
        let same = |entry: &&Entry| same_file(&entry.directory.join(&entry.file), file);
        let entry = self.entries.iter().find(same)?;
        let words = match entry.arguments.is_empty() {
            true => split(&entry.command),
            false => entry.arguments.clone(),
        };
        let words: Vec<String> = (words.into_iter().skip(1))
            .filter(|word| !same_file(&entry.directory.join(word), file))
            .collect();
        Some(Compilation {
            directory: entry.directory.clone(),
            words: Words::sort(&words, &entry.directory).compile,
        })
    }
}

fn same_file(left: &Path, right: &Path) -> bool {
    left == right
        || matches!((left.canonicalize(), right.canonicalize()), (Ok(left), Ok(right)) if left == right)
}

/// Words as a shell would see them: quotes and backslashes, nothing else.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (Some(open), letter) if letter == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_a_shell_does() {
        assert_eq!(
            split(r#"cc -DNAME=\"x\" '-DTEXT="a b"' "" -I. a\ b.c"#),
            ["cc", "-DNAME=\"x\"", "-DTEXT=\"a b\"", "", "-I.", "a b.c"]
        );
    }

    #[test]
    fn the_words_of_a_file_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        fs::create_dir(base.join("build")).unwrap();
        fs::write(base.join("a.c"), "").unwrap();
        let list = base.join("compile_commands.json");
        let text = format!(
            r#"[{{"directory": "{0}", "file": "b.c", "arguments": ["cc", "b.c"]}},
                {{"directory": "{0}/build", "file": "../a.c",
                  "command": "cc -Wall -O2 -DX=1 -I. -c -o a.o ../a.c"}}]"#,
            base.display()
        );
        fs::write(&list, text).unwrap();
        let commands = Commands::read(&list).unwrap();
        let found = commands.find(&base.join("a.c")).unwrap();
        assert_eq!(found.directory, base.join("build"));
        let include = format!("-I{}/build/.", base.display());
        assert_eq!(found.words, ["-DX=1".to_string(), include]);
        assert_eq!(commands.find(&base.join("c.c")), None);
        fs::write(&list, "{}").unwrap();
        let error = Commands::read(&list).unwrap_err().to_string();
        assert!(error.contains("no list of commands"), "{error}");
    }
}
