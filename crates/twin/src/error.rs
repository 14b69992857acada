//! Why a twin could not be built, in words for the user.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use nearmiss_sites::frame::FrameError;

/// Why a program could not be read or its twin not be built.
#[derive(Debug)]
pub enum TwinError {
    /// There is no such file.
    NoSuchFile(PathBuf),
    /// It is a script, or a program for another machine.
    NotElf(PathBuf),
    /// It has no site map.
    NotInstrumented(PathBuf),
    /// It was built by another version, or is damaged.
    Frame(PathBuf, FrameError),
    /// Something it was linked with is not there any more.
    Gone(PathBuf),
    /// MemorySanitizer cannot judge it.
    Unfit(String),
    /// There is no such tool.
    NoTool(PathBuf),
    /// A tool failed.
    Tool {
        /// What it was to do.
        task: String,
        /// What it said.
        output: String,
    },
    /// A file could not be read or written.
    File(PathBuf, io::Error),
}

impl fmt::Display for TwinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TwinError::NoSuchFile(path) => write!(f, "{}: no such file", path.display()),
            TwinError::NotElf(path) => write!(f, "{}: not a 64-bit ELF program", path.display()),
            TwinError::NotInstrumented(path) => write!(
                f,
                "{}: not instrumented; build it with CC=\"nearmiss cc\"",
                path.display()
            ),
            TwinError::Frame(path, error) => write!(f, "{}: {error}", path.display()),
            TwinError::Gone(path) => write!(
                f,
                "{}: the program was linked with it and it is gone; rebuild the program",
                path.display()
            ),
            TwinError::Unfit(why) => write!(f, "{why}"),
            TwinError::NoTool(tool) => write!(
                f,
                "cannot find {}: install it with: apt-get install clang-19 libclang-rt-19-dev",
                tool.display()
            ),
            TwinError::Tool { task, output } => {
                write!(f, "could not {task}: {}", output.trim_end())
            }
            TwinError::File(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for TwinError {}

impl TwinError {
    /// Trouble with this file.
    pub(crate) fn file(path: &Path, error: io::Error) -> TwinError {
        match error.kind() {
            io::ErrorKind::NotFound => TwinError::NoSuchFile(path.to_path_buf()),
            _ => TwinError::File(path.to_path_buf(), error),
        }
    }
}
