//! Functions that open or look at a path which may be that of a random device.

use crate::capture::Use;
use crate::files::{flags, flags_of};

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
pub unsafe fn use_of_mode(mode: *const u8) -> Use {
    // SAFETY: as promised by the caller.
    match unsafe { flags_of(mode) } & flags::TRUNC {
        0 => Use::Content,
        _ => Use::Write,
    }
}

/// What a function of a path gives back. Only where it has succeeded the path is known to be
/// readable.
pub trait PathResult {
    /// Whether the path was found.
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

/// See [`crate::called`].
#[macro_export]
macro_rules! opening_functions {
    ($take:ident) => {
        $take! {
            fn open(path: *const u8, how: i32, mode: u32) -> i32 { $crate::called::use_of_flags(how), $crate::files::AT_FDCWD, path }
            fn open64(path: *const u8, how: i32, mode: u32) -> i32 { $crate::called::use_of_flags(how), $crate::files::AT_FDCWD, path }
            fn openat(directory: i32, path: *const u8, how: i32, mode: u32) -> i32 { $crate::called::use_of_flags(how), directory, path }
            fn openat64(directory: i32, path: *const u8, how: i32, mode: u32) -> i32 { $crate::called::use_of_flags(how), directory, path }
            fn stat(path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn stat64(path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Status, $crate::files::AT_FDCWD, path }
            fn lstat(path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn lstat64(path: *const u8, record: *mut u8) -> i32 { $crate::capture::Use::Name, $crate::files::AT_FDCWD, path }
            fn fstatat(directory: i32, path: *const u8, record: *mut u8, how: i32) -> i32 { $crate::called::use_of_question(how), directory, path }
            fn fstatat64(directory: i32, path: *const u8, record: *mut u8, how: i32) -> i32 { $crate::called::use_of_question(how), directory, path }
            fn statx(directory: i32, path: *const u8, how: i32, mask: u32, record: *mut u8) -> i32 { $crate::called::use_of_question(how), directory, path }
            fn fopen(path: *const u8, mode: *const u8) -> *mut File { $crate::called::use_of_mode(mode), $crate::files::AT_FDCWD, path }
            fn fopen64(path: *const u8, mode: *const u8) -> *mut File { $crate::called::use_of_mode(mode), $crate::files::AT_FDCWD, path }
            fn freopen(path: *const u8, mode: *const u8, old: *mut File) -> *mut File { $crate::called::use_of_mode(mode), $crate::files::AT_FDCWD, path }
            fn freopen64(path: *const u8, mode: *const u8, old: *mut File) -> *mut File { $crate::called::use_of_mode(mode), $crate::files::AT_FDCWD, path }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_opening {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $use:expr, $directory:expr, $path:ident })*) => { $(
        #[inline(always)]
        #[allow(unused_unsafe)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller.
            unsafe {
                if $crate::capture::active() {
                    $crate::capture::uses($use, $directory, $path);
                }
                let result = real::$name($($argument),*);
                if $crate::called::PathResult::has_succeeded(&result) {
                    $crate::chance::opened($path);
                }
                result
            }
        }
    )* };
}
