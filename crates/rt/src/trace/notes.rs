//! The table of notes: a loss in a loop costs one row, and finding that row again is quick.

use core::sync::atomic::{Ordering, fence};

use nearmiss_abi::note::{NOTE_ROWS, NoteKind, NoteRow};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::trace::NOTES_OFFSET;

use super::Trace;

const CACHE: usize = 64;

/// Which row was used last for notes of one hash.
pub struct Cache {
    rows: [u16; CACHE],
    used: usize,
}

impl Cache {
    pub(super) const EMPTY: Cache = Cache {
        rows: [0; CACHE],
        used: 0,
    };

    /// How many rows are used.
    pub(super) fn used(&self) -> usize {
        self.used
    }
}

impl Trace {
    /// Counts a loss of this kind at this place.
    pub fn note(&mut self, kind: NoteKind, site: SiteId, count: u32) {
        let slot = (site.0 ^ site.0 >> 24 ^ (kind as u64) << 3) as usize % CACHE;
        let cached = self.note_cache.rows[slot] as usize;
        let row = if cached < self.note_cache.used && self.is_row(cached, kind, site) {
            cached
        } else {
            let row = self.find_or_add(kind, site);
            self.note_cache.rows[slot] = row as u16;
            row
        };
        // SAFETY: the table lies in the mapping and is reserved as a whole.
        unsafe {
            let place = &raw mut (*self.note_row(row)).count;
            place.write(place.read().saturating_add(count));
        }
    }

    fn find_or_add(&mut self, kind: NoteKind, site: SiteId) -> usize {
        let used = self.note_cache.used;
        if let Some(row) = (0..used).find(|&row| self.is_row(row, kind, site)) {
            return row;
        }
        if used < NOTE_ROWS {
            self.note_cache.used += 1;
            // SAFETY: as above. The kind makes the row valid: it is written last.
            unsafe {
                let place = self.note_row(used);
                (&raw mut (*place).site).write(site.0);
                fence(Ordering::Release);
                (&raw mut (*place).kind).write_volatile(kind as u8);
            }
            return used;
        }
        // SAFETY: as above.
        let of_kind = |&row: &usize| unsafe { (*self.note_row(row)).kind == kind as u8 };
        (0..used).rev().find(of_kind).unwrap_or(NOTE_ROWS - 1)
    }

    fn is_row(&self, row: usize, kind: NoteKind, site: SiteId) -> bool {
        // SAFETY: the table lies in the mapping.
        let row = unsafe { &*self.note_row(row) };
        row.kind == kind as u8 && row.site == site.0
    }

    pub(super) fn note_row(&self, row: usize) -> *mut NoteRow {
        // SAFETY: the table lies in the mapping.
        unsafe { self.base.add(NOTES_OFFSET).cast::<NoteRow>().add(row) }
    }
}
