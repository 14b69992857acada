//! When an exploration has to end: its time, its memory, and whether it was stopped from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::memory;

/// What may be used up.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// When the time is over.
    pub deadline: Instant,
    /// Set from outside to stop early.
    pub stop: &'static AtomicBool,
    /// How much memory may be used.
    pub memory: memory::Limit,
}

impl Budget {
    /// The deadline of an exploration that begins now and may take `time`: so early that the twin can
    /// run its last tests in the rest.
    pub fn deadline_of_exploring(time: Duration) -> Instant {
        Instant::now() + time - share_of_finishing(time)
    }

    /// The budget of what is left to do after an exploration that may take `time`: nothing if it was
    /// stopped.
    pub fn of_finishing(self, time: Duration) -> Budget {
        Budget {
            deadline: self.deadline + share_of_finishing(time),
            memory: memory::Limit::NONE,
            ..self
        }
    }

    /// The same, but no more than so much time from now on.
    pub fn within(self, time: Duration) -> Budget {
        Budget {
            deadline: self.deadline.min(Instant::now() + time),
            ..self
        }
    }

    /// Whether nothing is left of it.
    pub fn is_exhausted(&self) -> bool {
        let is_over = self.stop.load(Ordering::Relaxed) || Instant::now() >= self.deadline;
        is_over || self.memory.is_reached()
    }

    /// The time that is left, but no less than `least`.
    pub fn time_left(&self, least: Duration) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.max(least)
    }
}

/// The part of an exploration's time that is kept for the twin and the coverage of its last tests.
fn share_of_finishing(time: Duration) -> Duration {
    const MAX: Duration = Duration::from_secs(5);
    MAX.min(time / 8)
}

/// How long something on another thread may still take when the budget is exhausted.
const GRACE: Duration = Duration::from_millis(200);

/// Waits for a thread until it has ended, or a little longer than the budget allows; `None` then: the
/// thread goes on unobserved.
pub fn wait_for<T>(thread: JoinHandle<T>, budget: &Budget) -> Option<std::thread::Result<T>> {
    const STEP: Duration = Duration::from_millis(5);
    let mut grace = GRACE;
    while !thread.is_finished() {
        if budget.is_exhausted() {
            grace = grace.checked_sub(STEP)?;
        }
        std::thread::sleep(STEP);
    }
    Some(thread.join())
}
