//! `<stdio.h>`: `getline` and its relatives, which read a line into a block that they make larger.
//!
//! How large the block is, the program says. If it says more than is there, lines in between are
//! written over the end; a longer line gets a larger block, which only a block of the heap can become:
//!
//! ```text
//! needed = line + 1
//! right:  needed <= block   or  needed > given        (out-of-bounds-write)
//! right:  needed <= given   or  a block of the heap   (invalid-free)
//! ```

use nearmiss_abi::check::Kind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::CONCRETE;

use super::model;
use super::stdio_input::{no_line, received, source_of};
use crate::bounds::Span;
use crate::calls::Call;
use crate::extent::Line;
use crate::formula::{Truth, Word};
use crate::input::Source;
use crate::objects::{Object, ObjectKind};
use crate::runtime::Runtime;
use crate::streams::File;
use crate::thread::Thread;

/// Where the program keeps the line's block and its size.
type Variables = (*mut *mut u8, *mut usize);

/// What the program had when it called.
#[derive(Clone, Copy)]
struct Given {
    source: Option<Source>,
    /// The block; 0: none.
    block: u64,
    /// How large it is said to be.
    size: Word,
}

impl Default for Given {
    fn default() -> Given {
        Given {
            source: None,
            block: 0,
            size: Word::concrete(0),
        }
    }
}

impl Given {
    fn of(runtime: &mut Runtime, (line, size): Variables, file: *mut File) -> Given {
        let source = source_of(runtime, file);
        if line.is_null() || size.is_null() {
            return Given {
                source,
                ..Given::default()
            };
        }
        // SAFETY: the program's variables, which the real function reads too.
        let (block, value) = unsafe { (line.read() as u64, size.read() as u64) };
        let label = runtime.peek(size as u64, 8, value);
        Given {
            source,
            block,
            size: runtime.word(label, value),
        }
    }

    /// The object in which the line is written, if it is known.
    fn object(&self, runtime: &mut Runtime) -> Option<Object> {
        let is_used = self.block != 0 && self.size.value != 0;
        let object = is_used.then(|| runtime.find_object(self.block))?;
        object.filter(|object| object.live)
    }

    /// A line that needs so many bytes is written: see the module's comment.
    fn check(&self, runtime: &mut Runtime, object: Object, needed: Word, site: SiteId) {
        let span = Span {
            address: Word::concrete(self.block),
            size: needed,
            write: true,
            site,
        };
        let grows = runtime.relate(Op::Ult, self.size, needed);
        let fits = runtime.inside(&span, object);
        let has_room = runtime.either(grows, fits);
        runtime.check_that(Kind::OutOfBoundsWrite, has_room, site);
        let is_block = object.kind == ObjectKind::Heap && object.start == self.block;
        let stays = runtime.opposite(grows);
        let can_grow = runtime.either(Truth::concrete(is_block), stays);
        runtime.check_that(Kind::InvalidFree, can_grow, site);
    }

    /// A line whose length is not known was read: a longer one may not fit.
    fn doubt(&self, runtime: &mut Runtime, object: Object, site: SiteId) {
        let is_input = self.source.is_some_and(|source| source.kept().is_none());
        if is_input && object.rest(self.block) < self.size.value {
            runtime.trace.note(NoteKind::Length, site, 1);
        }
    }

    /// The size of the block for a line that needs so many bytes, if `object` was kept.
    fn kept_size(&self, runtime: &mut Runtime, object: Object, needed: Word) -> Word {
        let size = runtime.size_of(object);
        let fits = runtime.relate(Op::Ule, needed, self.size);
        let labels = [size.label, needed.label];
        let values = [size.value, needed.value];
        Word {
            label: runtime.choose(64, (fits.label, fits.holds), labels, values),
            value: size.value,
        }
    }
}

/// `getline` read `got` bytes.
fn read_own_line(
    runtime: &mut Runtime,
    (call, function): (&Call, u64),
    (file, given): (*mut File, Given),
    ((line, room), ending): (Variables, u8),
    got: isize,
) {
    let site = call.site();
    if got < 0 || line.is_null() || room.is_null() {
        return no_line(runtime, call, (file, given.source));
    }
    // SAFETY: the real function put the line there, and its size.
    let (line, room) = unsafe { (line.read(), room.read() as u64) };
    let object = given.object(runtime);
    let kept = object.filter(|_| line as u64 == given.block && room == given.size.value);
    let all = received(runtime, call, (file, given.source), (line, got as u64));
    runtime.shadow.clear(line as u64 + got as u64, 1);
    let Some(source) = given.source.filter(|_| all) else {
        if let Some(object) = object {
            given.doubt(runtime, object, site);
        }
        if kept.is_none() {
            runtime.adopt(line as u64, room, CONCRETE);
        }
        return;
    };
    let line = Line {
        address: line as u64,
        size: got as u64,
        ending,
        room: None,
    };
    // SAFETY: the real function has just written it.
    let label = unsafe { runtime.line_read(source, line, site) };
    let length = runtime.word(label, got as u64);
    let needed = runtime.calculate(Op::Add, length, Word::concrete(1));
    match object {
        Some(object) if label != CONCRETE => given.check(runtime, object, needed, site),
        Some(object) => given.doubt(runtime, object, site),
        None => {}
    }
    match kept {
        None => {
            let room_label = runtime.room_of_line(label, room);
            runtime.adopt(line.address, room, room_label);
        }
        Some(object) if object.kind == ObjectKind::Heap && object.start == line.address => {
            let size = given.kept_size(runtime, object, needed);
            runtime.adopt(line.address, size.value, size.label);
        }
        Some(_) => {}
    }
    if label != CONCRETE {
        Thread::current().set_returned(function, label);
    }
}

model! {
    fn getline(line: *mut *mut u8, room: *mut usize, file: *mut File) -> isize;
    before |runtime, _| Given::of(runtime, (line, room), file);
    after |runtime, call, given, got| {
        call.fix(runtime, "ppp");
        let function = getline as *const () as u64;
        read_own_line(runtime, (call, function), (file, given), ((line, room), b'\n'), got);
    }
}

/// Those that are told which byte ends a line.
macro_rules! delimited_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(line: *mut *mut u8, room: *mut usize, end: i32, file: *mut File) -> isize;
            before |runtime, _| Given::of(runtime, (line, room), file);
            after |runtime, call, given, got| {
                call.fix(runtime, "pplp");
                let function = $name as *const () as u64;
                let variables = ((line, room), end as u8);
                read_own_line(runtime, (call, function), (file, given), variables, got);
            }
        }
    )* };
}

delimited_models! { getdelim __getdelim }
