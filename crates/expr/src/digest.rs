//! Names of terms that hold beyond their arena: equal terms have equal digests, whichever arena
//! they are in, and different ones different digests (128 bits: for as good as certain).
//!
//! A digest says nothing of who made a term or when, so what was found out about a question on
//! one path can be looked up on another.

use crate::node::{InputByte, Node, SnapshotId, TermId};
use crate::terms::Terms;

/// An odd number with no pattern in its bits: the fraction of the golden ratio.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// Takes one more number into a digest.
#[inline]
pub fn absorb(digest: u128, number: u128) -> u128 {
    let product = (digest.rotate_left(41) ^ number).wrapping_mul(SPREAD);
    product ^ (product >> 61)
}

/// Takes many numbers into a new digest. Sums of such digests name sets.
pub fn of_numbers(numbers: &[u128]) -> u128 {
    let all = numbers.iter().fold(SPREAD, |all, &one| absorb(all, one));
    absorb(absorb(all, numbers.len() as u128), SPREAD)
}

/// An input byte as a number.
pub fn of_byte(byte: InputByte) -> u128 {
    u128::from(byte.channel) << 32 | u128::from(byte.offset)
}

/// The digests of one arena's terms.
#[derive(Clone, Debug, Default)]
pub struct Digests {
    terms: Vec<u128>,
    snapshots: Vec<Option<u128>>,
}

impl Digests {
    /// The digest of a term. Operands come first in the arena, so a loop over it finds them known.
    pub fn of(&mut self, terms: &Terms, id: TermId) -> u128 {
        while self.terms.len() <= id.index() {
            let next = TermId::from_index(self.terms.len());
            let digest = self.of_node(terms, next);
            self.terms.push(digest);
        }
        self.terms[id.index()]
    }

    /// Its operation and width say how many numbers follow, so these need no end.
    fn of_node(&mut self, terms: &Terms, id: TermId) -> u128 {
        let kind = (terms.op(id) as u128) << 32 | u128::from(terms.width(id));
        let start = kind.wrapping_mul(SPREAD);
        let known = |id: TermId| self.terms[id.index()];
        match terms.node(id) {
            Node::Const { value, .. } => absorb(absorb(start, value), SPREAD),
            Node::Input(byte) => absorb(absorb(start, of_byte(byte)), SPREAD),
            Node::Extract { a, low, .. } => absorb(absorb(start, known(a)), low.into()),
            Node::Read {
                index, snapshot, ..
            } => {
                let index = known(index);
                absorb(absorb(start, index), self.of_snapshot(terms, snapshot))
            }
            _ => {
                let operands = terms.operands(id);
                operands.fold(start, |all, operand| absorb(all, known(operand)))
            }
        }
    }

    fn of_snapshot(&mut self, terms: &Terms, snapshot: SnapshotId) -> u128 {
        let number = snapshot.0 as usize;
        if self.snapshots.len() <= number {
            self.snapshots.resize(number + 1, None);
        }
        *self.snapshots[number].get_or_insert_with(|| of_bytes(terms.snapshot_bytes(snapshot)))
    }
}

fn of_bytes(bytes: &[u8]) -> u128 {
    let words = bytes.chunks(16).map(|chunk| {
        let mut word = [0; 16];
        word[..chunk.len()].copy_from_slice(chunk);
        u128::from_le_bytes(word)
    });
    let all = words.fold(SPREAD, absorb);
    of_numbers(&[all, bytes.len() as u128])
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use nearmiss_abi::op::Op;

    fn input(terms: &mut Terms, offset: u32) -> TermId {
        terms.input(InputByte { channel: 1, offset })
    }

    #[test]
    fn equal_terms_of_two_arenas_have_equal_digests() {
        let (mut one, mut other) = (Terms::new(), Terms::new());
        // Another order, and something else before.
        let (b, a) = (input(&mut other, 1), input(&mut other, 0));
        let snapshots = [&b"word"[..], b"text"].map(|bytes| other.snapshot(bytes));
        let read_other = {
            let index = other.zext(a, 64);
            snapshots.map(|snapshot| other.read(index, snapshot, 8))
        };
        let below_other = other.binary(Op::Ult, a, b);
        let (a, b) = (input(&mut one, 0), input(&mut one, 1));
        let below = one.binary(Op::Ult, a, b);
        let snapshot = one.snapshot(&b"text"[..]);
        let index = one.zext(a, 64);
        let read = one.read(index, snapshot, 8);
        let (mut digests, mut others) = (Digests::default(), Digests::default());
        assert_eq!(digests.of(&one, below), others.of(&other, below_other));
        assert_eq!(digests.of(&one, read), others.of(&other, read_other[1]));
        assert_ne!(digests.of(&one, read), others.of(&other, read_other[0]));
    }

    #[test]
    fn different_terms_have_different_digests() {
        let mut terms = Terms::new();
        let inputs: Vec<TermId> = (0..8).map(|offset| input(&mut terms, offset)).collect();
        let operations = [Op::Add, Op::Sub, Op::Ult, Op::Slt, Op::Eq, Op::And, Op::Or];
        for (&a, &b) in inputs.iter().zip(inputs.iter().rev()) {
            for op in operations {
                let made = terms.binary(op, a, b);
                if terms.width(made) == 8 {
                    terms.extract(made, 3, 2);
                    terms.zext(made, 16);
                    terms.sext(made, 16);
                }
            }
        }
        let mut digests = Digests::default();
        let mut seen = HashMap::new();
        for id in (0..terms.len()).map(TermId::from_index) {
            let same = seen.insert(digests.of(&terms, id), id);
            assert_eq!(same, None, "{id:?}");
        }
    }
}
