//! Composite operations as basic ones, for solvers.
//!
//! What is left after lowering: constants, inputs, arithmetic, bits, shifts, comparisons,
//! concat, extract, extensions and ite; in SMT-LIB all of it has a name. Overflow tests, bit
//! counts and reads of snapshots are gone.

mod count;
mod overflow;
mod read;

use nearmiss_abi::op::Op;

use crate::node::{Node, TermId};
use crate::range::Ranges;
use crate::terms::Terms;

pub use read::{lower_read, read_size};

/// Not lowered yet.
const UNKNOWN: u32 = u32::MAX;

/// Rewrites terms so that only basic operations are left in them. Remembers what it has done,
/// so that terms of one path are lowered once.
///
/// A read is bounded by what the ranges say when it is first met: a lowered term equals the
/// original wherever the assumptions made until then hold. Along one path that is everywhere;
/// for another path use another `Lowering`.
#[derive(Clone, Debug, Default)]
pub struct Lowering {
    /// For each term the lowered one, or [`UNKNOWN`].
    lowered: Vec<u32>,
}

impl Lowering {
    /// Has lowered nothing yet.
    pub fn new() -> Lowering {
        Lowering::default()
    }

    /// An equal term without composite operations.
    pub fn lower(&mut self, terms: &mut Terms, ranges: &mut Ranges, id: TermId) -> TermId {
        let mut stack = vec![id];
        while let Some(&top) = stack.last() {
            let waiting = stack.len();
            let unknown = |operand: &TermId| self.known(*operand).is_none();
            stack.extend(terms.operands(top).filter(unknown));
            if stack.len() == waiting {
                let lowered = self.lower_node(terms, ranges, top);
                self.remember(top, lowered);
                stack.pop();
            }
        }
        self.known(id).expect("it was just lowered")
    }

    fn known(&self, id: TermId) -> Option<TermId> {
        let lowered = *self.lowered.get(id.index())?;
        (lowered != UNKNOWN).then_some(TermId(lowered))
    }

    fn remember(&mut self, id: TermId, lowered: TermId) {
        if self.lowered.len() <= id.index() {
            // A row more for every two, so that a path term by term does not copy each time.
            let rows = (id.index() + 1).max(self.lowered.len() * 3 / 2);
            self.lowered.resize(rows, UNKNOWN);
        }
        self.lowered[id.index()] = lowered.0;
    }

    /// Lowers one node whose operands are lowered.
    fn lower_node(&self, terms: &mut Terms, ranges: &mut Ranges, id: TermId) -> TermId {
        let low = |id: TermId| self.known(id).expect("operands come first");
        match terms.node(id) {
            Node::Const { .. } | Node::Input(_) => id,
            Node::Unary { op, a } => unary(terms, op, low(a)),
            Node::Binary { op, a, b } => binary(terms, op, low(a), low(b)),
            Node::Concat { high, low: below } => terms.concat(low(high), low(below)),
            Node::Extract {
                a,
                low: from,
                width,
            } => terms.extract(low(a), from, width),
            Node::ZExt { a, width } => terms.zext(low(a), width),
            Node::SExt { a, width } => terms.sext(low(a), width),
            Node::Ite {
                condition,
                then,
                otherwise,
            } => terms.ite(low(condition), low(then), low(otherwise)),
            Node::Read {
                index,
                snapshot,
                width,
            } => {
                let bounds = ranges.range(terms, index);
                read::expand(terms, low(index), &bounds, snapshot, width)
            }
        }
    }
}

fn unary(terms: &mut Terms, op: Op, a: TermId) -> TermId {
    match op {
        Op::CtPop => count::ones(terms, a),
        Op::CtLz => count::leading_zeros(terms, a),
        Op::CtTz => count::trailing_zeros(terms, a),
        _ => terms.unary(op, a),
    }
}

fn binary(terms: &mut Terms, op: Op, a: TermId, b: TermId) -> TermId {
    match op {
        Op::UAddOverflow => overflow::unsigned_add(terms, a, b),
        Op::SAddOverflow => overflow::signed_add(terms, a, b),
        Op::SSubOverflow => overflow::signed_sub(terms, a, b),
        Op::UMulOverflow => overflow::unsigned_mul(terms, a, b),
        Op::SMulOverflow => overflow::signed_mul(terms, a, b),
        _ => terms.binary(op, a, b),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::evaluate::Evaluator;
    use crate::node::InputByte;
    use crate::print::expression;
    use crate::testing::{Random, random_predicate, random_term};

    /// Whether an operation may be left after lowering.
    fn is_basic(op: Op) -> bool {
        let leaf = matches!(op, Op::Const | Op::Input);
        leaf || (!op.smt_name().is_empty() && !op.smt_name().ends_with('o'))
    }

    #[test]
    fn lowered_terms_are_equal_and_basic() {
        let mut random = Random::new(5);
        for _ in 0..4_000 {
            let mut terms = Terms::new();
            let width = *random.pick(&[1, 2, 3, 7, 8, 13, 32, 64, 65, 128]);
            let root = composite(&mut random, &mut terms, width);
            let mut ranges = Ranges::new();
            let lowered = Lowering::new().lower(&mut terms, &mut ranges, root);
            let mut evaluator = Evaluator::new();
            for _ in 0..8 {
                let salt = random.next();
                let inputs = |byte: InputByte| Random::new(salt ^ byte.offset as u64).byte();
                let expected = evaluator.evaluate(&terms, &inputs, root);
                let found = evaluator.evaluate(&terms, &inputs, lowered);
                assert_eq!(expected, found, "{}", expression(&terms, root, 5));
                evaluator.reset();
            }
            for id in cone(&terms, lowered) {
                assert!(is_basic(terms.op(id)), "{}", terms.op(id).name());
            }
        }
    }

    /// Every term that `root` is made of.
    fn cone(terms: &Terms, root: TermId) -> BTreeSet<TermId> {
        let mut seen = BTreeSet::new();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                stack.extend(terms.operands(id));
            }
        }
        seen
    }

    fn composite(random: &mut Random, terms: &mut Terms, width: u32) -> TermId {
        let a = random_term(random, terms, width, 3);
        let b = random_term(random, terms, width, 3);
        match random.below(4) {
            0 => terms.unary(*random.pick(&[Op::CtPop, Op::CtLz, Op::CtTz]), a),
            1 => {
                let snapshot = terms.snapshot(vec![1, 1, 1, 2, 0, 0, 0, 255, 128, 7]);
                let byte = terms.input(InputByte {
                    channel: 0,
                    offset: 0,
                });
                let index = terms.zext(byte, 64);
                let scale = *random.pick(&[1, 2, 4]);
                let scale = terms.constant(64, scale);
                let scaled = terms.binary(Op::Mul, index, scale);
                let base = *random.pick(&[0, 1, 3, u128::MAX]);
                let base = terms.constant(64, base);
                let index = terms.binary(Op::Add, scaled, base);
                terms.read(index, snapshot, *random.pick(&[8, 16, 32]))
            }
            2 => {
                let op = *random.pick(&[
                    Op::UAddOverflow,
                    Op::SAddOverflow,
                    Op::SSubOverflow,
                    Op::UMulOverflow,
                    Op::SMulOverflow,
                ]);
                terms.binary(op, a, b)
            }
            _ => random_predicate(random, terms, 4),
        }
    }

    #[test]
    fn a_deep_chain() {
        let mut terms = Terms::new();
        let byte = |terms: &mut Terms, offset: u32| {
            let input = terms.input(InputByte { channel: 0, offset });
            terms.zext(input, 32)
        };
        let mut sum = byte(&mut terms, 0);
        for k in 0..300_000 {
            let other = byte(&mut terms, k % 5);
            let op = if k % 2 == 0 { Op::Xor } else { Op::Add };
            sum = terms.binary(op, sum, other);
        }
        let lowered = Lowering::new().lower(&mut terms, &mut Ranges::new(), sum);
        assert_eq!(lowered, sum, "nothing to lower in it");
    }
}
