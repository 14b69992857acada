//! `<stdio.h>`: buffers that the program gives to streams.

use super::model;
use crate::calls::Call;
use crate::runtime::Runtime;
use crate::streams::File;

/// What `setbuf` takes the buffer to have.
const BUFSIZ: u64 = 8192;

/// The stream keeps what it reads and writes in `buffer` from now on.
fn has_buffer(runtime: &mut Runtime, call: &Call, file: *mut File, (buffer, size): (*mut u8, u64)) {
    call.fix(runtime, "ppll");
    if !buffer.is_null() {
        runtime.add_stream_buffer(file, (buffer as u64, size), call.site());
    }
}

model! {
    fn setbuf(file: *mut File, buffer: *mut u8);
    before |runtime, call| has_buffer(runtime, call, file, (buffer, BUFSIZ))
}

model! {
    fn setbuffer(file: *mut File, buffer: *mut u8, size: usize);
    before |runtime, call| has_buffer(runtime, call, file, (buffer, size as u64))
}

model! {
    fn setvbuf(file: *mut File, buffer: *mut u8, mode: i32, size: usize) -> i32;
    before |runtime, call| has_buffer(runtime, call, file, (buffer, size as u64))
}
