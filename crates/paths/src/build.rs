//! From the user's files to the programs that are run.

use std::path::{Path, PathBuf};

use nearmiss_harness::{Plan, Request};

/// What is built, and with what.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The files; the first has the function. Sources, objects and archives.
    pub files: Vec<PathBuf>,
    /// Words for the compiler and linker: `-Iinclude`, `-DX=1`, `-lm`.
    pub flags: Vec<String>,
    /// A `compile_commands.json` to take the flags of each file from.
    pub compile_commands: Option<PathBuf>,
    /// How `nearmiss cc` works.
    pub compiler: nearmiss_cc::Config,
}

/// What is run.
#[derive(Debug)]
pub struct Programs {
    /// The instrumented harness, linked.
    pub recording: PathBuf,
    /// Where inputs lie; `None` for a harness of another tool.
    pub plan: Option<Plan>,
    /// Functions that nobody defines; a run that calls one ends there.
    pub missing: Vec<String>,
    /// What else must be told.
    pub notes: Vec<String>,
}

/// Builds everything in `directory`. The error is for the user: what is wrong, and what would help.
pub fn build(
    _sources: &Sources,
    _request: Option<&Request>,
    _directory: &Path,
) -> Result<Programs, String> {
    Err("not built yet".into())
}
