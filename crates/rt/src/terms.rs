//! Hash-consing: which label a term already has.
//!
//! An open hash table of labels, in private memory; the terms themselves lie in the trace.
//! The four bits that a label leaves free hold part of the hash, so that a search rarely looks
//! at a term (and misses the cache) in vain. The table starts small, because a table that is large from the start touches a page for nearly every
//! term of a short run, and is rebuilt at twice the size when it is two thirds full.
//!
//! On `unsafe`: `slots` is a private mapping of `mask + 1` words.

use core::ptr;

use nearmiss_abi::op::Op;
use nearmiss_abi::term::{LABEL_BITS, Label, Term};

use crate::system::{self, advice};
use crate::trace::Trace;

/// The table.
pub struct TermTable {
    slots: *mut u32,
    mask: usize,
    used: usize,
}

/// Where a term is or would be.
pub enum Slot {
    /// It has this label.
    Known(Label),
    /// It would go here.
    Free(Place),
}

/// A free slot, and the part of the hash that goes into it.
#[derive(Clone, Copy)]
pub struct Place {
    index: usize,
    tag: u32,
}

const LABEL_MASK: u32 = (1 << LABEL_BITS) - 1;

/// The part of the hash that is kept beside a label: from its top, the slot is its bottom.
#[inline(always)]
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32 & !LABEL_MASK
}

const FIRST_SLOTS: usize = 8 << 10;
/// From this size on a table is worth huge pages.
const LARGE: usize = 4 << 20;

impl TermTable {
    /// No table yet.
    pub const fn none() -> TermTable {
        TermTable {
            slots: ptr::null_mut(),
            mask: 0,
            used: 0,
        }
    }

    /// An empty table.
    pub fn create() -> Option<TermTable> {
        TermTable::with_slots(FIRST_SLOTS)
    }

    fn with_slots(count: usize) -> Option<TermTable> {
        let slots = system::map_private(count * 4).ok()?;
        if count * 4 >= LARGE {
            // SAFETY: nothing is there yet. Nearly every page of it will be used, at random.
            unsafe { system::advise(slots, count * 4, advice::HUGEPAGE) };
        }
        let slots = slots.cast();
        Some(TermTable {
            slots,
            mask: count - 1,
            used: 0,
        })
    }

    /// Finds a term by everything but its value (a constant: and its value).
    #[inline(always)]
    pub fn find(&self, trace: &Trace, term: &Term) -> Slot {
        let hash = hash(term);
        let tag = tag(hash);
        let mut index = hash as usize & self.mask;
        loop {
            // SAFETY: the index is masked.
            let word = unsafe { self.slots.add(index).read() };
            if word == 0 {
                return Slot::Free(Place { index, tag });
            }
            let label = word & LABEL_MASK;
            if word & !LABEL_MASK == tag && same(trace.term(label), term) {
                return Slot::Known(label);
            }
            index = (index + 1) & self.mask;
        }
    }

    /// Enters a new term where [`TermTable::find`] said; `false` if memory is short.
    #[inline(always)]
    pub fn insert(&mut self, trace: &Trace, place: Place, label: Label) -> bool {
        // SAFETY: the place is from `find`, with no growth since.
        unsafe { self.slots.add(place.index).write(label | place.tag) };
        self.used += 1;
        self.used * 3 <= (self.mask + 1) * 2 || self.grow(trace)
    }

    #[cold]
    fn grow(&mut self, trace: &Trace) -> bool {
        let Some(mut larger) = TermTable::with_slots((self.mask + 1) * 2) else {
            return false;
        };
        // In the order of labels: the terms are read once, from front to back.
        for label in 1..trace.term_count() as Label {
            larger.enter(hash(trace.term(label)), label);
        }
        larger.used = self.used;
        self.destroy();
        *self = larger;
        true
    }

    /// Gives the mapping back; nobody may use it afterwards.
    pub fn destroy(&mut self) {
        // SAFETY: as the caller promises.
        unsafe { system::unmap(self.slots.cast(), (self.mask + 1) * 4) };
    }

    fn enter(&mut self, hash: u64, label: Label) {
        let mut index = hash as usize & self.mask;
        // SAFETY: the index is masked; the table is never full.
        unsafe {
            while self.slots.add(index).read() != 0 {
                index = (index + 1) & self.mask;
            }
            self.slots.add(index).write(label | tag(hash));
        }
    }
}

/// The first 16 bytes as two words.
#[inline(always)]
fn key(term: &Term) -> (u64, u64) {
    let first = term.op as u64 | (term.width as u64) << 8 | (term.a as u64) << 32;
    let second = term.b as u64 | (term.c as u64) << 32;
    (first, second)
}

#[inline(always)]
fn is_constant(term: &Term) -> bool {
    term.op == Op::Const as u8
}

#[inline(always)]
fn same(a: &Term, b: &Term) -> bool {
    key(a) == key(b) && (!is_constant(a) || a.value == b.value)
}

#[inline(always)]
fn hash(term: &Term) -> u64 {
    const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
    const SECOND: u64 = 0xd6e8_feb8_6659_fd93;
    let (first, second) = key(term);
    let value = if is_constant(term) { term.value } else { 0 };
    let mixed = (first ^ value.rotate_left(23)).wrapping_mul(FIRST) ^ second;
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(SECOND);
    mixed ^ mixed >> 29
}
