//! What the wrapper is told besides the command line.

use std::ffi::OsString;
use std::path::PathBuf;

/// The language of a compiler's driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `nearmiss cc`.
    C,
    /// `nearmiss c++`.
    Cplusplus,
}

/// The word of a command line by which objects keep no sources; compilers do not see it.
pub const NO_SOURCE: &str = "--no-source";

/// The compiler, and what is added.
#[derive(Clone, Debug)]
pub struct Config {
    /// The user's compiler: its name or path, and words before the arguments (`ccache gcc`).
    pub compiler: Vec<String>,
    /// What the compiler is a driver for.
    pub language: Language,
    /// The directory of the capture library.
    pub library_directory: PathBuf,
    /// Variables of the compiler's environment.
    pub variables: Vec<(&'static str, OsString)>,
    /// Whether objects keep the contents of their sources.
    pub keeps_sources: bool,
}

impl Language {
    /// The compiler that is wrapped unless the user names another.
    pub fn default_compiler(self) -> &'static str {
        match self {
            Language::C => "cc",
            Language::Cplusplus => "c++",
        }
    }
}
