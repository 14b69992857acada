//! How far a campaign has come, in numbers that any thread may read at any time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// What a campaign is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing yet.
    #[default]
    Starting,
    /// The suite, or the one program, runs as the user wrote it.
    Recording,
    /// Captured executions are being sorted.
    Sorting,
    /// Recorded paths and their neighbours are being looked at.
    Exploring,
    /// The report is being put together.
    Reporting,
}

/// The numbers. Workers add; whoever shows progress reads.
#[derive(Debug, Default)]
pub struct Tally {
    phase: Mutex<Phase>,
    deadline: Mutex<Option<Instant>>,
    /// Executions that were captured.
    pub executions: Count,
    /// Tests to look at.
    pub tests: Count,
    /// Tests that were looked at, at the current distance.
    pub tests_done: Count,
    /// The current distance.
    pub distance: AtomicU32,
    /// Checks that were met.
    pub checks: Count,
    /// Checks that were decided.
    pub decided: Count,
    /// Questions to the solver.
    pub questions: Count,
    /// Runs in the sandbox.
    pub runs: Count,
    /// New paths.
    pub paths: Count,
    /// Defects.
    pub findings: Count,
    /// Twins that are being built now.
    pub twins: Count,
}

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

impl Tally {
    /// What the campaign is doing.
    pub fn phase(&self) -> Phase {
        *self.phase.lock().expect("no thread panics")
    }

    /// Says what the campaign is doing from now on.
    pub fn enter(&self, phase: Phase) {
        *self.phase.lock().expect("no thread panics") = phase;
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
