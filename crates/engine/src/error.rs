//! Why the job could not be done: one line each, with what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use nearmiss_sandbox::SandboxError;
use nearmiss_trace::ReadError;

/// Why there is no report.
#[derive(Debug)]
pub enum EngineError {
    /// There is no such program.
    NoSuchProgram(PathBuf),
    /// It was not built by nearmiss.
    NotInstrumented(PathBuf),
    /// It was built by another nearmiss, or is damaged.
    Program(PathBuf, String),
    /// It could not be started.
    Start(PathBuf, io::Error),
    /// It ran but recorded nothing.
    NoTrace(PathBuf),
    /// What it recorded cannot be read.
    Trace(PathBuf, ReadError),
    /// The campaign's directory cannot be used.
    Campaign(PathBuf, io::Error),
    /// Another nearmiss works there.
    Busy(PathBuf),
    /// There is no report yet.
    NoReport(PathBuf),
    /// The report cannot be read.
    Report(PathBuf, String),
    /// There is no such finding.
    NoFinding(String),
    /// Standard input could not be read.
    Stdin(io::Error),
    /// Inputs were found that may fail, but they cannot be tried without harm.
    NoSandbox {
        /// How many places may fail.
        total: usize,
        /// Why there is no sandbox.
        why: SandboxError,
    },
    /// Nothing can be run again without a sandbox.
    NeedsSandbox(SandboxError),
    /// The meeting place of the programs of a suite cannot be made.
    MeetingPlace(io::Error),
    /// A suite ran nothing that could be looked at.
    NothingCaptured(String),
    /// The input could not be replayed.
    Replay(String),
    /// The user stopped it before there was anything to report.
    Stopped,
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::NoSuchProgram(path) => {
                write!(f, "{}: no such program", path.display())
            }
            EngineError::NotInstrumented(path) => write!(
                f,
                "{}: not built by nearmiss: rebuild it with CC=\"nearmiss cc\"",
                path.display()
            ),
            EngineError::Program(path, why) => write!(f, "{}: {why}", path.display()),
            EngineError::Start(path, error) => {
                write!(f, "{}: cannot be started: {error}", path.display())
            }
            EngineError::NoTrace(path) => write!(
                f,
                "{}: ran but recorded nothing: is there room on the disk, and is it the instrumented program itself, not a script?",
                path.display()
            ),
            EngineError::Trace(path, error) => write!(f, "{}: {error}", path.display()),
            EngineError::Campaign(path, error) => write!(
                f,
                "{}: {error}: choose another directory with --dir",
                path.display()
            ),
            EngineError::Busy(path) => write!(
                f,
                "{}: another nearmiss is at work here: wait for it, or choose another directory with --dir",
                path.display()
            ),
            EngineError::NoReport(path) => write!(
                f,
                "{}: no report here: `nearmiss run -- PROGRAM` makes one",
                path.display()
            ),
            EngineError::Report(path, why) => write!(f, "{}: {why}", path.display()),
            EngineError::NoFinding(id) => {
                write!(f, "{id}: no such finding: `nearmiss show` lists them")
            }
            EngineError::Stdin(error) => write!(f, "standard input: {error}"),
            EngineError::NoSandbox { total, why } => write!(
                f,
                "{total} failures are predicted but cannot be tried out: {why}"
            ),
            EngineError::NeedsSandbox(why) => write!(f, "executions cannot be run again: {why}"),
            EngineError::MeetingPlace(error) => {
                write!(f, "programs of the suite could not find nearmiss: {error}")
            }
            EngineError::NothingCaptured(command) => write!(
                f,
                "{command}: ran no program that was built by nearmiss: rebuild with CC=\"nearmiss cc\""
            ),
            EngineError::Replay(why) => write!(f, "{why}"),
            EngineError::Stopped => write!(f, "stopped before anything was recorded"),
        }
    }
}

impl std::error::Error for EngineError {}
