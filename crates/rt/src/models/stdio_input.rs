//! `<stdio.h>`: reading from streams.

use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::term::{CONCRETE, Label, ShadowWord};

use super::stdio::follow;
use super::{model, real};
use crate::arrivals::Reading;
use crate::bounds::Span;
use crate::calls::Call;
use crate::extent::Line;
use crate::input::Source;
use crate::runtime::Runtime;
use crate::streams::{File, Told, ahead, tell};
use crate::system;
use crate::thread::Thread;

/// Where the next byte of a stream comes from; notices reads that no model saw.
pub fn source_of(runtime: &mut Runtime, file: *mut File) -> Option<Source> {
    // SAFETY: libc's variable; the program reads from an open stream.
    unsafe {
        if file == real::stdin && runtime.streams.find(file).is_none() {
            follow(runtime, file, 0);
        }
    }
    let Some(stream) = runtime.streams.find(file) else {
        return runtime.kept_stream(file);
    };
    let channel = stream.channel;
    if runtime.inputs.has_forked() && runtime.inputs.channel(channel).room != 0 {
        runtime.streams.remove(file);
        runtime.fed_by_child();
        return None;
    }
    let stream = runtime.streams.find(file)?;
    if !stream.is_in_step() {
        let seekable = stream.seekable;
        let known = *runtime.inputs.channel(channel);
        // SAFETY: as above.
        let told = unsafe {
            match (known.room, seekable) {
                (0, true) => tell(file),
                (0, false) => Told::Nothing,
                // All that came of a pipe is known, and what of it waits in the stream.
                _ => Told::At(known.position.wrapping_sub(ahead(file).available)),
            }
        };
        let start = runtime.inputs.channel(channel).start;
        let told = match told {
            Told::At(position) => Told::At(position.wrapping_sub(start)),
            Told::Nothing => Told::Nothing,
        };
        let stream = runtime.streams.find(file)?;
        if !stream.catch_up(told) {
            runtime.streams.remove(file);
            let none = nearmiss_abi::site::SiteId::NONE;
            runtime.trace.note(NoteKind::InputChanged, none, 1);
            return None;
        }
    }
    let stream = runtime.streams.find(file)?;
    Some(Source {
        channel: stream.channel,
        offset: stream.position,
        seekable: stream.seekable,
    })
}

/// `got` bytes were read into `buffer`. Whether all of them are the channel's: a byte that was
/// pushed back is not.
pub(super) fn received(
    runtime: &mut Runtime,
    call: &Call,
    (file, source): (*mut File, Option<Source>),
    (buffer, got): (*mut u8, u64),
) -> bool {
    let mut skipped = 0;
    let mut pushed = CONCRETE;
    if let Some(source) = source
        && let Some(stream) = runtime.streams.find(file)
    {
        stream.advance_to(source.offset + got);
        if got > 0 && core::mem::take(&mut stream.pushed) {
            skipped = 1;
            pushed = stream.pushed_label;
        }
    }
    let start = buffer as u64;
    runtime.shadow.clear(start, skipped);
    if pushed != CONCRETE {
        runtime.shadow.set(start, ShadowWord::new(pushed, 0));
    }
    let source = source.map(|source| Source {
        offset: source.offset + skipped,
        ..source
    });
    // SAFETY: the real function has just written them.
    unsafe { runtime.received(source, (start + skipped, got - skipped), call.site()) };
    skipped == 0
}

/// How far a stream has come since `source`, if it can say.
fn moved_since(file: *mut File, source: Option<Source>, start: u64) -> Option<u64> {
    let source = source.filter(|source| source.seekable)?;
    // SAFETY: an open stream.
    match unsafe { tell(file) } {
        Told::At(position) => position.wrapping_sub(start).checked_sub(source.offset),
        Told::Nothing => None,
    }
}

fn start_of(runtime: &mut Runtime, source: Option<Source>) -> u64 {
    let channel = source.filter(|source| source.kept().is_none());
    channel.map_or(0, |source| runtime.inputs.channel(source.channel).start)
}

/// Where the arguments of a relative of `fread` stand.
#[derive(Clone, Copy)]
struct Items {
    buffer: *mut u8,
    size: usize,
    count: usize,
    /// The position of `size` among the arguments; `count` follows it.
    at: usize,
}

/// `fread` is about to read: the bytes that are asked for are a product.
fn about_to_read_items(
    runtime: &mut Runtime,
    call: &Call,
    file: *mut File,
    items: Items,
) -> Reading {
    let source = source_of(runtime, file);
    let size = runtime.word(call.label(items.at), items.size as u64);
    let count = runtime.word(call.label(items.at + 1), items.count as u64);
    let to = Span {
        address: runtime.word(call.label(0), items.buffer as u64),
        size: runtime.calculate(Op::Mul, size, count),
        write: true,
        site: call.site(),
    };
    let reading = runtime.reading(source, &to);
    runtime.settle(size, NoteKind::Size, call.site());
    runtime.settle(count, NoteKind::Size, call.site());
    reading
}

/// `fread` read `whole` items, and perhaps part of another one.
fn has_read_items(
    runtime: &mut Runtime,
    (call, function): (&Call, u64),
    (file, reading): (*mut File, &Reading),
    items: Items,
    whole: usize,
) {
    let size = items.size as u64;
    let source = reading.source;
    let bytes = whole as u64 * size;
    let start = start_of(runtime, source);
    let moved = moved_since(file, source, start);
    let most = items.size.saturating_mul(items.count) as u64;
    let got = moved.map_or(bytes, |moved| moved.max(bytes).min(most));
    if !received(runtime, call, (file, source), (items.buffer, got)) {
        return;
    }
    let bytes = runtime.count_read(reading, got);
    let label = runtime.count_items(bytes, size);
    if label != CONCRETE && runtime.value(label) == whole as u128 {
        Thread::current().set_returned(function, label);
    }
}

/// The destination of a relative of `fgets`: where the line goes, and its size with the zero.
#[derive(Clone, Copy)]
struct Place {
    buffer: *mut u8,
    /// As the program gave it.
    size: i32,
    /// The position of the size among the arguments.
    at: usize,
}

impl Place {
    /// The destination as a span. `fgets` writes nothing for sizes that are not positive.
    fn span(self, runtime: &mut Runtime, call: &Call) -> Span {
        let site = call.site();
        let label = runtime.trusted(call.label(self.at), 32, self.size as u32 as u64);
        let values = [0, self.size as u32 as u64];
        let positive = runtime.operate(Op::Slt, 32, [CONCRETE, label], values);
        runtime.decided(EventKind::Branch, positive, self.size > 0, site);
        let wide = runtime.zero_extend(label, 64);
        Span {
            address: runtime.word(call.label(0), self.buffer as u64),
            size: runtime.word(wide, self.size as u32 as u64),
            write: true,
            site,
        }
    }
}

/// `fgets` read a line, or nothing.
fn read_line(
    runtime: &mut Runtime,
    call: &Call,
    (file, source): (*mut File, Option<Source>),
    place: Place,
    line: *mut u8,
) {
    let to = place.span(runtime, call);
    if line.is_null() {
        call.fix(runtime, "pll");
        return no_line(runtime, call, (file, source));
    }
    // SAFETY: the real function ended the line with a zero.
    let until_zero = unsafe { system::length(line) } as u64;
    let start = start_of(runtime, source);
    let most = (place.size.max(1) - 1) as u64;
    // A line may have zeros in it; a stream that can seek knows better.
    let moved = moved_since(file, source, start);
    let got = moved.map_or(until_zero, |moved| moved.max(until_zero).min(most));
    let all = received(runtime, call, (file, source), (line, got));
    runtime.shadow.clear(line as u64 + got, 1);
    match source.filter(|_| all) {
        Some(source) => {
            let line = Line {
                address: line as u64,
                size: got,
                ending: b'\n',
                room: Some(to),
            };
            // SAFETY: the real function has just written it.
            unsafe { runtime.line_read(source, line, call.site()) };
        }
        None => runtime.probe_room(source, &to),
    }
    call.fix(runtime, "pll");
}

/// There was no line any more.
pub(super) fn no_line(
    runtime: &mut Runtime,
    call: &Call,
    (file, source): (*mut File, Option<Source>),
) {
    let Some(source) = source else {
        return;
    };
    if let Some(stream) = runtime.streams.find(file) {
        stream.advance_to(source.offset);
    }
    runtime.no_line(source, call.site());
}

fn returns(function: u64, label: Label) {
    if label != CONCRETE {
        Thread::current().set_returned(function, label);
    }
}

/// `getc` read a byte: the label of what it returns.
fn read_byte(
    runtime: &mut Runtime,
    call: &Call,
    function: u64,
    (file, source): (*mut File, Option<Source>),
    byte: i32,
) {
    call.fix(runtime, "p");
    let Some(source) = source else {
        if byte >= 0 {
            runtime.came_from_outside(call.site());
        }
        return;
    };
    if let Some(index) = source.kept() {
        if byte >= 0 {
            let label = runtime.byte_came_back(source, index, byte as u8, call.site());
            return returns(function, label);
        }
        return;
    }
    let Some(stream) = runtime.streams.find(file) else {
        return;
    };
    if byte < 0 {
        stream.advance_to(source.offset);
        let label = runtime.byte_at_end(source, call.site());
        if label != CONCRETE {
            Thread::current().set_returned(function, label);
        }
        return;
    }
    stream.advance_to(source.offset + 1);
    let pushed = core::mem::take(&mut stream.pushed);
    let pushed_label = stream.pushed_label;
    if !source.seekable {
        runtime.inputs.channel(source.channel).position = source.offset + 1;
    }
    if pushed || source.offset >= runtime.options.input {
        if !pushed {
            runtime.trace.note(NoteKind::InputLimit, call.site(), 1);
        } else if pushed_label != CONCRETE {
            let low = runtime.resize(pushed_label, 8);
            let label = runtime.zero_extend(low, 32);
            returns(function, label);
        }
        return;
    }
    let label = runtime.input_byte(source.channel, source.offset as u32, byte as u8);
    let label = runtime.zero_extend(label, 32);
    if label != CONCRETE {
        Thread::current().set_returned(function, label);
    }
}

/// The relatives of `fread`, with the room that the compiler knew or without.
macro_rules! read_items_models {
    ($($name:ident $checked:ident)*) => { $(
        model! {
            fn $name(buffer: *mut u8, size: usize, count: usize, file: *mut File) -> usize;
            before |runtime, call| {
                let items = Items { buffer, size, count, at: 1 };
                about_to_read_items(runtime, call, file, items)
            };
            after |runtime, call, reading, whole| {
                call.fix(runtime, "...p");
                let function = $name as *const () as u64;
                let items = Items { buffer, size, count, at: 1 };
                has_read_items(runtime, (call, function), (file, &reading), items, whole);
            }
        }

        model! {
            fn $checked(buffer: *mut u8, room: usize, size: usize, count: usize, file: *mut File) -> usize;
            before |runtime, call| {
                let items = Items { buffer, size, count, at: 2 };
                about_to_read_items(runtime, call, file, items)
            };
            after |runtime, call, reading, whole| {
                call.fix(runtime, "....p");
                let function = $checked as *const () as u64;
                let items = Items { buffer, size, count, at: 2 };
                has_read_items(runtime, (call, function), (file, &reading), items, whole);
            }
        }
    )* };
}

read_items_models! { fread __fread_chk fread_unlocked __fread_unlocked_chk }

/// The relatives of `fgets`, likewise.
macro_rules! read_line_models {
    ($($name:ident $checked:ident)*) => { $(
        model! {
            fn $name(buffer: *mut u8, size: i32, file: *mut File) -> *mut u8;
            before |runtime, _| source_of(runtime, file);
            after |runtime, call, source, line| {
                call.fix(runtime, "..p");
                let place = Place { buffer, size, at: 1 };
                read_line(runtime, call, (file, source), place, line);
            }
        }

        model! {
            fn $checked(buffer: *mut u8, room: usize, size: i32, file: *mut File) -> *mut u8;
            before |runtime, _| source_of(runtime, file);
            after |runtime, call, source, line| {
                call.fix(runtime, "...p");
                let place = Place { buffer, size, at: 2 };
                read_line(runtime, call, (file, source), place, line);
            }
        }
    )* };
}

read_line_models! { fgets __fgets_chk fgets_unlocked __fgets_unlocked_chk }

/// The models that read one byte from a stream they are given.
macro_rules! read_byte_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(file: *mut File) -> i32;
            before |runtime, _| source_of(runtime, file);
            after |runtime, call, source, byte| {
                let function = $name as *const () as u64;
                read_byte(runtime, call, function, (file, source), byte);
            }
        }
    )* };
}

read_byte_models! { getc fgetc _IO_getc getc_unlocked fgetc_unlocked }

/// The models that read one byte from standard input.
macro_rules! read_stdin_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name() -> i32;
            // SAFETY: libc's variable.
            before |runtime, _| source_of(runtime, unsafe { real::stdin });
            after |runtime, call, source, byte| {
                let function = $name as *const () as u64;
                // SAFETY: libc's variable.
                let file = unsafe { real::stdin };
                read_byte(runtime, call, function, (file, source), byte);
            }
        }
    )* };
}

read_stdin_models! { getchar getchar_unlocked }
