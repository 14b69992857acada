//! Streams: where in its channel a `FILE` stands.
//!
//! A stream reads ahead, so the kernel's position says little. The runtime counts what the
//! models see, and looks at the stream's read pointer to notice what they do not see (libc's
//! own `fscanf`, say): a pointer that moved since the last model returned means that somebody
//! else read.
//!
//! libc's own functions are not asked: they would take the stream's lock while the runtime
//! holds its own, and set `errno`.
//!
//! On `unsafe`: glibc keeps the layout of `FILE` for programs that had `getc` expanded in them.

use nearmiss_abi::term::{CONCRETE, Label};

use crate::base_streams::{self as layout, Buffer, IN_BACKUP};
pub use crate::base_streams::{Ahead, File, ahead, descriptor, take};
use crate::models::real;
use crate::system;

const MOST: usize = 256;

/// The streams that lead to channels.
pub struct Streams {
    rows: [Stream; MOST],
}

/// A stream that leads to a channel.
#[derive(Clone, Copy)]
pub struct Stream {
    file: usize,
    /// The channel.
    pub channel: u32,
    /// The offset of the next byte.
    pub position: u64,
    /// Whether the stream can say where it stands.
    pub seekable: bool,
    /// A byte other than the one read was pushed back: the next byte is not input.
    pub pushed: bool,
    /// The label of that byte.
    pub pushed_label: Label,
    seen: Buffer,
}

const NOTHING_SEEN: Buffer = Buffer {
    flags: 0,
    read: 0,
    end: 0,
    base: 0,
    write_base: 0,
    write: 0,
    others: [0; 3],
    saved: 0,
    backup: 0,
    saved_end: 0,
    chains: [0; 2],
    descriptor: 0,
};

/// Whether a pointer is an open stream of libc's.
pub fn is_open(pointer: u64) -> bool {
    const MOST_OPEN: usize = 4096;
    // SAFETY: libc's variable, the start of a list that ends with a null pointer.
    let mut next = unsafe { real::_IO_list_all };
    for _ in 0..MOST_OPEN {
        if next.is_null() || next as u64 == pointer {
            break;
        }
        // SAFETY: see the module's comment.
        let [_, chain] = unsafe { (*next.cast::<Buffer>()).chains };
        next = chain as *mut File;
    }
    !next.is_null() && next as u64 == pointer
}

impl Streams {
    /// No streams yet.
    pub const fn none() -> Streams {
        const FREE: Stream = Stream {
            file: 0,
            channel: 0,
            position: 0,
            seekable: false,
            pushed: false,
            pushed_label: CONCRETE,
            seen: NOTHING_SEEN,
        };
        Streams { rows: [FREE; MOST] }
    }

    /// The stream of a `FILE`, if it leads to a channel.
    pub fn find(&mut self, file: *mut File) -> Option<&mut Stream> {
        self.rows
            .iter_mut()
            .find(|stream| stream.file == file as usize && !file.is_null())
    }

    /// From now on the `FILE` leads to this channel.
    pub fn add(&mut self, file: *mut File, channel: u32, position: u64, seekable: bool) {
        self.remove(file);
        if let Some(free) = self.rows.iter_mut().find(|stream| stream.file == 0) {
            *free = Stream {
                file: file as usize,
                channel,
                position,
                seekable,
                pushed: false,
                pushed_label: CONCRETE,
                seen: look(file),
            };
        }
    }

    /// The `FILE` leads to no channel any more.
    pub fn remove(&mut self, file: *mut File) {
        if let Some(stream) = self.find(file) {
            stream.file = 0;
        }
    }
}

/// What a model needs to know to bring a stream's position up to date.
#[derive(Clone, Copy)]
pub enum Told {
    /// The stream says that it stands here.
    At(u64),
    /// It cannot say.
    Nothing,
}

impl Stream {
    /// Whether nobody has read since the last model.
    pub fn is_in_step(&self) -> bool {
        look(self.file as *mut File).read == self.seen.read
    }

    /// Brings the position up to date after somebody else read; `false` if nobody knows it.
    pub fn catch_up(&mut self, told: Told) -> bool {
        let now = look(self.file as *mut File);
        match told {
            Told::At(position) => self.position = position,
            Told::Nothing if now.end == self.seen.end && now.base == self.seen.base => {
                let moved = now.read.wrapping_sub(self.seen.read);
                self.position = self.position.wrapping_add(moved);
            }
            Told::Nothing => return false,
        }
        self.seen = now;
        true
    }

    /// A model has read up to `position`.
    pub fn advance_to(&mut self, position: u64) {
        self.position = position;
        self.seen = look(self.file as *mut File);
    }
}

/// Gives a stream of functions a descriptor.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn set_descriptor(file: *mut File, fd: i32) {
    // SAFETY: as promised by the caller; see the module's comment.
    unsafe { (*file.cast::<Buffer>()).descriptor = fd };
}

/// Where the next byte that is written to a stream goes, in a file of `size` bytes.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn write_position(file: *mut File, size: u64) -> u64 {
    const IS_APPENDING: u32 = 0x1000;
    let buffer = look(file);
    if buffer.flags & IS_APPENDING != 0 {
        return size.wrapping_add(buffer.write.wrapping_sub(buffer.write_base));
    }
    // SAFETY: as promised by the caller.
    match unsafe { tell(file) } {
        Told::At(position) => position,
        Told::Nothing => 0,
    }
}

/// Where the stream stands: the kernel knows where its buffer ends.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn tell(file: *mut File) -> Told {
    let buffer = look(file);
    if buffer.flags & IN_BACKUP != 0 {
        return Told::Nothing;
    }
    match system::position(buffer.descriptor) {
        Some(position) => {
            let ahead = buffer.end.wrapping_sub(buffer.read);
            let behind = buffer.write.wrapping_sub(buffer.write_base);
            Told::At(position.wrapping_sub(ahead).wrapping_add(behind))
        }
        None => Told::Nothing,
    }
}

fn look(file: *mut File) -> Buffer {
    // SAFETY: an open stream; see the module's comment.
    unsafe { layout::look(file) }
}
