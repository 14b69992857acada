//! `<unistd.h>` and `<sys/uio.h>`: descriptors and processes.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::term::CONCRETE;

use super::model;
use super::real::IoVector;
use crate::calls::Call;
use crate::input::Source;
use crate::runtime::Runtime;
use crate::thread::Thread;

/// A read of `size` bytes returned `got`: labels the bytes and, as that of `function`, the count.
fn read_bytes(
    runtime: &mut Runtime,
    (call, function): (&Call, u64),
    source: Option<Source>,
    (buffer, size): (*mut u8, usize),
    got: isize,
) {
    received(runtime, call, source, buffer, got);
    returns_count(runtime, (call, function), source, size, got);
}

/// The label of the count that `function` returns.
fn returns_count(
    runtime: &mut Runtime,
    (call, function): (&Call, u64),
    source: Option<Source>,
    size: usize,
    got: isize,
) {
    let Some(source) = source else {
        return;
    };
    if got < 0 {
        return;
    }
    let label = runtime.count_read(source, size as u64, got as u64, call.site());
    if label != CONCRETE {
        Thread::current().set_returned(function, label);
    }
}

/// `got` bytes came to `buffer`.
fn received(
    runtime: &mut Runtime,
    call: &Call,
    source: Option<Source>,
    buffer: *mut u8,
    got: isize,
) {
    if got > 0 {
        // SAFETY: the real function has just written them.
        unsafe { runtime.received(source, (buffer as u64, got as u64), call.site()) };
    }
}

/// The source of a read at an offset of the program's choice.
fn source_at(runtime: &mut Runtime, fd: i32, offset: i64) -> Option<Source> {
    let channel = runtime.inputs.of_descriptor(fd)?;
    let start = runtime.inputs.channel(channel).start;
    Some(Source {
        channel,
        offset: (offset as u64).wrapping_sub(start),
        seekable: true,
    })
}

model! {
    fn close(fd: i32) -> i32;
    after |runtime, call, _| {
        call.fix(runtime, "l");
        runtime.inputs.set_descriptor(fd, None);
    }
}

model! {
    fn dup(fd: i32) -> i32;
    after |runtime, call, new| {
        call.fix(runtime, "l");
        let channel = runtime.inputs.of_descriptor(fd);
        runtime.inputs.set_descriptor(new, channel);
    }
}

model! {
    fn dup2(from: i32, to: i32) -> i32;
    after |runtime, call, new| {
        call.fix(runtime, "ll");
        let channel = runtime.inputs.of_descriptor(from);
        runtime.inputs.set_descriptor(new, channel);
    }
}

model! {
    fn read(fd: i32, buffer: *mut u8, size: usize) -> isize;
    before |runtime, _| runtime.inputs.source(fd);
    after |runtime, call, source, got| {
        call.fix(runtime, "lpl");
        let function = read as *const () as u64;
        read_bytes(runtime, (call, function), source, (buffer, size), got);
    }
}

model! {
    fn __read_chk(fd: i32, buffer: *mut u8, size: usize, room: usize) -> isize;
    before |runtime, _| runtime.inputs.source(fd);
    after |runtime, call, source, got| {
        call.fix(runtime, "lpll");
        let function = __read_chk as *const () as u64;
        read_bytes(runtime, (call, function), source, (buffer, size), got);
    }
}

model! {
    fn pread(fd: i32, buffer: *mut u8, size: usize, offset: i64) -> isize;
    after |runtime, call, got| {
        call.fix(runtime, "lpll");
        let source = source_at(runtime, fd, offset);
        let function = pread as *const () as u64;
        read_bytes(runtime, (call, function), source, (buffer, size), got);
    }
}

model! {
    fn pread64(fd: i32, buffer: *mut u8, size: usize, offset: i64) -> isize;
    after |runtime, call, got| {
        call.fix(runtime, "lpll");
        let source = source_at(runtime, fd, offset);
        let function = pread64 as *const () as u64;
        read_bytes(runtime, (call, function), source, (buffer, size), got);
    }
}

model! {
    fn readv(fd: i32, vectors: *const IoVector, count: i32) -> isize;
    before |runtime, _| runtime.inputs.source(fd);
    after |runtime, call, source, got| {
        call.fix(runtime, "lpl");
        let first = source;
        let mut source = source;
        let mut left = got.max(0) as usize;
        let mut size = 0usize;
        for index in 0..count.max(0) as usize {
            // SAFETY: the real function took them for vectors.
            let vector = unsafe { vectors.add(index).read() };
            let part = vector.size.min(left);
            received(runtime, call, source, vector.start, part as isize);
            if let Some(source) = &mut source {
                source.offset += part as u64;
            }
            left -= part;
            size = size.saturating_add(vector.size);
        }
        returns_count(runtime, (call, readv as *const () as u64), first, size, got);
    }
}

model! {
    fn fork() -> i32;
    after |runtime, call, _| {
        // Only the parent comes here: the child does not record.
        runtime.trace.note(NoteKind::Fork, call.site(), 1);
    }
}
