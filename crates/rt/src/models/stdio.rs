//! `<stdio.h>`: opening and closing streams.

use super::model;
pub use crate::base_files::flags_of;
use crate::calls::Call;
use crate::files::AT_FDCWD;
use crate::runtime::Runtime;
use crate::streams::{File, Told, descriptor, tell};

/// A stream was opened by its path.
fn opened(
    runtime: &mut Runtime,
    call: &Call,
    file: *mut File,
    (path, mode): (*const u8, *const u8),
) {
    // SAFETY: the real function took it for a path.
    unsafe { runtime.named(path, !file.is_null(), call.site()) };
    if file.is_null() || path.is_null() {
        return;
    }
    // SAFETY: the real function took them for a path and a mode and made a stream.
    unsafe {
        let fd = descriptor(file);
        runtime.opened(fd, AT_FDCWD, path, flags_of(mode));
        follow(runtime, file, fd);
    }
}

/// The stream leads to the channel that its descriptor leads to.
///
/// # Safety
/// `file` is an open stream.
pub unsafe fn follow(runtime: &mut Runtime, file: *mut File, fd: i32) {
    let channel = runtime.inputs.of_descriptor(fd);
    if channel.is_some_and(|channel| runtime.inputs.channel(channel).room != 0) {
        // A stream over a pipe follows it from the beginning or not at all: see `stdio_flow`.
        return;
    }
    runtime.streams.remove(file);
    let Some(channel) = channel else {
        return;
    };
    let known = *runtime.inputs.channel(channel);
    // SAFETY: as promised by the caller.
    let (position, seekable) = match unsafe { tell(file) } {
        Told::At(position) => (position.wrapping_sub(known.start), true),
        Told::Nothing => (known.position, false),
    };
    runtime.streams.add(file, channel, position, seekable);
}

model! {
    fn fopen(path: *const u8, mode: *const u8) -> *mut File;
    after |runtime, call, file| {
        call.fix(runtime, "pp");
        opened(runtime, call, file, (path, mode));
    }
}

model! {
    fn fopen64(path: *const u8, mode: *const u8) -> *mut File;
    after |runtime, call, file| {
        call.fix(runtime, "pp");
        opened(runtime, call, file, (path, mode));
    }
}

model! {
    fn freopen(path: *const u8, mode: *const u8, old: *mut File) -> *mut File;
    before |runtime, _| runtime.streams.remove(old);
    after |runtime, call, (), file| {
        call.fix(runtime, "ppp");
        opened(runtime, call, file, (path, mode));
    }
}

model! {
    fn freopen64(path: *const u8, mode: *const u8, old: *mut File) -> *mut File;
    before |runtime, _| runtime.streams.remove(old);
    after |runtime, call, (), file| {
        call.fix(runtime, "ppp");
        opened(runtime, call, file, (path, mode));
    }
}

model! {
    fn fdopen(fd: i32, mode: *const u8) -> *mut File;
    after |runtime, call, file| {
        call.fix(runtime, "lp");
        if !file.is_null() {
            // SAFETY: the real function made a stream.
            unsafe { follow(runtime, file, fd) };
        }
    }
}

model! {
    fn fclose(file: *mut File) -> i32;
    before |runtime, call| {
        call.fix(runtime, "p");
        if !file.is_null() {
            runtime.streams.remove(file);
            runtime.stream_buffers.remove(file);
            // SAFETY: the program closes an open stream.
            let fd = unsafe { descriptor(file) };
            runtime.inputs.set_descriptor(fd, None);
        }
    }
}
