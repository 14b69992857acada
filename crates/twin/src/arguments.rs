//! The arguments of a recorded link, as the twin's link needs them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An argument of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// For clang.
    Clang(String),
    /// For the linker itself.
    Linker(String),
    /// A library by its name.
    Library(String),
    /// A file.
    File(PathBuf),
}

/// Options that a sanitized program cannot have, or that would touch the user's files.
const DROPPED: &[&str] = &[
    "-static",
    "--static",
    "-static-pie",
    "-s",
    "-save-temps",
    "--save-temps",
];

/// Reads the recorded words.
pub fn read(words: &[String]) -> Vec<Argument> {
    let mut arguments = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let linker = |word: &str| Argument::Linker(word.to_string());
        match word.as_str() {
            "-Xlinker" => arguments.extend(words.next().map(|next| linker(next))),
            "-z" => {
                arguments.push(linker("-z"));
                arguments.extend(words.next().map(|next| linker(next)));
            }
            "-l" => arguments.extend(words.next().cloned().map(Argument::Library)),
            _ if DROPPED.contains(&word.as_str()) || word.starts_with("-flto") => {}
            _ if takes_next(word) => {
                arguments.push(Argument::Clang(word.clone()));
                arguments.extend(words.next().cloned().map(Argument::Clang));
            }
            _ => match (word.strip_prefix("-Wl,"), word.strip_prefix("-l")) {
                (Some(list), _) => arguments.extend(list.split(',').map(linker)),
                (_, Some(name)) => arguments.push(Argument::Library(name.to_string())),
                _ if word.starts_with('-') => arguments.push(Argument::Clang(word.clone())),
                _ => arguments.push(Argument::File(word.into())),
            },
        }
    }
    without_linker_outputs(arguments)
}

/// Whether the next word is the value of this one and not a file of the link.
fn takes_next(word: &str) -> bool {
    let names = [
        "-x",
        "-u",
        "-e",
        "-rpath",
        "-D",
        "-U",
        "-I",
        "-F",
        "-A",
        "-B",
        "-include",
        "-imacros",
        "-isystem",
        "-idirafter",
        "-iquote",
        "-iprefix",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-isysroot",
        "-Xclang",
        "-Xpreprocessor",
        "-Xassembler",
        "-mllvm",
        "-target",
        "--param",
        "--sysroot",
        "--config",
        "--include",
        "-include-pch",
        "-working-directory",
        "-ivfsoverlay",
        "-dumpdir",
        "-framework",
        "-L",
        "-T",
    ];
    names.contains(&word)
}

/// Leaves out what the linker would write beside the program, what strips it, and what forbids
/// the symbols that a sanitized library takes from the program.
fn without_linker_outputs(arguments: Vec<Argument>) -> Vec<Argument> {
    let mut kept: Vec<Argument> = Vec::new();
    let mut skip_next = false;
    for argument in arguments {
        let Argument::Linker(word) = &argument else {
            kept.push(argument);
            continue;
        };
        if std::mem::take(&mut skip_next) {
            continue;
        }
        let is_value_of_z = kept.last() == Some(&Argument::Linker("-z".into()));
        match word.as_str() {
            "-s" | "-S" | "--strip-all" | "--strip-debug" | "--no-undefined" | "-no-undefined" => {}
            "-Map" | "--Map" | "--dependency-file" => skip_next = true,
            "defs" if is_value_of_z => drop(kept.pop()),
            _ if word.starts_with("-Map=") || word.starts_with("--dependency-file=") => {}
            _ => kept.push(argument),
        }
    }
    kept
}

/// The words of these arguments.
pub fn words(arguments: &[Argument]) -> Vec<OsString> {
    let words = |argument: &Argument| match argument {
        Argument::Clang(word) => vec![word.into()],
        Argument::Linker(word) => vec!["-Xlinker".into(), word.into()],
        Argument::Library(name) => vec![format!("-l{name}").into()],
        Argument::File(path) => vec![path.clone().into()],
    };
    arguments.iter().flat_map(words).collect()
}

/// The file that the linker takes for each library that lies in a directory of the command;
/// system libraries keep their names.
pub fn resolve(arguments: Vec<Argument>, directory: &Path) -> Vec<Argument> {
    let directories: Vec<PathBuf> = arguments
        .iter()
        .filter_map(|argument| match argument {
            Argument::Clang(word) => word.strip_prefix("-L").map(|path| directory.join(path)),
            _ => None,
        })
        .collect();
    let mut prefer_static = false;
    let resolve = |argument| match argument {
        Argument::Linker(word) => {
            match word.as_str() {
                "-Bstatic" | "-dn" | "-static" | "-non_shared" => prefer_static = true,
                "-Bdynamic" | "-dy" | "-call_shared" => prefer_static = false,
                _ => {}
            }
            Argument::Linker(word)
        }
        Argument::Library(name) => {
            let found = find_library(&name, &directories, prefer_static);
            found.map_or(Argument::Library(name), Argument::File)
        }
        Argument::File(path) => Argument::File(directory.join(path)),
        other => other,
    };
    arguments.into_iter().map(resolve).collect()
}

fn find_library(name: &str, directories: &[PathBuf], prefer_static: bool) -> Option<PathBuf> {
    let files = match (name.strip_prefix(':'), prefer_static) {
        (Some(file), _) => vec![file.to_string()],
        (None, true) => vec![format!("lib{name}.a")],
        (None, false) => vec![format!("lib{name}.so"), format!("lib{name}.a")],
    };
    let candidates = directories
        .iter()
        .flat_map(|directory| files.iter().map(|file| directory.join(file)));
    candidates.into_iter().find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn links_are_made_fit_for_sanitizers() {
        let cases = [
            ("-O2 /x/a.o -lm", "-O2 /x/a.o -lm"),
            ("-static -s /x/a.o -static-pie", "/x/a.o"),
            ("-Wl,-soname,x.so.1", "-Xlinker -soname -Xlinker x.so.1"),
            ("-Wl,-z,defs,-z,now", "-Xlinker -z -Xlinker now"),
            ("-z defs -z now", "-Xlinker -z -Xlinker now"),
            ("-Wl,--no-undefined -Wl,-s", ""),
            (
                "-Wl,-Map,x.map -Wl,-Map=y.map -Xlinker -Map -Xlinker z.map",
                "",
            ),
            ("-x assembler /x/a.s -x none", "-x assembler /x/a.s -x none"),
            ("-D X -I inc -l m -flto=thin", "-D X -I inc -lm"),
        ];
        for (given, expected) in cases {
            let given: Vec<String> = given.split(' ').map(str::to_string).collect();
            assert_eq!(words(&read(&given)).join(OsStr::new(" ")), expected);
        }
    }
}
