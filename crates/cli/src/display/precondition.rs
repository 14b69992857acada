//! What is shown of `infer`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use nearmiss_infer::Progress;
use nearmiss_report::words::counted;

use super::words::{fitting, whole_seconds};
use super::{Pace, Watched};
use crate::signals;

/// An inference that is watched.
#[derive(Debug)]
pub struct Inference {
    progress: Arc<Progress>,
    start: Instant,
    pace: Pace<String>,
}

impl Inference {
    /// Watches it from now on.
    pub fn new(progress: Arc<Progress>) -> Inference {
        Inference {
            progress,
            start: Instant::now(),
            pace: Pace::default(),
        }
    }

    fn parts(&self) -> Vec<String> {
        let mut parts = vec![self.progress.phase()];
        let counts = [
            (&self.progress.assignments, "assignment"),
            (&self.progress.tests, "test"),
        ];
        for (count, noun) in counts {
            match count.load(Ordering::Relaxed) {
                0 => {}
                count => parts.push(counted(count, noun)),
            }
        }
        if signals::STOP.load(Ordering::Relaxed) {
            parts.push("stopping".into());
        }
        parts.retain(|part| !part.is_empty());
        parts
    }
}

impl Watched for Inference {
    fn live(&mut self, width: usize) -> Vec<String> {
        let parts = self.parts();
        if parts.is_empty() {
            return Vec::new();
        }
        vec![fitting(&parts, width.saturating_sub(1))]
    }

    fn log(&mut self) -> Option<String> {
        let elapsed = self.start.elapsed();
        if !self.pace.is_due(elapsed, self.progress.phase()) {
            return None;
        }
        let elapsed = whole_seconds(elapsed);
        Some(format!("nearmiss: {elapsed}: {}", self.parts().join(", ")))
    }
}
