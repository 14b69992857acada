//! `<fcntl.h>`: opening files.
//!
//! The mode of `open` is passed on whether the caller gave one or not: for the callee of a
//! variadic function it is just another register.

use super::model;
use crate::calls::Call;
use crate::files::AT_FDCWD;
use crate::runtime::Runtime;

/// A file was opened, or could not be.
fn opened(
    runtime: &mut Runtime,
    call: &Call,
    fd: i32,
    (directory, path, flags): (i32, *const u8, i32),
) {
    // SAFETY: the real function took it for a path.
    unsafe {
        runtime.named(path, fd >= 0, call.site());
        runtime.opened(fd, directory, path, flags);
    }
}

/// The models of `fcntl`: a descriptor may be duplicated.
macro_rules! control_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(fd: i32, command: i32, argument: u64) -> i32;
            after |runtime, call, result| {
                const F_DUPFD: i32 = 0;
                const F_DUPFD_CLOEXEC: i32 = 1030;
                call.fix(runtime, "lll");
                if matches!(command, F_DUPFD | F_DUPFD_CLOEXEC) {
                    runtime.inputs.duplicate(fd, result);
                }
            }
        }
    )* };
}

control_models! { fcntl fcntl64 }

model! {
    fn open(path: *const u8, flags: i32, mode: u32) -> i32;
    after |runtime, call, fd| {
        call.fix(runtime, "pll");
        opened(runtime, call, fd, (AT_FDCWD, path, flags));
    }
}

model! {
    fn open64(path: *const u8, flags: i32, mode: u32) -> i32;
    after |runtime, call, fd| {
        call.fix(runtime, "pll");
        opened(runtime, call, fd, (AT_FDCWD, path, flags));
    }
}

model! {
    fn openat(directory: i32, path: *const u8, flags: i32, mode: u32) -> i32;
    after |runtime, call, fd| {
        call.fix(runtime, "lpll");
        opened(runtime, call, fd, (directory, path, flags));
    }
}

model! {
    fn openat64(directory: i32, path: *const u8, flags: i32, mode: u32) -> i32;
    after |runtime, call, fd| {
        call.fix(runtime, "lpll");
        opened(runtime, call, fd, (directory, path, flags));
    }
}
