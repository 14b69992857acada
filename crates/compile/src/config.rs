//! What the driver is told besides the command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nearmiss_cc::Language;

use crate::checks::Checks;

/// Where the tools are and what is wanted.
#[derive(Clone, Debug)]
pub struct Config {
    /// The C compiler.
    pub clang: PathBuf,
    /// The C++ compiler.
    pub clang_cplusplus: PathBuf,
    /// The program that instruments bitcode.
    pub instrument: PathBuf,
    /// Where `libnearmiss_rt.a` and its companions are.
    pub library_directory: PathBuf,
    /// Where `nearmiss.h` is, for harnesses; none if it is not where it was installed.
    pub include_directory: Option<PathBuf>,
    /// Which of clang's checks are compiled in.
    pub checks: Checks,
    /// Whether an expression that chooses (`a ? b : c`, `a && b`) is always a decision of the path, also
    /// where clang makes no branch of it.
    pub choices_are_branches: bool,
    /// Under which name the driver was called.
    pub language: Language,
    /// How long instrumenting one file may take before it is left without.
    pub instrument_limit: Duration,
    /// Whether what happens at memory is told at once, at the price of speed: for explorations, in
    /// which nothing may be lost where the program dies.
    pub fine: bool,
    /// Whether allocations stay that clang leaves out where it optimises: the program is of another compiler.
    pub keeps_allocations: bool,
    /// Whether to say which files are left without instrumentation, and why.
    pub verbose: bool,
}

/// The runtime that every instrumented program is linked with.
pub const RUNTIME_ARCHIVE: &str = "libnearmiss_rt.a";
/// The models of libc functions written in C.
pub const MODELS_ARCHIVE: &str = "libnearmiss_models.a";

impl Config {
    /// The configuration of an installation in which `directory` holds the executables;
    /// `lookup` gives the value of an environment variable.
    pub fn from_lookup(directory: &Path, lookup: impl Fn(&str) -> Option<String>) -> Config {
        let tool =
            |variable: &str, name: &str| PathBuf::from(lookup(variable).unwrap_or(name.into()));
        Config {
            clang: tool("NEARMISS_CLANG", "clang-19"),
            clang_cplusplus: tool("NEARMISS_CLANGXX", "clang++-19"),
            instrument: directory.join("nearmiss-instrument"),
            library_directory: library_directory(directory),
            include_directory: include_directory(directory),
            checks: Checks::default(),
            choices_are_branches: false,
            language: Language::C,
            instrument_limit: Duration::from_secs(300),
            fine: false,
            keeps_allocations: false,
            verbose: lookup("NEARMISS_VERBOSE")
                .is_some_and(|value| !value.is_empty() && value != "0"),
        }
    }

    /// The compiler for this language.
    pub fn compiler(&self) -> &Path {
        match self.language {
            Language::C => &self.clang,
            Language::Cplusplus => &self.clang_cplusplus,
        }
    }
}

/// In a build tree the archives lie beside the executables, installed in `lib/nearmiss`.
pub fn library_directory(executables: &Path) -> PathBuf {
    match executables.join(RUNTIME_ARCHIVE).exists() {
        true => executables.to_path_buf(),
        false => executables.join("../lib/nearmiss"),
    }
}

/// Where `nearmiss.h` is, if it is where it was installed.
pub fn include_directory(executables: &Path) -> Option<PathBuf> {
    let candidates = ["include", "../include"].map(|name| executables.join(name));
    candidates
        .into_iter()
        .find(|directory| directory.join("nearmiss.h").exists())
}
