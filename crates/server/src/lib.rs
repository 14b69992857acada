//! A program that is started once, in the sandbox, and forked for every run.
//!
//! Starting a process, its runtime and its libraries takes milliseconds; forking one that has
//! done all that takes a tenth of one. `nearmiss_abi::server` has the words that both sides speak.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nearmiss_sandbox::{Sandbox, SandboxError};

/// Which program is served, and where.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program.
    pub program: PathBuf,
    /// Its whole environment, but for what the server adds.
    pub environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// `NEARMISS_OPTIONS` of the recording; `None`: the program does not record.
    pub record: Option<String>,
    /// A directory of its own, which is made: the board, the trace, standard error.
    pub directory: PathBuf,
    /// Where the program runs.
    pub working_directory: PathBuf,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// One of `nearmiss_abi::server::MODE_*`.
    pub mode: u32,
    /// The contents of named channels, as `nearmiss_abi::environment::REPLAY` has them.
    pub rows: &'a [u8],
    /// How long it may take.
    pub time: Duration,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Signal(i32),
    /// It was killed because its time was over.
    TimedOut,
}

/// What a run left.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub ended: Ended,
    /// What it handed to `nearmiss_result`: name and bytes, in order.
    pub results: Vec<(String, Vec<u8>)>,
}

/// Why a run could not be made.
#[derive(Debug)]
pub enum ServerError {
    /// The sandbox did not let the program start.
    Sandbox(SandboxError),
    /// The program ended before it was ready, or between two runs; what it said.
    Gone(String),
    /// An input has more bytes than fit.
    TooLarge(usize),
    /// A file could not be used.
    Io(PathBuf, std::io::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::Sandbox(error) => error.fmt(f),
            ServerError::Gone(why) => write!(f, "the program ended before its time: {why}"),
            ServerError::TooLarge(size) => write!(f, "an input of {size} bytes is too large"),
            ServerError::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for ServerError {}

/// A program that waits for requests.
pub struct Server {}

impl Server {
    /// Starts a program, and waits until it is ready.
    pub fn start(_sandbox: &Sandbox, _settings: Settings) -> Result<Server, ServerError> {
        Err(ServerError::Gone("not built yet".into()))
    }

    /// Runs it once.
    pub fn run(&mut self, _request: &Request<'_>) -> Result<Run, ServerError> {
        Err(ServerError::Gone("not built yet".into()))
    }

    /// The trace of the last run, if the program records: valid until the next run.
    pub fn trace_file(&self) -> Option<&Path> {
        None
    }

    /// What the last run wrote to standard error.
    pub fn complaints(&self) -> Vec<u8> {
        Vec::new()
    }
}
