//! Output that the program may read again: `<stdio.h>`, `<unistd.h>`, `<sys/socket.h>`. The
//! functions that print are modelled in C (`libc/output.c`) and ask here.

use nearmiss_abi::term::CONCRETE;

use super::model;
use super::real::{self, IoVector, Message};
use crate::bounds::Span;
use crate::calls::Call;
use crate::runtime::Runtime;
use crate::streams::{File, descriptor};
use crate::turn;

/// The bytes of argument 1, as many as argument 2 says, are about to be written.
fn leaves(
    runtime: &mut Runtime,
    call: &Call,
    fd: i32,
    (start, size): (*const u8, usize),
    offset: Option<u64>,
) {
    let span = Span {
        address: runtime.word(call.label(1), start as u64),
        size: runtime.word(call.label(2), size as u64),
        write: false,
        site: call.site(),
    };
    runtime.check_span(&span);
    if span.size.label != CONCRETE {
        runtime.wrote_some(fd, span.size, call.site());
    }
    call.fix(runtime, "lpllpl");
    runtime.wrote(fd, (start as u64, size as u64), offset, call.site());
}

/// Several pieces of memory are about to be written, one after the other.
fn leave_parts(
    runtime: &mut Runtime,
    call: &Call,
    fd: i32,
    (vectors, count): (*const IoVector, usize),
) {
    const MOST: usize = 1024;
    let mut offset = runtime.write_position(fd);
    for index in 0..count.min(MOST) {
        // SAFETY: the program says that there are vectors.
        let part = unsafe { vectors.add(index).read() };
        let bytes = (part.start as u64, part.size as u64);
        runtime.wrote(fd, bytes, offset, call.site());
        offset = offset.map(|offset| offset + part.size as u64);
    }
}

model! {
    fn pwrite(fd: i32, start: *const u8, size: usize, offset: i64) -> isize;
    before |runtime, call| leaves(runtime, call, fd, (start, size), Some(offset as u64))
}

model! {
    fn pwrite64(fd: i32, start: *const u8, size: usize, offset: i64) -> isize;
    before |runtime, call| leaves(runtime, call, fd, (start, size), Some(offset as u64))
}

model! {
    fn writev(fd: i32, vectors: *const IoVector, count: i32) -> isize;
    before |runtime, call| {
        call.fix(runtime, "lpl");
        leave_parts(runtime, call, fd, (vectors, count.max(0) as usize));
    }
}

model! {
    fn send(fd: i32, start: *const u8, size: usize, flags: i32) -> isize;
    before |runtime, call| leaves(runtime, call, fd, (start, size), None)
}

model! {
    fn sendto(fd: i32, start: *const u8, size: usize, flags: i32, address: *const u8, room: u32) -> isize;
    before |runtime, call| leaves(runtime, call, fd, (start, size), None)
}

model! {
    fn sendmsg(fd: i32, message: *const Message, flags: i32) -> isize;
    before |runtime, call| {
        call.fix(runtime, "lpl");
        // SAFETY: the program says that it is a message.
        let message = unsafe { message.read() };
        leave_parts(runtime, call, fd, (message.vectors, message.count));
    }
}

/// The models that write one byte to a stream they are given.
macro_rules! put_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(byte: i32, file: *mut File) -> i32;
            before |runtime, call| {
                call.fix(runtime, ".p");
                runtime.wrote_byte(file, call.label(0), call.site());
            }
        }
    )* };
}

put_models! { fputc putc _IO_putc fputc_unlocked putc_unlocked }

/// Likewise to standard output.
macro_rules! put_out_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(byte: i32) -> i32;
            before |runtime, call| {
                // SAFETY: libc's variable.
                let file = unsafe { real::stdout };
                runtime.wrote_byte(file, call.label(0), call.site());
            }
        }
    )* };
}

put_out_models! { putchar putchar_unlocked }

/// `size` bytes at `start` are about to be written to a stream.
///
/// # Safety
/// `file` is an open stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_leaves(file: *mut File, start: u64, size: u64) {
    let call = Call::take(__nm_leaves as *const () as u64);
    turn::with((), |runtime| {
        runtime.wrote_stream(file, (start, size), call.site());
        let size = runtime.word(call.label(2), size);
        if size.is_symbolic() {
            // SAFETY: as promised by the caller.
            runtime.wrote_some(unsafe { descriptor(file) }, size, call.site());
        }
    });
}

/// Likewise to a descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_leaves_to(fd: i32, start: u64, size: u64) {
    let call = Call::take(__nm_leaves_to as *const () as u64);
    turn::with((), |runtime| {
        runtime.wrote(fd, (start, size), None, call.site());
        let size = runtime.word(call.label(2), size);
        if size.is_symbolic() {
            runtime.wrote_some(fd, size, call.site());
        }
    });
}

/// Whether the labels of what is printed to this descriptor must be known.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_keeps(fd: i32) -> bool {
    Call::take(__nm_keeps as *const () as u64);
    turn::with(false, |runtime| runtime.keeps(fd))
}

/// The descriptor of a stream; negative: it has none.
///
/// # Safety
/// `file` is an open stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_descriptor(file: *mut File) -> i32 {
    Call::take(__nm_descriptor as *const () as u64);
    // SAFETY: as promised by the caller.
    unsafe { descriptor(file) }
}
