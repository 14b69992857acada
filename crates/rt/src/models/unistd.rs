//! `<unistd.h>` and `<sys/uio.h>`: descriptors and processes.

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::term::{CONCRETE, Label};

use super::model;
use super::real::IoVector;
use crate::arrivals::Reading;
use crate::bounds::Span;
use crate::calls::Call;
use crate::formula::Word;
use crate::input::Source;
use crate::runtime::Runtime;
use crate::thread::Thread;

/// `size` bytes are about to be read to `buffer`, arguments number 2 and 1 of the call.
pub fn about_to_read(
    runtime: &mut Runtime,
    call: &Call,
    source: Option<Source>,
    (buffer, size): (*mut u8, usize),
) -> Reading {
    let to = Span {
        address: runtime.word(call.label(1), buffer as u64),
        size: runtime.word(call.label(2), size as u64),
        write: true,
        site: call.site(),
    };
    runtime.reading(source, &to)
}

/// A read returned `got`: labels the bytes and, as that of `function`, the count.
fn has_read(
    runtime: &mut Runtime,
    (call, function): (&Call, u64),
    reading: &Reading,
    buffer: *mut u8,
    got: isize,
) {
    received(runtime, call, reading.source, buffer, got);
    if got >= 0 {
        let label = runtime.count_read(reading, got as u64);
        returns(function, label);
    }
}

/// As [`has_read`] for a read that leaves the position as it was.
fn has_read_at(
    runtime: &mut Runtime,
    (call, function): (&Call, u64),
    reading: &Reading,
    buffer: *mut u8,
    got: isize,
) {
    received(runtime, call, reading.source, buffer, got);
    if got >= 0 {
        returns(function, runtime.count_of(reading, got as u64));
    }
}

/// The address of a model, by which its caller knows whose result it gets.
fn function_of(model: *const ()) -> u64 {
    model as u64
}

/// The label of what `function` returns.
fn returns(function: u64, label: Label) {
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

/// Whether memory that a system call is about to read can be read: the kernel gives an error where
/// the model would end the program. If nothing is known of it, what it describes is not checked.
pub fn is_readable(runtime: &mut Runtime, call: &Call, start: u64, bytes: u64) -> bool {
    let object = runtime.find_object(start).filter(|object| object.live);
    let known = object.is_some_and(|object| start + bytes <= object.start + object.size);
    if !known && bytes != 0 {
        runtime.trace.note(NoteKind::Bounds, call.site(), 1);
    }
    known
}

/// Bytes are about to be read to several buffers, one after the other: what comes for each is what
/// the ones before it leave over.
pub fn about_to_read_parts(
    runtime: &mut Runtime,
    call: &Call,
    source: Option<Source>,
    (vectors, count): (*const IoVector, usize),
) -> Reading {
    const MAX_VECTORS: usize = 1024;
    let bytes = count.min(MAX_VECTORS) * size_of::<IoVector>();
    if !is_readable(runtime, call, vectors as u64, bytes as u64) {
        return Reading::of(source, Word::concrete(0), false);
    }
    let mut left = runtime.left(source, call.site());
    let mut whole = Word::concrete(0);
    for index in 0..count.min(MAX_VECTORS) {
        let at = vectors.wrapping_add(index);
        // SAFETY: it lies in an object of the program's.
        let vector = unsafe { at.read() };
        let start = runtime.load(at as u64, 8, vector.start as u64);
        let size = runtime.load(at as u64 + 8, 8, vector.size as u64);
        let mut to = Span {
            address: runtime.word(start, vector.start as u64),
            size: runtime.word(size, vector.size as u64),
            write: true,
            site: call.site(),
        };
        let asked = to.size;
        match left {
            Some(bytes) => {
                to.size = runtime.smaller(asked, bytes);
                runtime.check_span(&to);
                left = Some(runtime.calculate(Op::Sub, bytes, to.size));
            }
            None => runtime.probe_room(source, &to),
        }
        runtime.settle(to.address, NoteKind::Address, call.site());
        runtime.settled(asked, call.site());
        whole = runtime.calculate(Op::Add, whole, to.size);
    }
    Reading::of(source, whole, left.is_some())
}

/// `got` bytes came to several buffers, one after the other.
pub fn received_parts(
    runtime: &mut Runtime,
    call: &Call,
    mut source: Option<Source>,
    (vectors, count): (*const IoVector, usize),
    got: isize,
) {
    let mut left = got.max(0) as usize;
    for index in 0..count {
        // SAFETY: the real function took them for vectors.
        let vector = unsafe { vectors.add(index).read() };
        let part = vector.size.min(left);
        received(runtime, call, source, vector.start, part as isize);
        if let Some(source) = &mut source {
            source.offset += part as u64;
        }
        left -= part;
    }
}

fn source_at(runtime: &mut Runtime, fd: i32, offset: i64) -> Option<Source> {
    runtime.source_at(fd, offset)
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
        runtime.keep_pair(ends);
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
    before |runtime, call| {
        let source = runtime.source(fd);
        about_to_read(runtime, call, source, (buffer, size))
    };
    after |runtime, call, reading, got| {
        call.fix(runtime, "l");
        has_read(runtime, (call, function_of(read as *const ())), &reading, buffer, got);
    }
}

model! {
    fn __read_chk(fd: i32, buffer: *mut u8, size: usize, room: usize) -> isize;
    before |runtime, call| {
        let source = runtime.source(fd);
        about_to_read(runtime, call, source, (buffer, size))
    };
    after |runtime, call, reading, got| {
        call.fix(runtime, "l");
        has_read(runtime, (call, function_of(__read_chk as *const ())), &reading, buffer, got);
    }
}

/// The models of functions that read at an offset.
macro_rules! read_at_models {
    ($($name:ident $checked:ident)*) => { $(
        model! {
            fn $name(fd: i32, buffer: *mut u8, size: usize, offset: i64) -> isize;
            before |runtime, call| {
                let source = source_at(runtime, fd, offset);
                about_to_read(runtime, call, source, (buffer, size))
            };
            after |runtime, call, reading, got| {
                call.fix(runtime, "l..l");
                has_read_at(runtime, (call, function_of($name as *const ())), &reading, buffer, got);
            }
        }

        model! {
            fn $checked(fd: i32, buffer: *mut u8, size: usize, offset: i64, room: usize) -> isize;
            before |runtime, call| {
                let source = source_at(runtime, fd, offset);
                about_to_read(runtime, call, source, (buffer, size))
            };
            after |runtime, call, reading, got| {
                call.fix(runtime, "l..l");
                has_read_at(runtime, (call, function_of($checked as *const ())), &reading, buffer, got);
            }
        }
    )* };
}

read_at_models! { pread __pread_chk pread64 __pread64_chk }

model! {
    fn readv(fd: i32, vectors: *const IoVector, count: i32) -> isize;
    before |runtime, call| {
        let source = runtime.source(fd);
        about_to_read_parts(runtime, call, source, (vectors, count.max(0) as usize))
    };
    after |runtime, call, reading, got| {
        call.fix(runtime, "lpl");
        received_parts(runtime, call, reading.source, (vectors, count.max(0) as usize), got);
        if got >= 0 {
            let label = runtime.count_read(&reading, got as u64);
            returns(function_of(readv as *const ()), label);
        }
    }
}

/// The models of functions that move the position of a descriptor.
macro_rules! seek_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(fd: i32, offset: i64, whence: i32) -> i64;
            before |runtime, _| runtime.source(fd);
            after |runtime, call, before, position| {
                call.fix(runtime, "lll");
                if let Some(index) = before.and_then(|before| before.kept()) {
                    const SEEK_SET: i32 = 0;
                    if whence != SEEK_SET {
                        runtime.told_size(index, call.site());
                    }
                } else if position >= 0 && let Some(before) = before {
                    let moved = (offset, whence, position as u64);
                    let label = runtime.sought(before, moved, call.site());
                    returns(function_of($name as *const ()), label);
                }
            }
        }
    )* };
}

seek_models! { lseek lseek64 }

model! {
    fn fork() -> i32;
    after |runtime, call, _| {
        // Only the parent comes here: the child does not record.
        runtime.trace.note(NoteKind::Fork, call.site(), 1);
        runtime.inputs.forked();
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
    ($(fn $name:ident($file:ident: $file_type:ty, $list:ident: $list_type:ty $(, $argument:ident: $type:ty)*);)*) => { $(
        model! {
            fn $name($file: $file_type, $list: $list_type $(, $argument: $type)*) -> i32;
            before |runtime, call| {
                runtime.opaque($list as u64, 0, NoteKind::Call, call.site());
                runtime.trace.set_executed(true);
            };
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
