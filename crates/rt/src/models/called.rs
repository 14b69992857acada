//! The functions that models call: libc's, but watched on their way where the process is
//! captured. What is defined here stands for the function of the same name in [`real`].
//!
//! On `unsafe`: each function here asks what the real one asks.
#![allow(missing_docs, non_snake_case, clippy::missing_safety_doc)]

use nearmiss_abi::chance::EXECUTES;

use super::real;
pub use super::real::*;
use super::real::{IoVector, Message};
use super::stdio::flags_of;
pub use super::stdio_flow::fdopen;
use crate::capture::stdin::{self, Given};
use crate::capture::{self, Use};
use crate::chance;
use crate::files::{AT_FDCWD, flags};
use crate::streams::File;

/// How a path is used that is opened with these flags.
pub fn use_of_flags(how: i32) -> Use {
    const O_PATH: i32 = 0o10000000;
    const O_TMPFILE: i32 = 0o20000000;
    const O_NOFOLLOW: i32 = 0o400000;
    if how & flags::TRUNC != 0 {
        Use::Write
    } else if how & O_PATH != 0 && how & O_NOFOLLOW != 0 {
        Use::Name
    } else if how & (O_PATH | O_TMPFILE) != 0 {
        Use::Status
    } else {
        Use::Content
    }
}

/// How a path is used that is asked about with these flags of the `*at` functions.
pub fn use_of_question(how: i32) -> Use {
    const AT_SYMLINK_NOFOLLOW: i32 = 0x100;
    match how & AT_SYMLINK_NOFOLLOW {
        0 => Use::Status,
        _ => Use::Name,
    }
}

/// How a path is used that is opened as a stream.
///
/// # Safety
/// `mode` ends with a zero.
unsafe fn use_of_mode(mode: *const u8) -> Use {
    // SAFETY: as promised by the caller.
    match unsafe { flags_of(mode) } & flags::TRUNC {
        0 => Use::Content,
        _ => Use::Write,
    }
}

/// What a function of a path gives back. Only where it has succeeded the path is known to be
/// readable.
trait PathResult {
    fn has_succeeded(&self) -> bool;
}

impl PathResult for i32 {
    fn has_succeeded(&self) -> bool {
        *self >= 0
    }
}

impl<T> PathResult for *mut T {
    fn has_succeeded(&self) -> bool {
        !self.is_null()
    }
}

/// Functions of paths: how the path is used, then the real function.
macro_rules! path_functions {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty: $use:expr, $directory:expr, $path:ident;)*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            if capture::active() {
                capture::uses($use, $directory, $path);
            }
            // SAFETY: see the module's comment.
            let result = unsafe { real::$name($($argument),*) };
            if result.has_succeeded() {
                chance::opened($path);
            }
            result
        }
    )* };
}

path_functions! {
    fn open(path: *const u8, how: i32, mode: u32) -> i32: use_of_flags(how), AT_FDCWD, path;
    fn open64(path: *const u8, how: i32, mode: u32) -> i32: use_of_flags(how), AT_FDCWD, path;
    fn openat(directory: i32, path: *const u8, how: i32, mode: u32) -> i32: use_of_flags(how), directory, path;
    fn openat64(directory: i32, path: *const u8, how: i32, mode: u32) -> i32: use_of_flags(how), directory, path;
    fn stat(path: *const u8, record: *mut u8) -> i32: Use::Status, AT_FDCWD, path;
    fn stat64(path: *const u8, record: *mut u8) -> i32: Use::Status, AT_FDCWD, path;
    fn lstat(path: *const u8, record: *mut u8) -> i32: Use::Name, AT_FDCWD, path;
    fn lstat64(path: *const u8, record: *mut u8) -> i32: Use::Name, AT_FDCWD, path;
    fn fstatat(directory: i32, path: *const u8, record: *mut u8, how: i32) -> i32: use_of_question(how), directory, path;
    fn fstatat64(directory: i32, path: *const u8, record: *mut u8, how: i32) -> i32: use_of_question(how), directory, path;
    fn statx(directory: i32, path: *const u8, how: i32, mask: u32, record: *mut u8) -> i32: use_of_question(how), directory, path;
    // SAFETY: what was given as a mode.
    fn fopen(path: *const u8, mode: *const u8) -> *mut File: unsafe { use_of_mode(mode) }, AT_FDCWD, path;
    // SAFETY: what was given as a mode.
    fn fopen64(path: *const u8, mode: *const u8) -> *mut File: unsafe { use_of_mode(mode) }, AT_FDCWD, path;
    // SAFETY: what was given as a mode.
    fn freopen(path: *const u8, mode: *const u8, old: *mut File) -> *mut File: unsafe { use_of_mode(mode) }, AT_FDCWD, path;
    // SAFETY: what was given as a mode.
    fn freopen64(path: *const u8, mode: *const u8, old: *mut File) -> *mut File: unsafe { use_of_mode(mode) }, AT_FDCWD, path;
}

/// Functions that execute another program, which may read any variable.
macro_rules! executes {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(: $path:ident)?;)*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> i32 {
            $(capture::uses(Use::Status, AT_FDCWD, $path);)?
            capture::chance(0, EXECUTES.as_bytes(), &[1]);
            // SAFETY: see the module's comment.
            unsafe { real::$name($($argument),*) }
        }
    )* };
}

executes! {
    fn execve(path: *const u8, arguments: *const *mut u8, environment: *const *mut u8): path;
    fn execv(path: *const u8, arguments: *const *mut u8): path;
    fn execvp(name: *const u8, arguments: *const *mut u8);
    fn execvpe(name: *const u8, arguments: *const *mut u8, environment: *const *mut u8);
    fn fexecve(fd: i32, arguments: *const *mut u8, environment: *const *mut u8);
}

/// Functions that end the process at once.
macro_rules! ends {
    ($($name:ident)*) => { $(
        #[inline(always)]
        pub unsafe fn $name(status: i32) {
            capture::ended(status);
            // SAFETY: see the module's comment.
            unsafe { real::$name(status) }
        }
    )* };
}

ends! { _exit _Exit quick_exit }

#[inline(always)]
pub unsafe fn fork() -> i32 {
    let number = chance::before_fork();
    // SAFETY: see the module's comment.
    let child = unsafe { real::fork() };
    if child == 0 {
        chance::in_child(number);
    }
    child
}

/// Functions that read from a descriptor into a buffer.
macro_rules! reads {
    ($(fn $name:ident($fd:ident, $buffer:ident, $size:ident $(, $argument:ident: $type:ty)*);)*) => { $(
        #[inline(always)]
        pub unsafe fn $name($fd: i32, $buffer: *mut u8, $size: usize $(, $argument: $type)*) -> isize {
            // SAFETY: see the module's comment.
            unsafe {
                let got = real::$name($fd, $buffer, $size $(, $argument)*);
                stdin::received($fd, $buffer, got);
                chance::read_from($fd, $buffer, got);
                got
            }
        }
    )* };
}

reads! {
    fn read(fd, buffer, size);
    fn __read_chk(fd, buffer, size, room: usize);
}

/// Functions that read from a socket; bytes that are only looked at come again.
macro_rules! receives {
    ($(fn $name:ident($fd:ident, $buffer:ident, $size:ident $(, $room:ident)?; $how:ident $(, $argument:ident: $type:ty)*);)*) => { $(
        #[inline(always)]
        pub unsafe fn $name($fd: i32, $buffer: *mut u8, $size: usize $(, $room: usize)?, $how: i32 $(, $argument: $type)*) -> isize {
            // SAFETY: see the module's comment.
            unsafe {
                let got = real::$name($fd, $buffer, $size $(, $room)?, $how $(, $argument)*);
                if $how & MSG_PEEK == 0 {
                    stdin::received($fd, $buffer, got.min($size as isize));
                }
                got
            }
        }
    )* };
}

const MSG_PEEK: i32 = 2;

receives! {
    fn recv(fd, buffer, size; how);
    fn __recv_chk(fd, buffer, size, known; how);
    fn recvfrom(fd, buffer, size; how, address: *mut u8, room: *mut u32);
    fn __recvfrom_chk(fd, buffer, size, known; how, address: *mut u8, room: *mut u32);
}

#[inline(always)]
pub unsafe fn recvmsg(fd: i32, message: *mut Message, how: i32) -> isize {
    // SAFETY: see the module's comment.
    unsafe {
        let got = real::recvmsg(fd, message, how);
        if stdin::is_watched() && got > 0 && how & MSG_PEEK == 0 {
            stdin::received_parts(fd, (*message).vectors, (*message).count, got);
        }
        got
    }
}

#[inline(always)]
pub unsafe fn readv(fd: i32, vectors: *const IoVector, count: i32) -> isize {
    // SAFETY: see the module's comment.
    unsafe {
        let got = real::readv(fd, vectors, count);
        if stdin::is_watched() && got > 0 {
            stdin::received_parts(fd, vectors, count.max(0) as usize, got);
        }
        got
    }
}

/// Functions that read from a stream: the stream, and what they gave the program.
macro_rules! stream_functions {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty: $file:expr, |$returned:ident| $given:expr;)*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: see the module's comment.
            unsafe {
                if !stdin::is_watched() {
                    return real::$name($($argument),*);
                }
                let file: *mut File = $file;
                let before = stdin::before(file);
                let $returned = real::$name($($argument),*);
                stdin::after(file, before, $given);
                $returned
            }
        }
    )* };
}

/// What `getline` gave.
///
/// # Safety
/// As after a call of it.
unsafe fn own_line(line: *mut *mut u8, got: isize) -> Given {
    if got <= 0 || line.is_null() {
        return Given::Bytes(core::ptr::null(), 0);
    }
    // SAFETY: as promised by the caller.
    Given::Bytes(unsafe { line.read() }, got as usize)
}

stream_functions! {
    fn fgets(buffer: *mut u8, size: i32, file: *mut File) -> *mut u8: file, |line| Given::Line(line);
    fn fgets_unlocked(buffer: *mut u8, size: i32, file: *mut File) -> *mut u8: file, |line| Given::Line(line);
    fn __fgets_chk(buffer: *mut u8, room: usize, size: i32, file: *mut File) -> *mut u8: file, |line| Given::Line(line);
    fn __fgets_unlocked_chk(buffer: *mut u8, room: usize, size: i32, file: *mut File) -> *mut u8: file, |line| Given::Line(line);
    fn getchar() -> i32: real::stdin, |byte| Given::Byte(byte);
    fn getchar_unlocked() -> i32: real::stdin, |byte| Given::Byte(byte);
    fn getline(line: *mut *mut u8, room: *mut usize, file: *mut File) -> isize: file, |got| own_line(line, got);
    fn getdelim(line: *mut *mut u8, room: *mut usize, end: i32, file: *mut File) -> isize: file, |got| own_line(line, got);
    fn __getdelim(line: *mut *mut u8, room: *mut usize, end: i32, file: *mut File) -> isize: file, |got| own_line(line, got);
}

/// Functions that give one byte of a stream.
macro_rules! byte_functions {
    ($($name:ident)*) => { $(
        #[inline(always)]
        pub unsafe fn $name(file: *mut File) -> i32 {
            // SAFETY: see the module's comment.
            unsafe {
                let before = stdin::before(file);
                let byte = real::$name(file);
                stdin::after(file, before, Given::Byte(byte));
                chance::byte_from_stream(file, byte)
            }
        }
    )* };
}

byte_functions! { getc fgetc _IO_getc getc_unlocked fgetc_unlocked }

/// `fread` says how many whole items came; asked for bytes it says how many of those, and is
/// otherwise the same.
macro_rules! item_functions {
    ($(fn $name:ident(buffer $(, $room:ident)?);)*) => { $(
        #[inline(always)]
        pub unsafe fn $name(buffer: *mut u8, $($room: usize,)? size: usize, count: usize, file: *mut File) -> usize {
            // SAFETY: see the module's comment.
            unsafe {
                let bytes = size.wrapping_mul(count);
                if !stdin::is_watched() || bytes == 0 {
                    let items = real::$name(buffer, $($room,)? size, count, file);
                    chance::read_from_stream(file, buffer, items.wrapping_mul(size));
                    return items;
                }
                let before = stdin::before(file);
                let got = real::$name(buffer, $($room,)? 1, bytes, file);
                stdin::after(file, before, Given::Bytes(buffer, got));
                chance::read_from_stream(file, buffer, got);
                if got == bytes { count } else { got.checked_div(size).unwrap_or(0) }
            }
        }
    )* };
}

item_functions! {
    fn fread(buffer);
    fn fread_unlocked(buffer);
    fn __fread_chk(buffer, room);
    fn __fread_unlocked_chk(buffer, room);
}
