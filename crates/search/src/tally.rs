//! How far a search has come, in numbers that any thread may read at any time.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// A number that any thread may change.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds to it.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Takes from it.
    pub fn remove(&self, fewer: u64) {
        self.0.fetch_sub(fewer, Ordering::Relaxed);
    }

    /// Sets it.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Reads it.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is being done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing yet.
    #[default]
    Starting,
    /// This is compiled.
    Building(String),
    /// The suite, or the one program, runs as the user wrote it.
    Recording,
    /// Captured executions are being sorted.
    Sorting,
    /// Paths are explored.
    Exploring,
    /// The report is being put together.
    Reporting,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Phase::Starting => Ok(()),
            Phase::Building(what) => write!(f, "building {what}"),
            Phase::Recording => f.write_str("recording"),
            Phase::Sorting => f.write_str("sorting"),
            Phase::Exploring => f.write_str("exploring"),
            Phase::Reporting => f.write_str("putting the report together"),
        }
    }
}

/// Something that happens when a number of runs was made: tests interrupt a campaign at a place that does not
/// depend on how fast the machine is.
#[derive(Clone, Copy, Debug)]
pub struct Drill {
    /// Number of runs.
    pub runs: u64,
    /// What happens then.
    pub act: fn(),
}

/// The numbers. The exploration changes them; the display reads. Those that a command has no use for
/// stay zero.
#[derive(Debug, Default)]
pub struct Tally {
    phase: Mutex<Phase>,
    deadline: Mutex<Option<Instant>>,
    drill: OnceLock<Drill>,
    /// Executions that were captured.
    pub executions: Count,
    /// Tests to look at.
    pub tests: Count,
    /// Tests that were looked at, at the current distance.
    pub tests_done: Count,
    /// The current distance.
    pub distance: Count,
    /// Checks that were met.
    pub checks: Count,
    /// Checks that were decided.
    pub decided: Count,
    /// Queries to the solver.
    pub queries: Count,
    /// Runs of the program.
    pub runs: Count,
    /// Calls of the precondition alone.
    pub precondition_calls: Count,
    /// New paths.
    pub paths: Count,
    /// Partial paths that were met and not yet decided.
    pub open: Count,
    /// Partial paths that are infeasible.
    pub infeasible: Count,
    /// Defects.
    pub findings: Count,
    /// Recorders and twins that are being built now.
    pub builds: Count,
}

impl Tally {
    /// What is being done.
    pub fn phase(&self) -> Phase {
        self.phase.lock().expect("no thread panics").clone()
    }

    /// Enters a phase.
    pub fn enter(&self, phase: Phase) {
        *self.phase.lock().expect("no thread panics") = phase;
    }

    /// Counts one run of the program.
    pub fn count_run(&self) {
        let made = self.runs.0.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(drill) = self.drill.get().filter(|drill| drill.runs == made) {
            (drill.act)();
        }
    }

    /// Has something happen at a run. Only the first drill counts.
    pub fn set_drill(&self, drill: Drill) {
        let _ = self.drill.set(drill);
    }

    /// When the time is over, if that is known.
    pub fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().expect("no thread panics")
    }

    /// Sets when the time is over.
    pub fn set_deadline(&self, deadline: Instant) {
        *self.deadline.lock().expect("no thread panics") = Some(deadline);
    }
}
