//! How long work may go on: until its time is up, or it is interrupted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Says when to stop.
#[derive(Clone, Copy, Debug)]
pub struct Clock<'a> {
    end: Instant,
    stop: &'a AtomicBool,
}

impl<'a> Clock<'a> {
    /// From now on for so long, unless `stop` is set before.
    pub fn new(time: Duration, stop: &'a AtomicBool) -> Clock<'a> {
        let far = Duration::from_secs(u64::from(u32::MAX));
        Clock {
            end: Instant::now() + time.min(far),
            stop,
        }
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        self.is_interrupted() || Instant::now() >= self.end
    }

    /// Whether a person wants it to end.
    pub fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A part of the time that is left: `of` such parts are all of it.
    pub fn share(&self, parts: u32, of: u32) -> Clock<'a> {
        let now = Instant::now();
        let left = self.end.saturating_duration_since(now);
        Clock {
            end: now + left * parts.min(of) / of.max(1),
            stop: self.stop,
        }
    }
}
