//! Standard input: what it is, and, if it is no file, the bytes that the process reads.
//!
//! A descriptor is standard input if it leads to the same pipe or terminal as descriptor 0 did
//! at the start. Of a stream it is known what it has read ahead: what a call gives the program
//! beyond that came from the descriptor, and so did what the stream's buffer holds afterwards.

use core::sync::atomic::{AtomicU32, Ordering};

use nearmiss_abi::capture::{Loss, RecordKind, StdinNature};

use super::kernel::{self, kind};
use super::{Capture, with};
use crate::models::real::IoVector;
use crate::streams::{self, Ahead, File, ahead};
use crate::system;

/// Whether bytes of standard input are to be captured.
static WATCHED: AtomicU32 = AtomicU32::new(0);

/// Which pipe or device standard input is.
pub struct Watched {
    device: u64,
    inode: u64,
    bytes: u64,
}

impl Watched {
    /// None.
    pub const fn none() -> Watched {
        Watched {
            device: 0,
            inode: 0,
            bytes: 0,
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
    is_watched().then(|| unsafe { ahead(file) })
}

/// To be called after a stream was read.
///
/// # Safety
/// `file` is an open stream, and what was given is readable.
#[inline(always)]
pub unsafe fn after(file: *mut File, before: Before, given: Given) {
    if let Some(before) = before {
        // SAFETY: as promised by the caller.
        unsafe { look_at(file, &before, given) };
    }
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
    /// Writes down what standard input is.
    pub fn begin_stdin(&mut self) {
        let Ok(details) = kernel::details(0) else {
            return self.tell_stdin(StdinNature::Closed, &[]);
        };
        // The device 1, 3.
        const NULL: u64 = 0x103;
        let nature = match details.kind() {
            kind::REGULAR => return self.begin_stdin_file(),
            kind::CHARACTER if details.is_device() == NULL => StdinNature::Null,
            kind::CHARACTER if kernel::is_terminal(0) => StdinNature::Terminal,
            kind::PIPE => StdinNature::Pipe,
            _ => StdinNature::Other,
        };
        self.tell_stdin(nature, &[]);
        if nature != StdinNature::Null {
            self.stdin.device = details.device();
            self.stdin.inode = details.inode();
            WATCHED.store(1, Ordering::Relaxed);
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
