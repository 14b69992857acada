//! The inputs of a call whose precondition is to be found (`nearmiss hoist`): what the function is given is labelled when
//! it is entered, by code that `nearmiss-hoist` writes.
//!
//! Only the outermost call of the wanted function counts: what it calls belongs to it. All channels of a call have its
//! number. Marks in the trace say where it begins and ends.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::event::{Event, EventKind, PHASE_FUNCTION, PHASE_RESULT, PHASE_SETUP};
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::calls::Call;
use crate::formula::Word;
use crate::objects::{Object, ObjectKind};
use crate::runtime::Runtime;
use crate::system;
use crate::text::parse_number;
use crate::turn;

/// Calls that are recorded: beyond that a suite repeats itself.
const MOST_CALLS: u32 = 200;
/// Objects of one call whose sizes are inputs.
const MOST_OBJECTS: usize = 64;

/// Where a pointer that is null would lead if it were not: nothing is there.
const ELSEWHERE: u64 = 1 << 40;

/// The number of the function whose calls are recorded, and one more; 0: there is none.
static WANTED: AtomicU32 = AtomicU32::new(0);
/// How many of its calls there were.
static CALLS: AtomicU32 = AtomicU32::new(0);
/// The frame of the call that is under way; 0: there is none.
static OUTER: AtomicU64 = AtomicU64::new(0);
/// The starts of objects of the call that is under way; 0 where there is none.
type Slots = [AtomicU64; MOST_OBJECTS];
/// The objects whose sizes became inputs.
static SIZED: Slots = [const { AtomicU64::new(0) }; MOST_OBJECTS];
/// The pointers into them, in the same places.
static POINTERS: Slots = [const { AtomicU64::new(0) }; MOST_OBJECTS];
/// The terms of the bytes before these pointers.
static BEFORE: [AtomicU32; MOST_OBJECTS] = [const { AtomicU32::new(CONCRETE) }; MOST_OBJECTS];
/// The objects that several pointers lead into.
static SHARED: Slots = [const { AtomicU64::new(0) }; MOST_OBJECTS];

/// Whether a call of the function with this number, which begins, is to be recorded.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_hoist_wanted(frame: u64, number: u32) -> i32 {
    Call::take(__nm_hoist_wanted as *const () as u64);
    if WANTED.load(Ordering::Relaxed) != number + 1 || !turn::recording() {
        return 0;
    }
    // The stack grows downwards: a frame above the last one's is of a later call, which that never came back to.
    let outer = OUTER.load(Ordering::Relaxed);
    if outer != 0 && frame < outer {
        return 0;
    }
    if CALLS.fetch_add(1, Ordering::Relaxed) >= MOST_CALLS {
        return 0;
    }
    OUTER.store(frame, Ordering::Relaxed);
    turn::with((), |runtime| {
        // Of a call that never came back.
        forget(runtime);
        mark(runtime, PHASE_SETUP);
    });
    1
}

/// The value of `NEARMISS_HOIST` in the environment that the process began with: which function is wanted.
pub fn set_wanted(text: &[u8]) {
    // The standard library's own would bring its messages along, which libraries then show.
    let number = parse_number(text).and_then(|number| u32::try_from(number).ok());
    let wanted = number.map_or(0, |number| number.saturating_add(1));
    WANTED.store(wanted, Ordering::Relaxed);
}

fn mark(runtime: &mut Runtime, phase: u16) {
    let mut event = Event::new(EventKind::Mark, false, CONCRETE, SiteId::NONE);
    event.aux = phase;
    runtime.append(&event);
}

/// The number of the call that is under way.
fn current() -> u32 {
    CALLS.load(Ordering::Relaxed).saturating_sub(1)
}

/// All inputs of the call are made: the function begins.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_hoist_begin() {
    turn::with((), |runtime| mark(runtime, PHASE_FUNCTION));
}

/// A function whose calls are recorded returns.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_hoist_leave(frame: u64) {
    if OUTER.load(Ordering::Relaxed) != frame || frame == 0 {
        return;
    }
    OUTER.store(0, Ordering::Relaxed);
    turn::with((), |runtime| {
        mark(runtime, PHASE_RESULT);
        forget(runtime);
    });
}

/// Nothing is known of the objects of a call any more, nor what was made of its inputs: until the next one begins the tests
/// run as if nothing were recorded.
fn forget(runtime: &mut Runtime) {
    for slot in &SHARED {
        slot.store(0, Ordering::Relaxed);
    }
    for slot in &SIZED {
        let start = slot.swap(0, Ordering::Relaxed);
        if start != 0 {
            settle(runtime, start);
        }
    }
    runtime.shadow.forget();
}

/// The size of an object is a number again.
fn settle(runtime: &mut Runtime, start: u64) {
    let Some(object) = runtime.objects.find_live(start) else {
        return;
    };
    if object.start == start && object.size_label != CONCRETE {
        runtime.objects.insert(Object {
            size_label: CONCRETE,
            ..object
        });
        runtime.shadow.clear_sized(start, object.size);
    }
}

/// The `size` bytes at `memory` are an input of the call.
///
/// # Safety
/// They are readable; `name` ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_hoist_input(memory: *mut u8, size: u64, name: *const u8) {
    Call::take(__nm_hoist_input as *const () as u64);
    if size == 0 {
        return;
    }
    turn::with((), |runtime| {
        // SAFETY: as promised by the caller.
        unsafe {
            let content = core::slice::from_raw_parts(memory, size as usize);
            let channel = add_channel(runtime, name, content);
            if let Some(channel) = channel {
                runtime.label_input(channel, 0, (memory as u64, size), SiteId::NONE);
            }
        }
    });
}

/// # Safety
/// `name` ends with a zero.
unsafe fn add_channel(runtime: &mut Runtime, name: *const u8, content: &[u8]) -> Option<u32> {
    // SAFETY: as promised by the caller.
    let name = unsafe { system::text(name) };
    runtime.add_channel(ChannelKind::Named, current(), name, content)
}

/// Whether the pointer that lies `at` some place is null, and how many elements of `element` bytes there are behind and before
/// it, are inputs. Gives the number of those behind it in this run, 0 if nothing is known of the memory. `_now` is where the
/// caller has the pointer: the twin may have it lead elsewhere (`libc/hoist.c`).
///
/// # Safety
/// `at` is readable, the names end with zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_hoist_pointer(
    at: *const u64,
    element: u32,
    null: *const u8,
    bounds: *const u8,
    before: *const u8,
    _now: *const u64,
) -> u64 {
    Call::take(__nm_hoist_pointer as *const () as u64);
    // SAFETY: as promised by the caller.
    let pointer = unsafe { at.read_unaligned() };
    turn::with(0, |runtime| {
        // SAFETY: as promised by the caller.
        unsafe {
            if pointer == 0 {
                let label = match add_channel(runtime, null, &[1]) {
                    Some(channel) => may_be_null(runtime, channel, (ELSEWHERE, false)),
                    None => CONCRETE,
                };
                runtime.store(at as u64, 8, label);
                return 0;
            }
            let object = runtime.find_object(pointer).filter(|it| it.live);
            // A pointer to the end of something: there are elements before it.
            let object = object.or_else(|| runtime.objects.find_ending(pointer));
            let Some(object) = object else {
                runtime.shadow.clear(at as u64, 8);
                return 0;
            };
            let count = object.rest(pointer) / u64::from(element.max(1));
            if let Some(channel) = add_channel(runtime, null, &[0]) {
                let label = may_be_null(runtime, channel, (pointer, true));
                runtime.store(at as u64, 8, label);
            }
            if object.size_label != CONCRETE {
                share(runtime, object.start);
                return count;
            }
            if slot_of(&SHARED, object.start).is_some() {
                return count;
            }
            let is_large = count > i32::MAX as u64 || object.kind == ObjectKind::Mapping;
            if !is_large && (count > 0 || pointer > object.start) {
                let names = [bounds, before];
                size_is_input(runtime, names, element, object, pointer);
            }
            count
        }
    })
}

/// Two pointers lead into one object: how far they are apart is no input, so neither says how large it is.
fn share(runtime: &mut Runtime, start: u64) {
    let Some(slot) = slot_of(&SIZED, start) else {
        return;
    };
    slot.store(0, Ordering::Relaxed);
    settle(runtime, start);
    if let Some(free) = slot_of(&SHARED, 0) {
        free.store(start, Ordering::Relaxed);
    }
}

/// Whether the size of the object that begins here is an input of the call that is under way.
pub fn has_size(start: u64) -> bool {
    slot_of(&SIZED, start).is_some()
}

fn slot_of(slots: &'static Slots, start: u64) -> Option<&'static AtomicU64> {
    (slots.iter()).find(|slot| slot.load(Ordering::Relaxed) == start)
}

/// `null == 0 ? pointer : 0`, and whether it is set in this run. So only what a path does with a pointer says whether it is null.
fn may_be_null(runtime: &mut Runtime, channel: u32, (pointer, is_set): (u64, bool)) -> Label {
    let null = u8::from(!is_set);
    let byte = runtime.input_byte(channel, 0, null);
    let label = runtime.operate(Op::Eq, 8, [byte, CONCRETE], [u64::from(null), 0]);
    runtime.choose(64, (label, is_set), [CONCRETE; 2], [pointer, 0])
}

/// The object behind a pointer has as many elements from there on as an input says, and as many before it as another one does.
///
/// # Safety
/// The names end with zeros.
unsafe fn size_is_input(
    runtime: &mut Runtime,
    [name, before]: [*const u8; 2],
    element: u32,
    object: Object,
    pointer: u64,
) {
    let mut slots = SIZED.iter().zip(&POINTERS).zip(&BEFORE);
    let free = slots.find(|((slot, _), _)| slot.load(Ordering::Relaxed) == 0);
    let Some(((slot, from), bytes_before)) = free else {
        return;
    };
    let element = u64::from(element.max(1));
    let size = object.rest(pointer);
    let around = pointer - object.start;
    // SAFETY: as promised by the caller.
    let (rest, ahead) = unsafe {
        let Some(rest) = count_is_input(runtime, name, element, size) else {
            return;
        };
        (rest, count_is_input(runtime, before, element, around))
    };
    let size = runtime.calculate(Op::Add, rest, Word::concrete(around));
    slot.store(object.start, Ordering::Relaxed);
    from.store(pointer, Ordering::Relaxed);
    // From where nothing is before it no path has gone there.
    let ahead = ahead.filter(|_| around > 0);
    bytes_before.store(ahead.map_or(CONCRETE, |it| it.label), Ordering::Relaxed);
    runtime.objects.insert(Object {
        size_label: size.label,
        ..object
    });
    runtime.mark_sized(object.start, object.size);
}

/// As many bytes as an input says, in elements, and what is left of the last one.
///
/// # Safety
/// `name` ends with a zero.
unsafe fn count_is_input(
    runtime: &mut Runtime,
    name: *const u8,
    element: u64,
    bytes: u64,
) -> Option<Word> {
    // A division that may panic would bring the standard library with it.
    let count = bytes.checked_div(element)?;
    let rest = bytes - count * element;
    let content = (count as u32).to_le_bytes();
    // SAFETY: as promised by the caller.
    let channel = unsafe { add_channel(runtime, name, &content) }?;
    let mut label = runtime.input_byte(channel, 0, content[0]);
    for offset in 1..4 {
        let high = runtime.input_byte(channel, offset, content[offset as usize]);
        label = runtime.concatenate(high, label);
    }
    let label = runtime.resize(label, 64);
    let count = Word {
        label,
        value: count,
    };
    let whole = runtime.calculate(Op::Mul, count, Word::concrete(element));
    Some(runtime.calculate(Op::Add, whole, Word::concrete(rest)))
}

/// What a call whose precondition is to be found knows of the object that begins here.
#[derive(Clone, Copy)]
pub enum Known {
    /// Nothing: it is an object like any other.
    Nothing,
    /// Several pointers lead into it: how far they are apart is no input, so its size is that of the tests.
    Shared,
    /// A pointer leads into it, with so many bytes before it.
    Before(u64, Word),
}

/// What is known of the object that begins here.
pub fn known(start: u64) -> Known {
    if OUTER.load(Ordering::Relaxed) == 0 {
        return Known::Nothing;
    }
    if slot_of(&SHARED, start).is_some() {
        return Known::Shared;
    }
    let mut slots = SIZED.iter().zip(&POINTERS).zip(&BEFORE);
    let found = slots.find(|((slot, _), _)| slot.load(Ordering::Relaxed) == start);
    let Some(((_, pointer), before)) = found else {
        return Known::Nothing;
    };
    let (pointer, label) = (
        pointer.load(Ordering::Relaxed),
        before.load(Ordering::Relaxed),
    );
    match label {
        CONCRETE => Known::Nothing,
        _ => Known::Before(
            pointer,
            Word {
                label,
                value: pointer - start,
            },
        ),
    }
}
