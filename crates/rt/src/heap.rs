//! Memory that changes hands: objects come and go, of sizes that may depend on input.
//!
//! An allocation of symbolic size gives an object of symbolic size; nothing is fixed. Whether
//! it could fail is a *probe*: an input that asks for more than the limit is worth a run.
//!
//! Which allocations are refused: none in the recording of a test, which must behave as the
//! plain program does, however large its own allocations are. The engine gives the option
//! `allocation` only for inputs of its own, and there what is above the limit fails as if memory
//! were short, if input decided on its size; it is never really made.

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::formula::{Truth, Word};
use crate::objects::{Object, ObjectKind};
use crate::runtime::Runtime;

/// What an allocation asks for.
#[derive(Clone, Copy)]
pub struct Request {
    /// Bytes, modulo 2^64.
    pub size: Word,
    /// Whether the size is a product that does not fit.
    pub overflows: Truth,
}

impl Request {
    /// Nothing.
    pub const NONE: Request = Request {
        size: Word::concrete(0),
        overflows: Truth::concrete(false),
    };
}

impl Runtime {
    /// Memory is an object from now on. `size_label` is the term of its size (64 bits), or 0.
    pub fn add_object(&mut self, start: u64, size: u64, size_label: Label, kind: ObjectKind) {
        let size_label = self.word(size_label, size).label;
        let object = self.with_zone(Object {
            size_label,
            is_inner: self.is_in_call,
            ..Object::new(start, size, kind)
        });
        self.objects.insert(object);
        if size_label != CONCRETE {
            self.mark_sized(start, size);
        }
    }

    /// A block of a harness: `extent` bytes of memory, of which the program has `size`.
    pub fn add_block(&mut self, start: u64, size: u64, size_label: Label, extent: u64) {
        let size_label = self.word(size_label, size).label;
        self.objects.insert(Object {
            size_label,
            extent,
            ..Object::new(start, size, ObjectKind::Heap)
        });
        self.mark_sized(start, extent);
    }

    /// Every access to the memory is to be checked. Of a large object only those near its
    /// ends: the others are not what fails first.
    pub fn mark_sized(&mut self, start: u64, size: u64) {
        const LARGE: u64 = 64 << 10;
        const NEAR: u64 = 4 << 10;
        if size <= LARGE {
            self.shadow.set_sized(start, size);
        } else {
            self.shadow.set_sized(start, NEAR);
            self.shadow.set_sized(start + size - NEAR, NEAR);
        }
    }

    /// Memory that a library allocated and gave to the program, to be freed by it.
    pub fn adopt(&mut self, memory: u64, size: u64, size_label: Label) {
        if memory != 0 {
            self.add_object(memory, size, size_label, ObjectKind::Heap);
        }
    }

    /// The object that contains the address.
    pub fn find_object(&mut self, address: u64) -> Option<Object> {
        self.know_globals();
        self.objects.find(address)
    }

    /// As [`Runtime::find_object`], for addresses that are asked for again and again.
    #[inline]
    pub fn find_object_again(&mut self, address: u64) -> Option<Object> {
        self.know_globals();
        self.objects.find_again(address)
    }

    /// A request for one block.
    pub fn request(&mut self, label: Label, size: u64) -> Request {
        Request {
            size: self.word(label, size),
            ..Request::NONE
        }
    }

    /// A request for `count` elements of `size` bytes.
    pub fn request_product(&mut self, labels: [Label; 2], values: [u64; 2]) -> Request {
        let count = self.word(labels[0], values[0]);
        let size = self.word(labels[1], values[1]);
        Request {
            size: self.calculate(Op::Mul, count, size),
            overflows: self.relate(Op::UMulOverflow, count, size),
        }
    }

    /// Whether the request is to fail without an attempt: see the module's comment.
    pub fn refuses(&self, request: &Request) -> bool {
        let symbolic = request.size.is_symbolic() || request.overflows.label != CONCRETE;
        let large = request.overflows.holds || request.size.value > self.options.allocation;
        self.options.refuses && symbolic && large
    }

    /// The request was answered with fresh memory, or null.
    pub fn allocated(&mut self, request: &Request, memory: u64, site: SiteId) {
        if memory != 0 {
            self.shadow.clear(memory, request.size.value);
        }
        self.answered(request, memory, site);
    }

    /// As [`Runtime::allocated`] for memory that keeps its labels.
    pub fn answered(&mut self, request: &Request, memory: u64, site: SiteId) {
        let fits = self.opposite(request.overflows);
        let limit = Word::concrete(self.options.allocation);
        let below = self.relate(Op::Ule, request.size, limit);
        let possible = self.both(fits, below);
        if memory == 0 {
            if !possible.holds {
                self.decided(EventKind::Branch, possible.label, false, site);
            }
            return;
        }
        if possible.holds {
            self.probe(Kind::NullDereference, possible, site);
        }
        // Told as what holds: an assumption that does not is an input that nobody wanted.
        self.decided(EventKind::Assume, fits.label, fits.holds, site);
        self.add_object(
            memory,
            request.size.value,
            request.size.label,
            ObjectKind::Heap,
        );
    }

    /// The block is given back. `usable` is how many bytes it may have had, if nobody knows it.
    pub fn released(&mut self, memory: u64, usable: u64) {
        let known = self.objects.find_live(memory);
        let known = known.filter(|object| object.start == memory);
        let size = known.map_or(usable, |object| object.size);
        self.objects.end(memory);
        self.shadow.clear_sized(memory, size);
        self.shadow.clear(memory, size);
    }

    /// `free` or `realloc` of `memory`: it must be null or a live block, whatever the input.
    pub fn check_free(&mut self, label: Label, memory: u64, site: SiteId) {
        let address = self.word(label, memory);
        if !self.is_open(address) {
            return;
        }
        self.know_globals();
        let pointers = self.pointers(address.label);
        let mut freed = Truth::concrete(false);
        let mut valid = self.relate(Op::Eq, address, Word::concrete(0));
        let others = pointers.list().iter().map(|pointer| pointer.address);
        for pointer in core::iter::once(memory).chain(others) {
            let Some(object) = self.objects.find(pointer) else {
                continue;
            };
            if object.start != pointer || object.kind != ObjectKind::Heap {
                continue;
            }
            let same = self.relate(Op::Eq, address, Word::concrete(pointer));
            if object.live {
                valid = self.either(valid, same);
            } else if pointer != memory {
                freed = self.either(freed, same);
            }
        }
        if valid.holds && pointers.complete {
            let not_freed = self.opposite(freed);
            self.check_that(Kind::DoubleFree, not_freed, site);
            self.check_that(Kind::InvalidFree, valid, site);
        } else {
            self.trace.note(NoteKind::Bounds, site, 1);
        }
        self.fix(label, NoteKind::Address, site);
    }
}
