//! Running a tool and keeping what it says.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a tool left.
#[derive(Debug)]
pub struct Said {
    /// Whether it did its work.
    pub done: bool,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Its standard error.
    pub messages: String,
}

impl Said {
    /// The same, if it did its work.
    pub fn checked(self) -> Result<Said, ToolError> {
        if self.done {
            Ok(self)
        } else {
            Err(ToolError::Failed(self.messages))
        }
    }
}

/// Why a tool did not do its work.
#[derive(Debug)]
pub enum ToolError {
    /// It could not be started.
    NotStarted(PathBuf, io::Error),
    /// It failed; what it said.
    Failed(String),
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolError::NotStarted(program, error) if error.kind() == io::ErrorKind::NotFound => {
                let name = program.display();
                write!(
                    f,
                    "cannot find {name}: install it with: apt-get install clang-19 llvm-19"
                )
            }
            ToolError::NotStarted(program, error) => write!(f, "{}: {error}", program.display()),
            ToolError::Failed(messages) => write!(f, "{messages}"),
        }
    }
}

impl std::error::Error for ToolError {}

/// Runs `program` in `directory`; an error only if it does not start.
pub fn run(program: &Path, words: &[String], directory: &Path) -> Result<Said, ToolError> {
    let output = Command::new(program)
        .args(words)
        .current_dir(directory)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ToolError::NotStarted(program.into(), error))?;
    Ok(Said {
        done: output.status.success(),
        messages: String::from_utf8_lossy(&output.stderr).into_owned(),
        output: output.stdout,
    })
}

/// A path as a word.
pub fn word(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Several words.
pub fn words<const N: usize>(words: [&str; N]) -> impl Iterator<Item = String> {
    words.map(str::to_string).into_iter()
}
