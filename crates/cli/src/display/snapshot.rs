//! What a campaign's numbers were at one moment.

use std::time::{Duration, Instant};

use nearmiss_search::{Phase, Tally};

/// The numbers at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// What the campaign is doing.
    pub phase: Phase,
    /// Since the display was started.
    pub elapsed: Duration,
    /// Until the time is over, if that is known.
    pub left: Option<Duration>,
    /// Whether the user wants it to end.
    pub is_stopping: bool,
    /// Executions that were captured.
    pub executions: u64,
    /// Tests to look at.
    pub tests: u64,
    /// Of these behind us, at the current distance.
    pub tests_done: u64,
    /// The current distance.
    pub distance: u32,
    /// Checks that were met.
    pub checks: u64,
    /// Checks that were decided.
    pub decided: u64,
    /// Questions to the solver.
    pub queries: u64,
    /// Runs in the sandbox.
    pub runs: u64,
    /// New paths.
    pub paths: u64,
    /// Defects.
    pub findings: u64,
    /// Twins that are being built.
    pub builds: u64,
}

impl Snapshot {
    /// The numbers as they are now.
    pub fn take(tally: &Tally, start: Instant, is_stopping: bool) -> Snapshot {
        let now = Instant::now();
        let deadline = tally.deadline();
        Snapshot {
            phase: tally.phase(),
            elapsed: now - start,
            left: deadline.map(|deadline| deadline.saturating_duration_since(now)),
            is_stopping,
            executions: tally.executions.get(),
            tests: tally.tests.get(),
            tests_done: tally.tests_done.get(),
            distance: tally.distance.get() as u32,
            checks: tally.checks.get(),
            decided: tally.decided.get(),
            queries: tally.queries.get(),
            runs: tally.runs.get(),
            paths: tally.paths.get(),
            findings: tally.findings.get(),
            builds: tally.builds.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_read_whole() {
        let tally = Tally::default();
        tally.enter(Phase::Exploring);
        tally.tests.set(7);
        tally.distance.set(2);
        tally.set_deadline(Instant::now());
        let snapshot = Snapshot::take(&tally, Instant::now(), true);
        assert_eq!((snapshot.tests, snapshot.distance), (7, 2));
        assert_eq!(snapshot.phase, Phase::Exploring);
        assert_eq!(snapshot.left, Some(Duration::ZERO));
    }
}
