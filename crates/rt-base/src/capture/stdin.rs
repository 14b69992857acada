//! Standard input: what it is, and, if it is no file, the bytes that the process reads.
//!
//! A descriptor is standard input if it leads to the same pipe or terminal as descriptor 0 did
//! at the start. Of a stream it is known what it has read ahead: what a call gives the program
//! beyond that came from the descriptor, and so did what the stream's buffer holds afterwards.

use core::arch::asm;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use nearmiss_abi::capture::{Loss, RecordKind, StdinNature};

use super::kernel::{self, kind};
use super::{Capture, with};
use crate::auxiliary;
use crate::chance;
use crate::streams::{self, Ahead, File, ahead};
use crate::system;
use crate::vectors::IoVector;

/// Whether bytes of standard input are to be captured.
static WATCHED: AtomicU32 = AtomicU32::new(0);

/// Whether functions that read streams may be called by each other.
static MAY_NEST: AtomicBool = AtomicBool::new(false);
/// Where the stack was when such a function was called; 0: none is at work.
static READING: AtomicUsize = AtomicUsize::new(0);

/// Which pipe or device standard input is.
pub struct Watched {
    device: u64,
    inode: u64,
    bytes: u64,
}

/// Standard input as the process found it.
pub(super) struct Found {
    nature: StdinNature,
    /// Device and number of what is read byte by byte.
    pub(super) watched: Option<(u64, u64)>,
}

impl Found {
    fn of(nature: StdinNature) -> Found {
        Found {
            nature,
            watched: None,
        }
    }
}

/// Whether anybody wants to know what is read.
#[inline(always)]
pub fn is_watched() -> bool {
    WATCHED.load(Ordering::Relaxed) != 0
}

/// Nobody wants to know any more.
pub fn forget() {
    look_at_all();
    WATCHED.store(0, Ordering::Relaxed);
}

/// `got` bytes came from a descriptor.
///
/// # Safety
/// They are readable.
#[inline(always)]
pub unsafe fn received(fd: i32, bytes: *const u8, got: isize) {
    if is_watched() && got > 0 {
        // SAFETY: as promised by the caller.
        let bytes = unsafe { core::slice::from_raw_parts(bytes, got as usize) };
        with(|capture| {
            if capture.is_stdin(fd) {
                capture.add_stdin(&[bytes]);
            }
        });
    }
}

/// `got` bytes came from a descriptor, into several buffers.
///
/// # Safety
/// The vectors are readable, and so is what they hold.
pub unsafe fn received_parts(fd: i32, vectors: *const IoVector, count: usize, got: isize) {
    let mut left = got;
    for index in 0..count {
        // SAFETY: as promised by the caller.
        unsafe {
            let vector = vectors.add(index).read();
            let part = left.min(vector.size as isize);
            received(fd, vector.start, part);
            left -= part;
        }
        if left <= 0 {
            return;
        }
    }
}

/// What a call gave the program from a stream.
#[derive(Clone, Copy)]
pub enum Given {
    /// These many bytes here.
    Bytes(*const u8, usize),
    /// One byte, or (negative) nothing.
    Byte(i32),
    /// A line that ends with a zero and may have others.
    Line(*const u8),
    /// Nobody knows.
    Something,
}

/// What a stream had before a call, if anybody wants to know.
pub type Before = Option<Ahead>;

/// To be called before a stream is read.
///
/// # Safety
/// `file` is an open stream.
#[inline(always)]
pub unsafe fn before(file: *mut File) -> Before {
    // SAFETY: as promised by the caller.
    unsafe { (is_watched() && !is_nested(file)).then(|| ahead(file)) }
}

/// To be called after a stream was read.
///
/// # Safety
/// `file` is an open stream, and what was given is readable.
#[inline(always)]
pub unsafe fn after(file: *mut File, before: Before, given: Given) {
    if let Some(before) = before {
        READING.store(0, Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe {
            if !was_waiting(file, &before, given) {
                look_at(file, &before, given);
            }
        }
    }
}

/// Whether all that was given had been read ahead, so that nothing came.
///
/// # Safety
/// As for [`after`].
unsafe fn was_waiting(file: *mut File, before: &Ahead, given: Given) -> bool {
    match given {
        Given::Byte(_) => before.available > 0,
        Given::Bytes(_, size) => size > 0 && size as u64 <= before.available,
        Given::Line(line) if !line.is_null() => {
            // SAFETY: as promised by the caller. A line that came otherwise is longer than this, and
            // has no newline before its end.
            unsafe {
                let now = ahead(file);
                let size = now.read.wrapping_sub(before.read) as usize;
                matches!(change(before, &now), Change::Nothing)
                    && size > 0
                    && size as u64 <= before.available
                    && line.add(size - 1).read() == b'\n'
                    && line.add(size).read() == 0
            }
        }
        _ => false,
    }
}

/// The next byte of a stream, if it was read ahead and no other thread can be at the stream: what
/// `getc_unlocked` is expanded to.
///
/// # Safety
/// `file` is an open stream.
#[inline(always)]
pub unsafe fn take_waiting(file: *mut File) -> Option<u8> {
    // SAFETY: one of two bytes that are always there; as promised by the caller.
    unsafe {
        match QUICK.load(Ordering::Relaxed).read_volatile() {
            0 => None,
            _ => streams::take(file),
        }
    }
}

static NEVER: u8 = 0;
/// A byte that is not zero where bytes may be taken from streams without looking at anything else:
/// libc's own that says that there is one thread, as long as nothing but standard input is captured.
static QUICK: AtomicPtr<u8> = AtomicPtr::new((&raw const NEVER).cast_mut());

/// From now on every byte of a stream is looked at.
pub fn look_at_all() {
    QUICK.store((&raw const NEVER).cast_mut(), Ordering::Relaxed);
}

/// Bytes that wait in a stream are no longer looked at, if libc tells how many threads there are.
fn look_at_new() {
    let place: *mut u8;
    // SAFETY: reads an address, which is zero where there is no such symbol.
    unsafe {
        asm!(
            ".weak __libc_single_threaded",
            "mov {place}, qword ptr [rip + __libc_single_threaded@GOTPCREL]",
            place = out(reg) place,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    if !place.is_null() && !chance::has_devices() {
        QUICK.store(place, Ordering::Relaxed);
    }
}

/// Whether a function that reads a stream was called by another one: in a static program libc's own
/// calls are wrapped too. It is where the stack is deeper than that other one's, and not much.
/// A stream of functions may lead to another one.
///
/// # Safety
/// `file` is an open stream.
unsafe fn is_nested(file: *mut File) -> bool {
    const DEEPEST: usize = 64 << 10;
    // SAFETY: as promised by the caller.
    if !MAY_NEST.load(Ordering::Relaxed) || unsafe { streams::descriptor(file) } < 0 {
        return false;
    }
    let place = 0u8;
    let here = core::hint::black_box(&raw const place).addr();
    let outer = READING.load(Ordering::Relaxed);
    let nested = outer.checked_sub(here).is_some_and(|depth| depth < DEEPEST);
    if !nested {
        READING.store(here, Ordering::Relaxed);
    }
    nested
}

/// # Safety
/// As for [`after`].
unsafe fn look_at(file: *mut File, before: &Ahead, given: Given) {
    let byte = match given {
        Given::Byte(byte) => [byte as u8],
        _ => [0],
    };
    // SAFETY: as promised by the caller.
    unsafe {
        let now = ahead(file);
        let given = match given {
            Given::Bytes(_, 0) => &[],
            Given::Bytes(start, size) => core::slice::from_raw_parts(start, size),
            Given::Byte(value) => byte.get(..(value >= 0).into()).unwrap_or(&[]),
            Given::Line(line) => line_bytes(before, &now, line),
            Given::Something => &[],
        };
        let is_unknown = matches!(change(before, &now), Change::Refilled);
        let fresh = given.get(before.available as usize..).unwrap_or(&[]);
        let came = !fresh.is_empty() || (before.available == 0 && now.end > now.read);
        let from = match given.is_empty() && is_unknown {
            // Nobody saw what went through the buffer: all of it is new.
            true => now.base,
            false => now.read,
        };
        if !came && from == now.read {
            return;
        }
        let held = now.end.saturating_sub(from) as usize;
        let held = core::slice::from_raw_parts(from as *const u8, held);
        let fd = streams::descriptor(file);
        with(|capture| {
            if capture.is_stdin(fd) {
                capture.add_stdin(&[fresh, held]);
            }
        });
    }
}

/// What became of a stream's buffer.
enum Change {
    Nothing,
    Refilled,
}

fn change(before: &Ahead, now: &Ahead) -> Change {
    let same = before.end == now.end && before.base == now.base && now.read >= before.read;
    match same || now.end <= now.base {
        true => Change::Nothing,
        false => Change::Refilled,
    }
}

/// The bytes of a line: up to its zero, but the buffer may know of more. (A stream without a
/// buffer does not: there a zero in the middle of a line ends it.)
///
/// # Safety
/// The line ends with a zero.
unsafe fn line_bytes<'a>(before: &Ahead, now: &Ahead, line: *const u8) -> &'a [u8] {
    if line.is_null() {
        return &[];
    }
    // SAFETY: as promised by the caller.
    let until_zero = unsafe { system::length(line) } as u64;
    let size = match change(before, now) {
        Change::Nothing => until_zero,
        Change::Refilled => until_zero.max(before.available + now.read.saturating_sub(now.base)),
    };
    // SAFETY: as much of the buffer went into the line.
    unsafe { core::slice::from_raw_parts(line, size as usize) }
}

impl Capture {
    /// What standard input is, before anything was read from it.
    pub(super) fn look_at_stdin(&self) -> Found {
        let Ok(details) = kernel::details(0) else {
            return Found::of(StdinNature::Closed);
        };
        // The device 1, 3.
        const NULL: u64 = 0x103;
        let nature = match details.kind() {
            kind::REGULAR => StdinNature::File,
            kind::CHARACTER if details.is_device() == NULL => StdinNature::Null,
            kind::CHARACTER if kernel::is_terminal(0) => StdinNature::Terminal,
            kind::PIPE => StdinNature::Pipe,
            _ => StdinNature::Other,
        };
        let mut found = Found::of(nature);
        if !matches!(nature, StdinNature::Null | StdinNature::File) {
            found.watched = Some((details.device(), details.inode()));
        }
        found
    }

    /// Writes down what standard input is.
    pub(super) fn begin_stdin(&mut self, found: Found) {
        match found.nature {
            StdinNature::File => self.begin_stdin_file(),
            nature => self.tell_stdin(nature, &[]),
        }
        self.watch_stdin(found.watched);
    }

    /// Bytes that come from this pipe or device are captured.
    pub(super) fn watch_stdin(&mut self, watched: Option<(u64, u64)>) {
        if let Some((device, inode)) = watched {
            (self.stdin.device, self.stdin.inode) = (device, inode);
            MAY_NEST.store(auxiliary::is_static(), Ordering::Relaxed);
            WATCHED.store(1, Ordering::Relaxed);
            look_at_new();
        }
    }

    fn begin_stdin_file(&mut self) {
        let position = system::position(0).unwrap_or(0);
        let kept = match kernel::details(0) {
            Ok(details) => self.keep_open(0, details, position),
            Err(_) => Err(Loss::Unreadable),
        };
        match kept {
            Ok(name) => self.tell_stdin(StdinNature::File, name.text()),
            Err(loss) => {
                self.tell_stdin(StdinNature::File, &[]);
                self.log.lost(loss, b"");
            }
        }
    }

    fn tell_stdin(&mut self, nature: StdinNature, name: &[u8]) {
        let nature = (nature as u32).to_le_bytes();
        self.log.record(RecordKind::Stdin, &[&nature, name]);
    }

    fn is_stdin(&self, fd: i32) -> bool {
        let identity = (self.stdin.device, self.stdin.inode);
        kernel::details(fd).is_ok_and(|now| (now.device(), now.inode()) == identity)
    }

    fn add_stdin(&mut self, parts: &[&[u8]]) {
        let size: usize = parts.iter().map(|part| part.len()).sum();
        self.stdin.bytes = self.stdin.bytes.saturating_add(size as u64);
        if self.stdin.bytes > self.limits.file {
            forget();
            return self.log.lost(Loss::FileTooLarge, b"");
        }
        self.log.record(RecordKind::StdinData, parts);
    }
}
