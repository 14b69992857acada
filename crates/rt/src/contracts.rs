//! What the checks of contracts call (`nearmiss-hoist` writes them): how large objects are, whether memory is there,
//! and whether a requirement holds.

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::term::CONCRETE;

use crate::calls::Call;
use crate::formula::{Truth, Word};
use crate::pointers::NULL_PAGE;
use crate::snapshots::is_mapped;
use crate::thread::Thread;
use crate::turn::{self, recording};

/// Elements behind a pointer of which nothing is known: enough for every requirement.
const UNKNOWN: u64 = 1 << 40;

/// Whether contracts are to be looked at: only recordings tell what becomes of it.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_contracts_wanted() -> i32 {
    i32::from(recording())
}

/// Whether `size` bytes at `memory` are of an object that lives.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_readable(memory: u64, size: u64) -> i32 {
    Call::take(__nm_readable as *const () as u64);
    let end = memory.saturating_add(size.max(1) - 1);
    if memory < NULL_PAGE {
        return 0;
    }
    let is_there = turn::with(false, |runtime| match runtime.find_object_again(memory) {
        Some(object) => object.live && object.rest(memory) >= size,
        None => is_mapped(memory) && is_mapped(end),
    });
    i32::from(is_there)
}

/// Elements of `element` bytes from a pointer to the end of its object, 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_bounds(pointer: u64, element: u64) -> i64 {
    let this = __nm_bounds as *const () as u64;
    let call = Call::take(this);
    if pointer < NULL_PAGE {
        return 0;
    }
    turn::with(UNKNOWN as i64, |runtime| {
        let Some(object) = runtime.find_object_again(pointer) else {
            return UNKNOWN as i64;
        };
        if !object.live || pointer < object.start {
            return 0;
        }
        if call.label(0) == CONCRETE && object.size_label == CONCRETE {
            return (object.rest(pointer) / element.max(1)) as i64;
        }
        let address = runtime.word(call.label(0), pointer);
        let size = runtime.size_of(object);
        let end = runtime.calculate(Op::Add, Word::concrete(object.start), size);
        let rest = runtime.calculate(Op::Sub, end, address);
        let count = runtime.calculate(Op::UDiv, rest, Word::concrete(element.max(1)));
        // A pointer behind its object has no elements, and not nearly 2^64 of them.
        let inside = runtime.relate(Op::Ule, address, end);
        let label = match inside.label {
            CONCRETE => count.label,
            label => runtime.choose(
                64,
                (label, inside.holds),
                [count.label, CONCRETE],
                [count.value, 0],
            ),
        };
        let value = if inside.holds { count.value } else { 0 };
        if label != CONCRETE {
            Thread::current().set_returned(this, label);
        }
        value as i64
    })
}

/// Elements from the start of a pointer's object to where it points, 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_before(pointer: u64, element: u64) -> i64 {
    let this = __nm_before as *const () as u64;
    let call = Call::take(this);
    turn::with(0, |runtime| {
        let Some(object) = runtime
            .find_object_again(pointer)
            .filter(|object| object.live)
        else {
            return 0;
        };
        let address = runtime.word(call.label(0), pointer);
        let offset = runtime.calculate(Op::Sub, address, Word::concrete(object.start));
        let count = runtime.calculate(Op::UDiv, offset, Word::concrete(element.max(1)));
        if count.is_symbolic() {
            Thread::current().set_returned(this, count.label);
        }
        count.value as i64
    })
}

/// How long the string at `start` is that has `length` bytes in this run and an open end (`rt::lengths`): as long as its
/// input is. -1 if its end is not open.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_open_end(start: u64, length: u64) -> i64 {
    let this = __nm_open_end as *const () as u64;
    Call::take(this);
    turn::with(-1, |runtime| {
        let Some(counted) = runtime.open_end_at(start.wrapping_add(length)) else {
            return -1;
        };
        let recorded = runtime.value(counted) as u64;
        let wide = runtime.zero_extend(counted, 64);
        // It is counted from where the input begins, which need not be here.
        let label = runtime.plus(wide, u128::from(length.wrapping_sub(recorded)));
        Thread::current().set_returned(this, label);
        length as i64
    })
}

/// Where the first `byte` is among the `most` bytes at `start`, `most` if there is none; -1 if something up to there
/// depends on input.
///
/// # Safety
/// The bytes are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_plain_end(start: *const u8, byte: u64, most: u64) -> i64 {
    Call::take(__nm_plain_end as *const () as u64);
    // SAFETY: as promised by the caller.
    let is_other = |place: &u64| unsafe { start.add(*place as usize).read() } != byte as u8;
    let end = (0..most).take_while(is_other).count() as u64;
    let seen = (end + 1).min(most);
    let is_plain = turn::with(true, |runtime| runtime.shadow.is_plain(start as u64, seen));
    if is_plain { end as i64 } else { -1 }
}

/// A requirement of a contract must hold here, or is what a unit test's own call promises (`is_assumed`). `_place` and
/// `_text` are for the twin, which says them.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_precondition(
    holds: i32,
    _place: *const u8,
    _text: *const u8,
    is_assumed: i32,
) {
    let call = Call::take(__nm_precondition as *const () as u64);
    let label = call.label(0);
    if label == CONCRETE && (holds != 0 || is_assumed != 0) {
        return;
    }
    turn::with((), |runtime| {
        let width = runtime.width(label);
        let label = runtime.trusted(label, width, holds as u32 as u64);
        let label = runtime.truth(label);
        let truth = Truth {
            label,
            holds: holds != 0,
        };
        match is_assumed != 0 {
            // A test whose own call violates the contract promises nothing.
            true if !truth.holds => {}
            true => runtime.decided(EventKind::Assume, truth.label, true, call.site()),
            false => runtime.check_that(Kind::Precondition, truth, call.site()),
        }
    });
}
