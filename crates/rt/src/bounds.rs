//! Checks of bounds: can an access leave its object, for another input?
//!
//! With the object's `start` and `size` (which may be a term) an access is right when
//!
//! ```text
//! access <= size  and  address - start <= size - access        (unsigned, 64 bits)
//! ```
//!
//! An address made of several pointers may lie in any of their objects, as long as they live;
//! a null pointer or a freed object among them is a check of its own, so that the failure has
//! its right name.

use nearmiss_abi::check::Kind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::formula::{Truth, Word};
use crate::hoist::{self, Known};
use crate::list::List;
use crate::objects::{Object, ObjectKind};
use crate::pointers::{END_OF_PROGRAMS, MOST_POINTERS, NULL_PAGE, Pointers};
use crate::runtime::Runtime;
use crate::snapshots::{is_readable, read_bytes};

/// Memory that the program reads or writes.
#[derive(Clone, Copy)]
pub struct Span {
    /// Where it starts.
    pub address: Word,
    /// Bytes.
    pub size: Word,
    /// Whether it is written.
    pub write: bool,
    /// Where in the program.
    pub site: SiteId,
}

impl Span {
    /// How it fails where it leaves its object.
    pub fn kind(&self) -> Kind {
        if self.write {
            Kind::OutOfBoundsWrite
        } else {
            Kind::OutOfBoundsRead
        }
    }
}

/// What a check found out about an address.
pub struct Checked {
    /// The object it lies in, if that is known.
    pub object: Option<Object>,
    /// The pointers it is made of, if they are several.
    pub pointers: Pointers,
}

/// The distinct objects that pointers lie in.
type Found = List<Object, MOST_POINTERS>;

fn add_once(found: &mut Found, object: Object) {
    let known = |other: &Object| other.start == object.start;
    if !found.as_slice().iter().any(known) {
        found.push(object);
    }
}

impl Runtime {
    /// Checks an access whose address or size is symbolic, or whose object's size is.
    pub fn check_span(&mut self, span: &Span) {
        if self.is_open(span.address) || self.is_open(span.size) {
            self.check_symbolic(span);
        } else if self
            .shadow
            .touches_sized(span.address.value, span.size.value)
        {
            self.check_sized(span);
        } else if span.address.value < NULL_PAGE
            && span.size.value != 0
            && span.site != SiteId::NONE
        {
            // Nobody comes back from there to tell.
            self.check_failed_as(Kind::NullDereference, span.site);
        } else {
            self.check_concrete(span.address.value, span);
        }
    }

    /// Whether the word can still be different for another input.
    pub fn is_open(&self, word: Word) -> bool {
        word.is_symbolic() && !self.is_fixed(word.label)
    }

    /// The word keeps its value from here on; a length need not.
    pub fn settle(&mut self, word: Word, kind: NoteKind, site: SiteId) {
        if !self.is_length(word.label) {
            self.fix(word.label, kind, site);
        }
    }

    /// A concrete access to an object of symbolic size, or to a block of a harness: what lies behind
    /// the end of that is still ours.
    fn check_sized(&mut self, span: &Span) {
        self.note_stream_buffer(span);
        let Some(object) = self.find_object(span.address.value) else {
            return;
        };
        let size = self.size_of(object);
        if self.is_open(size) && object.live {
            let inside = self.inside(span, object);
            self.check_that(span.kind(), inside, span.site);
        } else if object.extent > object.size && object.live {
            let end = (span.address.value).saturating_add(span.size.value);
            if span.size.value != 0 && end > object.start + object.size {
                self.check_failed_as(span.kind(), span.site);
            }
        }
    }

    /// The check of a symbolic address or size; says what was learned.
    pub fn check_symbolic(&mut self, span: &Span) -> Checked {
        self.note_stream_buffer(span);
        self.know_globals();
        let object = self.object_meant(span);
        let object = object.or_else(|| self.object_of(span));
        let object = object.or_else(|| self.object_of_constant(span));
        let pointers = self.pointers(span.address.label);
        let is_known = pointers.complete && (object.is_some() || !pointers.list().is_empty());
        if !is_known {
            if span.site != SiteId::NONE {
                self.trace.note(NoteKind::Bounds, span.site, 1);
            }
            return Checked {
                object: None,
                pointers,
            };
        }
        self.check_not_null(span, &pointers);
        let mut found = Found::new(Object::new(0, 0, ObjectKind::Heap));
        if let Some(object) = object {
            found.push(object);
        }
        let mut freed = Truth::concrete(false);
        for pointer in pointers.list() {
            match self.objects.find(pointer.base) {
                Some(object) if object.live => add_once(&mut found, object),
                Some(object) if object.kind == ObjectKind::Heap => {
                    let touches = self.lies_in(span.address, object);
                    freed = self.either(freed, touches);
                }
                _ => {}
            }
        }
        let not_freed = self.opposite(freed);
        self.check_that(Kind::UseAfterFree, not_freed, span.site);
        let inside = match self.is_one_of(span, &pointers) {
            Some(inside) => inside,
            None => self.inside_any(span, found.as_slice()),
        };
        self.check_that(span.kind(), inside, span.site);
        Checked { object, pointers }
    }

    /// Whether the address is one of its pointers with which the span lies inside the object
    /// of that pointer, if that says it all. An object beside it is another's.
    fn is_one_of(&mut self, span: &Span, pointers: &Pointers) -> Option<Truth> {
        if pointers.list().is_empty() || !pointers.exact || span.size.is_symbolic() {
            return None;
        }
        let mut inside = Truth::concrete(false);
        for pointer in pointers.list() {
            let Some(object) = self.objects.find_live(pointer.base) else {
                continue;
            };
            let here = Span {
                address: Word::concrete(pointer.address),
                ..*span
            };
            let fits = self.inside(&here, object);
            let same = self.relate(Op::Eq, span.address, here.address);
            let good = self.both(same, fits);
            inside = self.either(inside, good);
        }
        inside.holds.then_some(inside)
    }

    /// Whether the span lies inside one of the objects.
    fn inside_any(&mut self, span: &Span, objects: &[Object]) -> Truth {
        let mut inside = Truth::concrete(false);
        for &object in objects {
            let here = self.inside(span, object);
            inside = self.either(inside, here);
        }
        inside
    }

    /// The object that the span lies in, in this run. Memory that was freed has become
    /// something else behind the runtime's back: else the run would have failed.
    fn object_of(&self, span: &Span) -> Option<Object> {
        let address = span.address.value;
        let here = self.objects.find_live(address);
        if span.size.value != 0 {
            return here;
        }
        // No byte is touched: the address may be the end of its object. Where one ends and another
        // begins it is taken for a beginning, from which bytes are far more often moved.
        here.or_else(|| self.objects.find_ending(address))
    }

    /// The object of the pointer that the address was made of, if the program said so and the address
    /// lies in another one or in none. Only blocks of the heap and what has a red zone are known so
    /// well: between them is a gap, so a pointer to the end of one is none into the next.
    fn object_meant(&self, span: &Span) -> Option<Object> {
        let (site, base) = self.approached;
        if site == SiteId::NONE || site != span.site {
            return None;
        }
        let meant = self.objects.find_live(base);
        meant.filter(|object| object.kind == ObjectKind::Heap || object.extent > object.size)
    }

    /// The object of the constant to which an index was added, for an address that lies in none.
    fn object_of_constant(&self, span: &Span) -> Option<Object> {
        let term = *self.trace.term(span.address.label);
        if span.size.value == 0 || Op::from_code(term.op) != Some(Op::Add) {
            return None;
        }
        let constants = [term.a, term.b].into_iter();
        let mut constants = constants.filter(|&side| self.is_constant(side));
        let pointer = self.trace.term(constants.next()?).value;
        self.objects.find_live(pointer)
    }

    fn check_not_null(&mut self, span: &Span, pointers: &Pointers) {
        if pointers
            .list()
            .iter()
            .any(|pointer| pointer.address < NULL_PAGE)
        {
            let lowest = Word::concrete(NULL_PAGE);
            let beyond = self.relate(Op::Ule, lowest, span.address);
            self.check_that(Kind::NullDereference, beyond, span.site);
        }
    }

    /// The program goes on at the symbolic address `label`: some function or place in one, and never
    /// where nothing can be.
    pub fn check_target(&mut self, label: Label, site: SiteId) {
        if label == CONCRETE || self.width(label) != 64 || self.is_fixed(label) {
            return;
        }
        let target = Word {
            label,
            value: self.value(label) as u64,
        };
        let beyond = self.relate(Op::Ule, Word::concrete(NULL_PAGE), target);
        self.check_that(Kind::NullDereference, beyond, site);
        // Marks such as -1 in a table of functions.
        let below = self.relate(Op::Ult, target, Word::concrete(END_OF_PROGRAMS));
        self.check_that(Kind::OutOfBoundsRead, below, site);
    }

    /// Whether the address lies in the object.
    fn lies_in(&mut self, address: Word, object: Object) -> Truth {
        let offset = self.calculate(Op::Sub, address, Word::concrete(object.start));
        self.relate(Op::Ult, offset, Word::concrete(object.size.max(1)))
    }

    /// The size of an object.
    pub fn size_of(&mut self, object: Object) -> Word {
        self.word(object.size_label, object.size)
    }

    /// The condition of the module's comment. Nothing is accessed by an access of no bytes.
    pub fn inside(&mut self, span: &Span, object: Object) -> Truth {
        let size = self.size_of(object);
        let offset = self.calculate(Op::Sub, span.address, Word::concrete(object.start));
        let fits = self.relate(Op::Ule, span.size, size);
        let room = self.calculate(Op::Sub, size, span.size);
        let inside = self.relate(Op::Ule, offset, room);
        let inside = self.both(fits, inside);
        let inside = match hoist::known(object.start) {
            Known::Nothing => inside,
            // Its size is that of the tests: a requirement of it would not be true.
            Known::Shared if inside.holds => Truth::concrete(true),
            Known::Shared => inside,
            Known::Before(pointer, before) => {
                let rest = self.calculate(Op::Sub, size, Word::concrete(pointer - object.start));
                let below = self.inside_before(span, pointer, (before, rest));
                let is_below = self.lies_before(span.address, pointer);
                let is_above = self.opposite(is_below);
                let above = self.both(is_above, inside);
                self.either(above, below)
            }
        };
        if !span.size.is_symbolic() && span.size.value != 0 {
            return inside;
        }
        let nothing = self.relate(Op::Eq, span.size, Word::concrete(0));
        self.either(nothing, inside)
    }
}

/// Objects in which a call whose precondition is to be found (`hoist`) has a pointer: what lies before it is no constant.
impl Runtime {
    fn lies_before(&mut self, address: Word, pointer: u64) -> Truth {
        let distance = self.calculate(Op::Sub, Word::concrete(pointer), address);
        self.relate(Op::Slt, Word::concrete(0), distance)
    }

    /// Whether the span begins before the pointer, in the bytes that are there, and ends in those or in the rest behind it.
    fn inside_before(&mut self, span: &Span, pointer: u64, (before, rest): (Word, Word)) -> Truth {
        let is_below = self.lies_before(span.address, pointer);
        let distance = self.calculate(Op::Sub, Word::concrete(pointer), span.address);
        let reaches = self.relate(Op::Ule, distance, before);
        let room = self.calculate(Op::Add, rest, distance);
        let fits = self.relate(Op::Ule, span.size, room);
        let begins = self.both(is_below, reaches);
        self.both(begins, fits)
    }
}

/// Strings: those that input bytes end.
impl Runtime {
    /// A string is read to its end. If no concrete zero byte of its object ends it, one of its
    /// symbolic bytes must be zero; in a block of a harness one of those that it has for the input in
    /// question, since what a larger block would hold lies behind it.
    pub fn check_terminated(&mut self, start: u64, site: SiteId) {
        const MOST: u64 = 4096;
        let Some(object) = self.find_object(start).filter(|object| object.live) else {
            return;
        };
        let size = self.size_of(object);
        let is_sized = object.extent > object.size && self.is_open(size);
        let end = object.start + if is_sized { object.extent } else { object.size };
        if end - start > MOST || self.shadow.first_label(start, end - start).is_none() {
            return;
        }
        if !is_readable(object) {
            return;
        }
        let mut ends = Truth::concrete(false);
        for address in start..end {
            // SAFETY: the object is live and readable.
            let byte = unsafe { read_bytes(address, 1) };
            let label = self.peek(address, 1, byte);
            if byte == 0 && label == CONCRETE && !is_sized {
                return;
            }
            if byte == 0 && self.length_of_end(label).is_some() {
                return self.check_not_filled(end - 1, site);
            }
            if label == CONCRETE && byte != 0 {
                continue;
            }
            let zero = Truth {
                label: self.operate(Op::Eq, 8, [label, CONCRETE], [byte, 0]),
                holds: byte == 0,
            };
            let exists = match is_sized {
                true => self.relate(Op::Ult, Word::concrete(address - object.start), size),
                false => Truth::concrete(true),
            };
            let here = self.both(exists, zero);
            ends = self.either(ends, here);
            if label == CONCRETE {
                break;
            }
        }
        if hoist::has_size(object.start) {
            // Of a call whose precondition is to be found: with more elements the string may end later.
            let is_larger = self.relate(Op::Ult, Word::concrete(object.size), size);
            ends = self.either(ends, is_larger);
        }
        self.check_that(Kind::OutOfBoundsRead, ends, site);
    }

    /// A string with an open end lies in the object whose last byte this is. `strncpy` leaves
    /// a zero there that depends on the length of what it copied: if that fills the object, the
    /// string has no end.
    fn check_not_filled(&mut self, last: u64, site: SiteId) {
        // SAFETY: the object is live and readable.
        let byte = unsafe { read_bytes(last, 1) };
        let label = self.peek(last, 1, byte);
        if byte == 0 && self.is_length(label) && self.length_of_end(label).is_none() {
            let zero = self.operate(Op::Eq, 8, [label, CONCRETE], [byte, 0]);
            let ends = Truth {
                label: zero,
                holds: true,
            };
            self.check_that(Kind::OutOfBoundsRead, ends, site);
        }
    }
}
