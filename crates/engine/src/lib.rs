//! Run, read, choose, solve, confirm.
//!
//! | module | what it does |
//! | --- | --- |
//! | `run`, `test` | the commands, from beginning to end |
//! | [`campaign`] | the directory that holds recorded runs, inputs and findings |
//! | [`capsule`], `environment`, `kept` | a program with its arguments, directory and inputs: what can be run again |
//! | [`record`] | the user's own run, recorded |
//! | `suite` | a whole suite: what it runs, captured |
//! | `explore` | all tests, distance by distance: their own paths, then those beside them |
//! | `lab`, `subject` | runs in the sandbox, counted; the programs they are of |
//! | [`analyse`](mod@analyse) | one walk over a path: which checks can fail, which forks can go another way |
//! | [`lengths`] | lengths of inputs: what the path implies, the nearest that will do |
//! | `alphabet` | what holds of bytes because of where they come from |
//! | [`invent`], [`resize`](mod@resize), `inputs` | a solver's answer as arguments, standard input and files |
//! | `hunt`, [`confirm`] | the new input replayed: on the program itself, and on its twin |
//! | `minimise`, `nearness`, `defects`, [`identity`] | the nearest input that fails; one finding per defect |
//! | [`complaint`], `symbolize` | what sanitizers, `assert` and the kernel say about a failure |
//! | [`spot`] | a site as a place in the source |
//! | [`tally`], `figures`, `summary` | how far the work has come, and what it came to |
//!
//! Nothing here prints or reads the environment: the caller gives a [`Config`], and reads the
//! [`tally::Tally`] while the work goes on.

mod alphabet;
pub mod analyse;
pub mod campaign;
pub mod capsule;
mod chance;
pub mod complaint;
pub mod confirm;
mod defects;
mod environment;
mod error;
mod explore;
mod figures;
mod hunt;
pub mod identity;
mod inputs;
pub mod invent;
mod kept;
mod lab;
pub mod lengths;
mod minimise;
mod nearness;
mod program;
pub mod record;
pub mod resize;
mod run;
pub mod spot;
mod subject;
mod suite;
mod summary;
mod symbolize;
pub mod tally;
mod test;
pub mod test_case;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nearmiss_abi::check::Kind;
use nearmiss_sandbox::Sandbox;

pub use capsule::Options;
pub use error::EngineError;
pub use program::sites_of;
pub use run::{replay, run};
pub use test::test;

/// Makes sure that a command is a solver; else says why not.
pub fn check_solver(command: &[String]) -> Result<(), String> {
    nearmiss_solve::back::check_external(command)
}

/// What is wanted, and what may be used up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The campaign's directory.
    pub directory: PathBuf,
    /// The time of the whole analysis, after the recorded runs.
    pub time: Duration,
    /// The time of one question to the solver.
    pub question_time: Duration,
    /// The time of one run in the sandbox; `None`: in proportion to the recorded run.
    pub run_time: Option<Duration>,
    /// The largest distance that is explored; `None`: as far as time lasts.
    pub distance: Option<u32>,
    /// Most runs in the sandbox; `None`: as many as there is time for.
    pub runs: Option<u64>,
    /// Tests that are looked at at the same time.
    pub jobs: usize,
    /// The kinds of failure that are wanted; all if `None`.
    pub checks: Option<BTreeSet<Kind>>,
    /// Where invented inputs are run.
    pub sandbox: Sandbox,
    /// Another solver: a program that reads SMT-LIB 2 from its standard input.
    pub solver: Option<Vec<String>>,
    /// Letters of the channels that are inputs: see [`nearmiss_abi::environment`].
    pub channels: String,
    /// How much of a run is recorded.
    pub options: Options,
    /// What becomes of the recorded program's standard output.
    pub output: Output,
    /// The compiler that makes the twin.
    pub clang: PathBuf,
    /// Where the archives lie that programs are linked with.
    pub library_directory: PathBuf,
    /// Set from outside to stop early and report what is there.
    pub stop: &'static AtomicBool,
}

impl Config {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What becomes of the recorded program's standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// It goes where it would go without nearmiss.
    Through,
    /// It is kept in the campaign's directory.
    Kept,
}

/// The suite to be run, as the user would run it: standard streams are ours.
#[derive(Debug)]
pub struct SuiteTarget {
    /// The command, with its name first.
    pub command: Vec<OsString>,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Look at a random part of its executions only: percent, and what the choice starts from.
    pub sample: Option<(f64, u64)>,
    /// Most bytes of captured files on the disk.
    pub disk: u64,
    /// Most different executions that are kept.
    pub tests: u64,
    /// Whether we were started with `SIGPIPE` ignored, and so the suite is to be.
    pub broken_pipes_ignored: bool,
    /// Set from outside when the suite is to be ended too: the signal that says so reaches us
    /// alone.
    pub terminate: &'static AtomicBool,
}

/// The program to be run, as the user would run it.
#[derive(Debug)]
pub struct Target {
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments, with its name first.
    pub arguments: Vec<OsString>,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Its standard input.
    pub stdin: File,
}
