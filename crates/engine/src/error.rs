//! Why the job could not be done: one line each, with what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use nearmiss_campaign::CampaignError;
use nearmiss_sandbox::{Exceeded, SandboxError};
use nearmiss_suite::SuiteError;
use nearmiss_trace::ReadError;
use nearmiss_twin::{Judge, TwinError};

use crate::executor::RunError;

/// Why there is no report.
#[derive(Debug)]
pub enum EngineError {
    /// There is no such program.
    NoSuchProgram(PathBuf),
    /// It was not built by nearmiss.
    NotInstrumented(PathBuf),
    /// It was built by another nearmiss, or is damaged.
    Program(PathBuf, String),
    /// What it was compiled of cannot be compiled for recording.
    NoRecorder(PathBuf, Arc<TwinError>),
    /// It could not be started.
    Start(PathBuf, io::Error),
    /// It ran but recorded nothing.
    NoTrace(PathBuf),
    /// What it recorded cannot be read.
    Trace(PathBuf, ReadError),
    /// The campaign's directory cannot be used.
    Campaign(CampaignError),
    /// The suite could not be captured.
    Suite(SuiteError),
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
    /// The input could not be replayed.
    Replay(TrialError),
    /// The recorded run could not be looked at, for this reason, as reports say it.
    Skipped(String),
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
            EngineError::NoRecorder(path, why) => {
                write!(f, "{} cannot be recorded: {why}", path.display())
            }
            EngineError::Start(path, error) => {
                write!(f, "{}: cannot be started: {error}", path.display())
            }
            EngineError::NoTrace(path) => write!(
                f,
                "{}: ran but recorded nothing: is there room on the disk, and is it the instrumented program itself, not a script?",
                path.display()
            ),
            EngineError::Trace(path, error) => write!(f, "{}: {error}", path.display()),
            EngineError::NoFinding(id) => {
                write!(f, "{id}: no such finding: `nearmiss show` lists them")
            }
            EngineError::Stdin(error) => write!(f, "standard input: {error}"),
            EngineError::NoSandbox { total, why } => write!(
                f,
                "{total} failures are predicted but cannot be tried out: {why}"
            ),
            EngineError::NeedsSandbox(why) => write!(f, "executions cannot be run again: {why}"),
            EngineError::Campaign(error) => write!(f, "{error}"),
            EngineError::Suite(error) => write!(f, "{error}"),
            EngineError::Replay(why) => why.fmt(f),
            EngineError::Skipped(why) => f.write_str(why),
            EngineError::Stopped => write!(f, "stopped before anything was recorded"),
        }
    }
}

impl std::error::Error for EngineError {}

impl From<CampaignError> for EngineError {
    fn from(error: CampaignError) -> EngineError {
        EngineError::Campaign(error)
    }
}

impl From<SuiteError> for EngineError {
    fn from(error: SuiteError) -> EngineError {
        EngineError::Suite(error)
    }
}

impl From<TrialError> for EngineError {
    fn from(error: TrialError) -> EngineError {
        EngineError::Replay(error)
    }
}

/// Why nothing is known of what an input does.
#[derive(Clone, Debug)]
pub enum TrialError {
    /// The program itself recorded nothing.
    NotRecorded(Arc<RunError>),
    /// No twin of this kind is wanted.
    Unwanted,
    /// There is no twin of this kind, because this part of the program is not instrumented.
    NotInstrumented(String),
    /// The twin could not be built.
    NotBuilt(Judge, Arc<TwinError>),
    /// The program or its twin could not be run.
    NotRun(Arc<SandboxError>),
    /// The twin had to be ended before it had said anything.
    Exceeded(Exceeded),
}

impl fmt::Display for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrialError::NotRecorded(error) => error.fmt(f),
            TrialError::Unwanted => f.write_str("not wanted"),
            TrialError::NotInstrumented(object) => write!(f, "{object} is not instrumented"),
            TrialError::NotBuilt(Judge::Address, why) => {
                write!(f, "its sanitizer twin could not be built: {why}")
            }
            TrialError::NotBuilt(Judge::Memory, why) => why.fmt(f),
            TrialError::NotRun(error) => error.fmt(f),
            TrialError::Exceeded(limit) => write!(f, "its sanitizer twin {limit}"),
        }
    }
}

impl std::error::Error for TrialError {}

impl From<SandboxError> for TrialError {
    fn from(error: SandboxError) -> TrialError {
        TrialError::NotRun(Arc::new(error))
    }
}
