//! Putting the trace back to where it was: a fork server records many runs into one file.
//!
//! What the runtime itself counts is private memory, so each child starts with the server's counts.
//! Only what lies in the shared file has to be put back: the header, and the tables' rows. Records
//! of the growing regions are of no meaning beyond their count.

use nearmiss_abi::channel::{CHANNEL_ROWS, ChannelRow};
use nearmiss_abi::event::EVENT_SIZE;
use nearmiss_abi::note::{NOTE_ROWS, NoteRow};
use nearmiss_abi::term::TERM_SIZE;
use nearmiss_abi::trace::{CHANNELS_OFFSET, Header, NOTES_OFFSET};

use super::{FIRST_CHUNK, PAGE, Region, Trace};
use crate::system::{self, advice};

/// What was in the file.
pub struct Kept {
    header: Header,
    notes: *mut NoteRow,
    note_count: usize,
    channels: *mut ChannelRow,
    channel_count: usize,
}

impl Trace {
    /// Keeps what is to be put back. Disk space that nearly every run needs is reserved, too: each
    /// child would have to do that anew.
    pub fn keep(&mut self) -> Option<Kept> {
        let first = |trace: &Trace, region: Region| {
            let wanted = FIRST_CHUNK.min(region.limit);
            if region.reserved >= wanted {
                return region;
            }
            trace.reserve(region, wanted).unwrap_or(region)
        };
        self.terms = first(self, self.terms);
        self.events = first(self, self.events);
        self.blob = first(self, self.blob);
        self.snapshots = first(self, self.snapshots);
        let (note_count, channel_count) = (self.note_cache.used(), self.channel_count);
        // SAFETY: the tables have that many rows; the header is mapped.
        unsafe {
            Some(Kept {
                header: self.header().read(),
                notes: copy_of(self.note_row(0), note_count)?,
                note_count,
                channels: copy_of(self.channel_row(0), channel_count)?,
                channel_count,
            })
        }
    }

    /// Maps the pages that nearly every run writes to: at once that takes less time than one by one.
    pub fn populate(&self) {
        const SOME: u64 = 2 * PAGE;
        let tables = [0, NOTES_OFFSET as u64, CHANNELS_OFFSET as u64].map(|offset| (offset, PAGE));
        let grown = |region: Region, used: u64| {
            let start = used / PAGE * PAGE;
            let size = SOME.min(region.reserved.saturating_sub(start));
            (region.offset + start, size)
        };
        let regions = [
            grown(self.blob, self.blob_size),
            grown(self.events, self.event_count * EVENT_SIZE as u64),
            grown(self.terms, self.term_count * TERM_SIZE as u64),
        ];
        for (offset, size) in tables.into_iter().chain(regions) {
            // SAFETY: the range lies in the mapping, whose contents stay what they are.
            unsafe {
                let start = self.base.add(offset as usize);
                system::advise(start, size as usize, advice::POPULATE_WRITE);
            }
        }
    }

    /// Puts back what was kept, for a run of this process.
    pub fn put_back(&mut self, kept: &Kept) {
        // SAFETY: both tables are reserved as a whole, and rows are used from the front; a kind of 0
        // is a free row. Everything is as large as when it was kept.
        unsafe {
            let rows = (kept.note_count..NOTE_ROWS).map(|row| self.note_row(row));
            for row in rows.take_while(|&row| (*row).kind != 0) {
                row.write(NoteRow::default());
            }
            let rows = (kept.channel_count..CHANNEL_ROWS).map(|row| self.channel_row(row));
            for row in rows.take_while(|&row| (*row).kind != 0) {
                row.write(ChannelRow::default());
            }
            copy_rows(self.note_row(0), kept.notes, kept.note_count);
            copy_rows(self.channel_row(0), kept.channels, kept.channel_count);
            self.header().write(Header {
                pid: system::process(),
                ..kept.header
            });
        }
    }
}

/// A copy of rows in private memory.
///
/// # Safety
/// There are `count` rows at `from`.
unsafe fn copy_of<T>(from: *const T, count: usize) -> Option<*mut T> {
    let copy = system::map_private((count * size_of::<T>()).max(1)).ok()?;
    // SAFETY: as promised by the caller; the copy is as large.
    unsafe { copy_rows(copy.cast(), from, count) };
    Some(copy.cast())
}

/// # Safety
/// There are `count` rows at both places.
unsafe fn copy_rows<T>(to: *mut T, from: *const T, count: usize) {
    // SAFETY: as promised by the caller.
    unsafe { system::copy_bytes(to.cast(), from.cast(), count * size_of::<T>()) };
}
