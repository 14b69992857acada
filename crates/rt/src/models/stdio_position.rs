//! `<stdio.h>`: where a stream stands.

use core::ffi::c_void;

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Term};

use super::model;
use super::stdio_input::source_of;
use crate::calls::Call;
use crate::input::Source;
use crate::runtime::Runtime;
use crate::streams::{File, Told, tell};
use crate::terms::Slot;
use crate::thread::Thread;

/// The program moved the stream, which stood at `before`, by an offset from where `whence` says.
fn repositioned(
    runtime: &mut Runtime,
    file: *mut File,
    before: Option<Source>,
    (offset, whence): (i64, i32),
    site: SiteId,
) {
    let Some(stream) = runtime.streams.find(file) else {
        return;
    };
    stream.pushed = false;
    let channel = stream.channel;
    // SAFETY: an open stream.
    if let Told::At(position) = unsafe { tell(file) } {
        let start = runtime.inputs.channel(channel).start;
        let position = position.wrapping_sub(start);
        if let Some(stream) = runtime.streams.find(file) {
            stream.advance_to(position);
        }
        if let Some(before) = before {
            runtime.sought(before, (offset, whence, position), site);
        }
    }
}

/// The program asked where the stream stands: the label of the answer.
fn told(
    (call, function): (&Call, u64),
    runtime: &mut Runtime,
    source: Option<Source>,
    position: i64,
) {
    if let Some(index) = source.and_then(|source| source.kept()) {
        return runtime.told_size(index, call.site());
    }
    let Some(source) = source.filter(|source| position >= 0 && source.offset == position as u64)
    else {
        return;
    };
    let label = runtime.told_position(source).label;
    if label != CONCRETE {
        Thread::current().set_returned(function, label);
    }
}

/// A byte was pushed back: the one before in the channel, or one of the program's own.
fn pushed_back(
    runtime: &mut Runtime,
    call: &Call,
    (file, source): (*mut File, Option<Source>),
    byte: i32,
) {
    let label = call.label(0);
    let Some(source) = source else {
        return runtime.lost(label, NoteKind::ReadBack, call.site());
    };
    if let Some(index) = source.kept() {
        return runtime.pushed_back_kept(index, source.offset, label);
    }
    let before = source.offset.wrapping_sub(1);
    let term = Term::new(Op::Input, 8, source.channel, before as u32, 0);
    let same = match runtime.table.find(&runtime.trace, &term) {
        Slot::Known(label) => runtime.value(label) == byte as u8 as u128,
        Slot::Free(_) => false,
    };
    if let Some(stream) = runtime.streams.find(file) {
        stream.pushed = !same;
        stream.pushed_label = label;
        stream.advance_to(before);
    }
}

model! {
    fn ungetc(byte: i32, file: *mut File) -> i32;
    before |runtime, _| source_of(runtime, file);
    after |runtime, call, source, result| {
        call.fix(runtime, ".p");
        if result >= 0 {
            pushed_back(runtime, call, (file, source), byte);
        }
    }
}

/// The models of functions that move a stream, and where to.
macro_rules! moving_models {
    ($(fn $name:ident(file: *mut File $(, $argument:ident: $type:ty)*) $(-> $result:ty)?, $letters:literal, $to:expr;)*) => { $(
        model! {
            fn $name(file: *mut File $(, $argument: $type)*) $(-> $result)?;
            before |runtime, _| source_of(runtime, file);
            after |runtime, call, before, _| {
                call.fix(runtime, $letters);
                repositioned(runtime, file, before, $to, call.site());
            }
        }
    )* };
}

/// A place that no length decides: `SEEK_SET`.
const SET: (i64, i32) = (0, 0);

moving_models! {
    fn fseek(file: *mut File, offset: i64, whence: i32) -> i32, "pll", (offset, whence);
    fn fseeko(file: *mut File, offset: i64, whence: i32) -> i32, "pll", (offset, whence);
    fn fseeko64(file: *mut File, offset: i64, whence: i32) -> i32, "pll", (offset, whence);
    fn rewind(file: *mut File), "p", SET;
    fn fsetpos(file: *mut File, position: *const c_void) -> i32, "pp", SET;
    fn fsetpos64(file: *mut File, position: *const c_void) -> i32, "pp", SET;
}

/// The models of functions that say where a stream stands.
macro_rules! telling_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(file: *mut File) -> i64;
            before |runtime, _| source_of(runtime, file);
            after |runtime, call, source, position| {
                call.fix(runtime, "p");
                let function = $name as *const () as u64;
                told((call, function), runtime, source, position);
            }
        }
    )* };
}

telling_models! { ftell ftello ftello64 }
