//! How far a campaign has come, in numbers that any thread may read at any time.

use std::sync::atomic::AtomicU32;

use nearmiss_search::{Count, Meter};

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

/// The numbers. Workers add; the display reads.
#[derive(Debug, Default)]
pub struct Tally {
    /// What it is doing, and when its time is over.
    pub meter: Meter<Phase>,
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
