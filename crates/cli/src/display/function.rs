//! What is shown of `explore`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use nearmiss_paths::Progress;
use nearmiss_report::words::counted;

use super::speed::{Speed, Speedometer};
use super::words::{fitting, rate, whole_seconds};
use super::{Pace, Watched};
use crate::signals;

/// An exploration that is watched.
#[derive(Debug)]
pub struct Exploration {
    progress: Arc<Progress>,
    start: Instant,
    speedometer: Speedometer,
    /// Of what is being done and the number of findings.
    pace: Pace<(String, u64)>,
}

impl Exploration {
    /// Watches these numbers from now on.
    pub fn new(progress: Arc<Progress>) -> Exploration {
        Exploration {
            progress,
            start: Instant::now(),
            speedometer: Speedometer::default(),
            pace: Pace::default(),
        }
    }

    fn look(&mut self) -> (Duration, Speed) {
        let elapsed = self.start.elapsed();
        // A call of the precondition is a run too.
        let runs = self.progress.runs.get() + self.progress.precondition_calls.get();
        let questions = self.progress.queries.get();
        (elapsed, self.speedometer.measure(elapsed, runs, questions))
    }
}

impl Watched for Exploration {
    fn live(&mut self, width: usize) -> Vec<String> {
        let (_, speed) = self.look();
        let is_stopping = signals::STOP.load(Ordering::Relaxed);
        let rows = [
            found(&self.progress),
            pace(&self.progress, speed, is_stopping),
        ];
        // A line that fills the last column makes some terminals wrap.
        let width = width.saturating_sub(1);
        let rows = rows.iter().filter(|parts| !parts.is_empty());
        rows.map(|parts| fitting(parts, width)).collect()
    }

    fn log(&mut self) -> Option<String> {
        let (elapsed, speed) = self.look();
        let news = (self.progress.meter.phase(), self.progress.findings.get());
        if !self.pace.is_due(elapsed, news) {
            return None;
        }
        let is_stopping = signals::STOP.load(Ordering::Relaxed);
        let mut parts = found(&self.progress);
        parts.extend(pace(&self.progress, speed, is_stopping));
        let elapsed = whole_seconds(elapsed);
        Some(format!("nearmiss: {elapsed}: {}", parts.join(", ")))
    }
}

/// What is being done and what came of it, the most important first.
fn found(progress: &Progress) -> Vec<String> {
    let mut parts = vec![progress.meter.phase()];
    let counts = [
        (progress.paths.get(), "path"),
        (progress.findings.get(), "finding"),
    ];
    let told = counts.iter().filter(|(count, _)| *count > 0);
    parts.extend(told.map(|(count, noun)| counted(*count, noun)));
    for (count, what) in [
        (progress.open.get(), "open"),
        (progress.infeasible.get(), "infeasible"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// How fast it goes on, the most important first. Nothing before the first run.
fn pace(progress: &Progress, speed: Speed, is_stopping: bool) -> Vec<String> {
    let mut parts = Vec::new();
    if progress.runs.get() + progress.precondition_calls.get() == 0 {
        return parts;
    }
    let now = Instant::now();
    let left = progress
        .meter
        .deadline()
        .map(|end| end.saturating_duration_since(now));
    match left {
        _ if is_stopping => parts.push("stopping".to_string()),
        Some(Duration::ZERO) => parts.push("time is over, finishing".to_string()),
        Some(left) => parts.push(format!("{} left", whole_seconds(left))),
        None => {}
    }
    parts.push(format!("{} runs/s", rate(speed.runs)));
    parts.push(format!("{} questions/s", rate(speed.questions)));
    parts.push(counted(progress.runs.get(), "run"));
    if progress.precondition_calls.get() > 0 {
        let calls = counted(progress.precondition_calls.get(), "call");
        parts.push(format!("{calls} of the precondition"));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEED: Speed = Speed {
        runs: 2300.4,
        questions: 310.2,
    };

    #[test]
    fn nothing_but_what_is_being_done_at_first() {
        let progress = Arc::new(Progress::default());
        let mut watched = Exploration::new(progress.clone());
        assert_eq!(watched.live(80), Vec::<String>::new());
        progress.meter.enter("building merge.c");
        assert_eq!(watched.live(80), ["building merge.c"]);
        assert_eq!(watched.live(9), ["buildin…"]);
        assert_eq!(watched.log(), None, "short runs are silent");
    }

    #[test]
    fn paths_open_ones_and_speed() {
        let progress = Progress::default();
        progress.meter.enter("exploring merge");
        progress.paths.set(320);
        progress.open.set(12);
        progress.infeasible.set(4);
        progress.findings.set(1);
        progress.runs.set(321);
        progress.precondition_calls.set(77);
        assert_eq!(
            found(&progress).join(" · "),
            "exploring merge · 320 paths · 1 finding · 12 open · 4 infeasible"
        );
        assert_eq!(
            pace(&progress, SPEED, false).join(" · "),
            "2300 runs/s · 310 questions/s · 321 runs · 77 calls of the precondition"
        );
        assert_eq!(pace(&progress, SPEED, true)[0], "stopping");
        progress.meter.set_deadline(Instant::now());
        assert_eq!(pace(&progress, SPEED, false)[0], "time is over, finishing");
    }
}
