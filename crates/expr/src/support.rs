//! Which input bytes a term depends on.
//!
//! Every term of a path may be asked for, and the sum over a whole file depends on all of it:
//! a list per term would be quadratic. Sets are therefore binary tries over the numbers of the
//! input bytes (numbered as they are met), with 64 bits in a leaf, and every trie is kept
//! once: a set that adds a byte to another shares all of it but one branch, a union that was
//! made is looked up, and equal sets have equal names.

use std::collections::{HashMap, HashSet};

use crate::node::{InputByte, Node, TermId};
use crate::terms::Terms;

/// A set of input bytes; belongs to the [`Supports`] that made it. Equal sets are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InputSet(u32);

impl InputSet {
    /// The set without elements.
    pub const EMPTY: InputSet = InputSet(0);

    /// Whether it has no element.
    pub fn is_empty(self) -> bool {
        self == InputSet::EMPTY
    }
}

/// A part of a set: the same trie at another base is another part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    set: InputSet,
    base: u32,
}

impl Part {
    /// All of a set.
    pub fn whole(set: InputSet) -> Part {
        Part { set, base: 0 }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(self) -> bool {
        self.set.is_empty()
    }
}

/// What a part consists of.
#[derive(Clone, Copy, Debug)]
pub enum Parts<'a> {
    /// Those of these bytes whose bit is set.
    Bytes(u64, &'a [InputByte]),
    /// Two smaller ones.
    Halves([Part; 2]),
}

impl Parts<'_> {
    /// The bytes of a part without halves.
    pub fn bytes(&self) -> impl Iterator<Item = InputByte> + '_ {
        let (bits, bytes): (u64, &[InputByte]) = match self {
            Parts::Bytes(bits, bytes) => (*bits, bytes),
            Parts::Halves(_) => (0, &[]),
        };
        let set = move |bit: &usize| bits >> bit & 1 == 1;
        (0..64).filter(set).map(move |bit| bytes[bit])
    }
}

/// A trie. It covers `64 << level` numbers from 0 and is as low as can be: the right half is
/// never empty. Inside another trie its numbers count from the start of its half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Trie {
    Leaf(u64),
    Fork {
        level: u8,
        left: InputSet,
        right: InputSet,
    },
}

impl Trie {
    fn level(self) -> u8 {
        match self {
            Trie::Leaf(_) => 0,
            Trie::Fork { level, .. } => level,
        }
    }
}

/// No term was asked for yet.
const UNKNOWN: u32 = u32::MAX;

/// The sets of one arena's terms.
#[derive(Clone, Debug)]
pub struct Supports {
    tries: Vec<Trie>,
    names: HashMap<Trie, InputSet>,
    unions: HashMap<(InputSet, InputSet), InputSet>,
    /// The set of each term, or [`UNKNOWN`].
    sets: Vec<u32>,
    bytes: Vec<InputByte>,
    numbers: HashMap<InputByte, u32>,
}

impl Default for Supports {
    fn default() -> Supports {
        Supports::new()
    }
}

impl Supports {
    /// Knows no term.
    pub fn new() -> Supports {
        let empty = Trie::Leaf(0);
        Supports {
            tries: vec![empty],
            names: HashMap::from([(empty, InputSet::EMPTY)]),
            unions: HashMap::new(),
            sets: Vec::new(),
            bytes: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// The input bytes that a term depends on.
    pub fn of(&mut self, terms: &Terms, id: TermId) -> InputSet {
        if self.sets.len() < terms.len() {
            self.sets.resize(terms.len(), UNKNOWN);
        }
        if self.sets[id.index()] != UNKNOWN {
            return InputSet(self.sets[id.index()]);
        }
        let mut stack = vec![id];
        while let Some(&top) = stack.last() {
            let waiting = stack.len();
            stack.extend(
                terms
                    .operands(top)
                    .filter(|operand| self.sets[operand.index()] == UNKNOWN),
            );
            if stack.len() == waiting {
                self.sets[top.index()] = self.of_node(terms, top).0;
                stack.pop();
            }
        }
        InputSet(self.sets[id.index()])
    }

    fn of_node(&mut self, terms: &Terms, id: TermId) -> InputSet {
        if let Node::Input(byte) = terms.node(id) {
            return self.single(byte);
        }
        terms.operands(id).fold(InputSet::EMPTY, |set, operand| {
            let other = InputSet(self.sets[operand.index()]);
            self.union(set, other)
        })
    }

    /// The set of one byte.
    pub fn single(&mut self, byte: InputByte) -> InputSet {
        let number = *self.numbers.entry(byte).or_insert_with(|| {
            self.bytes.push(byte);
            self.bytes.len() as u32 - 1
        });
        self.single_number(number)
    }

    fn single_number(&mut self, number: u32) -> InputSet {
        let mut set = self.name(Trie::Leaf(1 << (number % 64)));
        for level in 1..=26 {
            if number >> (5 + level) & 1 == 1 {
                set = self.name(Trie::Fork {
                    level,
                    left: InputSet::EMPTY,
                    right: set,
                });
            }
        }
        set
    }

    /// The bytes of both sets.
    pub fn union(&mut self, a: InputSet, b: InputSet) -> InputSet {
        let (a, b) = (a.min(b), a.max(b));
        if a == b || a.is_empty() {
            return b;
        }
        if let Some(&known) = self.unions.get(&(a, b)) {
            return known;
        }
        let union = self.make_union(a, b);
        self.unions.insert((a, b), union);
        union
    }

    /// Recursion is bounded by the level: 26 at most.
    fn make_union(&mut self, a: InputSet, b: InputSet) -> InputSet {
        let (a_trie, b_trie) = (self.tries[a.0 as usize], self.tries[b.0 as usize]);
        if let (Trie::Leaf(a), Trie::Leaf(b)) = (a_trie, b_trie) {
            return self.name(Trie::Leaf(a | b));
        }
        let level = a_trie.level().max(b_trie.level());
        let (a_left, a_right) = self.halves(a, level);
        let (b_left, b_right) = self.halves(b, level);
        let fork = Trie::Fork {
            level,
            left: self.union(a_left, b_left),
            right: self.union(a_right, b_right),
        };
        self.name(fork)
    }

    /// A set as the two halves of a trie of `level`, which is not below its own.
    fn halves(&self, set: InputSet, level: u8) -> (InputSet, InputSet) {
        match self.tries[set.0 as usize] {
            Trie::Fork {
                level: own,
                left,
                right,
            } if own == level => (left, right),
            _ => (set, InputSet::EMPTY),
        }
    }

    /// Whether two sets have a byte in common.
    pub fn intersects(&self, a: InputSet, b: InputSet) -> bool {
        if a.is_empty() || b.is_empty() {
            return false;
        }
        if a == b {
            return true;
        }
        let (a_trie, b_trie) = (self.tries[a.0 as usize], self.tries[b.0 as usize]);
        if let (Trie::Leaf(a), Trie::Leaf(b)) = (a_trie, b_trie) {
            return a & b != 0;
        }
        let level = a_trie.level().max(b_trie.level());
        let (a_left, a_right) = self.halves(a, level);
        let (b_left, b_right) = self.halves(b, level);
        self.intersects(a_left, b_left) || self.intersects(a_right, b_right)
    }

    /// The bytes of a set, in the order in which they were first met.
    pub fn bytes(&self, set: InputSet) -> Vec<InputByte> {
        let mut bytes = Vec::new();
        self.collect(set, 0, &mut bytes);
        bytes
    }

    /// What a set consists of: the bytes of a small one, the two halves of a larger one.
    /// Sets share their halves, so what was done for one half need not be done again.
    pub fn parts(&self, part: Part) -> Parts<'_> {
        match self.tries[part.set.0 as usize] {
            Trie::Leaf(bits) => Parts::Bytes(bits, &self.bytes[part.base as usize..]),
            Trie::Fork { level, left, right } => {
                let half = |set, offset| Part {
                    set,
                    base: part.base + offset,
                };
                Parts::Halves([half(left, 0), half(right, 32 << level)])
            }
        }
    }

    /// The bytes of a set that are not in parts seen before, in the order in which they were
    /// first met; now they are.
    pub fn new_bytes(&self, set: InputSet, seen: &mut HashSet<Part>) -> Vec<InputByte> {
        let mut bytes = Vec::new();
        let mut stack = vec![Part::whole(set)];
        while let Some(part) = stack.pop() {
            if part.set.is_empty() || !seen.insert(part) {
                continue;
            }
            match self.parts(part) {
                Parts::Bytes(..) => bytes.extend(self.parts(part).bytes()),
                Parts::Halves([left, right]) => stack.extend([right, left]),
            }
        }
        bytes
    }

    fn collect(&self, set: InputSet, base: usize, bytes: &mut Vec<InputByte>) {
        match self.tries[set.0 as usize] {
            Trie::Leaf(bits) => bytes.extend(
                (0..64)
                    .filter(|bit| bits >> bit & 1 == 1)
                    .map(|bit| self.bytes[base + bit]),
            ),
            Trie::Fork { level, left, right } => {
                self.collect(left, base, bytes);
                self.collect(right, base + (32 << level), bytes);
            }
        }
    }

    fn name(&mut self, trie: Trie) -> InputSet {
        let next = InputSet(self.tries.len() as u32);
        let name = *self.names.entry(trie).or_insert(next);
        if name == next {
            self.tries.push(trie);
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use nearmiss_abi::op::Op;

    fn byte(offset: u32) -> InputByte {
        InputByte { channel: 0, offset }
    }

    #[test]
    fn agrees_with_plain_sets() {
        let mut supports = Supports::new();
        let mut seed = 7u32;
        let mut sets = vec![(InputSet::EMPTY, BTreeSet::new())];
        for round in 0..2_000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let pick = |shift: u32| (seed >> shift) as usize % sets.len();
            let (first, second) = (pick(3), pick(9));
            let added = supports.single(byte(seed >> 8 & 0x3ff));
            let joined = supports.union(sets[first].0, sets[second].0);
            let set = supports.union(joined, added);
            let mut plain: BTreeSet<u32> = &sets[first].1 | &sets[second].1;
            plain.insert(seed >> 8 & 0x3ff);
            let found: BTreeSet<u32> = supports.bytes(set).iter().map(|b| b.offset).collect();
            assert_eq!(found, plain);
            let common = !sets[first].1.is_disjoint(&sets[second].1);
            let whole = supports.new_bytes(set, &mut HashSet::new());
            assert_eq!(whole, supports.bytes(set));
            let mut seen = HashSet::new();
            supports.new_bytes(sets[first].0, &mut seen);
            let new = supports.new_bytes(set, &mut seen);
            let new: BTreeSet<u32> = new.iter().map(|b| b.offset).collect();
            assert!(
                plain
                    .difference(&sets[first].1)
                    .all(|one| new.contains(one))
            );
            assert_eq!(supports.intersects(sets[first].0, sets[second].0), common);
            if round % 3 == 0 {
                sets.push((set, plain));
            }
            if round % 50 == 0 {
                sets.truncate(1);
            }
        }
    }

    #[test]
    fn a_long_sum_is_linear() {
        let mut terms = Terms::new();
        let mut supports = Supports::new();
        let mut sum = terms.constant(32, 0);
        for offset in 0..50_000 {
            let input = terms.input(byte(offset));
            let wide = terms.zext(input, 32);
            sum = terms.binary(Op::Add, wide, sum);
        }
        let set = supports.of(&terms, sum);
        assert_eq!(supports.bytes(set).len(), 50_000);
        assert!(
            supports.tries.len() < 50_000 * 24,
            "{}",
            supports.tries.len()
        );
    }
}
