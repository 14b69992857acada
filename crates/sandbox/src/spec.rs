//! What is to be run, and how it went: plain data between nearmiss and its launcher.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A program and its world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments, with its name first.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Its standard input.
    pub stdin: Stdin,
    /// Files that have another content for it.
    pub files: Vec<Replacement>,
    /// Directories in which it may write for good.
    pub writable: Vec<PathBuf>,
    /// Its limits.
    pub limits: Limits,
}

/// A program's standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stdin {
    /// `/dev/null`.
    Null,
    /// A regular file.
    File(PathBuf),
    /// A pipe through which the content of this file comes.
    Pipe(PathBuf),
}

/// A file with another content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replacement {
    /// The file, as the program names it, absolute.
    pub path: PathBuf,
    /// A file with the content that it has for the program.
    pub content: PathBuf,
}

/// What a program may use up. Address space is not limited: shadow memory needs terabytes of
/// it; memory is watched instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time from start to end.
    pub wall: Duration,
    /// Processor time of one process, in seconds.
    pub cpu_seconds: u64,
    /// Resident memory of all processes, in bytes.
    pub memory: u64,
    /// Processes of the user (the kernel does not count those of root).
    pub processes: u64,
    /// Largest file it may write, in bytes. A trace is a large sparse file.
    pub file_size: u64,
    /// Bytes that all throw-away overlays may hold together.
    pub scratch: u64,
    /// Bytes kept of standard output and standard error, each.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            wall: Duration::from_secs(10),
            cpu_seconds: 10,
            memory: 4 << 30,
            processes: 4096,
            file_size: 16 << 30,
            scratch: 256 << 20,
            output: 1 << 20,
        }
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Signal(i32),
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// It was ended because its time was up.
    pub timed_out: bool,
    /// It was ended because it used too much memory.
    pub out_of_memory: bool,
    /// What it wrote to standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error, up to the limit.
    pub stderr: Vec<u8>,
}

/// What the launcher says: one line of JSON behind the specification.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    Ended(Ended),
    OutOfTime,
    OutOfMemory,
    Unavailable { feature: String, error: String },
    NotStarted(String),
}
