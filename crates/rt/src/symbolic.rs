//! Loads and stores at symbolic addresses.
//!
//! After the check of its bounds an access is about one of the *places* that the address can
//! be: the elements of its object at the distance of the index's stride, or the few pointers
//! that the address is made of. A load chooses among what they hold, a store updates each of
//! them if it is meant. Where they are too many the address is fixed, with a note.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::bounds::{Checked, Span};
use crate::evaluate::mask;
use crate::formula::Word;
use crate::list::List;
use crate::objects::Object;
use crate::pointers::Pointers;
use crate::runtime::Runtime;
use crate::snapshots::{LARGEST_TABLE, ctype_table, is_mapped, is_readable, read_bytes};

/// Most pointers that an access is spread over.
const MOST_CHOICES: usize = 16;
/// How many times as many elements as stores may update, loads may choose from, in a run.
const LOADS_PER_UPDATE: u64 = 16;

/// A read or write of a scalar as the program did it.
#[derive(Clone, Copy)]
pub struct Access {
    /// The address.
    pub address: u64,
    /// Bytes, 1 to 8.
    pub size: u32,
    /// What was read or written.
    pub value: u64,
}

impl Access {
    fn span(&self, address: Word, write: bool, site: SiteId) -> Span {
        Span {
            address,
            size: Word::concrete(self.size as u64),
            write,
            site,
        }
    }
}

/// Where the access may have been.
enum Places {
    /// Elements of one object.
    Elements {
        object: Object,
        first: u64,
        step: u64,
        count: u64,
    },
    /// One of these.
    Few(List<u64, MOST_CHOICES>),
}

impl Places {
    fn count(&self) -> u64 {
        match self {
            Places::Elements { count, .. } => *count,
            Places::Few(places) => places.as_slice().len() as u64,
        }
    }

    fn get(&self, index: u64) -> Option<u64> {
        match self {
            Places::Elements { first, step, .. } => Some(first + index * step),
            Places::Few(places) => places.as_slice().get(index as usize).copied(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        (0..self.count()).filter_map(|index| self.get(index))
    }
}

impl Runtime {
    /// The label of what was read at the concrete address, after a check if the size of its
    /// object is symbolic.
    #[inline]
    pub fn load_at(&mut self, access: Access, site: SiteId) -> Label {
        if self.shadow.is_sized(access.address) {
            self.check_span(&access.span(Word::concrete(access.address), false, site));
        }
        self.load(access.address, access.size, access.value)
    }

    /// `label` was written at the concrete address.
    #[inline]
    pub fn store_at(&mut self, (address, size): (u64, u32), label: Label, site: SiteId) {
        if self.shadow.is_sized(address) {
            let access = Access {
                address,
                size,
                value: 0,
            };
            self.check_span(&access.span(Word::concrete(address), true, site));
        }
        self.store(address, size, label);
    }

    /// The program is about to access memory. If there is none at the symbolic address `label`, it
    /// ends there, and the hook of the access is never called: so the check is made now.
    pub fn approach(&mut self, label: Label, access: Access, write: bool, site: SiteId) {
        let address = self.word(label, access.address);
        if !self.is_open(address) {
            let span = access.span(Word::concrete(access.address), write, site);
            return self.check_concrete(self.approached.1, &span);
        }
        let is_there =
            || self.objects.find_live(access.address).is_some() || is_mapped(access.address);
        if !is_there() {
            self.check_access(address, access, write, site);
        }
    }

    /// The label of what was read at the symbolic address `label`.
    pub fn load_symbolic(&mut self, label: Label, access: Access, site: SiteId) -> Label {
        let label = self.decide_flags(label, site);
        let address = self.word(label, access.address);
        if !self.is_open(address) || !(1..=8).contains(&access.size) {
            self.fix(label, NoteKind::Address, site);
            return self.load_at(access, site);
        }
        let checked = self.check_access(address, access, false, site);
        if self.is_length(address.label) {
            return self.load_moving(address, access, &checked, site);
        }
        let places = self.places(address, access, &checked);
        if let Some(places) = places
            && let Some(result) = self.load_places(address, access, &places)
        {
            return result;
        }
        self.fix(label, NoteKind::Address, site);
        self.load(access.address, access.size, access.value)
    }

    /// `value` with the label `label` was written to the symbolic address, where `old` was.
    pub fn store_symbolic(
        &mut self,
        address_label: Label,
        access: Access,
        (label, old): (Label, u64),
        site: SiteId,
    ) {
        let address_label = self.decide_flags(address_label, site);
        let address = self.word(address_label, access.address);
        if !self.is_open(address) || !(1..=8).contains(&access.size) {
            self.fix(address_label, NoteKind::Address, site);
            return self.store_at((access.address, access.size), label, site);
        }
        let checked = self.check_access(address, access, true, site);
        if self.is_length(address.label) {
            return self.store_moving(address, access, (label, old), (&checked, site));
        }
        let places = self.places(address, access, &checked);
        if let Some(places) = places
            && self.store_places(address, access, (label, old), &places)
        {
            return;
        }
        self.fix(address_label, NoteKind::Address, site);
        self.store(access.address, access.size, label);
    }

    /// The check of a symbolic access. The tables of libc's `ctype.h` are no objects of
    /// anybody's, but their bounds are known.
    fn check_access(
        &mut self,
        address: Word,
        access: Access,
        write: bool,
        site: SiteId,
    ) -> Checked {
        if self.objects.find(access.address).is_none()
            && let Some(table) = ctype_table(access.address)
        {
            self.objects.insert(table);
        }
        self.check_symbolic(&access.span(address, write, site))
    }

    /// Where the access may have been; `None`: nobody knows, or too many places.
    fn places(&self, address: Word, access: Access, checked: &Checked) -> Option<Places> {
        let object = checked.object?;
        let size = access.size as u64;
        if !checked.pointers.list().is_empty() {
            return self.listed(&checked.pointers, access);
        }
        let offset = access.address.checked_sub(object.start)?;
        // What lies behind the end in this run is there too, for other sizes; its red zone only for
        // who has got there.
        let has_left = offset.saturating_add(size) > object.capacity();
        let object = Object {
            size: if has_left {
                object.extent
            } else {
                object.capacity()
            },
            ..object
        };
        let last = object.size.checked_sub(size)?;
        let step = self.stride(address.label).max(1);
        if object.size > LARGEST_TABLE || offset > last || !is_readable(object) {
            return None;
        }
        let first = offset % step;
        Some(Places::Elements {
            object,
            first: object.start + first,
            step,
            count: (last - first) / step + 1,
        })
    }

    /// The pointers that an access of this size can be made through.
    fn listed(&self, pointers: &Pointers, access: Access) -> Option<Places> {
        let size = access.size as u64;
        let mut places = List::new(0);
        if !pointers.exact || !pointers.complete {
            return None;
        }
        for pointer in pointers.list() {
            let Some(object) = self.objects.find_live(pointer.base) else {
                continue;
            };
            let last = object.size.checked_sub(size);
            let offset = pointer.address.wrapping_sub(object.start);
            if last.is_none_or(|last| offset > last) || !is_readable(object) {
                continue;
            }
            if !places.push(pointer.address) {
                return None;
            }
        }
        let known = places.as_slice().contains(&access.address);
        known.then_some(Places::Few(places))
    }

    /// What a load may have read.
    fn load_places(&mut self, address: Word, access: Access, places: &Places) -> Option<Label> {
        let read = access.value & mask(8 * access.size);
        // The program has run on since it read, and may have written here.
        // SAFETY: the program just read these bytes.
        let now = unsafe { read_bytes(access.address, access.size) };
        let unchanged = now == read;
        let chosen = self.chosen_places(access, places, unchanged)?;
        let (mut result, mut value, from) = match places {
            // A snapshot would have this run's content, and so make a term of its own of
            // what is the same in all runs.
            Places::Elements { first, .. } if chosen == places.count() => {
                let held = self.held(*first, access, read);
                (held.label, held.value, 1)
            }
            Places::Elements { object, .. } => {
                let term = self.read_term(address, *object, 8 * access.size, now)?;
                (term, now, 0)
            }
            Places::Few(_) => (self.load(access.address, access.size, read), read, 0),
        };
        for place in places.iter().skip(from) {
            if self.is_read_anyway(place, access, places, unchanged) {
                continue;
            }
            let held = self.held(place, access, read);
            let here = self.relate(Op::Eq, address, Word::concrete(place));
            let labels = [held.label, result];
            result = self.choose(
                8 * access.size,
                (here.label, here.holds),
                labels,
                [held.value, value],
            );
            value = if here.holds { held.value } else { value };
        }
        Some(result)
    }

    /// What a place holds of which a load that read `read` may have read.
    fn held(&mut self, place: u64, access: Access, read: u64) -> Word {
        let value = if place == access.address {
            read
        } else {
            // SAFETY: places lie in live, readable objects.
            unsafe { read_bytes(place, access.size) }
        };
        self.element(place, access.size, value)
    }

    /// How many places loads may still choose from, in this run.
    pub fn choices_left(&self) -> u64 {
        (self.options.updates * LOADS_PER_UPDATE).saturating_sub(self.chosen_elements)
    }

    /// How many places a load has to choose from; `None`: too many. Counted before any term is
    /// made: a choice that is given up has cost nothing.
    fn chosen_places(&mut self, access: Access, places: &Places, unchanged: bool) -> Option<u64> {
        let most = self.options.elements.min(self.choices_left());
        let mut count = 0;
        for place in places.iter() {
            count += u64::from(!self.is_read_anyway(place, access, places, unchanged));
            if count > most {
                return None;
            }
        }
        self.chosen_elements += count;
        Some(count)
    }

    /// Whether the term that a choice starts from has what the place holds: a snapshot has what
    /// is concrete. `unchanged`: the place that was read still holds what was read.
    fn is_read_anyway(&self, place: u64, access: Access, places: &Places, unchanged: bool) -> bool {
        match places {
            Places::Elements { .. } => {
                let labelled = self.shadow.first_label(place, access.size as u64);
                labelled.is_none() && (place != access.address || unchanged)
            }
            Places::Few(_) => place == access.address,
        }
    }

    /// Updates what a store may have written; `false`: too much to do.
    fn store_places(
        &mut self,
        address: Word,
        access: Access,
        (label, old): (Label, u64),
        places: &Places,
    ) -> bool {
        let overlapping = match places {
            Places::Elements { step, .. } => *step < access.size as u64,
            Places::Few(_) => false,
        };
        let count = places.count();
        let updates = self.updated_elements + count;
        if overlapping || count > self.options.elements || updates > self.options.updates {
            return false;
        }
        self.updated_elements = updates;
        if let Places::Elements { object, .. } = places {
            self.last_updated = (object.start, object.size);
        }
        let written = Word {
            label: self.resized(label, 8 * access.size),
            value: access.value & mask(8 * access.size),
        };
        // First what was written, so that what overlaps it is seen as it is now.
        self.update(address, access, written, old & mask(8 * access.size));
        for place in places.iter() {
            if place != access.address {
                // SAFETY: places lie in live, readable objects.
                let held = unsafe { read_bytes(place, access.size) };
                let other = Access {
                    address: place,
                    ..access
                };
                self.update(address, other, written, held);
            }
        }
        true
    }

    /// The place holds what was written if the address is meant to be it, else what it held.
    fn update(&mut self, address: Word, place: Access, written: Word, held: u64) {
        let held = self.element(place.address, place.size, held);
        let here = self.relate(Op::Eq, address, Word::concrete(place.address));
        let updated = self.choose(
            8 * place.size,
            (here.label, here.holds),
            [written.label, held.label],
            [written.value, held.value],
        );
        self.store(place.address, place.size, updated);
    }

    /// The label as one of `width` bits.
    fn resized(&mut self, label: Label, width: u32) -> Label {
        if label == CONCRETE {
            CONCRETE
        } else {
            self.resize(label, width)
        }
    }

    /// What a place held when the program came by. Its memory may already be what the program
    /// wrote later in the region; a term that lies there whole knows better. Otherwise it is
    /// taken to be concrete.
    fn element(&mut self, place: u64, size: u32, value: u64) -> Word {
        let label = self.whole_term(place, size);
        if label != CONCRETE {
            let value = self.value(label) as u64;
            return Word { label, value };
        }
        let label = self.peek(place, size, value);
        Word { label, value }
    }
}
