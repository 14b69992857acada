//! A run that is made for a target ends where it can no longer come there: `abi::dead_ends`.

use nearmiss_abi::dead_ends::{DeadEnd, is_dead};
use nearmiss_abi::event::{Event, EventKind, phase, steps_passed};

use crate::system::{self, map};

/// The ways that lead nowhere, and where the run is.
pub struct DeadEnds {
    /// Null: a run goes on to its end.
    rows: *const DeadEnd,
    count: usize,
    phase: u16,
    steps: u8,
}

impl DeadEnds {
    /// None.
    pub const fn none() -> DeadEnds {
        DeadEnds {
            rows: core::ptr::null(),
            count: 0,
            phase: 0,
            steps: 0,
        }
    }

    /// Reads the file of this name.
    ///
    /// # Safety
    /// `path` ends with a zero.
    pub unsafe fn open(&mut self, path: *const u8) {
        const O_RDONLY_CLOEXEC: i32 = 0o2000000;
        const WORD: usize = size_of::<u64>();
        // SAFETY: as promised by the caller.
        let Ok(fd) = (unsafe { system::open(path, O_RDONLY_CLOEXEC, 0) }) else {
            return;
        };
        let size = system::status(fd).map_or(0, |status| status.size as usize);
        let mapped = system::map(size, map::PROT_READ, map::PRIVATE, fd);
        system::close(fd);
        let Ok(start) = mapped else {
            return;
        };
        if size < WORD {
            return;
        }
        // SAFETY: the file is mapped with this size for good, and a mapping is aligned.
        unsafe {
            self.phase = start.cast::<u64>().read() as u16;
            self.rows = start.add(WORD).cast();
        }
        self.count = (size - WORD) / size_of::<DeadEnd>();
    }

    /// Whether the run can no longer come to its target behind this event.
    pub fn are_behind(&mut self, event: &Event) -> bool {
        if self.rows.is_null() {
            return false;
        }
        let kind = EventKind::from_code(event.kind);
        if kind == Some(EventKind::Mark) {
            (self.phase, self.steps) = (phase(event.aux), steps_passed(event.aux));
        }
        // Which way a switch goes is said by its value and its cases.
        let is_switch = kind == Some(EventKind::Switch);
        let way = (!is_switch).then(|| u32::from(event.truth()));
        // SAFETY: so many rows are mapped for good.
        let rows = unsafe { core::slice::from_raw_parts(self.rows, self.count) };
        is_dead(rows, event.site, self.phase, self.steps, way)
    }
}
