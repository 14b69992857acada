//! Why coverage could not be counted.

use std::fmt;
use std::io;
use std::path::PathBuf;

use nearmiss_server::ServerError;

use super::mapping::Malformed;
use crate::build::ToolError;

/// Why coverage was not counted.
#[derive(Debug)]
pub enum CoverageError {
    /// The program that counts cannot be built.
    Build(ToolError),
    /// Of this function clang counts nothing.
    NothingCounted(String),
    /// A file could not be used.
    File(PathBuf, io::Error),
    /// The pages with the counters cannot be read.
    Counters(io::Error),
    /// The program that counts could not be started or run.
    Server(ServerError),
    /// One of LLVM's tools failed: its file, and what it said.
    Tool(PathBuf, String),
    /// One of LLVM's tools could not be started.
    NoTool(ToolError),
    /// Another version of clang has another coverage mapping.
    Mapping(Malformed),
    /// Another version of clang has another profile.
    Profile,
}

impl fmt::Display for CoverageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CoverageError::Build(ToolError::Failed(messages)) => write!(
                f,
                "the program that counts coverage cannot be built:\n{messages}"
            ),
            CoverageError::Build(error) | CoverageError::NoTool(error) => error.fmt(f),
            CoverageError::NothingCounted(function) => {
                write!(f, "clang counts nothing of {function}")
            }
            CoverageError::File(path, error) => write!(f, "{}: {error}", path.display()),
            CoverageError::Counters(error) => write!(f, "counters of coverage: {error}"),
            CoverageError::Server(error) => error.fmt(f),
            CoverageError::Tool(tool, messages) => {
                write!(f, "{}: {}", tool.display(), messages.trim())
            }
            CoverageError::Mapping(error) => error.fmt(f),
            CoverageError::Profile => write!(f, "clang's profile is of an unknown form"),
        }
    }
}

impl std::error::Error for CoverageError {}

impl From<ServerError> for CoverageError {
    fn from(error: ServerError) -> CoverageError {
        CoverageError::Server(error)
    }
}
