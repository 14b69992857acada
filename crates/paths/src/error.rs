//! Why an exploration could not be made, or not be finished.

use std::fmt;
use std::io;
use std::path::PathBuf;

use nearmiss_sandbox::SandboxError;
use nearmiss_server::ServerError;
use nearmiss_trace::ReadError;
use nearmiss_twin::TwinError;

use crate::build::BuildError;

/// Why there is no report.
#[derive(Debug)]
pub enum ExploreError {
    // The user's files and options.
    /// There is no program to run.
    Build(BuildError),
    /// The `main` of this file makes no input.
    NothingSymbolic(PathBuf),
    /// No input is admissible; the precondition, if there is one.
    NothingAdmissible(Option<String>),
    /// Nothing of a place that is to be passed is left in the program.
    NoCode(String),
    /// The program does not say what it is made of.
    Image(TwinError),
    /// The program of an earlier exploration is not in its directory any more.
    ProgramGone(PathBuf),

    // A limit.
    /// The time was over before there was anything to report.
    OutOfTime,

    // The machine.
    /// A file could not be used.
    File(PathBuf, io::Error),
    /// There is no sandbox to run in.
    Sandbox(SandboxError),
    /// The program could not be started, or not be run.
    Server(ServerError),
    /// A run left no recording.
    NotRecorded,
    /// A run left a recording that cannot be read.
    Trace(ReadError),

    // An error of nearmiss.
    /// A run of a process that had made runs before was not what a fresh one makes of it.
    NotRepeatable,
    /// The formula of the precondition is not what its runs say.
    WrongPrecondition,
}

impl fmt::Display for ExploreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExploreError::Build(error) => error.fmt(f),
            ExploreError::NothingSymbolic(source) => write!(
                f,
                "nothing is symbolic: main of {} makes no input (klee_make_symbolic, nearmiss_symbolic, \
                 __VERIFIER_nondet_int, …), so it has one path only; --function explores another function, \
                 `nearmiss run` what a program does with its arguments and files",
                source.display()
            ),
            ExploreError::NothingAdmissible(Some(precondition)) => {
                write!(f, "{precondition} accepts no input {WITHIN}: {CHECK}")
            }
            ExploreError::NothingAdmissible(None) => {
                write!(f, "no input keeps to {REQUIREMENTS}: {CHECK}")
            }
            ExploreError::NoCode(place) => write!(
                f,
                "{place}: there is no code in the program: it is in a comment, left out by the preprocessor, or behind what never comes back"
            ),
            ExploreError::Image(error) => error.fmt(f),
            ExploreError::ProgramGone(directory) => write!(
                f,
                "{}: the program that was explored is gone; explore it again",
                directory.display()
            ),
            ExploreError::OutOfTime => write!(f, "{OUT_OF_TIME}"),
            ExploreError::File(path, error) => write!(f, "{}: {error}", path.display()),
            ExploreError::Sandbox(error) => error.fmt(f),
            ExploreError::Server(error) => error.fmt(f),
            ExploreError::NotRecorded => write!(f, "nothing was recorded"),
            ExploreError::NotRepeatable => {
                write!(f, "the function depends on more than its inputs and memory")
            }
            ExploreError::Trace(error) => error.fmt(f),
            ExploreError::WrongPrecondition => write!(f, "{WRONG_PRECONDITION}"),
        }
    }
}

const WITHIN: &str = "within the given sizes and ranges";
const REQUIREMENTS: &str = "the given sizes, ranges and requirements";
const CHECK: &str = "check --size, --range and --require";
const OUT_OF_TIME: &str = "the time was over before an admissible input was found (--time)";
const WRONG_PRECONDITION: &str = "the precondition rejects an input that nearmiss believed it accepts, an \
                                  error of nearmiss: please report it, and use --pre-mode calls for now";

impl std::error::Error for ExploreError {}

impl From<BuildError> for ExploreError {
    fn from(error: BuildError) -> ExploreError {
        ExploreError::Build(error)
    }
}

impl From<TwinError> for ExploreError {
    fn from(error: TwinError) -> ExploreError {
        ExploreError::Image(error)
    }
}

impl From<ServerError> for ExploreError {
    fn from(error: ServerError) -> ExploreError {
        ExploreError::Server(error)
    }
}

impl From<SandboxError> for ExploreError {
    fn from(error: SandboxError) -> ExploreError {
        ExploreError::Sandbox(error)
    }
}

impl From<ReadError> for ExploreError {
    fn from(error: ReadError) -> ExploreError {
        ExploreError::Trace(error)
    }
}

/// Why not every test was seen by a thread beside the exploration: one that runs the twin (`E` is
/// [`ExploreError`]), one that counts coverage.
#[derive(Debug)]
pub enum Unfinished<E> {
    /// The time was over after so many tests, if it is known after how many.
    OutOfTime(Option<usize>),
    /// The thread panicked, which is an error of nearmiss; what it was called.
    Panicked(&'static str),
    /// Something could not be done.
    Failed(E),
}

impl<E> From<E> for Unfinished<E> {
    fn from(error: E) -> Unfinished<E> {
        Unfinished::Failed(error)
    }
}

impl<E: fmt::Display> fmt::Display for Unfinished<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfinished::OutOfTime(Some(seen)) => {
                write!(f, "the time was over after {seen} tests (--time)")
            }
            Unfinished::OutOfTime(None) => {
                write!(f, "the time was over before all were run (--time)")
            }
            Unfinished::Panicked(thread) => write!(f, "{thread} panicked"),
            Unfinished::Failed(error) => error.fmt(f),
        }
    }
}
