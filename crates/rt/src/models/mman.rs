//! `<sys/mman.h>`: files as memory.

use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;

use super::model;
use crate::calls::Call;
use crate::formula::Word;
use crate::objects::ObjectKind;
use crate::runtime::Runtime;
use crate::system;
use crate::system::map::{PROT_READ, SHARED};

const PAGE: u64 = 4096;
/// The bits of the flags that say whether changes go to the file, and how.
const SHARED_KINDS: i32 = 1;

/// A size, rounded up to pages.
fn whole_pages(runtime: &mut Runtime, size: Word) -> Word {
    let up = runtime.calculate(Op::Add, size, Word::concrete(PAGE - 1));
    runtime.calculate(Op::And, up, Word::concrete(!(PAGE - 1)))
}

/// A mapping was made: it holds a file's bytes, or nothing known.
fn mapped(
    runtime: &mut Runtime,
    call: &Call,
    (start, size): (*mut u8, usize),
    protection: i32,
    (fd, offset): (i32, i64),
) {
    let site = call.site();
    let asked = runtime.word(call.label(1), size as u64);
    call.fix(runtime, "p.llll");
    if start as isize == -1 {
        runtime.settle(asked, NoteKind::Size, site);
        return;
    }
    let start = start as u64;
    runtime.shadow.clear(start, size as u64);
    // Up to the end of its last page it can be used; nothing of no size is mapped.
    let some = runtime.relate(Op::Ne, asked, Word::concrete(0));
    runtime.decided(EventKind::Branch, some.label, true, site);
    let whole = whole_pages(runtime, asked);
    runtime.add_object(start, whole.value, whole.label, ObjectKind::Mapping);
    runtime.settle(asked, NoteKind::Size, site);
    let Some(channel) = runtime.inputs.of_descriptor(fd) else {
        return;
    };
    if protection & PROT_READ == 0 {
        return;
    }
    // Beyond the file's end there is nothing to read, and beyond its last page not even that.
    let file_size = system::status(fd).map_or(0, |status| status.size);
    let first = runtime.inputs.channel(channel).start;
    let held = file_size.saturating_sub(offset as u64).min(size as u64);
    let from = (offset as u64).wrapping_sub(first);
    // SAFETY: the mapping is readable up to the end of the file.
    unsafe { runtime.label_input(channel, from, (start, held), site) };
}

model! {
    fn mmap(at: *mut u8, size: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    after |runtime, call, start| {
        mapped(runtime, call, (start, size), protection, (fd, offset));
        let shared = flags & SHARED_KINDS == SHARED;
        runtime.mapped_kept((start as u64, size as u64), shared, (fd, offset));
    }
}

model! {
    fn mmap64(at: *mut u8, size: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    after |runtime, call, start| {
        mapped(runtime, call, (start, size), protection, (fd, offset));
        let shared = flags & SHARED_KINDS == SHARED;
        runtime.mapped_kept((start as u64, size as u64), shared, (fd, offset));
    }
}

model! {
    fn munmap(start: *mut u8, size: usize) -> i32;
    before |runtime, _| runtime.unmapped_kept(start as u64, size as u64);
    after |runtime, call, (), result| {
        call.fix(runtime, "pl");
        if result == 0 {
            runtime.shadow.clear(start as u64, size as u64);
            let end = (start as u64).saturating_add((size as u64).next_multiple_of(PAGE));
            runtime.objects.remove_overlapping(start as u64, end);
        }
    }
}
