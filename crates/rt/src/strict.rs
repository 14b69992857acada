//! Accesses at concrete addresses, where all paths of a function are wanted.
//!
//! A path ends at its first failure, whatever the data: what a program does behind it depends on what
//! happened to lie in memory. So in explorations every access is looked at before it is made. What
//! is known of it:
//!
//! - the pointer that the address was made of: its object is the one that is meant;
//! - red zones: behind each variable (`instrument::zones`) and each block of a harness lie bytes that belong
//!   to none, and around each block of the heap those of the allocator. A pointer that walks out of
//!   its object comes through there.
//!
//! Memory of which nothing is known (libc's own, that of libraries) is left alone; between
//! blocks of the heap that is a note.

use nearmiss_abi::check::Kind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::shadow::RED_ZONE;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::CONCRETE;

use crate::bounds::Span;
use crate::objects::{Object, ObjectKind};
use crate::pointers::NULL_PAGE;
use crate::runtime::Runtime;

/// What the allocator keeps before each block.
const HEADER: u64 = 8;

/// Whether an access is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is, or another check says it.
    Right,
    /// It fails so.
    Wrong(Kind),
    /// It fails in this run, but the size of its object depends on the input: for another it is right.
    Depends(Object),
    /// Nothing is known of this memory.
    Unknown,
}

impl Runtime {
    /// The red zone of a new object, if that is known.
    pub fn with_zone(&mut self, object: Object) -> Object {
        if !self.options.strict || object.kind != ObjectKind::Heap {
            return object;
        }
        let (low, high) = self.heap;
        let end = object.start.saturating_add(object.size);
        self.heap = (low.min(object.start), high.max(end));
        if object.size_label != CONCRETE {
            return object;
        }
        object.zoned(gap_behind(object.size))
    }

    /// The program is about to access memory at a concrete address that was made of the
    /// pointer `base`.
    pub fn check_concrete(&mut self, base: u64, span: &Span) {
        if !self.options.strict || span.size.value == 0 || span.site == SiteId::NONE {
            return;
        }
        self.know_globals();
        match self.judge(base, span) {
            Verdict::Right => {}
            Verdict::Wrong(kind) => self.check_failed_as(kind, span.site),
            Verdict::Depends(object) => {
                let inside = self.inside(span, object);
                self.check_that(span.kind(), inside, span.site);
            }
            Verdict::Unknown => self.trace.note(NoteKind::Bounds, span.site, 1),
        }
    }

    fn judge(&self, base: u64, span: &Span) -> Verdict {
        let address = span.address.value;
        if address < NULL_PAGE {
            return Verdict::Wrong(Kind::NullDereference);
        }
        if let Some(meant) = self.object_of_base(base) {
            return self.judge_in(meant, span);
        }
        match self.objects.find(address) {
            Some(object) if object.live => self.judge_in(object, span),
            Some(object) if object.kind == ObjectKind::Heap => Verdict::Wrong(Kind::UseAfterFree),
            Some(_) => Verdict::Right,
            None => self.judge_unknown(address, span),
        }
    }

    /// An access that is meant for an object.
    fn judge_in(&self, object: Object, span: &Span) -> Verdict {
        if holds(&object, span) {
            Verdict::Right
        } else if object.size_label != CONCRETE && !self.is_fixed(object.size_label) {
            Verdict::Depends(object)
        } else {
            Verdict::Wrong(span.kind())
        }
    }

    /// The object that a pointer was meant for. Where two meet it may be either.
    fn object_of_base(&self, base: u64) -> Option<Object> {
        let object = self.objects.find_live(base)?;
        let meets_another = || self.objects.find_ending(base).is_some();
        (base != object.start || !meets_another()).then_some(object)
    }

    /// Memory that is no object.
    fn judge_unknown(&self, address: u64, span: &Span) -> Verdict {
        if let Some(before) = self.objects.find_before(address)
            && before.kind == ObjectKind::Heap
            && before.size_label != CONCRETE
            && address - before.start < before.size.saturating_add(gap_behind(before.size))
        {
            return self.judge_in(before, span);
        }
        let next = self.objects.find_live(address + HEADER);
        if next.is_some_and(|next| next.kind == ObjectKind::Heap) {
            return Verdict::Wrong(span.kind());
        }
        let (low, high) = self.heap;
        if (low..high).contains(&address) {
            Verdict::Unknown
        } else {
            Verdict::Right
        }
    }
}

/// Whether the span lies in the object, as far as its size is known: what depends on the input is a
/// check of its own.
fn holds(object: &Object, span: &Span) -> bool {
    let is_decided_elsewhere = object.size_label != CONCRETE;
    let size = if is_decided_elsewhere {
        object.extent.max(object.size)
    } else {
        object.size
    };
    let offset = span.address.value.wrapping_sub(object.start);
    let room = size.checked_sub(span.size.value);
    room.is_some_and(|room| offset <= room)
}

/// Bytes from the end of a block to where the allocator's next may begin, of which no object
/// can have any.
fn gap_behind(size: u64) -> u64 {
    const ALIGNMENT: u64 = 16;
    const LEAST: u64 = 32;
    let needed = size.saturating_add(HEADER + ALIGNMENT - 1);
    let whole = (needed & !(ALIGNMENT - 1)).max(LEAST);
    whole.saturating_sub(size).min(RED_ZONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Word;
    use crate::runtime::testing::Scratch;

    const HEAP: u64 = 0x10000;
    const STACK: u64 = 0x20000;

    fn scene() -> Scratch {
        let mut runtime = Scratch::new();
        runtime.options.strict = true;
        let blocks = [(HEAP, 24), (HEAP + 32, 8), (HEAP + 0x1000, 8)];
        for (start, size) in blocks {
            runtime.add_object(start, size, CONCRETE, ObjectKind::Heap);
        }
        let variable = Object::new(STACK, 4, ObjectKind::Stack);
        runtime.objects.insert(variable.zoned(RED_ZONE));
        runtime
    }

    fn judge(runtime: &Scratch, base: u64, address: u64, size: u64) -> Verdict {
        let span = Span {
            address: Word::concrete(address),
            size: Word::concrete(size),
            write: false,
            site: SiteId(1),
        };
        runtime.judge(base, &span)
    }

    #[test]
    fn blocks_end_where_they_end() {
        let runtime = scene();
        let beyond = Verdict::Wrong(Kind::OutOfBoundsRead);
        let same = |address, size| judge(&runtime, address, address, size);
        assert_eq!(same(HEAP + 16, 8), Verdict::Right);
        assert_eq!(same(HEAP + 17, 8), beyond);
        assert_eq!(same(HEAP + 24, 1), beyond);
        assert_eq!(same(HEAP + 32, 8), Verdict::Right);
        assert_eq!(same(HEAP - 1, 1), beyond);
        assert_eq!(same(STACK + 4, 1), beyond);
        assert_eq!(same(STACK - 1, 1), Verdict::Right);
        assert_eq!(same(8, 1), Verdict::Wrong(Kind::NullDereference));
    }

    #[test]
    fn the_object_of_the_pointer_is_meant() {
        let runtime = scene();
        let beyond = Verdict::Wrong(Kind::OutOfBoundsRead);
        assert_eq!(judge(&runtime, HEAP, HEAP + 32, 8), beyond);
        assert_eq!(judge(&runtime, HEAP + 8, HEAP, 8), Verdict::Right);
        assert_eq!(judge(&runtime, HEAP + 32, HEAP - 1024, 8), beyond);
        assert_eq!(judge(&runtime, STACK + 2, STACK + 3, 1), Verdict::Right);
    }

    #[test]
    fn what_is_freed_or_unknown() {
        let mut runtime = scene();
        runtime.objects.end(HEAP);
        let freed = Verdict::Wrong(Kind::UseAfterFree);
        assert_eq!(judge(&runtime, HEAP, HEAP, 8), freed);
        let between = HEAP + 0x800;
        assert_eq!(judge(&runtime, between, between, 8), Verdict::Unknown);
        assert_eq!(judge(&runtime, 0x30000, 0x30000, 8), Verdict::Right);
    }

    #[test]
    fn the_allocators_gap_has_eight_bytes_at_least() {
        assert_eq!([0, 8, 24, 25, 40].map(gap_behind), [16, 16, 8, 16, 8]);
    }
}
