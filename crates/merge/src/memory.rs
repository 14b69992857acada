//! Objects, and accesses to them at addresses that are terms.
//!
//! Every object has an address range of its own, so a pointer is a number as any other: comparing,
//! subtracting and storing it need no care. An access takes its address apart into the objects that it may
//! lie in, and the offset in each.

use std::collections::HashMap;
use std::rc::Rc;

use nearmiss_abi::op::Op;
use nearmiss_expr::{Node, TermId, Terms};

use crate::state::Meeting;

/// The number of an object.
pub type ObjectId = u32;

/// A byte: which of a word's it is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Byte {
    word: TermId,
    index: u32,
}

/// What memory holds: the content of each object.
#[derive(Clone, Default)]
pub struct Memory {
    objects: HashMap<ObjectId, Rc<Vec<Byte>>>,
}

/// A place that an address may be.
#[derive(Clone, Copy)]
pub struct Place {
    /// When it is.
    pub when: TermId,
    /// The object; `None`: none.
    pub object: Option<ObjectId>,
    /// How far behind its start.
    pub offset: TermId,
}

/// Bits of an address for the offset in an object.
const OFFSET_BITS: u32 = 32;
/// Most places of an address.
const MOST_PLACES: usize = 64;

/// The address of an object.
pub fn address_of(object: ObjectId) -> u64 {
    u64::from(object + 1) << OFFSET_BITS
}

impl Memory {
    /// Whether an object has a content.
    pub fn has(&self, object: ObjectId) -> bool {
        self.objects.contains_key(&object)
    }

    /// The object holds these bytes.
    pub fn fill(&mut self, object: ObjectId, bytes: impl Iterator<Item = TermId>) {
        let bytes = bytes.map(|word| Byte { word, index: 0 });
        self.objects.insert(object, Rc::new(bytes.collect()));
    }

    /// How many bytes an object has.
    pub fn size(&self, object: ObjectId) -> u64 {
        self.objects
            .get(&object)
            .map_or(0, |bytes| bytes.len() as u64)
    }

    /// What lies at an offset; the bytes are there.
    pub fn load(&self, terms: &mut Terms, object: ObjectId, offset: u64, size: u32) -> TermId {
        load(
            terms,
            &self.objects[&object][offset as usize..][..size as usize],
        )
    }

    /// Writes a word to an offset; the bytes are there.
    pub fn store(&mut self, terms: &Terms, object: ObjectId, offset: u64, word: TermId) {
        let size = terms.width(word) / 8;
        if let Some(bytes) = self.objects.get_mut(&object) {
            let bytes = &mut Rc::make_mut(bytes)[offset as usize..][..size as usize];
            for (byte, index) in bytes.iter_mut().zip(0..) {
                *byte = Byte { word, index };
            }
        }
    }

    /// What this or another memory holds where those who have them meet.
    pub fn merge(&mut self, terms: &mut Terms, meeting: &Meeting, other: &Memory) {
        for (object, others) in &other.objects {
            match self.objects.get_mut(object) {
                Some(bytes) if Rc::ptr_eq(bytes, others) => {}
                Some(bytes) => {
                    let bytes: &mut Vec<Byte> = Rc::make_mut(bytes);
                    merge_bytes(terms, meeting, bytes, others);
                }
                None => {
                    self.objects.insert(*object, others.clone());
                }
            }
        }
    }
}

/// Bytes as one word.
fn load(terms: &mut Terms, bytes: &[Byte]) -> TermId {
    if let Some(word) = whole(terms, bytes) {
        return word;
    }
    let parts: Vec<TermId> = bytes.iter().map(|&byte| byte_term(terms, byte)).collect();
    let low_first = parts
        .into_iter()
        .reduce(|low, high| terms.concat(high, low));
    low_first.unwrap_or_else(|| terms.constant(8, 0))
}

fn byte_term(terms: &mut Terms, byte: Byte) -> TermId {
    terms.extract(byte.word, 8 * byte.index, 8)
}

/// The word that the bytes are, from its first to its last.
fn whole(terms: &Terms, bytes: &[Byte]) -> Option<TermId> {
    let word = bytes.first()?.word;
    let is_whole = terms.width(word) as usize == 8 * bytes.len();
    let mut indexed = bytes.iter().zip(0..);
    let is_next = indexed.all(|(byte, index)| byte.word == word && byte.index == index);
    (is_whole && is_next).then_some(word)
}

fn merge_bytes(terms: &mut Terms, meeting: &Meeting, bytes: &mut [Byte], others: &[Byte]) {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == others[at] {
            at += 1;
            continue;
        }
        // Words stay words, if they are whole on one side.
        let mut sizes = [bytes[at], others[at]].map(|byte| terms.width(byte.word) as usize / 8);
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let whole_size = sizes.into_iter().find(|size| {
            let end = at + size;
            let is_whole = |all: &[Byte]| {
                all.get(at..end)
                    .is_some_and(|it| whole(terms, it).is_some())
            };
            is_whole(bytes) || is_whole(others)
        });
        let end = at + whole_size.unwrap_or(1);
        let (one, other) = (load(terms, &bytes[at..end]), load(terms, &others[at..end]));
        let word = meeting.choose(terms, one, other);
        for (byte, index) in bytes[at..end].iter_mut().zip(0..) {
            *byte = Byte { word, index };
        }
        at = end;
    }
}

/// The places that an address may be; `None` if it cannot be taken apart.
pub fn places(terms: &mut Terms, address: TermId, objects: u32) -> Option<Vec<Place>> {
    let found = take_apart(terms, address, objects)?;
    (found.len() <= MOST_PLACES).then_some(found)
}

fn take_apart(terms: &mut Terms, address: TermId, objects: u32) -> Option<Vec<Place>> {
    let when = terms.truth(true);
    match terms.node(address) {
        Node::Const { value, .. } => {
            let number = (value >> OFFSET_BITS) as u64;
            let object = number.checked_sub(1).filter(|&id| id < u64::from(objects));
            if object.is_none() && number != 0 {
                return None;
            }
            let offset = terms.constant(64, value & ((1 << OFFSET_BITS) - 1));
            let object = object.map(|id| id as ObjectId);
            Some(vec![Place {
                when,
                object,
                offset,
            }])
        }
        Node::Ite {
            condition,
            then,
            otherwise,
        } => {
            let mut found = Vec::new();
            for (arm, truth) in [(then, true), (otherwise, false)] {
                let condition = terms.holds(condition, truth);
                for place in take_apart(terms, arm, objects)? {
                    let when = terms.and(condition, place.when);
                    found.push(Place { when, ..place });
                }
                if found.len() > MOST_PLACES {
                    return None;
                }
            }
            Some(found)
        }
        Node::Binary { op: Op::Add, a, b } => {
            // A null pointer stays one, however far behind it one looks.
            let is_pointer = |found: &Vec<Place>| found.iter().any(|place| place.object.is_some());
            let found = take_apart(terms, a, objects).filter(is_pointer);
            let (found, distance) = match found {
                Some(found) => (found, b),
                None => (take_apart(terms, b, objects).filter(is_pointer)?, a),
            };
            let moved = found.into_iter().map(|place| Place {
                offset: terms.binary(Op::Add, place.offset, distance),
                ..place
            });
            Some(moved.collect())
        }
        _ => None,
    }
}

/// A number that the term is a multiple of; 0 for zero.
pub fn stride(terms: &Terms, id: TermId) -> u64 {
    match terms.node(id) {
        Node::Const { value, .. } => value as u64,
        Node::Binary { op: Op::Add, a, b } => {
            let (a, b) = (stride(terms, a), stride(terms, b));
            common_divisor(power(a), power(b))
        }
        Node::Binary { op: Op::Mul, a, b } => {
            let (a, b) = (power(stride(terms, a)), power(stride(terms, b)));
            a.checked_mul(b).unwrap_or(a.max(b))
        }
        Node::Binary { op: Op::Shl, a, b } => match terms.as_constant(b) {
            Some(distance) if distance < 32 => power(stride(terms, a)).max(1) << distance,
            _ => 1,
        },
        Node::ZExt { a, .. } | Node::SExt { a, .. } => power(stride(terms, a)),
        Node::Ite {
            then, otherwise, ..
        } => common_divisor(stride(terms, then), stride(terms, otherwise)),
        Node::Concat { low, .. } if terms.as_constant(low) == Some(0) => {
            1 << terms.width(low).min(31)
        }
        _ => 1,
    }
}

/// The largest power of two that divides it: what wraps around stays a multiple of that alone.
fn power(number: u64) -> u64 {
    match number {
        0 => 0,
        _ => 1 << number.trailing_zeros().min(31),
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => common_divisor(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_expr::{Evaluator, InputByte};

    fn input(terms: &mut Terms, offset: u32) -> TermId {
        terms.input(InputByte { channel: 0, offset })
    }

    #[test]
    fn words_stay_words_where_memories_meet() {
        let mut terms = Terms::new();
        let condition = input(&mut terms, 0);
        let is_one = terms.truncate(condition, 1);
        let zero = terms.constant(8, 0);
        let mut one = Memory::default();
        one.fill(0, std::iter::repeat_n(zero, 8));
        let mut other = one.clone();
        let word = input(&mut terms, 1);
        let word = terms.zext(word, 32);
        one.store(&terms, 0, 4, word);
        let mut stored = terms.constant(32, 0x01020304);
        other.store(&terms, 0, 0, stored);
        let is_other = terms.not(is_one);
        let meeting = Meeting::of(&mut terms, &[is_one], &[is_other]);
        one.merge(&mut terms, &meeting, &other);
        let zeros = terms.constant(32, 0);
        let expected = terms.ite(is_one, word, zeros);
        assert_eq!(one.load(&mut terms, 0, 4, 4), expected);
        stored = terms.ite(is_one, zeros, stored);
        assert_eq!(one.load(&mut terms, 0, 0, 4), stored);
        let part = one.load(&mut terms, 0, 1, 2);
        let value =
            |terms: &Terms, byte: u8| Evaluator::new().evaluate(terms, &|_: InputByte| byte, part);
        assert_eq!((value(&terms, 0), value(&terms, 1)), (0x0203, 0));
    }

    #[test]
    fn an_address_is_taken_apart() {
        let mut terms = Terms::new();
        let condition = input(&mut terms, 0);
        let condition = terms.truncate(condition, 1);
        let index = input(&mut terms, 1);
        let index = terms.zext(index, 64);
        let four = terms.constant(64, 4);
        let distance = terms.binary(Op::Mul, index, four);
        let [first, null] = [address_of(0), 0].map(|at| terms.constant(64, at.into()));
        let pointer = terms.ite(condition, first, null);
        let address = terms.binary(Op::Add, pointer, distance);
        let found = places(&mut terms, address, 1).expect("places");
        let objects: Vec<_> = found.iter().map(|place| place.object).collect();
        assert_eq!(objects, [Some(0), None]);
        assert_eq!(found[0].offset, distance);
        assert_eq!(stride(&terms, found[0].offset), 4);
        let number = terms.zext(condition, 64);
        assert!(places(&mut terms, number, 1).is_none(), "no pointer at all");
    }
}
