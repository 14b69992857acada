//! `<fcntl.h>`: opening files.
//!
//! The mode of `open` is passed on whether the caller gave one or not: for the callee of a
//! variadic function it is just another register.

use super::model;
use crate::files::AT_FDCWD;

model! {
    fn open(path: *const u8, flags: i32, mode: u32) -> i32;
    after |runtime, call, fd| {
        call.fix(runtime, "pll");
        // SAFETY: the real function took it for a path.
        unsafe { runtime.opened(fd, AT_FDCWD, path, flags) }
    }
}

model! {
    fn open64(path: *const u8, flags: i32, mode: u32) -> i32;
    after |runtime, call, fd| {
        call.fix(runtime, "pll");
        // SAFETY: the real function took it for a path.
        unsafe { runtime.opened(fd, AT_FDCWD, path, flags) }
    }
}

model! {
    fn openat(directory: i32, path: *const u8, flags: i32, mode: u32) -> i32;
    after |runtime, call, fd| {
        call.fix(runtime, "lpll");
        // SAFETY: the real function took it for a path.
        unsafe { runtime.opened(fd, directory, path, flags) }
    }
}

model! {
    fn openat64(directory: i32, path: *const u8, flags: i32, mode: u32) -> i32;
    after |runtime, call, fd| {
        call.fix(runtime, "lpll");
        // SAFETY: the real function took it for a path.
        unsafe { runtime.opened(fd, directory, path, flags) }
    }
}
