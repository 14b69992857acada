//! A few terms of a large arena in a small one of their own.
//!
//! Whatever keeps a row for each term (ranges, values, digests) costs as much as its arena is large. A query about few
//! conditions of a long path is made in an arena that holds these alone.

use std::collections::{BTreeSet, HashMap};

use crate::node::{Node, TermId};
use crate::terms::Terms;

/// An arena with these terms of another one, and what they are in it. Their order stays, so their names
/// ([`crate::digest`]) do, too.
pub fn excerpt(terms: &Terms, wanted: &[TermId]) -> (Terms, Vec<TermId>) {
    let mut needed: BTreeSet<TermId> = wanted.iter().copied().collect();
    let mut stack = wanted.to_vec();
    while let Some(id) = stack.pop() {
        stack.extend(terms.operands(id).filter(|&operand| needed.insert(operand)));
    }
    let mut small = Terms::new();
    let mut copies: HashMap<TermId, TermId> = HashMap::with_capacity(needed.len());
    // Operands come before what is made of them.
    for id in needed {
        let mut node = terms.node(id);
        if let Node::Read { snapshot, .. } = &mut node {
            *snapshot = small.snapshot(terms.snapshot_bytes(*snapshot));
        }
        let copy = small.remade(node, |operand| copies[&operand]);
        copies.insert(id, copy);
    }
    let found = wanted.iter().map(|id| copies[id]).collect();
    (small, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::InputByte;
    use crate::testing::{Random, random_predicate};
    use crate::{Digests, Evaluator};

    #[test]
    fn an_excerpt_says_the_same() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut terms = Terms::new();
            let all: Vec<TermId> = (0..8)
                .map(|_| random_predicate(&mut random, &mut terms, 5))
                .collect();
            let wanted = [all[2], all[5]];
            let (small, found) = excerpt(&terms, &wanted);
            let bytes: Vec<u8> = (0..64).map(|_| random.byte()).collect();
            let inputs = |byte: InputByte| bytes[byte.offset as usize % bytes.len()];
            let (mut one, mut other) = (Evaluator::new(), Evaluator::new());
            for (&id, &copied) in wanted.iter().zip(&found) {
                let value = one.evaluate(&terms, &inputs, id);
                assert_eq!(
                    value,
                    other.evaluate(&small, &inputs, copied),
                    "seed {seed}"
                );
            }
        }
    }

    #[test]
    fn nothing_else_is_copied_and_names_stay() {
        let mut terms = Terms::new();
        let bytes = [0, 1, 2].map(|offset| terms.input(InputByte { channel: 0, offset }));
        let snapshot = terms.snapshot(&b"a table"[..]);
        let index = terms.zext(bytes[0], 64);
        let element = terms.read(index, snapshot, 8);
        let wanted = terms.eq(element, bytes[1]);
        terms.eq(bytes[1], bytes[2]);
        let (small, found) = excerpt(&terms, &[wanted]);
        assert!(small.len() < terms.len());
        let digest = Digests::default().of(&small, found[0]);
        assert_eq!(digest, Digests::default().of(&terms, wanted));
    }
}
