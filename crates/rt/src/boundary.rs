//! The data of calls at the boundary of the code under test as inputs (`abi::boundary`): what only a recording can
//! do. `libc/calls.c` decides which data that is, in the program as in its twins.

use nearmiss_abi::boundary::shape;
use nearmiss_abi::channel::{ChannelKind, PIECE_WHOLE};
use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label, ShadowWord};

use crate::calls::Call;
use crate::formula::Word;
use crate::lengths::LENGTH_BITS;
use crate::objects::ObjectKind;
use crate::runtime::Runtime;
use crate::system;
use crate::turn;

/// What a pointer leads to.
#[repr(C)]
pub struct Memory {
    /// Where the object starts.
    start: u64,
    /// Its bytes.
    size: u64,
    /// Whether it may be written to.
    is_writable: u64,
    /// Whether it is a text of code without instrumentation.
    is_text: u64,
}

/// A part of an input that lies elsewhere than the rest.
#[repr(C)]
pub struct Piece {
    /// Where.
    address: u64,
    /// Its bytes.
    size: u64,
}

/// An input of a call.
#[repr(C)]
pub struct Input {
    /// The name of the channel.
    name: *const u8,
    /// Its index: see `abi::boundary::shape`.
    index: u32,
    /// Whether its length is an input too.
    has_length: u32,
    /// Where it lies.
    address: u64,
    /// Its bytes.
    size: u64,
    /// Where the argument lies that says how long it is, if there is one.
    tied: *const u64,
    /// Where its parts lie, one after another, if it does not lie where its content is.
    pieces: *const Piece,
    /// How many there are.
    piece_count: u64,
}

/// Finds the object that a pointer leads to; whether there is one that is the test's own. A block of the heap that the
/// code under test made is not, since that keeps it in order; what has labels is made of other inputs.
///
/// # Safety
/// `memory` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_call_memory(pointer: u64, memory: *mut Memory) -> bool {
    let Some(found) = own_memory(pointer) else {
        return false;
    };
    // SAFETY: as promised by the caller.
    unsafe { memory.write(found) };
    true
}

fn own_memory(pointer: u64) -> Option<Memory> {
    let (object, is_labelled) = turn::with((None, true), |runtime| {
        let object = runtime.find_object(pointer);
        let rest = object.map_or(1, |object| object.rest(pointer));
        let label = runtime.shadow.first_label(pointer, rest);
        (object, label.is_some())
    });
    if is_labelled {
        return None;
    }
    let is_writable = system::is_writable(pointer);
    let Some(object) = object else {
        let size = text_size(pointer).filter(|_| !is_writable)?;
        return Some(Memory {
            start: pointer,
            size,
            is_writable: 0,
            is_text: 1,
        });
    };
    let is_foreign = object.kind == ObjectKind::Heap && object.is_inner;
    let is_own = !is_foreign && object.live && object.rest(pointer) > 0;
    is_own.then(|| Memory {
        start: object.start,
        size: object.size,
        is_writable: is_writable.into(),
        is_text: 0,
    })
}

/// The bytes of a text with its end that lies in memory of which nothing else is known.
fn text_size(start: u64) -> Option<u64> {
    const MOST: usize = 1024;
    let mut text = [0; MOST];
    // Up to the end of the page what can be read at all can be read.
    let size = MOST.min(4096 - start as usize % 4096);
    // SAFETY: there is room for so much.
    let is_readable = unsafe { system::read_own(start, text.as_mut_ptr(), size) };
    let bytes = text.get(..size).filter(|_| is_readable)?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some(end as u64 + 1)
}

/// A call at the boundary begins or ends.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_call_inside(is_inside: bool) {
    Call::take(__nm_call_inside as *const () as u64);
    turn::with((), |runtime| runtime.is_in_call = is_inside);
}

/// Makes what a call is given an input.
///
/// # Safety
/// What is said of it is so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_call_input(input: *const Input) {
    // SAFETY: as promised by the caller.
    turn::with((), |runtime| unsafe { runtime.take_call_input(&*input) });
}

/// A number of a call that comes with data is what it was in this run.
///
/// # Safety
/// The slot has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_call_number(slot: *const u64, size: u64) {
    turn::with((), |runtime| {
        if runtime.shadow.first_label(slot as u64, size).is_none() {
            return;
        }
        // SAFETY: as promised by the caller.
        let value = unsafe { slot.read() } & (u64::MAX >> (64 - 8 * size.clamp(1, 8)));
        let label = runtime.load(slot as u64, size as u32, value);
        runtime.fix(label, NoteKind::Size, SiteId::NONE);
        runtime.shadow.clear(slot as u64, size);
    });
}

/// A pointer of a call leads into its object for every input: a test that moves a pointer of the library's by what it
/// knows of its own data (`literal + sizeof("prefix")`) would not pass it otherwise.
///
/// # Safety
/// The slot has a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_call_pointer(slot: *const u64) {
    // SAFETY: as promised by the caller.
    let value = unsafe { slot.read() };
    turn::with((), |runtime| {
        let label = runtime.load(slot as u64, 8, value);
        runtime.assume_inside(Word { label, value });
    });
}

/// The run ends here because the test would not have made the call that begins.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_call_leave() {
    Call::take(__nm_call_leave as *const () as u64);
    turn::with((), |runtime| runtime.trace.set_exited(0));
}

impl Runtime {
    /// # Safety
    /// As for [`__nm_call_input`].
    unsafe fn take_call_input(&mut self, input: &Input) {
        if !self.options.has_channel(ChannelKind::Call) {
            return;
        }
        let place = (input.address, input.size);
        let is_string = input.index & shape::IS_STRING != 0;
        let end = u64::from(shape::element(input.index)) * u64::from(is_string);
        let moves = input.index & shape::MOVES != 0;
        if moves {
            let size = input.size + end;
            self.add_object(input.address, size, CONCRETE, ObjectKind::Heap);
        }
        // SAFETY: as promised by the caller.
        let (name, content) = unsafe {
            let content = core::slice::from_raw_parts(place.0 as *const u8, place.1 as usize);
            (system::text(input.name), content)
        };
        let Some(channel) = self.add_channel(ChannelKind::Call, input.index, name, content) else {
            return;
        };
        if input.piece_count > 0 {
            // SAFETY: as promised by the caller.
            unsafe { self.label_pieces(channel, input) };
            return;
        }
        // SAFETY: as promised by the caller.
        unsafe { self.label_input(channel, 0, place, SiteId::NONE) };
        for kept in shape::kept(input.index, content) {
            let start = place.0 + kept.start as u64;
            self.shadow.clear(start, kept.len() as u64);
        }
        if input.has_length == 0 || input.size > self.options.input {
            return;
        }
        let Some(length) = self.add_length(channel, 0, input.size, PIECE_WHOLE) else {
            return;
        };
        if is_string {
            self.end_string(place.0 + place.1, length);
        }
        let least = shape::least(input.index);
        if least > 0 {
            let there = self.is_at_most(least.into(), length);
            self.decided(EventKind::Assume, there, true, SiteId::NONE);
        }
        if moves {
            let wide = self.zero_extend(length, 64);
            let size = self.plus(wide, end.into());
            let bytes = input.size + end;
            self.add_object(input.address, bytes, size, ObjectKind::Heap);
        } else {
            // The test's own memory has no more room.
            let most = self.is_at_least(input.size, length);
            self.decided(EventKind::Assume, most, true, SiteId::NONE);
        }
        if !input.tied.is_null() {
            // SAFETY: as promised by the caller.
            let value = unsafe { input.tied.read() };
            self.tie(input.tied as u64, value, length, shape::more(input.index));
        }
    }

    /// # Safety
    /// As for [`__nm_call_input`].
    unsafe fn label_pieces(&mut self, channel: u32, input: &Input) {
        let count = input.piece_count as usize;
        // SAFETY: as promised by the caller.
        let pieces = unsafe { core::slice::from_raw_parts(input.pieces, count) };
        let mut offset = 0;
        for piece in pieces {
            let place = (piece.address, piece.size);
            // SAFETY: as promised by the caller.
            unsafe { self.label_input(channel, offset, place, SiteId::NONE) };
            offset += piece.size;
        }
    }

    /// The object that an address lies in has a byte there, whatever its size.
    fn assume_inside(&mut self, address: Word) {
        let object = self.find_object(address.value);
        let Some(object) = object.filter(|object| object.live && object.size_label != CONCRETE)
        else {
            return;
        };
        let offset = self.calculate(Op::Sub, address, Word::concrete(object.start));
        let size = self.size_of(object);
        let inside = self.relate(Op::Ult, offset, size);
        if inside.holds && inside.label != CONCRETE {
            self.decided(EventKind::Assume, inside.label, true, SiteId::NONE);
        }
    }

    /// The argument in a slot is a length, and `more`.
    fn tie(&mut self, slot: u64, value: u64, length: Label, more: u32) {
        let wide = self.zero_extend(length, 64);
        let label = match more {
            0 => wide,
            more => self.plus(wide, more.into()),
        };
        if label == CONCRETE || self.value(label) as u64 != value {
            return;
        }
        for byte in 0..8 {
            self.shadow
                .set(slot + byte, ShadowWord::new(label, byte as u32));
        }
    }

    /// `length <= most`.
    fn is_at_least(&mut self, most: u64, length: Label) -> Label {
        let value = self.value(length) as u64;
        self.operate(Op::Ule, LENGTH_BITS, [length, CONCRETE], [value, most])
    }
}
