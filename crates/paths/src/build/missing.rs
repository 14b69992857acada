//! What no file defines: functions get a stub that ends the run, variables are zeros.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_twin::WRITES_NOTHING;

use super::compile::Compiler;
use super::error::BuildError;
use super::source::Source;

/// The name of the result row that says which missing function a run came to.
pub const MISSING: &str = "missing";
/// With what status a run ends that came to one.
pub const MISSING_STATUS: i32 = 86;
/// Bytes of a variable of which the size is not known.
const STORAGE: usize = 65536;

/// The symbols that the linker did not find, by what it said (GNU ld or lld).
pub fn undefined(messages: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in messages.lines() {
        let gnu = line
            .split_once("undefined reference to `")
            .and_then(|(_, rest)| rest.split_once('\''))
            .map(|(name, _)| name);
        let lld = line
            .split_once("undefined symbol: ")
            .map(|(_, name)| name.trim());
        names.extend(gnu.or(lld).map(str::to_string));
    }
    names
}

/// The error about variables that no file defines.
pub fn explain(variables: Vec<String>, sources: &[Source]) -> BuildError {
    let homes = variables.iter();
    let homes: BTreeSet<PathBuf> = homes
        .filter_map(|variable| likely_home(variable, sources))
        .collect();
    BuildError::UndefinedVariables {
        variables,
        homes: homes.into_iter().collect(),
    }
}

/// The file beside the given ones that looks as if it defined the variable.
fn likely_home(variable: &str, sources: &[Source]) -> Option<PathBuf> {
    let directory = sources.first()?.path.parent()?;
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    let defines = |path: &&PathBuf| {
        let text = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .lines()
            .any(|line| defines_variable(line, variable))
    };
    let found = files.iter().find(defines)?;
    let given = sources.first()?.name.parent()?;
    Some(given.join(found.file_name()?))
}

/// Whether a line looks like a definition of the variable: at the margin, without `extern`.
fn defines_variable(line: &str, variable: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let starts = line.starts_with(|first: char| first.is_alphabetic() || first == '_');
    if !starts || line.starts_with("extern") || line.starts_with("typedef") {
        return false;
    }
    line.match_indices(variable).any(|(at, _)| {
        let (before, after) = (&line[..at], line[at + variable.len()..].trim_start());
        !before.is_empty()
            && !before.ends_with(is_name)
            && !before.contains(['(', '='])
            && after.starts_with(['=', ';', '[', ','])
    })
}

/// The note about a variable that is zeros for lack of a definition.
pub fn note(variable: &str, sources: &[Source]) -> String {
    let home = likely_home(variable, sources);
    let home = home.map_or(String::new(), |home| {
        format!(", {} seems to define it", home.display())
    });
    format!(
        "no given file defines the variable `{variable}`: it is zero when the function is called, \
         `--global {variable}` makes it an input{home}"
    )
}

/// The note about a variable of which not even the size is known.
pub fn note_unsized(variable: &str) -> String {
    format!(
        "no given file defines the variable `{variable}`, and nothing says how large it is: it is \
         {STORAGE} bytes of zeros"
    )
}

/// What is defined by us.
#[derive(Clone, Debug, Default)]
pub struct Stubs {
    /// A run that calls one ends there.
    pub functions: BTreeSet<String>,
    /// Variables that no code needs that may run, or of which the size is not known.
    pub variables: BTreeSet<String>,
}

impl Stubs {
    /// Whether this name is among them.
    pub fn has(&self, name: &str) -> bool {
        self.functions.contains(name) || self.variables.contains(name)
    }

    /// The C file with all of them. A stub may be called as any type: it never comes back.
    fn text(&self) -> String {
        let mut text = format!(
            "/* What no file defines: a run that calls one of these functions ends here. */\n\
             #include <nearmiss.h>\n\
             extern void _exit(int) __attribute__((noreturn));\n\
             const char {WRITES_NOTHING} = 1;\n\
             static void missing(const char *name, size_t size)\n\
             {{\n    \
                 nearmiss_result(\"{MISSING}\", name, size);\n    \
                 _exit({MISSING_STATUS});\n\
             }}\n"
        );
        for (number, name) in self.functions.iter().enumerate() {
            let size = name.len();
            let _ = writeln!(
                text,
                "void missing_{number}(void) __asm__(\"{name}\");\n\
                 void missing_{number}(void) {{ missing(\"{name}\", {size}); }}"
            );
        }
        for (number, name) in self.variables.iter().enumerate() {
            let _ = writeln!(
                text,
                "char storage_{number}[{STORAGE}] __asm__(\"{name}\") __attribute__((aligned(16)));"
            );
        }
        text
    }

    /// Their object.
    pub fn compile(&self, compiler: &Compiler, directory: &Path) -> Result<PathBuf, BuildError> {
        let (text, output) = (directory.join("missing.c"), directory.join("missing.o"));
        fs::write(&text, self.text()).map_err(|error| BuildError::File(text.clone(), error))?;
        let source = Source {
            name: text.clone(),
            path: text.clone(),
            directory: directory.to_path_buf(),
            ..Source::default()
        };
        let options = ["-std=gnu11", "-O1", "-fPIC", "-fno-builtin"];
        compiler
            .plain(&source, &text, &options, &output)
            .map_err(BuildError::OwnStubs)?;
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_linkers_are_understood() {
        let messages = "/usr/bin/ld: x.o: in function `f':\nx.c:(.text+0x1): undefined reference to `g'\n\
                        ld.lld: error: undefined symbol: h\n>>> referenced by x.c\n";
        let names: Vec<String> = undefined(messages).into_iter().collect();
        assert_eq!(names, ["g", "h"]);
    }

    #[test]
    fn definitions_look_like_that() {
        for line in [
            "int verbose = 0;",
            "static char verbose[4];",
            "int a, verbose;",
        ] {
            assert!(defines_variable(line, "verbose"), "{line}");
        }
        for line in [
            "extern int verbose;",
            "    verbose = 1;",
            "int f(int verbose);",
            "int verbose2;",
            "int very_verbose;",
        ] {
            assert!(!defines_variable(line, "verbose"), "{line}");
        }
    }
}
