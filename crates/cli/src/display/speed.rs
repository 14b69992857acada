//! How much happens in a second.

use std::collections::VecDeque;
use std::time::Duration;

/// How much happens in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    /// Runs in the sandbox.
    pub runs: f64,
    /// Questions to the solver.
    pub queries: f64,
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
    pub fn measure(&mut self, elapsed: Duration, runs: u64, queries: u64) -> Speed {
        self.past.push_back((elapsed, runs, queries));
        // One that is older than the window stays: a whole window lies between it and now.
        while self
            .past
            .get(1)
            .is_some_and(|(then, ..)| *then + WINDOW <= elapsed)
        {
            self.past.pop_front();
        }
        let (then, runs_then, queries_then) = self.past[0];
        let seconds = elapsed.saturating_sub(then).as_secs_f64();
        if seconds == 0.0 {
            return Speed::default();
        }
        let per_second = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
        Speed {
            runs: per_second(runs, runs_then),
            queries: per_second(queries, queries_then),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_that_of_the_last_seconds() {
        let mut speedometer = Speedometer::default();
        let mut at = |seconds, runs, queries| {
            speedometer.measure(Duration::from_secs(seconds), runs, queries)
        };
        assert_eq!(at(0, 0, 0), Speed::default());
        let speed = at(2, 10, 200);
        assert_eq!((speed.runs, speed.queries), (5.0, 100.0));
        at(100, 10, 200);
        let speed = at(105, 60, 200);
        assert_eq!((speed.runs, speed.queries), (10.0, 0.0));
    }
}
