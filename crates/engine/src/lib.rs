//! Run, read, choose, solve, confirm.
//!
//! | module | what it does |
//! | --- | --- |
//! | `run`, `test` | the commands, from beginning to end |
//! | [`reach`] | an input that comes to a target, from recorded tests on |
//! | [`record`] | the user's own run, recorded |
//! | `explore` | all tests, stage by stage: their own paths, those beside them, those behind these |
//! | `executor`, `worker`, `subject` | runs in the sandbox, counted; the programs they are of |
//! | `forks` | programs that are forked for every run instead of started |
//! | [`analyse`](mod@analyse) | one walk over a path: which checks can fail, which forks can go another way |
//! | `calls` | unit tests: calls from test code into the code under test as inputs |
//! | `growth` | longer inputs of a test's shape: what repeats in it, repeated more often |
//! | [`lengths`] | lengths of inputs: what the path implies, the nearest that will do |
//! | `alphabet` | what holds of bytes because of where they come from |
//! | [`invent`], [`resize`](mod@resize), `inputs` | a solver's answer as arguments, standard input and files |
//! | `contracts` | programs as variants that check contracts |
//! | `trials`, `confirmer` | the new input tried on the program itself and on its twin; `judge` says what it is |
//! | `endless` | inputs on which a program never ends |
//! | `defects` | one finding per defect, with the nearest input |
//! | `figures`, `summary` | what the work came to |
//!
//! Nothing here prints or reads the environment: the caller gives a [`Config`], and reads the
//! [`Tally`](nearmiss_search::Tally) while the work goes on.

mod alphabet;
pub mod analyse;
mod calls;
mod confirmer;
mod contracts;
mod defects;
mod endless;
mod error;
mod executor;
mod explore;
mod figures;
mod forks;
mod growth;
mod inputs;
pub mod invent;
pub mod lengths;
mod own_build;
mod program;
pub mod reach;
pub mod record;
mod recorders;
pub mod resize;
mod run;
mod subject;
mod summary;
mod test;
mod trials;
mod worker;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nearmiss_abi::channel::ChannelSet;
use nearmiss_abi::check::Kind;
use nearmiss_sandbox::Sandbox;
use nearmiss_search::strategy::RuleName;

pub use contracts::{Contracted, contracts_beside};
pub use error::EngineError;
pub use nearmiss_campaign::Options;
pub use nearmiss_solve::back::check_external as check_solver;
pub use nearmiss_suite::SuiteTarget;
pub use program::libraries;
pub use recorders::recorder_of;
pub use run::{replay, replay_input, run};
pub use test::test;

/// What is wanted, and what may be used up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The campaign's directory.
    pub directory: PathBuf,
    /// The time of the whole analysis, after the recorded runs.
    pub time: Duration,
    /// The time of one question to the solver.
    pub query_time: Duration,
    /// The time of one run in the sandbox; `None`: in proportion to the recorded run.
    pub run_time: Option<Duration>,
    /// The largest distance that is explored; `None`: as far as time lasts.
    pub distance: Option<u32>,
    /// Most repetitions of one part of an input; 0: inputs of another shape are not tried.
    pub grow: u64,
    /// Most runs in the sandbox; `None`: as many as there is time for.
    pub runs: Option<u64>,
    /// The rules by which flips behind derived paths are chosen, in turns.
    pub rules: Vec<RuleName>,
    /// Tests that are looked at at the same time.
    pub jobs: usize,
    /// The kinds of failure that are wanted; all if `None`.
    pub checks: Option<BTreeSet<Kind>>,
    /// Where invented inputs are run.
    pub sandbox: Sandbox,
    /// Another solver: a program that reads SMT-LIB 2 from its standard input.
    pub solver: Option<Vec<String>>,
    /// The channels that are inputs.
    pub channels: ChannelSet,
    /// How much of a run is recorded.
    pub options: Options,
    /// What becomes of the recorded program's standard output.
    pub output: Output,
    /// The compiler that makes twins and variants.
    pub compiler: nearmiss_compile::Config,
    /// Whether calls of unit tests are inputs.
    pub calls: Calls,
    /// The contracts that are checked where functions are entered.
    pub contracted: Contracted,
    /// Set from outside to stop early and report what is there.
    pub stop: &'static AtomicBool,
}

impl Config {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What capturing a suite needs of it.
    fn suite(&self) -> nearmiss_suite::Config {
        nearmiss_suite::Config {
            channels: self.channels,
            options: self.options.clone(),
            keeps_output: self.output == Output::Kept,
            stop: self.stop,
        }
    }
}

/// Which executions have calls from test code into the code under test as their inputs.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// Which executions.
    pub of: CallsOf,
    /// Patterns for the names of files that are test code; none: by their usual names.
    pub tests: Vec<String>,
    /// Whether numbers among the arguments are inputs, too.
    pub has_numbers: bool,
    /// Whether numbers in structures are that arguments lead to.
    pub has_structures: bool,
}

/// Which executions have calls as their inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallsOf {
    /// None.
    None,
    /// Those of test programs that read nothing from outside.
    #[default]
    UnitTests,
    /// All.
    All,
}

/// What becomes of the recorded program's standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// It goes where it would go without nearmiss.
    Through,
    /// It is kept in the campaign's directory.
    Kept,
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
    /// Whether it is recorded at once, in the user's world, and not run again for that.
    pub live: bool,
}
