//! System calls that only capturing needs; see [`crate::system`] for the rules.

use crate::system::{Errno, call};

/// There is nothing of that name.
pub const ENOENT: Errno = Errno(2);
/// Something on the way to the name is no directory.
pub const ENOTDIR: Errno = Errno(20);
/// The program gave an address that cannot be read.
pub const EFAULT: Errno = Errno(14);
/// Not permitted.
pub const EPERM: Errno = Errno(1);

const WRITEV: usize = 20;
const IOCTL: usize = 16;
const CHMOD_OPEN: usize = 91;
const UMASK: usize = 95;
const MKDIR: usize = 83;
const UNLINK: usize = 87;
const RENAME: usize = 82;
const LINKAT: usize = 265;
const GETPPID: usize = 110;
const GETDENTS64: usize = 217;
const CLOCK_GETTIME: usize = 228;
const FSTAT: usize = 5;
const NEWFSTATAT: usize = 262;

/// How files are opened here.
pub mod open {
    /// For writing only.
    pub const WRONLY: i32 = 1;
    /// Made if it does not exist.
    pub const CREAT: i32 = 0o100;
    /// Must be made.
    pub const EXCL: i32 = 0o200;
    /// Each write goes to the end.
    pub const APPEND: i32 = 0o2000;
    /// Does not wait.
    pub const NONBLOCK: i32 = 0o4000;
    /// A directory only.
    pub const DIRECTORY: i32 = 0o200000;
    /// No symbolic link.
    pub const NOFOLLOW: i32 = 0o400000;
    /// The time of the last access stays.
    pub const NOATIME: i32 = 0o1000000;
    /// Closed by `exec`.
    pub const CLOEXEC: i32 = 0o2000000;
    /// Only to name it.
    pub const PATH: i32 = 0o10000000;
}

/// The kernel's `struct stat` of x86-64 as eight-byte words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Details([u64; 18]);

/// What kind of thing a file is, as in `st_mode`.
pub mod kind {
    /// A named or unnamed pipe.
    pub const PIPE: u32 = 0o010000;
    /// A character device.
    pub const CHARACTER: u32 = 0o020000;
    /// A directory.
    pub const DIRECTORY: u32 = 0o040000;
    /// A regular file.
    pub const REGULAR: u32 = 0o100000;
    /// A symbolic link.
    pub const LINK: u32 = 0o120000;
    /// A socket.
    pub const SOCKET: u32 = 0o140000;
}

impl Details {
    const NONE: Details = Details([0; 18]);

    /// The device it lies on.
    pub fn device(&self) -> u64 {
        self.0[0]
    }

    /// Its number there.
    pub fn inode(&self) -> u64 {
        self.0[1]
    }

    /// One of [`kind`].
    pub fn kind(&self) -> u32 {
        self.0[3] as u32 & 0o170000
    }

    /// Permissions.
    pub fn permissions(&self) -> u32 {
        self.0[3] as u32 & 0o7777
    }

    /// The user it belongs to.
    pub fn owner(&self) -> u32 {
        (self.0[3] >> 32) as u32
    }

    /// Which device it is.
    pub fn is_device(&self) -> u64 {
        self.0[5]
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.0[6]
    }

    /// When its content changed: seconds and nanoseconds.
    pub fn modified(&self) -> (i64, u32) {
        (self.0[11] as i64, self.0[12] as u32)
    }

    /// When anything about it changed.
    pub fn changed(&self) -> (i64, u32) {
        (self.0[13] as i64, self.0[14] as u32)
    }

    /// Whether both are about the same content.
    pub fn is_same_content(&self, other: &Details) -> bool {
        let identity = |details: &Details| (details.device(), details.inode(), details.size());
        identity(self) == identity(other)
            && self.modified() == other.modified()
            && self.changed() == other.changed()
    }
}

/// `fstat`.
pub fn details(fd: i32) -> Result<Details, Errno> {
    let mut details = Details::NONE;
    let words = details.0.as_mut_ptr() as usize;
    // SAFETY: `struct stat` has 144 bytes.
    unsafe { call(FSTAT, [fd as usize, words, 0, 0, 0, 0]).map(|_| details) }
}

/// What is at `path` itself: a link is not followed. The kernel, not we, reads the path, so it
/// may be anything; unless the answer is [`EFAULT`], it is readable.
pub fn details_at(directory: i32, path: *const u8) -> Result<Details, Errno> {
    const NOFOLLOW: usize = 0x100;
    let mut details = Details::NONE;
    let words = details.0.as_mut_ptr() as usize;
    let arguments = [
        directory as isize as usize,
        path as usize,
        words,
        NOFOLLOW,
        0,
        0,
    ];
    // SAFETY: `struct stat` has 144 bytes.
    unsafe { call(NEWFSTATAT, arguments).map(|_| details) }
}

/// Bytes that are written together.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Part {
    start: *const u8,
    size: usize,
}

impl Part {
    /// No bytes.
    pub const NONE: Part = Part {
        start: core::ptr::null(),
        size: 0,
    };

    /// These bytes.
    pub fn of(bytes: &[u8]) -> Part {
        Part {
            start: bytes.as_ptr(),
            size: bytes.len(),
        }
    }
}

/// Writes parts one after the other, as one.
///
/// # Safety
/// The parts are readable.
pub unsafe fn write(fd: i32, parts: &[Part]) -> Result<usize, Errno> {
    let (start, count) = (parts.as_ptr() as usize, parts.len());
    // SAFETY: as promised by the caller.
    unsafe { call(WRITEV, [fd as usize, start, count, 0, 0, 0]) }
}

/// Entries of an open directory, as the kernel has them; 0: no more.
pub fn entries(fd: i32, buffer: &mut [u8]) -> Result<usize, Errno> {
    let (start, size) = (buffer.as_mut_ptr() as usize, buffer.len());
    // SAFETY: the kernel writes into the slice only.
    unsafe { call(GETDENTS64, [fd as usize, start, size, 0, 0, 0]) }
}

/// Sets permissions of an open file.
pub fn permit(fd: i32, mode: u32) {
    // SAFETY: no memory is involved.
    let _ = unsafe { call(CHMOD_OPEN, [fd as usize, mode as usize, 0, 0, 0, 0]) };
}

/// The mask of permissions; the kernel tells it only when it is set.
pub fn mask() -> u32 {
    // SAFETY: no memory is involved.
    unsafe {
        let mask = call(UMASK, [0o077, 0, 0, 0, 0, 0]).unwrap_or(0);
        let _ = call(UMASK, [mask, 0, 0, 0, 0, 0]);
        mask as u32
    }
}

/// The number of the parent process.
pub fn parent() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { call(GETPPID, [0; 6]).unwrap_or(0) as u32 }
}

/// Whether the descriptor is a terminal.
pub fn is_terminal(fd: i32) -> bool {
    const TCGETS: usize = 0x5401;
    let mut settings = [0u8; 64];
    let start = settings.as_mut_ptr() as usize;
    // SAFETY: `struct termios` of the kernel has 36 bytes.
    unsafe { call(IOCTL, [fd as usize, TCGETS, start, 0, 0, 0]).is_ok() }
}

/// Nanoseconds since 1970.
pub fn now() -> i128 {
    clock(0)
}

/// Nanoseconds that a clock shows.
pub fn clock(number: usize) -> i128 {
    let mut time = [0i64; 2];
    // SAFETY: `struct timespec` is two words.
    let _ = unsafe {
        call(
            CLOCK_GETTIME,
            [number, time.as_mut_ptr() as usize, 0, 0, 0, 0],
        )
    };
    nanoseconds((time[0], time[1] as u32))
}

/// A time in nanoseconds.
pub fn nanoseconds((seconds, rest): (i64, u32)) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

/// Makes a directory.
///
/// # Safety
/// `path` ends with a zero.
pub unsafe fn make_directory(path: *const u8) {
    // SAFETY: the kernel reads up to the zero.
    let _ = unsafe { call(MKDIR, [path as usize, 0o700, 0, 0, 0, 0]) };
}

/// Removes a file.
///
/// # Safety
/// `path` ends with a zero.
pub unsafe fn remove(path: *const u8) {
    // SAFETY: the kernel reads up to the zero.
    let _ = unsafe { call(UNLINK, [path as usize, 0, 0, 0, 0, 0]) };
}

/// Gives the file that this process runs one more name, if it lies on the same file system.
///
/// # Safety
/// `path` ends with a zero.
pub unsafe fn link_program(path: *const u8) {
    const AT_FDCWD: usize = -100isize as usize;
    const FOLLOW: usize = 0x400;
    let program = c"/proc/self/exe".as_ptr() as usize;
    // SAFETY: the kernel reads up to the zeros.
    let _ = unsafe {
        call(
            LINKAT,
            [AT_FDCWD, program, AT_FDCWD, path as usize, FOLLOW, 0],
        )
    };
}

/// Gives a file another name, whatever has it.
///
/// # Safety
/// Both paths end with a zero.
pub unsafe fn rename(old: *const u8, new: *const u8) -> Result<(), Errno> {
    // SAFETY: the kernel reads up to the zeros.
    unsafe { call(RENAME, [old as usize, new as usize, 0, 0, 0, 0]).map(|_| ()) }
}
