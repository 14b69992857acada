//! `<sys/stat.h>`: how large a file is, before it is read.

use super::model;
use crate::calls::Call;
use crate::files::AT_FDCWD;
use crate::runtime::Runtime;

/// What one of these functions wrote: where, how large it is, and where in it the mode (two
/// bytes at least) and the size (eight) lie.
#[derive(Clone, Copy)]
struct Record {
    start: u64,
    bytes: u64,
    mode: u64,
    size: u64,
    /// Reads the device and the number of the file.
    identity: unsafe fn(u64) -> (u64, u64),
}

/// # Safety
/// There is a `struct stat`.
unsafe fn stat_identity(start: u64) -> (u64, u64) {
    let words = start as *const u64;
    // SAFETY: as promised by the caller.
    unsafe { (words.read_unaligned(), words.add(1).read_unaligned()) }
}

/// # Safety
/// There is a `struct statx`.
unsafe fn statx_identity(start: u64) -> (u64, u64) {
    const NUMBER: u64 = 32;
    const MAJOR: u64 = 136;
    const MINOR: u64 = 140;
    // SAFETY: as promised by the caller.
    let (number, major, minor) = unsafe {
        (
            ((start + NUMBER) as *const u64).read_unaligned(),
            u64::from(((start + MAJOR) as *const u32).read_unaligned()),
            u64::from(((start + MINOR) as *const u32).read_unaligned()),
        )
    };
    // As glibc puts them together.
    let low = (major & 0xfff) << 8 | minor & 0xff;
    let high = (major & !0xfff) << 32 | (minor & !0xff) << 12;
    (high | low, number)
}

/// `struct stat` of x86-64.
fn stat_record(start: *mut u8) -> Record {
    Record {
        start: start as u64,
        bytes: 144,
        mode: 24,
        size: 48,
        identity: stat_identity,
    }
}

/// `struct statx`.
fn statx_record(start: *mut u8) -> Record {
    Record {
        start: start as u64,
        bytes: 256,
        mode: 28,
        size: 40,
        identity: statx_identity,
    }
}

/// Which file was asked about.
#[derive(Clone, Copy)]
enum Which {
    Open(i32),
    Named(i32, *const u8),
}

/// The file of a directory and a path; an empty path is the directory itself.
///
/// # Safety
/// `path` is null or ends with a zero.
unsafe fn which(directory: i32, path: *const u8) -> Which {
    // SAFETY: as promised by the caller.
    if path.is_null() || unsafe { path.read() } == 0 {
        Which::Open(directory)
    } else {
        Which::Named(directory, path)
    }
}

/// The record of a file was written: its size may be that of an input.
fn written(runtime: &mut Runtime, call: &Call, which: Which, record: Record, result: i32) {
    if result != 0 {
        return;
    }
    runtime.shadow.clear(record.start, record.bytes);
    // SAFETY: the real function has just written the record.
    let (mode, size) = unsafe {
        (
            ((record.start + record.mode) as *const u16).read_unaligned(),
            ((record.start + record.size) as *const u64).read_unaligned(),
        )
    };
    const KIND: u16 = 0o170000;
    const REGULAR: u16 = 0o100000;
    if mode & KIND != REGULAR {
        return;
    }
    let channel = match which {
        Which::Open(fd) => runtime.inputs.of_descriptor(fd),
        // SAFETY: the real function took it for a path.
        Which::Named(directory, path) => unsafe { runtime.asked_about(directory, path, size) },
    };
    match channel {
        Some(channel) => runtime.label_size(channel, record.start + record.size, size),
        // SAFETY: as above.
        None => runtime.told_size_of(unsafe { (record.identity)(record.start) }, call.site()),
    }
}

macro_rules! path_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(path: *const u8, record: *mut u8) -> i32;
            after |runtime, call, result| {
                call.fix(runtime, "pp");
                // SAFETY: the real function took it for a path.
                unsafe { runtime.named(path, result == 0, call.site()) };
                written(runtime, call, Which::Named(AT_FDCWD, path), stat_record(record), result);
            }
        }
    )* };
}

path_models! { stat stat64 lstat lstat64 }

macro_rules! descriptor_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(fd: i32, record: *mut u8) -> i32;
            after |runtime, call, result| {
                call.fix(runtime, "lp");
                written(runtime, call, Which::Open(fd), stat_record(record), result);
            }
        }
    )* };
}

descriptor_models! { fstat fstat64 }

macro_rules! directory_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(directory: i32, path: *const u8, record: *mut u8, flags: i32) -> i32;
            after |runtime, call, result| {
                call.fix(runtime, "lppl");
                // SAFETY: the real function took it for a path.
                let which = unsafe {
                    runtime.named(path, result == 0, call.site());
                    which(directory, path)
                };
                written(runtime, call, which, stat_record(record), result);
            }
        }
    )* };
}

directory_models! { fstatat fstatat64 }

model! {
    fn statx(directory: i32, path: *const u8, flags: i32, mask: u32, record: *mut u8) -> i32;
    after |runtime, call, result| {
        call.fix(runtime, "lpllp");
        // SAFETY: the real function took it for a path.
        let which = unsafe {
            runtime.named(path, result == 0, call.site());
            which(directory, path)
        };
        written(runtime, call, which, statx_record(record), result);
    }
}
