//! How much memory an exploration may use: an input may make terms and clauses grow without end.

use std::cell::Cell;
use std::fs;
use std::time::{Duration, Instant};

/// The maximum of memory that is used, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Of the pages that are in memory.
    resident: u64,
    /// Of the address space, where the process has a limit there (`ulimit -v`).
    address_space: Option<u64>,
}

/// Bytes of a page on every machine that this runs on.
const PAGE: u64 = 4096;

impl Limit {
    /// As much as there is.
    pub const NONE: Limit = Limit {
        resident: u64::MAX,
        address_space: None,
    };

    /// So many bytes, or less where the process itself has a limit: an allocation that fails would end it
    /// without a report.
    pub fn new(bytes: u64) -> Limit {
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let soft = limits.lines().find_map(address_space);
        Limit {
            resident: bytes,
            // One query may need as much as all before it.
            address_space: soft.map(|bytes| bytes / 3 * 2),
        }
    }

    /// Whether as much is used.
    pub fn is_reached(&self) -> bool {
        if *self == Limit::NONE {
            return false;
        }
        if let Some(look) = LAST.get()
            && look.limit == *self
            && look.time.elapsed() < PAUSE
        {
            return look.is_reached;
        }
        let is_reached = self.is_exceeded();
        LAST.set(Some(Look {
            limit: *self,
            time: Instant::now(),
            is_reached,
        }));
        is_reached
    }

    fn is_exceeded(&self) -> bool {
        let Some((size, resident)) = used() else {
            return false;
        };
        resident >= self.resident || self.address_space.is_some_and(|max| size >= max)
    }
}

/// How long an answer is good for: to ask the kernel takes longer than many a run.
const PAUSE: Duration = Duration::from_millis(5);

/// When it was looked last, and what came of it.
#[derive(Clone, Copy)]
struct Look {
    limit: Limit,
    time: Instant,
    is_reached: bool,
}

thread_local! {
    static LAST: Cell<Option<Look>> = const { Cell::new(None) };
}

/// The soft limit on the address space, in the line that says so.
fn address_space(line: &str) -> Option<u64> {
    let numbers = line.strip_prefix("Max address space")?;
    numbers.split_whitespace().next()?.parse().ok()
}

/// The size of the address space and of what is in memory.
fn used() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = text.split_whitespace().map(str::parse::<u64>);
    let (size, resident) = (pages.next()?.ok()?, pages.next()?.ok()?);
    Some((size * PAGE, resident * PAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_below_what_is_used_is_reached() {
        assert!(Limit::new(1).is_reached());
        assert!(!Limit::new(u64::MAX).is_reached());
        assert!(!Limit::NONE.is_reached());
    }

    #[test]
    fn the_limit_of_the_process_is_read() {
        let line = "Max address space         4096000000           unlimited            bytes";
        assert_eq!(address_space(line), Some(4_096_000_000));
        let none = "Max address space         unlimited            unlimited            bytes";
        assert_eq!(address_space(none), None);
    }
}
