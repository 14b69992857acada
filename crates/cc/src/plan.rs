//! Planning a command line: whether anything is added to it.

use std::path::Path;

use crate::command::{Command, InputKind};
use crate::config::Language;
use crate::options::Role;

/// What becomes of a command line.
#[derive(Debug)]
pub enum Plan {
    /// The compiler gets the words as they are.
    Unchanged,
    /// C sources become objects, or objects a program: something is added.
    Build(Command),
}

/// Plans the words after the wrapper's name, response files expanded, of a command in `directory`.
pub fn plan(words: &[String], directory: &Path, language: Language) -> Plan {
    let command = Command::parse(words, language);
    if command.stop || is_probe(&command, directory) || writes_elsewhere(&command) {
        return Plan::Unchanged;
    }
    let has_sources = command.inputs(InputKind::Instrumented).next().is_some();
    match command.compile_only() {
        true if !has_sources => Plan::Unchanged,
        false if is_partial(&command) => Plan::Unchanged,
        _ => Plan::Build(command),
    }
}

/// The names that configure scripts give to their little programs.
const PROBES: [&str; 3] = ["conftest", "sanitycheckc", "cmTC_"];
/// The directories in which build systems try compilers out.
const PROBE_DIRECTORIES: [&str; 4] = ["CMakeScratch", "CMakeTmp", "meson-private", "CompilerIdC"];

/// Whether a build system only asks what the compiler can do.
fn is_probe(command: &Command, directory: &Path) -> bool {
    let is_named = |path: &str| {
        let name = Path::new(path).file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        PROBES.iter().any(|probe| name.starts_with(probe))
    };
    let inputs = command.with(Role::Input);
    let lies_in = |path: &Path| {
        let mut parts = path.components().map(|part| part.as_os_str());
        parts.any(|part| PROBE_DIRECTORIES.iter().any(|probe| part == *probe))
    };
    lies_in(directory)
        || command.output().is_some_and(is_named)
        || inputs
            .map(|input| input.words[0].as_str())
            .any(|path| is_named(path) || lies_in(Path::new(path)))
}

/// Whether the result is no file that anything can be added to.
fn writes_elsewhere(command: &Command) -> bool {
    let output = command.output();
    output.is_some_and(|name| name == "-" || name.starts_with("/dev/"))
}

/// Whether the result of a link is linked again: what objects keep is kept by the linker.
fn is_partial(command: &Command) -> bool {
    let mut words = command.arguments.iter().map(|argument| &argument.words[0]);
    command.has(Role::Relocatable) || words.any(|word| word == "-Wl,-r")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_build(line: &str, directory: &str) -> bool {
        let words: Vec<String> = line.split(' ').map(str::to_string).collect();
        let plan = plan(&words, Path::new(directory), Language::C);
        matches!(plan, Plan::Build(_))
    }

    #[test]
    fn something_is_added_to_objects_and_programs_only() {
        for line in [
            "-c a.c",
            "-O2 -c a.c -o x/a.o",
            "a.o -o a",
            "a.c",
            "-shared -fPIC a.o -o liba.so",
            "-c a.c -fsanitize=address",
            "-c a.c -flto --coverage -save-temps",
        ] {
            assert!(is_build(line, "/home/me"), "{line}");
        }
        for line in [
            "-E a.c",
            "-S a.c",
            "-M a.c",
            "-fsyntax-only a.c",
            "-c a.cc",
            "-c a.s",
            "-m32 -c a.c",
            "-c a.h",
            "-c -x c -",
            "-v",
            "--version",
            "-r a.o b.o -o c.o",
            "conftest.c -o conftest",
            "-c conftest.c",
            "-c a.c -o /dev/null",
            "-c a.c -o -",
            "-o cmTC_1234 CMakeFiles/cmTC_1234.dir/a.c.o",
        ] {
            assert!(!is_build(line, "/home/me"), "{line}");
        }
        assert!(!is_build(
            "-c a.c",
            "/b/CMakeFiles/CMakeScratch/TryCompile-x"
        ));
        assert!(!is_build("/b/meson-private/tmp1/testfile.c -o x", "/b"));
    }
}
