//! Streams: where in its channel a `FILE` stands.
//!
//! A stream reads ahead, so the kernel's position says little. The runtime counts what the
//! models see, and looks at the stream's read pointer to notice what they do not see (libc's
//! own `fscanf`, say): a pointer that moved since the last model returned means that somebody
//! else read.
//!
//! On `unsafe`: `FILE` starts with flags and the read pointer, its end and its base; glibc
//! keeps that layout for programs that had `getc` expanded in them.

use crate::models::real;

/// glibc's stream, as far as the runtime looks.
#[repr(C)]
#[derive(Clone, Copy)]
struct Buffer {
    flags: u64,
    read: u64,
    end: u64,
    base: u64,
}

/// A `FILE` of libc.
pub type File = core::ffi::c_void;

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
    seen: Buffer,
}

const NOTHING_SEEN: Buffer = Buffer {
    flags: 0,
    read: 0,
    end: 0,
    base: 0,
};

impl Streams {
    /// No streams yet.
    pub const fn none() -> Streams {
        const FREE: Stream = Stream {
            file: 0,
            channel: 0,
            position: 0,
            seekable: false,
            pushed: false,
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

fn look(file: *mut File) -> Buffer {
    // SAFETY: an open stream; see the module's comment.
    unsafe { file.cast::<Buffer>().read() }
}

/// Where the stream stands by its own word. Leaves `errno` alone.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn tell(file: *mut File) -> Told {
    // SAFETY: as promised by the caller; `errno` has an address in every thread.
    unsafe {
        let errno = real::__errno_location();
        let before = errno.read();
        let position = real::ftello(file);
        errno.write(before);
        if position < 0 {
            Told::Nothing
        } else {
            Told::At(position as u64)
        }
    }
}
