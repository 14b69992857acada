//! What is shown of `explore`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use nearmiss_report::words::counted;
use nearmiss_search::{Phase, Tally};

use super::speed::{Speed, Speedometer};
use super::words::{fitting, rate, whole_seconds};
use super::{Pace, Watched};
use crate::signals;

/// An exploration that is watched.
#[derive(Debug)]
pub struct Exploration {
    tally: Arc<Tally>,
    start: Instant,
    speedometer: Speedometer,
    /// Of what is being done and the number of findings.
    pace: Pace<(Phase, u64)>,
}

impl Exploration {
    /// Watches these numbers from now on.
    pub fn new(tally: Arc<Tally>) -> Exploration {
        Exploration {
            tally,
            start: Instant::now(),
            speedometer: Speedometer::default(),
            pace: Pace::default(),
        }
    }

    fn look(&mut self) -> (Duration, Speed) {
        let elapsed = self.start.elapsed();
        // A call of the precondition is a run too.
        let runs = self.tally.runs.get() + self.tally.precondition_calls.get();
        let queries = self.tally.queries.get();
        (elapsed, self.speedometer.measure(elapsed, runs, queries))
    }
}

impl Watched for Exploration {
    fn live(&mut self, width: usize) -> Vec<String> {
        let (_, speed) = self.look();
        let is_stopping = signals::STOP.load(Ordering::Relaxed);
        let rows = [found(&self.tally), pace(&self.tally, speed, is_stopping)];
        // A line that fills the last column makes some terminals wrap.
        let width = width.saturating_sub(1);
        let rows = rows.iter().filter(|parts| !parts.is_empty());
        rows.map(|parts| fitting(parts, width)).collect()
    }

    fn log(&mut self) -> Option<String> {
        let (elapsed, speed) = self.look();
        let news = (self.tally.phase(), self.tally.findings.get());
        if !self.pace.is_due(elapsed, news) {
            return None;
        }
        let is_stopping = signals::STOP.load(Ordering::Relaxed);
        let mut parts = found(&self.tally);
        parts.extend(pace(&self.tally, speed, is_stopping));
        let elapsed = whole_seconds(elapsed);
        Some(format!("nearmiss: {elapsed}: {}", parts.join(", ")))
    }
}

/// What is being done and what came of it, the most important first.
fn found(tally: &Tally) -> Vec<String> {
    let mut parts = vec![tally.phase().to_string()];
    let counts = [
        (tally.paths.get(), "path"),
        (tally.findings.get(), "finding"),
    ];
    let told = counts.iter().filter(|(count, _)| *count > 0);
    parts.extend(told.map(|(count, noun)| counted(*count, noun)));
    for (count, what) in [
        (tally.open.get(), "open"),
        (tally.infeasible.get(), "infeasible"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// How fast it goes on, the most important first. Nothing before the first run.
fn pace(tally: &Tally, speed: Speed, is_stopping: bool) -> Vec<String> {
    let mut parts = Vec::new();
    if tally.runs.get() + tally.precondition_calls.get() == 0 {
        return parts;
    }
    let now = Instant::now();
    let left = tally
        .deadline()
        .map(|end| end.saturating_duration_since(now));
    match left {
        _ if is_stopping => parts.push("stopping".to_string()),
        Some(Duration::ZERO) => parts.push("time is over, finishing".to_string()),
        Some(left) => parts.push(format!("{} left", whole_seconds(left))),
        None => {}
    }
    parts.push(format!("{} runs/s", rate(speed.runs)));
    parts.push(format!("{} queries/s", rate(speed.queries)));
    parts.push(counted(tally.runs.get(), "run"));
    if tally.precondition_calls.get() > 0 {
        let calls = counted(tally.precondition_calls.get(), "call");
        parts.push(format!("{calls} of the precondition"));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEED: Speed = Speed {
        runs: 2300.4,
        queries: 310.2,
    };

    #[test]
    fn nothing_but_what_is_being_done_at_first() {
        let tally = Arc::new(Tally::default());
        let mut watched = Exploration::new(tally.clone());
        assert_eq!(watched.live(80), Vec::<String>::new());
        tally.enter(Phase::Building("merge.c".into()));
        assert_eq!(watched.live(80), ["building merge.c"]);
        assert_eq!(watched.live(9), ["buildin…"]);
        assert_eq!(watched.log(), None, "short runs are silent");
    }

    #[test]
    fn paths_open_ones_and_speed() {
        let tally = Tally::default();
        tally.enter(Phase::Exploring);
        tally.paths.set(320);
        tally.open.set(12);
        tally.infeasible.set(4);
        tally.findings.set(1);
        tally.runs.set(321);
        tally.precondition_calls.set(77);
        assert_eq!(
            found(&tally).join(" · "),
            "exploring · 320 paths · 1 finding · 12 open · 4 infeasible"
        );
        assert_eq!(
            pace(&tally, SPEED, false).join(" · "),
            "2300 runs/s · 310 queries/s · 321 runs · 77 calls of the precondition"
        );
        assert_eq!(pace(&tally, SPEED, true)[0], "stopping");
        tally.set_deadline(Instant::now());
        assert_eq!(pace(&tally, SPEED, false)[0], "time is over, finishing");
    }
}
