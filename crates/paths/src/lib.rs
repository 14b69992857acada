//! All paths of one function: `nearmiss explore`.
//!
//! | module | what it does |
//! | --- | --- |
//! | `study`, `report`, `gaps`, `naming` | one function from its files to its report |
//! | [`build`] | from the user's files to the programs that are run: recording, twin, coverage |
//! | `arrivals`, `explorer`, `walk` | runs over the execution tree, and the partial paths that leave them |
//! | `precondition` | which inputs are admissible: late, or as a summary that grows |
//! | `reach`, `guide`, `relevance` | an exploration that is after a target, the way there, and the data that it depends on |
//! | `concretized`, `signatures` | values that had to be concretized; runs that differ in them alone |
//! | `bounds` | bounds on loops and recursion |
//! | `budget`, `memory` | how much time and memory may be used |
//! | `error` | why an exploration could not be made |
//! | `executor` | runs of the harness by a fork server |
//! | `workspace`, `input` | all runs in one arena of terms, and queries about them; inputs |
//! | `collect`, `judge`, `findings`, `freed` | tests and verdicts; the twin's word on each; failures |
//! | `dedup` | failing checks that are recorded twice |
//! | [`coverage`], `measure` | what tests cover: lines, branches, MC/DC |
//! | `explain`, `conditions` | infeasible paths and conditions for people |
//! | [`replay`] | a test of an earlier exploration, once more |

mod arrivals;
mod bounds;
mod budget;
pub mod build;
mod collect;
mod concretized;
mod conditions;
pub mod coverage;
mod dedup;
mod error;
mod executor;
mod explain;
mod explorer;
#[cfg(test)]
mod explorer_tests;
mod findings;
mod freed;
mod gaps;
mod guide;
mod input;
mod judge;
mod measure;
mod memory;
mod naming;
mod outside;
mod precondition;
mod reach;
mod relevance;
pub mod replay;
mod report;
mod signatures;
mod study;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod walk;
mod workspace;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nearmiss_harness::Request;
use nearmiss_sandbox::Sandbox;

pub use error::ExploreError;
pub use reach::{ReachOutcome, reach};
pub use study::explore;

/// What the tests cover, for lcov's tools: a file in [`Config::directory`], if it could be counted.
pub const LCOV: &str = "lcov.info";

/// What is wanted, and what may be used up.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is built and run.
    pub build: build::Sources,
    /// The function, its precondition and oracle, sizes; `None`: the files are a harness of their own,
    /// with a `main`, or a libFuzzer target.
    pub request: Option<Request>,
    /// How the precondition is treated.
    pub mode: Mode,
    /// What is to be covered.
    pub cover: Cover,
    /// What is to be reached; `None`: all paths are explored.
    pub reach: Option<TargetSearch>,
    /// Whether a process may make many runs, where that is known to change nothing.
    pub restarts: bool,
    /// Maximum of iterations of a loop in a row; `None`: as many as there are.
    pub loops: Option<u32>,
    /// Maximum of activations of a function at the same time; `None`: as many as there are.
    pub recursion: Option<u32>,
    /// The time of the whole exploration, without building.
    pub time: Duration,
    /// The memory of the exploration, in bytes.
    pub memory: u64,
    /// Maximum of paths.
    pub paths: Option<u64>,
    /// The time of one query to the solver.
    pub query_time: Duration,
    /// A solver to use instead of ours: a command that reads SMT-LIB 2.
    pub solver: Option<Vec<String>>,
    /// The time of one run.
    pub run_time: Duration,
    /// Where runs are made.
    pub sandbox: Sandbox,
    /// Where programs, boards and traces are kept while the exploration lasts.
    pub directory: PathBuf,
    /// Set from outside to stop early and report what is there.
    pub stop: &'static AtomicBool,
}

/// What is to be reached, and how it is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSearch {
    /// By distances in the control-flow graph, and what cannot lead there is left out; else depth first until
    /// it is met, for comparison.
    pub is_guided: bool,
    /// Lines at which something is to fail; `None`: the last mark is to be passed.
    pub failing: Option<LineRange>,
    /// How many inputs that come there are wanted, each by a way of its own.
    pub inputs: usize,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The file.
    pub file: PathBuf,
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

/// How a precondition is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only the declared requirements; the precondition's function is called to count rejected tests.
    Native,
    /// Called before the function, its branches explored like any other.
    Early,
    /// Explored under the constraints of each partial path of the function: by the formula of its code where there is one,
    /// else by calls.
    Late,
    /// The same, by calls of it alone.
    Calls,
    /// Its accepting paths are found first and posted as one condition; the rest is late.
    Summary,
    /// Whichever suits.
    Auto,
}

/// What is to be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// Every path.
    Paths,
    /// Every outcome of every branch.
    Branches,
    /// Every condition, shown to matter on its own.
    Mcdc,
}
