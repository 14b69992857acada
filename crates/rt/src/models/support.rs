//! What the models in C (`libc/`) ask the runtime: `libc/model.h` declares these functions.
//!
//! They are called by instrumented code and take argument labels as models do. Checks are made
//! in the name of the program's own call, whose site is in the thread's words.

use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;

use super::real;
use super::stdio_input::source_of;
use crate::bounds::Span;
use crate::calls::Call;
use crate::capture::stdin::{self, Given};
use crate::compared::Text;
use crate::server;
use crate::streams::{Ahead, File, ahead};
use crate::thread::Thread;
use crate::turn;

/// Checks a range in the name of the program's call of the model.
fn check(call: &Call, start: u64, size: u64, write: bool) {
    turn::with((), |runtime| {
        let span = Span {
            address: runtime.word(call.label(0), start),
            size: runtime.word(call.label(1), size),
            write,
            site: call.site(),
        };
        runtime.check_span(&span);
    });
}

/// `size` bytes at `start` are about to be read.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_reads(start: u64, size: u64) {
    check(
        &Call::take(__nm_reads as *const () as u64),
        start,
        size,
        false,
    );
}

/// `size` bytes at `start` are about to be written.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_writes(start: u64, size: u64) {
    check(
        &Call::take(__nm_writes as *const () as u64),
        start,
        size,
        true,
    );
}

/// Whether all paths of a function are explored: models then decide as the real functions do.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_explores() -> bool {
    Call::take(__nm_explores as *const () as u64);
    server::is_asked()
}

/// The string at `start` is about to be read to its end: there must be one in its object.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_terminated(start: u64) {
    let call = Call::take(__nm_terminated as *const () as u64);
    turn::with((), |runtime| runtime.check_terminated(start, call.site()));
}

/// Whether the zero byte at `end` is where an input of symbolic length ended in this run.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_has_open_end(end: u64) -> bool {
    Call::take(__nm_has_open_end as *const () as u64);
    turn::with(false, |runtime| {
        // SAFETY: the models have read the byte: it is the end of a string.
        let is_zero = unsafe { (end as *const u8).read() } == 0;
        is_zero && runtime.open_end_at(end).is_some()
    })
}

/// The length of the string at `start`, `length` in this run, that has an open end.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_open_length(start: u64, length: u64) -> u64 {
    let function = __nm_open_length as *const () as u64;
    let call = Call::take(function);
    turn::with((), |runtime| {
        let place = (start, call.label(0));
        if let Some(label) = runtime.open_length(place, length, call.site()) {
            Thread::current().set_returned(function, label);
        }
    });
    length
}

/// The zero byte at `end` now ends a string of `length` bytes: if that has a label that depends
/// on lengths of inputs, the end is an open one.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_end_string(end: u64, _length: u64) {
    let call = Call::take(__nm_end_string as *const () as u64);
    turn::with((), |runtime| runtime.end_string(end, call.label(1)));
}

/// The labels of `size` bytes (as in this run) go where the bytes went; nothing is fixed.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_move_labels(to: u64, from: u64, size: u64) {
    Call::take(__nm_move_labels as *const () as u64);
    turn::with((), |runtime| runtime.shadow.copy(to, from, size));
}

/// `size` bytes became part of the environment.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_in_environment(text: u64, size: u64) {
    Call::take(__nm_in_environment as *const () as u64);
    turn::with((), |runtime| {
        runtime.environment_is_symbolic |= runtime.shadow.first_label(text, size).is_some();
    });
}

/// The value keeps its recorded value from here on; a length of an input need not. Returned
/// without its label.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_settle(value: u64) -> u64 {
    let call = Call::take(__nm_settle as *const () as u64);
    turn::with((), |runtime| {
        runtime.fix(call.label(0), NoteKind::Size, call.site());
    });
    value
}

/// Likewise an address.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_settle_pointer(pointer: u64) -> u64 {
    let call = Call::take(__nm_settle_pointer as *const () as u64);
    turn::with((), |runtime| {
        runtime.fix(call.label(0), NoteKind::Address, call.site());
    });
    pointer
}

/// Whether an address moves with the length of an input: it depends on lengths, and on nothing else.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_moves(_pointer: u64) -> bool {
    let call = Call::take(__nm_moves as *const () as u64);
    turn::with(false, |runtime| runtime.is_length(call.label(0)))
}

/// The value of this run, without its label; nothing is fixed.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_recorded(value: u64) -> u64 {
    Call::take(__nm_recorded as *const () as u64);
    value
}

/// Likewise a pointer.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_recorded_pointer(pointer: u64) -> u64 {
    Call::take(__nm_recorded_pointer as *const () as u64);
    pointer
}

/// An input for which the condition holds takes the other way at the next decision.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_hint(condition: bool) {
    let call = Call::take(__nm_hint as *const () as u64);
    if !condition {
        turn::with((), |runtime| {
            runtime.decided(EventKind::Hint, call.label(0), false, call.site());
        });
    }
}

/// Two texts are compared; at the next decision they are found to differ.
///
/// # Safety
/// They can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_words(a: u64, a_length: u64, b: u64, b_length: u64) {
    let call = Call::take(__nm_words as *const () as u64);
    turn::with((), |runtime| {
        let [one, other] =
            [(a, a_length), (b, b_length)].map(|(start, length)| Text { start, length });
        runtime.words(one, other, call.site());
    });
}

/// `size` bytes at `start` became a floating-point number: they keep their values.
///
/// # Safety
/// They can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_read_as_float(start: u64, size: u64) {
    let call = Call::take(__nm_read_as_float as *const () as u64);
    turn::with((), |runtime| {
        for address in start..start + size {
            // SAFETY: as promised by the caller.
            let value = unsafe { (address as *const u8).read() };
            let label = runtime.load(address, 1, value as u64);
            runtime.fix(label, NoteKind::Float, call.site());
        }
    });
}

/// libc is given memory in a way that no model knows: what is symbolic there is lost.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_unfollowed(start: u64) {
    let call = Call::take(__nm_unfollowed as *const () as u64);
    turn::with((), |runtime| {
        if runtime.reaches_label(start) {
            runtime.trace.note(NoteKind::Call, call.site(), 1);
        }
    });
}

/// How many bytes there are, in this run, from `start` to the end of its object; 0: unknown.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_room(start: u64) -> u64 {
    Call::take(__nm_room as *const () as u64);
    turn::with(0, |runtime| {
        runtime.know_globals();
        let object = runtime.find_object(start).filter(|object| object.live);
        object.map_or(0, |object| object.rest(start))
    })
}

/// Whether the newline at `byte` ends a line of symbolic length: it moves with that length.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_ends_line(byte: u64) -> bool {
    Call::take(__nm_ends_line as *const () as u64);
    turn::with(false, |runtime| runtime.line_ended_by(byte).is_some())
}

/// The length of the word of `count` bytes at `word`, in this run, that was read from a stream. It
/// ends with the input, or before a byte that does not belong to it.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_word_length(word: u64, count: u64, at_end: bool) -> u64 {
    let function = __nm_word_length as *const () as u64;
    let call = Call::take(function);
    turn::with((), |runtime| {
        let length = runtime.word_length(word, count, at_end, call.site());
        Thread::current().set_returned(function, length);
    });
    count
}

/// A library allocated `size` bytes for the program, which will free them.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_adopt(memory: u64, size: u64) {
    let call = Call::take(__nm_adopt as *const () as u64);
    turn::with((), |runtime| runtime.adopt(memory, size, call.label(1)));
}

/// Whether what is scanned of this stream is captured: then it is read byte by byte, since libc
/// would not say what it read.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_scans_stdin(file: *mut File) -> bool {
    Call::take(__nm_scans_stdin as *const () as u64);
    // SAFETY: libc's variable.
    stdin::is_watched() && file == unsafe { real::stdin }
}

/// libc is about to scan a stream, in its own way: what the stream has read ahead.
///
/// # Safety
/// `file` is an open stream, and `known` has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_before_scan(file: *mut File, known: *mut Ahead) {
    Call::take(__nm_before_scan as *const () as u64);
    // SAFETY: as promised by the caller.
    unsafe { known.write(ahead(file)) };
}

/// libc has scanned the stream.
///
/// # Safety
/// `file` is an open stream, and `known` is of [`__nm_before_scan`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_after_scan(file: *mut File, known: *const Ahead) {
    let call = Call::take(__nm_after_scan as *const () as u64);
    turn::with((), |runtime| {
        runtime.came_from_outside(call.site());
        // What libc made of these bytes is concrete.
        if source_of(runtime, file).is_some() {
            runtime.trace.note(NoteKind::Call, call.site(), 1);
        }
    });
    // SAFETY: as promised by the caller.
    unsafe {
        let before = stdin::is_watched().then(|| known.read());
        stdin::after(file, before, Given::Something);
    }
}
