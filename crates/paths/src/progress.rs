//! How far an exploration has come, in numbers that any thread may read at any time.

use std::sync::Mutex;
use std::time::Instant;

use nearmiss_engine::tally::Count;

/// The numbers. The exploration changes them; whoever shows progress reads.
#[derive(Debug, Default)]
pub struct Progress {
    phase: Mutex<String>,
    deadline: Mutex<Option<Instant>>,
    /// Different paths of the function on admissible inputs.
    pub paths: Count,
    /// Partial paths that are infeasible.
    pub infeasible: Count,
    /// Partial paths that were met and not yet decided.
    pub open: Count,
    /// Runs of the function.
    pub runs: Count,
    /// Calls of the precondition alone.
    pub precondition_calls: Count,
    /// Questions to the solver.
    pub questions: Count,
    /// Failures.
    pub findings: Count,
}

impl Progress {
    /// What is being done, in words for the user: `building merge.c`, `exploring merge`.
    pub fn phase(&self) -> String {
        self.phase.lock().expect("no thread panics").clone()
    }

    /// Says what is being done from now on.
    pub fn enter(&self, phase: impl Into<String>) {
        *self.phase.lock().expect("no thread panics") = phase.into();
    }

    /// When the time is over, if that is known.
    pub fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().expect("no thread panics")
    }

    /// Says when the time is over.
    pub fn set_deadline(&self, deadline: Instant) {
        *self.deadline.lock().expect("no thread panics") = Some(deadline);
    }
}
