//! When a query has to end: by the CPU time of its thread, so that a loaded machine does not change
//! answers, and by the clock on the wall, so that nothing outlasts the exploration it belongs to.

use std::time::{Duration, Instant};

/// When to give up. It belongs to the thread that made it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    /// CPU time of the thread at which to give up.
    cpu: Duration,
    /// No thread has used up the time before: until then its clock, which costs a system call, is not
    /// read.
    earliest: Instant,
    /// When to give up, whatever the thread has used up.
    latest: Instant,
}

impl Deadline {
    /// After so much CPU time of this thread, and no later than `latest`.
    pub fn after(time: Duration, latest: Instant) -> Deadline {
        Deadline {
            cpu: thread_time() + time,
            earliest: Instant::now() + time,
            latest,
        }
    }

    /// Whether it has come.
    pub fn is_over(&self) -> bool {
        let now = Instant::now();
        now >= self.latest || now >= self.earliest && thread_time() >= self.cpu
    }

    /// An earlier one: after one part in so many of what is left.
    pub fn part(&self, parts: u32) -> Deadline {
        let time = self.cpu.saturating_sub(thread_time()) / parts.max(1);
        Deadline::after(time, self.latest)
    }

    /// How long something that does not run on this thread may take.
    pub fn left(&self) -> Duration {
        let cpu = self.cpu.saturating_sub(thread_time());
        cpu.min(self.latest.saturating_duration_since(Instant::now()))
    }
}

/// The CPU time of this thread.
pub fn thread_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes a time where one is.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(30);

    #[test]
    fn waiting_does_not_count_and_working_does() {
        let deadline = Deadline::after(SHORT, Instant::now() + LONG);
        std::thread::sleep(2 * SHORT);
        assert!(!deadline.is_over(), "this thread has done nothing");
        while !deadline.is_over() {
            std::hint::spin_loop();
        }
        assert!(deadline.left() == Duration::ZERO);
    }

    #[test]
    fn nothing_outlasts_the_clock_on_the_wall() {
        let deadline = Deadline::after(LONG, Instant::now() + SHORT);
        assert!(!deadline.is_over() && deadline.left() <= SHORT);
        std::thread::sleep(SHORT);
        assert!(deadline.is_over());
    }

    #[test]
    fn a_part_is_shorter() {
        let whole = Deadline::after(LONG, Instant::now() + 2 * LONG);
        assert!(whole.part(4).left() <= LONG / 4 && whole.part(4).left() > LONG / 5);
    }
}
