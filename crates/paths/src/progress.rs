//! How far an exploration has come, in numbers that any thread may read at any time.

use nearmiss_search::{Count, Meter};

/// The numbers. The exploration changes them; the display reads.
#[derive(Debug, Default)]
pub struct Progress {
    /// What is being done, in words for the user (`building merge.c`), and when the time is over.
    pub meter: Meter<String>,
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
    /// Queries to the solver.
    pub queries: Count,
    /// Failures.
    pub findings: Count,
}
