//! What a harness may call (`include/nearmiss.h`): `nearmiss_symbolic`, `nearmiss_assume`,
//! `nearmiss_result`; and what those that nearmiss writes itself call besides.
//!
//! Instrumented code calls them like any function; they take labels as models do.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::event::{Event, EventKind};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::shadow::RED_ZONE;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::CONCRETE;

use crate::calls::Call;
use crate::events::place_of;
use crate::models::real;
use crate::objects::ObjectKind;
use crate::replay;
use crate::runtime::Runtime;
use crate::server;
use crate::system;
use crate::turn::{self, recording};

const NAMES: usize = 512;

/// How often `nearmiss_symbolic` was called with each name, by the name's hash. Not part of
/// the runtime's state: a replay counts without recording.
static HASHES: [AtomicU64; NAMES] = [const { AtomicU64::new(0) }; NAMES];
static CALLS: [AtomicU32; NAMES] = [const { AtomicU32::new(0) }; NAMES];

/// Makes `size` bytes at `memory` an input called `name`.
///
/// # Safety
/// `memory` has `size` bytes, `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearmiss_symbolic(memory: *mut u8, size: usize, name: *const u8) {
    let call = Call::take(nearmiss_symbolic as *const () as u64);
    let name = if name.is_null() {
        b"".as_slice()
    } else {
        // SAFETY: as promised by the caller.
        unsafe { system::text(name) }
    };
    // As KLEE does; `libc/replay.c` too.
    let name = if name.is_empty() { b"unnamed" } else { name };
    let index = next_index(name);
    replay::with_content(name, index, |content| {
        // SAFETY: both have that many bytes.
        unsafe { system::copy_bytes(memory, content.as_ptr(), content.len().min(size)) };
    });
    turn::with((), |runtime| {
        call.fix(runtime, "plp");
        let place = (memory as u64, size as u64);
        runtime.shadow.clear(place.0, place.1);
        if !runtime.options.has_channel(ChannelKind::Named) {
            return;
        }
        // SAFETY: as promised by the caller.
        let content = unsafe { core::slice::from_raw_parts(memory, size) };
        let channel = runtime.add_channel(ChannelKind::Named, index, name, content);
        if let Some(channel) = channel {
            // SAFETY: as promised by the caller.
            unsafe { runtime.label_input(channel, 0, place, call.site()) };
        }
    });
}

/// Tells that `condition` holds on every path of interest; ends the run where it does not.
#[unsafe(no_mangle)]
pub extern "C" fn nearmiss_assume(condition: i32) {
    let call = Call::take(nearmiss_assume as *const () as u64);
    let truth = condition != 0;
    if recording() {
        turn::with((), |runtime| {
            let label = call.label(0);
            let width = runtime.width(label);
            let label = runtime.trusted(label, width, condition as u32 as u64);
            if label != CONCRETE {
                runtime.decided(EventKind::Assume, label, truth, call.site());
            } else if !truth {
                // No condition: the branches before said it. But the run ends for this reason.
                let event = Event::new(EventKind::Assume, false, CONCRETE, call.site());
                runtime.append(&event);
            }
        });
    }
    if !truth {
        turn::with((), |runtime| runtime.trace.set_exited(0));
        server::end_run();
    }
}

/// Keeps `size` bytes at `memory` as a result of this run, if anybody asked for results.
///
/// # Safety
/// `memory` has `size` bytes, `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearmiss_result(name: *const u8, memory: *const u8, size: usize) {
    // A result is looked at, not decided on: symbolic arguments constrain nothing.
    Call::take(nearmiss_result as *const () as u64);
    // SAFETY: as promised by the caller.
    unsafe {
        let name = if name.is_null() {
            b"".as_slice()
        } else {
            system::text(name)
        };
        server::add_result(name, memory, size);
    }
}

/// The harness enters a phase, one of `abi::event::PHASE_*`.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_mark(phase: u32) {
    Call::take(__nm_mark as *const () as u64);
    turn::with((), |runtime| {
        let mut event = Event::new(EventKind::Mark, false, CONCRETE, SiteId::NONE);
        event.aux = phase as u16;
        runtime.append(&event);
    });
}

/// What the harness is to do with its inputs: one of `abi::server::MODE_*`.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_mode() -> u32 {
    server::mode()
}

/// The value without its label: a harness may look at what it makes of its inputs without
/// deciding on them.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_concrete(value: u64) -> u64 {
    Call::take(__nm_concrete as *const () as u64);
    value
}

/// Bytes from an address to the end of the block of the heap that it lies in: 0 if that was freed,
/// `u64::MAX` if nobody knows.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_extent(memory: *const u8) -> u64 {
    Call::take(__nm_extent as *const () as u64);
    let address = memory as u64;
    turn::with(u64::MAX, |runtime| {
        let object = runtime.find_object(address);
        match object.filter(|object| object.kind == ObjectKind::Heap) {
            Some(object) if object.live && object.size > 0 && object.rest(address) == 0 => u64::MAX,
            Some(object) if object.live => object.rest(address),
            Some(_) => 0,
            None => u64::MAX,
        }
    })
}

/// A block of `size` bytes of `content`, which has `capacity` bytes: what a larger block would hold
/// is kept behind its end, so that an access with a symbolic index is about the right bytes for
/// every size. `room` becomes the bytes that may be written.
///
/// # Safety
/// `content` has `capacity` bytes, `room` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_block(
    capacity: usize,
    size: usize,
    content: *const u8,
    room: *mut usize,
) -> *mut u8 {
    let call = Call::take(__nm_block as *const () as u64);
    // SAFETY: as promised by the caller; what was allocated has that many bytes.
    unsafe {
        let extent = capacity + RED_ZONE as usize;
        let block = real::calloc(1, extent);
        if block.is_null() {
            return block;
        }
        system::copy_bytes(block, content, capacity);
        room.write(capacity);
        turn::with((), |runtime| {
            runtime.shadow.clear(room as u64, size_of::<usize>() as u64);
            runtime
                .shadow
                .copy(block as u64, content as u64, capacity as u64);
            let size_label = call.label(1);
            runtime.add_block(block as u64, size as u64, size_label, extent as u64);
        });
        block
    }
}

/// Whether a value depends on input: for `klee_is_symbolic`.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_is_symbolic(_value: u64) -> u64 {
    let call = Call::take(__nm_is_symbolic as *const () as u64);
    answer(b"klee_is_symbolic", |runtime| {
        let label = call.label(0);
        (label != CONCRETE && !runtime.is_constant(label) && !runtime.is_fixed(label)).into()
    })
}

/// Bytes of the object that an address lies in, 0 if nobody knows: for `klee_get_obj_size`.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_object_size(memory: u64) -> u64 {
    Call::take(__nm_object_size as *const () as u64);
    answer(b"klee_get_obj_size", |runtime| {
        let object = runtime.find_object(memory).filter(|object| object.live);
        object.map_or(0, |object| object.size)
    })
}

/// A word of a harness is not modelled: what it stands for is no input.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_unmodelled() {
    let call = Call::take(__nm_unmodelled as *const () as u64);
    turn::with((), |runtime| {
        runtime
            .trace
            .note(NoteKind::Operation, place_of(call.site()), 1);
    });
}

/// What only a recording can answer. Where nothing is recorded, in the twin above all, the program is to go
/// the same way: so the answer is kept as an input is, and given again. It has no labels.
fn answer(name: &[u8], truth: impl FnOnce(&mut Runtime) -> u64) -> u64 {
    let index = next_index(name);
    let mut bytes = [0; size_of::<u64>()];
    replay::with_content(name, index, |content| {
        if let Ok(known) = content.try_into() {
            bytes = known;
        }
    });
    turn::with((), |runtime| {
        bytes = truth(runtime).to_le_bytes();
        if runtime.options.has_channel(ChannelKind::Named) {
            runtime.add_channel(ChannelKind::Named, index, name, &bytes);
        }
    });
    u64::from_le_bytes(bytes)
}

/// How many calls with this name there were before.
fn next_index(name: &[u8]) -> u32 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    let hash = name
        .iter()
        .fold(BASIS, |hash, &byte| {
            (hash ^ byte as u64).wrapping_mul(PRIME)
        })
        .max(1);
    for probe in 0..NAMES {
        let slot = (hash as usize).wrapping_add(probe) % NAMES;
        let taken = HASHES[slot].compare_exchange(0, hash, Ordering::Relaxed, Ordering::Relaxed);
        if taken.is_ok() || taken == Err(hash) {
            return CALLS[slot].fetch_add(1, Ordering::Relaxed);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_name() {
        assert_eq!(next_index(b"one"), 0);
        assert_eq!(next_index(b"two"), 0);
        assert_eq!(next_index(b"one"), 1);
        assert_eq!(next_index(b"one"), 2);
    }
}
