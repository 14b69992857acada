//! What the surroundings say: the only place that looks at them.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use nearmiss_engine::EngineError;
use nearmiss_sandbox::Sandbox;

/// The configuration of the compiler driver.
pub fn compiler_config() -> Result<nearmiss_cc::Config, String> {
    let directory = executables()?;
    nearmiss_cc::Config::from_lookup(&directory, |name| std::env::var(name).ok())
        .map_err(|error| error.to_string())
}

/// The directory in which this program lies.
fn executables() -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|error| format!("cannot find itself: {error}"))?;
    Ok(this.parent().unwrap_or(Path::new("/")).to_path_buf())
}

/// Where invented inputs are run.
pub fn sandbox(without: bool) -> Result<Sandbox, String> {
    if without {
        return Ok(Sandbox::none());
    }
    let this = std::env::current_exe().map_err(|error| format!("cannot find itself: {error}"))?;
    Ok(Sandbox::confined(vec![
        this.into(),
        crate::commands::sandbox::COMMAND.into(),
    ]))
}

/// The environment as it is.
pub fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// The working directory.
pub fn directory() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| format!("the working directory: {error}"))
}

/// Standard input, to be handed on.
pub fn stdin() -> Result<File, String> {
    let stdin = io::stdin();
    let copy = stdin.as_fd().try_clone_to_owned();
    copy.map(File::from)
        .map_err(|error| format!("standard input: {error}"))
}

/// The file of a program that was named as a shell would take it.
pub fn find_program(name: &OsStr) -> Result<PathBuf, EngineError> {
    let missing = || EngineError::NoSuchProgram(PathBuf::from(name));
    if Path::new(name).components().count() > 1 || name.as_encoded_bytes().contains(&b'/') {
        return std::path::absolute(name).map_err(|_| missing());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
        .ok_or_else(missing)
}
