//! What a campaign's numbers were at one moment, and how fast they grow.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use nearmiss_engine::tally::{Phase, Tally};

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
    pub questions: u64,
    /// Runs in the sandbox.
    pub runs: u64,
    /// New paths.
    pub paths: u64,
    /// Defects.
    pub findings: u64,
    /// Twins that are being built.
    pub twins: u64,
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
            distance: tally.distance.load(Ordering::Relaxed),
            checks: tally.checks.get(),
            decided: tally.decided.get(),
            questions: tally.questions.get(),
            runs: tally.runs.get(),
            paths: tally.paths.get(),
            findings: tally.findings.get(),
            twins: tally.twins.get(),
        }
    }
}

/// How much happens in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    /// Runs in the sandbox.
    pub runs: f64,
    /// Questions to the solver.
    pub questions: f64,
}

/// Measures the speed over the last seconds.
#[derive(Debug, Default)]
pub struct Speedometer {
    past: VecDeque<(Duration, u64, u64)>,
}

/// The time over which speed is measured.
const WINDOW: Duration = Duration::from_secs(5);

impl Speedometer {
    /// Looks at the numbers; says how fast they grew of late.
    pub fn measure(&mut self, now: &Snapshot) -> Speed {
        self.past.push_back((now.elapsed, now.runs, now.questions));
        // One that is older than the window stays: a whole window lies between it and now.
        while self
            .past
            .get(1)
            .is_some_and(|(then, ..)| *then + WINDOW <= now.elapsed)
        {
            self.past.pop_front();
        }
        let (then, runs, questions) = self.past[0];
        let seconds = now.elapsed.saturating_sub(then).as_secs_f64();
        if seconds == 0.0 {
            return Speed::default();
        }
        let per_second = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
        Speed {
            runs: per_second(now.runs, runs),
            questions: per_second(now.questions, questions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_that_of_the_last_seconds() {
        let mut speedometer = Speedometer::default();
        let at = |seconds, runs, questions| Snapshot {
            elapsed: Duration::from_secs(seconds),
            runs,
            questions,
            ..Snapshot::default()
        };
        assert_eq!(speedometer.measure(&at(0, 0, 0)), Speed::default());
        let speed = speedometer.measure(&at(2, 10, 200));
        assert_eq!((speed.runs, speed.questions), (5.0, 100.0));
        speedometer.measure(&at(100, 10, 200));
        let speed = speedometer.measure(&at(105, 60, 200));
        assert_eq!((speed.runs, speed.questions), (10.0, 0.0));
    }

    #[test]
    fn a_tally_is_read_whole() {
        let tally = Tally::default();
        tally.enter(Phase::Exploring);
        tally.tests.set(7);
        tally.distance.store(2, Ordering::Relaxed);
        tally.set_deadline(Instant::now());
        let snapshot = Snapshot::take(&tally, Instant::now(), true);
        assert_eq!((snapshot.tests, snapshot.distance), (7, 2));
        assert_eq!(snapshot.phase, Phase::Exploring);
        assert_eq!(snapshot.left, Some(Duration::ZERO));
    }
}
