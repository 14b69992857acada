//! `<stdio.h>`: where a stream stands.

use core::ffi::c_void;

use nearmiss_abi::op::Op;
use nearmiss_abi::term::Term;

use super::model;
use super::stdio_input::source_of;
use crate::input::Source;
use crate::runtime::Runtime;
use crate::streams::{File, Told, tell};
use crate::terms::Slot;

/// The program moved the stream: it says where to.
fn repositioned(runtime: &mut Runtime, file: *mut File) {
    let Some(stream) = runtime.streams.find(file) else {
        return;
    };
    stream.pushed = false;
    let channel = stream.channel;
    // SAFETY: an open stream.
    if let Told::At(position) = unsafe { tell(file) } {
        let start = runtime.inputs.channel(channel).start;
        if let Some(stream) = runtime.streams.find(file) {
            stream.advance_to(position.wrapping_sub(start));
        }
    }
}

/// A byte was pushed back: the one before in the channel, or one of the program's own.
fn pushed_back(runtime: &mut Runtime, file: *mut File, source: Option<Source>, byte: i32) {
    let Some(source) = source else {
        return;
    };
    let before = source.offset.wrapping_sub(1);
    let term = Term::new(Op::Input, 8, source.channel, before as u32, 0);
    let same = match runtime.table.find(&runtime.trace, &term) {
        Slot::Known(label) => runtime.value(label) == byte as u8 as u128,
        Slot::Free(_) => false,
    };
    if let Some(stream) = runtime.streams.find(file) {
        stream.pushed = !same;
        stream.advance_to(before);
    }
}

model! {
    fn ungetc(byte: i32, file: *mut File) -> i32;
    before |runtime, _| source_of(runtime, file);
    after |runtime, call, source, result| {
        call.fix(runtime, ".p");
        if result >= 0 {
            pushed_back(runtime, file, source, byte);
        }
    }
}

/// The models of functions that move a stream.
macro_rules! moving_models {
    ($(fn $name:ident(file: *mut File $(, $argument:ident: $type:ty)*) $(-> $result:ty)?, $letters:literal;)*) => { $(
        model! {
            fn $name(file: *mut File $(, $argument: $type)*) $(-> $result)?;
            after |runtime, call, _| {
                call.fix(runtime, $letters);
                repositioned(runtime, file);
            }
        }
    )* };
}

moving_models! {
    fn fseek(file: *mut File, offset: i64, whence: i32) -> i32, "pll";
    fn fseeko(file: *mut File, offset: i64, whence: i32) -> i32, "pll";
    fn fseeko64(file: *mut File, offset: i64, whence: i32) -> i32, "pll";
    fn rewind(file: *mut File), "p";
    fn fsetpos(file: *mut File, position: *const c_void) -> i32, "pp";
    fn fsetpos64(file: *mut File, position: *const c_void) -> i32, "pp";
}
