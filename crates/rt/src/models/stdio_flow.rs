//! Streams over pipes and sockets that are inputs.
//!
//! libc reads ahead of what the program asks for, from the kernel and into its own buffer, where the bytes of an
//! invented input must already stand. So such a stream is one of functions (`fopencookie`), which read as the model of
//! `read` does. It keeps its descriptor, for `fileno` and for the runtime.
//!
//! On `unsafe`: each function here asks what the real one asks.

use core::ptr;

use nearmiss_abi::site::SiteId;

use super::{flags_of, real};
use crate::files::flags;
use crate::streams::{File, set_descriptor};
use crate::turn;

/// The functions of a stream, as `fopencookie` takes them.
#[repr(C)]
pub struct Functions {
    read: unsafe extern "C" fn(*mut u8, *mut u8, usize) -> isize,
    write: unsafe extern "C" fn(*mut u8, *const u8, usize) -> isize,
    seek: unsafe extern "C" fn(*mut u8, *mut i64, i32) -> i32,
    close: unsafe extern "C" fn(*mut u8) -> i32,
}

const FUNCTIONS: Functions = Functions {
    read,
    write,
    seek,
    close,
};

/// `fdopen`.
///
/// # Safety
/// As for the real function.
pub unsafe fn fdopen(fd: i32, mode: *const u8) -> *mut File {
    let is_input = turn::with(false, |runtime| runtime.is_flow(fd));
    // SAFETY: as promised by the caller; the descriptor stands for the cookie.
    unsafe {
        if !is_input || flags_of(mode) & flags::WRONLY != 0 {
            return real::fdopen(fd, mode);
        }
        let stream = real::fopencookie(ptr::without_provenance_mut(fd as usize), mode, FUNCTIONS);
        if !stream.is_null() {
            set_descriptor(stream, fd);
            turn::with((), |runtime| {
                if let Some(source) = runtime.source(fd) {
                    (runtime.streams).add(stream, source.channel, source.offset, false);
                }
            });
        }
        stream
    }
}

unsafe extern "C" fn read(cookie: *mut u8, buffer: *mut u8, size: usize) -> isize {
    let fd = cookie.addr() as i32;
    let source = turn::with(None, |runtime| runtime.source(fd));
    // SAFETY: the stream's buffer has room; the bytes that came are in it.
    unsafe {
        let got = real::read(fd, buffer, size);
        if let Some(source) = source.filter(|_| got > 0) {
            turn::with((), |runtime| {
                let came = (buffer as u64, got as u64);
                runtime.received(Some(source), came, SiteId::NONE);
            });
        }
        got
    }
}

unsafe extern "C" fn write(cookie: *mut u8, bytes: *const u8, size: usize) -> isize {
    // SAFETY: the stream gives what it holds.
    unsafe { real::write(cookie.addr() as i32, bytes, size).max(0) }
}

unsafe extern "C" fn seek(cookie: *mut u8, offset: *mut i64, whence: i32) -> i32 {
    // SAFETY: the stream's offset is readable and writable.
    unsafe {
        // A pipe cannot seek: the kernel's error is the stream's.
        let position = real::lseek(cookie.addr() as i32, *offset, whence);
        offset.write(position);
        if position < 0 { -1 } else { 0 }
    }
}

unsafe extern "C" fn close(cookie: *mut u8) -> i32 {
    // SAFETY: the stream is closed once.
    unsafe { real::close(cookie.addr() as i32) }
}
