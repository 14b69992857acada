//! The trace file while it is written: `abi::trace` has the layout.
//!
//! The whole file is one shared mapping, so that nothing is lost when the process is killed.
//! It is sparse; disk space is reserved before memory is written, because a store to a page
//! that the disk has no room for is a `SIGBUS` in the tested program.
//!
//! On `unsafe`: `base` is the mapping of the whole file, which is never given back; every
//! offset below a region's `reserved` lies in it. One thread at a time is here (the runtime's
//! lock), readers in other processes rely on the counts, which are stored last.

mod create;
mod notes;
mod rewind;

use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use nearmiss_abi::channel::{CHANNEL_ROWS, ChannelKind, ChannelRow};
use nearmiss_abi::event::{EVENT_SIZE, Event};
use nearmiss_abi::term::{Label, TERM_SIZE, Term};
use nearmiss_abi::trace::{
    CHANNELS_OFFSET, Header, STATE_EXECUTED, STATE_EXITED, STATE_RUNNING, Snapshot,
};

pub use rewind::Kept;

use crate::options::Options;
use crate::system::{self, Status};

/// Why the trace does not grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// A limit of the options.
    Limit,
    /// The disk.
    Disk,
    /// The program closed the trace's descriptor.
    Closed,
}

/// A growing part of the file.
#[derive(Clone, Copy)]
struct Region {
    /// Where it starts in the file.
    offset: u64,
    /// Bytes that have disk space.
    reserved: u64,
    /// Bytes it may have.
    limit: u64,
}

impl Region {
    const EMPTY: Region = Region {
        offset: 0,
        reserved: 0,
        limit: 0,
    };
}

/// The trace of this process.
pub struct Trace {
    base: *mut u8,
    fd: i32,
    identity: Status,
    terms: Region,
    events: Region,
    blob: Region,
    snapshots: Region,
    term_start: *mut Term,
    term_count: u64,
    term_limit: u64,
    event_count: u64,
    event_limit: u64,
    blob_size: u64,
    snapshot_count: u64,
    channel_count: usize,
    note_cache: notes::Cache,
}

/// Most snapshots of tables.
const SNAPSHOT_LIMIT: u64 = 1 << 16;
const SNAPSHOT_SIZE: u64 = size_of::<Snapshot>() as u64;
/// The first reservation of a region, and the largest later one.
const FIRST_CHUNK: u64 = 256 << 10;
const LARGEST_CHUNK: u64 = 4 << 20;
const PAGE: u64 = 4096;

impl Trace {
    /// No trace yet.
    pub const fn none() -> Trace {
        Trace {
            base: ptr::null_mut(),
            fd: 0,
            identity: Status {
                device: 0,
                inode: 0,
                mode: 0,
                special: 0,
                size: 0,
                changed_seconds: 0,
                changed_nanoseconds: 0,
            },
            terms: Region::EMPTY,
            events: Region::EMPTY,
            blob: Region::EMPTY,
            snapshots: Region::EMPTY,
            term_start: ptr::null_mut(),
            term_count: 0,
            term_limit: 0,
            event_count: 0,
            event_limit: 0,
            blob_size: 0,
            snapshot_count: 0,
            channel_count: 0,
            note_cache: notes::Cache::EMPTY,
        }
    }

    fn header(&self) -> *mut Header {
        self.base.cast()
    }

    /// Makes sure that the first `end` bytes of a region have disk space.
    #[cold]
    fn reserve(&self, region: Region, end: u64) -> Result<Region, Full> {
        if end > region.limit {
            return Err(Full::Limit);
        }
        let least = round_up(end) - region.reserved;
        let chunk = region.reserved.clamp(FIRST_CHUNK, LARGEST_CHUNK);
        let wanted = chunk
            .max(least)
            .min(round_up(region.limit) - region.reserved);
        let start = region.offset + region.reserved;
        if !self.has_own_descriptor() {
            return Err(Full::Closed);
        }
        let size = if self.allocate(start, wanted) {
            wanted
        } else if self.allocate(start, least) {
            least
        } else {
            return Err(Full::Disk);
        };
        Ok(Region {
            reserved: region.reserved + size,
            ..region
        })
    }

    fn allocate(&self, offset: u64, size: u64) -> bool {
        create::reserve_disk(self.fd, offset, size)
    }

    /// Whether the descriptor is still the trace's: the program may have closed it and have
    /// another file there by now.
    fn has_own_descriptor(&self) -> bool {
        system::status(self.fd).is_ok_and(|status| {
            status.device == self.identity.device && status.inode == self.identity.inode
        })
    }

    /// How many terms there are, with term 0.
    #[inline(always)]
    pub fn term_count(&self) -> u64 {
        self.term_count
    }

    /// The term of a label; term 0, which is all zero, for a label that does not exist.
    #[inline(always)]
    pub fn term(&self, label: Label) -> &Term {
        let known = (label as u64) < self.term_count;
        let index = if known { label as usize } else { 0 };
        // SAFETY: terms below the count are written.
        unsafe { &*self.term_start.add(index) }
    }

    /// Records a term.
    #[inline]
    pub fn append_term(&mut self, term: &Term) -> Result<Label, Full> {
        let label = self.term_count;
        if label >= self.term_limit {
            return Err(Full::Limit);
        }
        let end = (label + 1) * TERM_SIZE as u64;
        if end > self.terms.reserved {
            self.terms = self.reserve(self.terms, end)?;
        }
        self.term_count = label + 1;
        // SAFETY: the record lies in the reserved part.
        unsafe {
            self.term_start.add(label as usize).write(*term);
            publish(&raw mut (*self.header()).term_count, label + 1);
        }
        Ok(label as Label)
    }

    /// Records an event.
    pub fn append_event(&mut self, event: &Event) -> Result<(), Full> {
        let index = self.event_count;
        if index >= self.event_limit {
            return Err(Full::Limit);
        }
        let end = (index + 1) * EVENT_SIZE as u64;
        if end > self.events.reserved {
            self.events = self.reserve(self.events, end)?;
        }
        self.event_count = index + 1;
        // SAFETY: the record lies in the reserved part.
        unsafe {
            let offset = self.events.offset + index * EVENT_SIZE as u64;
            self.base.add(offset as usize).cast::<Event>().write(*event);
            publish(&raw mut (*self.header()).event_count, index + 1);
        }
        Ok(())
    }

    /// Room for `size` bytes at the end of the blob region, not yet part of it.
    pub fn blob_room(&mut self, size: u64) -> Result<*mut u8, Full> {
        let end = self.blob_size.checked_add(size).ok_or(Full::Limit)?;
        if end > self.blob.reserved {
            self.blob = self.reserve(self.blob, end)?;
        }
        // SAFETY: the room lies in the reserved part.
        Ok(unsafe { self.base.add((self.blob.offset + self.blob_size) as usize) })
    }

    /// Makes the first `size` bytes of the room part of the blob region; says where they lie.
    pub fn blob_keep(&mut self, size: u64) -> u64 {
        let offset = self.blob_size;
        self.blob_size += size;
        // SAFETY: the header is mapped.
        unsafe { publish(&raw mut (*self.header()).blob_size, self.blob_size) };
        offset
    }

    /// Copies bytes into the blob region; says where they lie.
    ///
    /// # Safety
    /// `size` bytes at `from` are readable.
    pub unsafe fn append_blob(&mut self, from: *const u8, size: u64) -> Result<u64, Full> {
        let room = self.blob_room(size)?;
        // SAFETY: as promised; the room is fresh, so nothing overlaps.
        unsafe { system::copy_bytes(room, from, size as usize) };
        Ok(self.blob_keep(size))
    }

    /// The bytes at `offset` of the blob region.
    pub fn blob(&self, offset: u64, size: u64) -> &[u8] {
        debug_assert!(offset + size <= self.blob_size);
        // SAFETY: the caller got both from `append_blob`.
        unsafe {
            let start = self.base.add((self.blob.offset + offset) as usize);
            core::slice::from_raw_parts(start, size as usize)
        }
    }

    /// Records a snapshot; says its number.
    pub fn append_snapshot(&mut self, snapshot: Snapshot) -> Result<u32, Full> {
        let index = self.snapshot_count;
        let end = (index + 1) * SNAPSHOT_SIZE;
        if end > self.snapshots.reserved {
            self.snapshots = self.reserve(self.snapshots, end)?;
        }
        self.snapshot_count = index + 1;
        // SAFETY: the record lies in the reserved part.
        unsafe {
            self.snapshot_start().add(index as usize).write(snapshot);
            publish(&raw mut (*self.header()).snapshot_count, index + 1);
        }
        Ok(index as u32)
    }

    /// A recorded snapshot.
    pub fn snapshot(&self, index: u32) -> Snapshot {
        debug_assert!((index as u64) < self.snapshot_count);
        // SAFETY: the caller got the number from `append_snapshot`.
        unsafe { self.snapshot_start().add(index as usize).read() }
    }

    fn snapshot_start(&self) -> *mut Snapshot {
        // SAFETY: the region lies in the mapping.
        unsafe { self.base.add(self.snapshots.offset as usize).cast() }
    }

    /// Adds a channel; says its number. `None` if the table is full.
    pub fn append_channel(&mut self, kind: ChannelKind, row: ChannelRow) -> Option<u32> {
        let index = self.channel_count;
        if index >= CHANNEL_ROWS {
            return None;
        }
        self.channel_count += 1;
        // SAFETY: the table is reserved as a whole. The kind makes the row valid: it is last.
        unsafe {
            let place = self.channel_row(index);
            place.write(ChannelRow { kind: 0, ..row });
            core::sync::atomic::fence(Ordering::Release);
            (&raw mut (*place).kind).write_volatile(kind as u8);
        }
        Some(index as u32)
    }

    /// The content of a channel has these bytes at `offset`, and ends behind them at least.
    ///
    /// # Safety
    /// `size` bytes at `from` are readable, and room for the content was kept in the blob region.
    pub unsafe fn set_content(&mut self, channel: u32, offset: u64, from: *const u8, size: u64) {
        debug_assert!((channel as usize) < self.channel_count);
        // SAFETY: as promised by the caller.
        unsafe {
            let row = self.channel_row(channel as usize);
            let start = self.blob.offset + (*row).content_offset + offset;
            system::copy_bytes(self.base.add(start as usize), from, size as usize);
            let end = offset + size;
            if end > (*row).content_size {
                publish(&raw mut (*row).content_size, end);
            }
        }
    }

    /// A row of the table of channels.
    pub fn channel(&self, index: u32) -> ChannelRow {
        debug_assert!((index as usize) < self.channel_count);
        // SAFETY: the caller got the number from `append_channel`.
        unsafe { self.channel_row(index as usize).read() }
    }

    fn channel_row(&self, index: usize) -> *mut ChannelRow {
        // SAFETY: the table lies in the mapping.
        unsafe {
            self.base
                .add(CHANNELS_OFFSET)
                .cast::<ChannelRow>()
                .add(index)
        }
    }

    /// Counts a hook.
    #[inline(always)]
    pub fn count_hook(&self) {
        // SAFETY: the header is mapped.
        unsafe {
            let count = &raw mut (*self.header()).hook_calls;
            count.write(count.read() + 1);
        }
    }

    /// The recording stopped early: nothing grows any more.
    pub fn set_stopped(&mut self) {
        self.term_limit = 0;
        self.event_limit = 0;
        // SAFETY: the header is mapped.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.header()).stopped) }
            .store(1, Ordering::Release);
    }

    /// The process is about to execute another program; or could not, and goes on.
    pub fn set_executed(&self, executed: bool) {
        if self.is_of_this_process() {
            let state = if executed {
                STATE_EXECUTED
            } else {
                STATE_RUNNING
            };
            // SAFETY: the header is mapped.
            unsafe { AtomicU32::from_ptr(&raw mut (*self.header()).state) }
                .store(state, Ordering::Release);
        }
    }

    /// A child of `vfork` has its parent's memory, and nothing to say in its trace.
    pub fn is_of_this_process(&self) -> bool {
        // SAFETY: the header is mapped.
        unsafe { (*self.header()).pid == system::process() }
    }

    /// The process exits.
    pub fn set_exited(&self, status: i32) {
        // SAFETY: the header is mapped.
        unsafe {
            (&raw mut (*self.header()).exit_status).write(status);
            AtomicU32::from_ptr(&raw mut (*self.header()).state)
                .store(STATE_EXITED, Ordering::Release);
        }
    }

    /// Removes the file of a test, which stays mapped.
    #[cfg(test)]
    pub fn remove_file(&self) {
        let link = std::format!("/proc/self/fd/{}", self.fd);
        std::fs::remove_file(std::fs::read_link(link).unwrap()).unwrap();
    }

    /// Gives the mapping and the descriptor back; nobody may use them afterwards.
    pub fn destroy(&mut self) {
        let (start, size) = self.mapping();
        // SAFETY: as the caller promises.
        unsafe { system::unmap(start, size) };
        if self.has_own_descriptor() {
            system::close(self.fd);
        }
    }

    /// The mapping, to advise the kernel about it.
    pub fn mapping(&self) -> (*mut u8, usize) {
        (
            self.base,
            (self.terms.offset + round_up(self.terms.limit)) as usize,
        )
    }
}

/// Stores a count after what it counts.
///
/// # Safety
/// `place` is an aligned word of the mapping.
#[inline(always)]
unsafe fn publish(place: *mut u64, value: u64) {
    // SAFETY: as promised by the caller.
    unsafe { AtomicU64::from_ptr(place) }.store(value, Ordering::Release);
}

fn round_up(size: u64) -> u64 {
    size.next_multiple_of(PAGE)
}

/// The regions' sizes for these options: snapshots, blob, events, terms.
fn region_limits(options: &Options) -> [u64; 4] {
    [
        SNAPSHOT_LIMIT * SNAPSHOT_SIZE,
        options.blob,
        options.events * EVENT_SIZE as u64,
        options.terms * TERM_SIZE as u64,
    ]
}
