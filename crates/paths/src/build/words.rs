//! Words of a command line, sorted: those for the compiler, those for the linker.

use std::path::Path;

use nearmiss_compile::Language;
use nearmiss_compile::command::{Argument, Command};
use nearmiss_compile::options::Role;

/// What a user, or a build system, says to the compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// For each source.
    pub compile: Vec<String>,
    /// For the program.
    pub link: Vec<String>,
}

/// Options whose value is a path.
const PATHS: [&str; 13] = [
    "-I",
    "-F",
    "-include",
    "-imacros",
    "-isystem",
    "-isystem-after",
    "-idirafter",
    "-iquote",
    "-isysroot",
    "-L",
    "-T",
    "--sysroot",
    "--include-directory",
];

impl Words {
    /// Sorts words; paths among them are relative to `directory`.
    ///
    /// How much is optimised, what is warned of, and sanitizers are left out: every program that is
    /// made of a file has its own.
    pub fn sort(words: &[String], directory: &Path) -> Words {
        let mut sorted = Words::default();
        for argument in &Command::parse(words, Language::C).arguments {
            let list = match argument.role {
                Role::Front if is_warning(&argument.words[0]) => continue,
                Role::Front | Role::Code | Role::Target => &mut sorted.compile,
                Role::Link | Role::LinkPath | Role::Library | Role::Input => &mut sorted.link,
                _ => continue,
            };
            // Both the compiler and the linker look at these.
            if ["-pthread", "-B"].contains(&argument.words[0].as_str()) {
                sorted.link.extend(absolute(argument, directory));
                sorted.compile.extend(absolute(argument, directory));
            } else {
                list.extend(absolute(argument, directory));
            }
        }
        sorted
    }
}

fn is_warning(word: &str) -> bool {
    word.starts_with("-W") && !word.starts_with("-Wp,") || word.starts_with("-pedantic")
}

/// The words of an argument, with a path that is right in every directory.
fn absolute(argument: &Argument, directory: &Path) -> Vec<String> {
    let join = |path: &str| directory.join(path).to_string_lossy().into_owned();
    let first = argument.words[0].as_str();
    if argument.role == Role::Input {
        return vec![join(first)];
    }
    // `-I=include` and `-I$SYSROOT` are relative to something else.
    let is_plain = !argument.value.starts_with('=') && !argument.value.is_empty();
    let name = &first[..first.len() - joined_size(argument)];
    if !is_plain || !PATHS.contains(&name.trim_end_matches('=')) {
        return argument.words.clone();
    }
    match argument.words.len() {
        1 => vec![format!("{name}{}", join(&argument.value))],
        _ => vec![first.to_string(), join(&argument.value)],
    }
}

fn joined_size(argument: &Argument) -> usize {
    match argument.words.len() {
        1 => argument.value.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort(line: &str) -> (String, String) {
        let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        let sorted = Words::sort(&words, Path::new("/home/me"));
        (sorted.compile.join(" "), sorted.link.join(" "))
    }

    #[test]
    fn the_compiler_and_the_linker_get_their_own() {
        let (compile, link) = sort("-O2 -g -Wall -Werror -DX=1 -std=c89 -lm -Wl,-z,now -pthread");
        assert_eq!(compile, "-DX=1 -std=c89 -pthread");
        assert_eq!(link, "-lm -Wl,-z,now -pthread");
    }

    #[test]
    fn paths_are_absolute() {
        let (compile, link) = sort("-Iinclude -isystem sys -include config.h -I/usr/x -Llib b.o");
        assert_eq!(
            compile,
            "-I/home/me/include -isystem /home/me/sys -include /home/me/config.h -I/usr/x"
        );
        assert_eq!(link, "-L/home/me/lib /home/me/b.o");
    }

    #[test]
    fn commands_and_sanitizers_are_dropped() {
        let (compile, link) = sort("-c -o x.o -MMD -MF x.d -fsanitize=address --coverage -flto");
        assert_eq!((compile.as_str(), link.as_str()), ("", ""));
    }
}
