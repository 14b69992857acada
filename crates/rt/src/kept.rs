//! What the program writes and may read again: its files, its pipes, its pairs of sockets.
//!
//! Each such file has an *image*: a range of addresses at which nothing lies, whose shadow holds
//! the labels of the file's bytes. A write copies labels there and a read copies them back, so
//! what comes back is what was written; a load that finds another value drops the label, as
//! everywhere. A pipe's image is a ring. Where labels cannot be kept, a note says so when the
//! file is read.

mod mappings;
mod sizes;

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label, ShadowWord};

use crate::events::place_of;
use crate::input::Source;
use crate::list::List;
use crate::runtime::Runtime;
use crate::streams::{self, File, Told};
use crate::system::{self, Status};

/// Channels from this number on are kept files.
const FIRST: u32 = 1 << 30;
/// Files that are kept at a time; the oldest are forgotten. Indices are taken modulo this, so that
/// no check of a bound can panic in the tested program.
const MOST_FILES: usize = 64;
/// Mappings of files that are known at a time.
const MOST_MAPPINGS: usize = 32;
/// Bytes of a file that are kept.
const ROOM: u64 = 1 << 20;

/// Labels of lengths, of 64 bits.
type Lengths = List<Label, 8>;

/// A file that the program writes.
#[derive(Clone, Copy)]
struct Row {
    /// Device and number; 0: the row is free.
    identity: (u64, u64),
    /// Where its image lies; 0: there is none yet.
    image: u64,
    /// A pipe or socket: bytes are read in the order in which they were written.
    is_queue: bool,
    /// A queue: how much was read.
    head: u64,
    /// A queue: how much was written.
    tail: u64,
    /// Whose image what is written here goes to: the other socket of a pair.
    peer: usize,
    /// How long writes were, where that is symbolic: decided when the program reads the file, or asks for its size.
    lengths: Lengths,
    /// Labels were lost.
    lost: bool,
}

/// A part of a file as memory, which changes with it.
#[derive(Clone, Copy)]
struct Mapping {
    start: u64,
    size: u64,
    file: usize,
    offset: u64,
    /// Whether what is stored there is in the file, and the other way round.
    shared: bool,
}

/// All of them.
pub struct Kept {
    rows: [Row; MOST_FILES],
    /// How many were ever added.
    count: usize,
    mappings: [Mapping; MOST_MAPPINGS],
    /// Where standard output and standard error led when the process started.
    standard: [(u64, u64); 2],
    /// Kinds of files (bits by [`Status::kind`]) that symbolic bytes went to and that are not kept: named
    /// pipes, sockets, terminals. What is read from another of these may be the same bytes.
    escaped: u32,
}

impl Kept {
    /// Nothing was written yet.
    pub const fn none() -> Kept {
        const ROW: Row = Row {
            identity: (0, 0),
            image: 0,
            is_queue: false,
            head: 0,
            tail: 0,
            peer: 0,
            lengths: Lengths::new(CONCRETE),
            lost: false,
        };
        const MAPPING: Mapping = Mapping {
            start: 0,
            size: 0,
            file: 0,
            offset: 0,
            shared: false,
        };
        Kept {
            rows: [ROW; MOST_FILES],
            count: 0,
            mappings: [MAPPING; MOST_MAPPINGS],
            standard: [(0, 0); 2],
            escaped: 0,
        }
    }

    /// Notices where standard output and standard error lead.
    pub fn notice_standard(&mut self) {
        for (fd, identity) in (1..).zip(&mut self.standard) {
            *identity = system::status(fd).map_or((0, 0), |it| it.identity());
        }
    }

    fn find(&self, identity: (u64, u64)) -> Option<usize> {
        let used = self.rows.iter().take(self.count);
        let mut rows = used.enumerate();
        rows.find_map(|(index, row)| (row.identity == identity).then_some(index))
    }
}

impl Source {
    /// The kept file that this source is, if it is no channel.
    pub fn kept(&self) -> Option<usize> {
        self.channel.checked_sub(FIRST).map(|index| index as usize)
    }
}

/// What `open` has in its flags for writing at the end.
const O_APPEND: usize = 0o2000;

/// Where the next `write` to a file goes.
fn write_position(fd: i32, status: &Status) -> u64 {
    match system::open_flags(fd) & O_APPEND {
        0 => system::position(fd).unwrap_or(0),
        _ => status.size,
    }
}

impl Runtime {
    fn keep(&mut self, status: &Status, is_queue: bool) -> usize {
        let known = self.kept.find(status.identity());
        let index = known.unwrap_or(self.kept.count % MOST_FILES);
        let old = self.kept.rows[index % MOST_FILES];
        if known.is_none() {
            self.kept.count += 1;
            if old.identity != (0, 0) && self.is_symbolic(old.image, ROOM) {
                let site = place_of(SiteId::NONE);
                self.trace.note(NoteKind::ReadBack, site, 1);
            }
        }
        if old.image != 0 {
            self.shadow.clear(old.image, ROOM);
        }
        self.kept.rows[index % MOST_FILES] = Row {
            identity: status.identity(),
            image: old.image,
            is_queue,
            head: 0,
            tail: 0,
            peer: index,
            lengths: Lengths::new(CONCRETE),
            lost: false,
        };
        index
    }

    /// The program made a pipe or a pair of sockets for itself.
    pub fn keep_pair(&mut self, ends: [i32; 2]) {
        let (Ok(one), Ok(two)) = (system::status(ends[0]), system::status(ends[1])) else {
            return;
        };
        let first = self.keep(&one, true);
        if one.inode != two.inode {
            let second = self.keep(&two, true);
            self.kept.rows[first % MOST_FILES].peer = second;
            self.kept.rows[second % MOST_FILES].peer = first;
        }
    }

    /// The image of a kept file, mapped when it is needed first; 0: there is none.
    fn image(&mut self, index: usize) -> u64 {
        let row = &mut self.kept.rows[index % MOST_FILES];
        if row.image == 0 {
            row.image = system::reserve(ROOM as usize).map_or(0, |start| start as u64);
        }
        row.image
    }

    fn is_symbolic(&self, address: u64, size: u64) -> bool {
        address != 0 && self.shadow.first_label(address, size).is_some()
    }

    /// The program is about to write these bytes to a descriptor, at its position or at another.
    pub fn wrote(
        &mut self,
        fd: i32,
        (address, size): (u64, u64),
        offset: Option<u64>,
        site: SiteId,
    ) {
        let symbolic = self.is_symbolic(address, size);
        let Some((index, status)) = self.target(fd, symbolic, site) else {
            return;
        };
        let at = offset.unwrap_or_else(|| write_position(fd, &status));
        self.put(index, at, (address, size));
    }

    /// Where the next `write` goes, if that is known.
    pub fn write_position(&self, fd: i32) -> Option<u64> {
        let status = system::status(fd).ok()?;
        status.is_regular().then(|| write_position(fd, &status))
    }

    /// Whether the labels of what is printed to this descriptor must be known: it leads to a file
    /// or to a pipe of the program's own. Standard output goes to others, unless the program sends it
    /// elsewhere.
    pub fn keeps(&mut self, fd: i32) -> bool {
        let Ok(status) = system::status(fd) else {
            // A stream into memory.
            return true;
        };
        let known = self.kept.find(status.identity());
        if self.kept.standard.contains(&status.identity()) {
            if let Some(index) = known {
                let peer = self.kept.rows[index % MOST_FILES].peer;
                self.kept.rows[peer % MOST_FILES].lost = true;
            }
            return false;
        }
        known.is_some() || status.is_regular()
    }

    /// The program is about to write these bytes to a stream.
    pub fn wrote_stream(&mut self, file: *mut File, (address, size): (u64, u64), site: SiteId) {
        let symbolic = self.is_symbolic(address, size);
        if let Some((index, at)) = self.stream_target(file, symbolic, site) {
            self.put(index, at, (address, size));
        }
    }

    /// The program is about to write one byte of this label to a stream.
    pub fn wrote_byte(&mut self, file: *mut File, label: Label, site: SiteId) {
        let Some((index, at)) = self.stream_target(file, label != CONCRETE, site) else {
            return;
        };
        let Some((place, _)) = self.place(index, at, 1) else {
            self.kept.rows[index % MOST_FILES].lost |= label != CONCRETE;
            return;
        };
        match label {
            CONCRETE => self.shadow.clear(place, 1),
            _ => self.shadow.set(place, ShadowWord::new(label, 0)),
        }
        if !self.kept.rows[index % MOST_FILES].is_queue {
            self.update_mappings(index, (at, 1));
        }
    }

    fn stream_target(
        &mut self,
        file: *mut File,
        symbolic: bool,
        site: SiteId,
    ) -> Option<(usize, u64)> {
        if !symbolic && self.kept.count == 0 {
            return None;
        }
        // SAFETY: the program writes to an open stream.
        let fd = unsafe { streams::descriptor(file) };
        if fd < 0 {
            // A stream into memory.
            if symbolic {
                self.trace.note(NoteKind::ReadBack, site, 1);
            }
            return None;
        }
        let (index, status) = self.target(fd, symbolic, site)?;
        // SAFETY: as above.
        let position = unsafe { streams::write_position(file, status.size) };
        Some((index, position))
    }

    /// The file that a descriptor leads to, if what is written to it is kept.
    fn target(&mut self, fd: i32, symbolic: bool, site: SiteId) -> Option<(usize, Status)> {
        const NO_TYPE: u32 = 0;
        if !symbolic && self.kept.count == 0 {
            return None;
        }
        let status = system::status(fd).ok()?;
        if let Some(index) = self.kept.find(status.identity()) {
            return Some((self.kept.rows[index % MOST_FILES].peer, status));
        }
        if symbolic && status.is_regular() {
            return Some((self.keep(&status, false), status));
        }
        let is_standard = self.kept.standard.contains(&status.identity());
        match status.kind() {
            // A counter or another object of the kernel that can be read.
            NO_TYPE if symbolic => self.trace.note(NoteKind::ReadBack, site, 1),
            kind if symbolic && !is_standard && status.may_lead_back() => {
                self.kept.escaped |= 1 << kind;
            }
            _ => {}
        }
        None
    }

    /// What is read here may be what left the program symbolic, by another end of the same thing.
    fn note_escaped(&mut self, status: &Status) {
        if self.kept.escaped & 1 << status.kind() != 0 {
            let site = place_of(SiteId::NONE);
            self.trace.note(NoteKind::Outside, site, 1);
        }
    }

    /// Where in the image of a file bytes from `at` on lie, and how many of `size`.
    fn place(&mut self, index: usize, at: u64, size: u64) -> Option<(u64, u64)> {
        let image = self.image(index);
        let row = &mut self.kept.rows[index % MOST_FILES];
        if image == 0 {
            return None;
        }
        if row.is_queue {
            let at = row.tail % ROOM;
            let fits = size.min(ROOM - at);
            row.tail += fits;
            row.lost |= row.tail - row.head > ROOM;
            return Some((image + at, fits));
        }
        let fits = size.min(ROOM.saturating_sub(at));
        (fits != 0).then_some((image + at, fits))
    }

    fn put(&mut self, index: usize, at: u64, (address, size): (u64, u64)) {
        let mut done = 0;
        while done < size {
            let Some((place, part)) = self.place(index, at + done, size - done) else {
                let rest = self.is_symbolic(address + done, size - done);
                self.kept.rows[index % MOST_FILES].lost |= rest;
                return;
            };
            self.shadow.copy(place, address + done, part);
            done += part;
        }
        if !self.kept.rows[index % MOST_FILES].is_queue {
            self.update_mappings(index, (at, size));
        }
    }

    /// Where a read of a descriptor that is no input gets its bytes, if the program wrote them.
    pub fn kept_source(&mut self, fd: i32) -> Option<Source> {
        if self.kept.count == 0 && self.kept.escaped == 0 {
            return None;
        }
        let status = system::status(fd).ok()?;
        let Some(index) = self.kept.find(status.identity()) else {
            self.note_escaped(&status);
            return None;
        };
        Some(Source {
            channel: FIRST + index as u32,
            offset: system::position(fd).unwrap_or(0),
            seekable: !self.kept.rows[index % MOST_FILES].is_queue,
        })
    }

    /// Likewise a stream.
    pub fn kept_stream(&mut self, file: *mut File) -> Option<Source> {
        if self.kept.count == 0 && self.kept.escaped == 0 || file.is_null() {
            return None;
        }
        // SAFETY: the program reads from an open stream.
        let (fd, told) = unsafe { (streams::descriptor(file), streams::tell(file)) };
        let source = self.kept_source(fd)?;
        match told {
            Told::At(offset) => Some(Source { offset, ..source }),
            Told::Nothing if source.seekable => {
                // Where it stands is not known before what was pushed back is read.
                if let Some(index) = source.kept()
                    && self.is_symbolic(self.kept.rows[index % MOST_FILES].image, ROOM)
                {
                    let site = place_of(SiteId::NONE);
                    self.trace.note(NoteKind::ReadBack, site, 1);
                }
                None
            }
            Told::Nothing => Some(source),
        }
    }

    /// Whether a pointer is a stream of a file that the program wrote symbolic data to.
    pub fn is_kept_stream(&mut self, pointer: u64) -> bool {
        if self.kept.count == 0 || !streams::is_open(pointer) {
            return false;
        }
        // SAFETY: the stream is open.
        let fd = unsafe { streams::descriptor(pointer as *mut File) };
        let known = system::status(fd).ok();
        let Some(index) = known.and_then(|status| self.kept.find(status.identity())) else {
            return false;
        };
        let row = self.kept.rows[index % MOST_FILES];
        row.lost || self.is_symbolic(row.image, ROOM)
    }

    /// Bytes of a kept file came to `address`.
    pub fn came_back(
        &mut self,
        index: usize,
        offset: u64,
        (address, size): (u64, u64),
        site: SiteId,
    ) {
        self.shadow.clear(address, size);
        self.told_size(index, site);
        let row = self.kept.rows[index % MOST_FILES];
        if row.is_queue {
            return self.came_through(index, (address, size), site);
        }
        self.look_at_mappings(index);
        let image = self.image(index);
        let part = size.min(ROOM.saturating_sub(offset));
        if image != 0 {
            self.shadow.copy(address, image + offset, part);
        }
    }

    fn came_through(&mut self, index: usize, (address, size): (u64, u64), site: SiteId) {
        let row = self.kept.rows[index % MOST_FILES];
        let known = size.min(row.tail.saturating_sub(row.head));
        if known < size {
            // Another process wrote that: a child.
            self.trace.note(NoteKind::Outside, site, 1);
        }
        let image = self.image(index);
        for byte in 0..known {
            let word = self.shadow.get(image + (row.head + byte) % ROOM);
            if image != 0 && word.label() != CONCRETE && !self.inputs.has_forked() {
                self.shadow.set(address + byte, word);
            }
        }
        self.kept.rows[index % MOST_FILES].head += known;
    }

    /// A byte of this label was pushed back to a stream of a kept file that stood at `offset`: it
    /// comes again.
    pub fn pushed_back_kept(&mut self, index: usize, offset: u64, label: Label) {
        let image = self.image(index);
        let row = &mut self.kept.rows[index % MOST_FILES];
        let before = match row.is_queue {
            true => row.head,
            false => offset,
        };
        let Some(before) = before.checked_sub(1).filter(|_| image != 0) else {
            row.lost |= label != CONCRETE;
            return;
        };
        if row.is_queue {
            row.head = before;
        } else if before >= ROOM {
            row.lost |= label != CONCRETE;
            return;
        }
        let place = image + before % ROOM;
        match label {
            CONCRETE => self.shadow.clear(place, 1),
            _ => self.shadow.set(place, ShadowWord::new(label, 0)),
        }
    }

    /// A byte of a kept file was read from a stream: its label, of 32 bits.
    pub fn byte_came_back(
        &mut self,
        source: Source,
        index: usize,
        byte: u8,
        site: SiteId,
    ) -> Label {
        let place = &raw const byte as u64;
        self.came_back(index, source.offset, (place, 1), site);
        let label = self.load(place, 1, byte as u64);
        self.shadow.clear(place, 1);
        match label {
            CONCRETE => CONCRETE,
            _ => self.zero_extend(label, 32),
        }
    }
}

#[cfg(test)]
mod tests;
