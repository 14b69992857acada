//! `<unistd.h>` and `<sys/uio.h>`: descriptors and processes.

use nearmiss_abi::channel::ChannelKind;
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
pub fn received(
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

/// `got` bytes came to several buffers, one after the other. How many there was room for.
pub fn received_parts(
    runtime: &mut Runtime,
    call: &Call,
    mut source: Option<Source>,
    (vectors, count): (*const IoVector, usize),
    got: isize,
) -> usize {
    let mut left = got.max(0) as usize;
    let mut size = 0usize;
    for index in 0..count {
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
    size
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
        runtime.inputs.duplicate(fd, new);
    }
}

model! {
    fn dup2(from: i32, to: i32) -> i32;
    after |runtime, call, new| {
        call.fix(runtime, "ll");
        runtime.inputs.duplicate(from, new);
    }
}

model! {
    fn dup3(from: i32, to: i32, flags: i32) -> i32;
    after |runtime, call, new| {
        call.fix(runtime, "lll");
        runtime.inputs.duplicate(from, new);
    }
}

/// The two ends of a pipe were made.
fn made_pipe(runtime: &mut Runtime, ends: *const i32, result: i32) {
    if result == 0 {
        runtime.shadow.clear(ends as u64, 8);
        // SAFETY: the real function has just written them.
        let ends = unsafe { [ends.read(), ends.add(1).read()] };
        runtime.made_flow(&ends, ChannelKind::Pipe);
    }
}

model! {
    fn pipe(ends: *mut i32) -> i32;
    after |runtime, call, result| {
        call.fix(runtime, "p");
        made_pipe(runtime, ends, result);
    }
}

model! {
    fn pipe2(ends: *mut i32, flags: i32) -> i32;
    after |runtime, call, result| {
        call.fix(runtime, "pl");
        made_pipe(runtime, ends, result);
    }
}

model! {
    fn read(fd: i32, buffer: *mut u8, size: usize) -> isize;
    before |runtime, _| runtime.source(fd);
    after |runtime, call, source, got| {
        call.fix(runtime, "lpl");
        let function = read as *const () as u64;
        read_bytes(runtime, (call, function), source, (buffer, size), got);
    }
}

model! {
    fn __read_chk(fd: i32, buffer: *mut u8, size: usize, room: usize) -> isize;
    before |runtime, _| runtime.source(fd);
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
    before |runtime, _| runtime.source(fd);
    after |runtime, call, source, got| {
        call.fix(runtime, "lpl");
        let size = received_parts(runtime, call, source, (vectors, count.max(0) as usize), got);
        let function = readv as *const () as u64;
        returns_count(runtime, (call, function), source, size, got);
    }
}

model! {
    fn fork() -> i32;
    after |runtime, call, _| {
        // Only the parent comes here: the child does not record.
        runtime.trace.note(NoteKind::Fork, call.site(), 1);
    }
}

/// The models of functions that end the process at once.
macro_rules! exit_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(status: i32);
            before |runtime, call| {
                call.fix(runtime, "l");
                if runtime.trace.is_of_this_process() {
                    runtime.trace.set_exited(status);
                }
            }
        }
    )* };
}

exit_models! { _exit _Exit quick_exit }

/// The models of functions that execute another program.
macro_rules! execute_models {
    ($(fn $name:ident($($argument:ident: $type:ty),*);)*) => { $(
        model! {
            fn $name($($argument: $type),*) -> i32;
            before |runtime, _| runtime.trace.set_executed(true);
            after |runtime, _, (), _| runtime.trace.set_executed(false)
        }
    )* };
}

execute_models! {
    fn execve(path: *const u8, arguments: *const *mut u8, environment: *const *mut u8);
    fn execv(path: *const u8, arguments: *const *mut u8);
    fn execvp(name: *const u8, arguments: *const *mut u8);
    fn execvpe(name: *const u8, arguments: *const *mut u8, environment: *const *mut u8);
    fn fexecve(fd: i32, arguments: *const *mut u8, environment: *const *mut u8);
}
