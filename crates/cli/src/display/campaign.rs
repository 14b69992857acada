//! What is shown of `run` and `test`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use nearmiss_search::Tally;

use super::snapshot::Snapshot;
use super::speed::{Speed, Speedometer};
use super::{Pace, Watched, words};
use crate::signals;

/// A campaign that is watched.
#[derive(Debug)]
pub struct Campaign {
    tally: Arc<Tally>,
    start: Instant,
    speedometer: Speedometer,
    /// Of the distance and the number of findings.
    pace: Pace<(u32, u64)>,
}

impl Campaign {
    /// Watches these numbers from now on.
    pub fn new(tally: Arc<Tally>) -> Campaign {
        Campaign {
            tally,
            start: Instant::now(),
            speedometer: Speedometer::default(),
            pace: Pace::default(),
        }
    }

    fn look(&mut self) -> (Snapshot, Speed) {
        let is_stopping = signals::STOP.load(Ordering::Relaxed);
        let now = Snapshot::take(&self.tally, self.start, is_stopping);
        let speed = (self.speedometer).measure(now.elapsed, now.runs, now.queries);
        (now, speed)
    }
}

impl Watched for Campaign {
    fn live(&mut self, width: usize) -> Vec<String> {
        let (now, speed) = self.look();
        words::live(&now, speed, width)
    }

    fn log(&mut self) -> Option<String> {
        let (now, speed) = self.look();
        let line = words::log(&now, speed)?;
        let is_due = (self.pace).is_due(now.elapsed, (now.distance, now.findings));
        is_due.then_some(line)
    }
}
