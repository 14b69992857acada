//! Ranges against the evaluator, and the checks they must decide.

use nearmiss_abi::op::Op;

use super::*;
use crate::evaluate::Evaluator;
use crate::node::InputByte;
use crate::print::expression;
use crate::testing::{Random, random_predicate, random_term};

/// Every value lies in its range, also after assumptions that hold for it.
#[test]
fn values_lie_in_their_ranges() {
    let mut random = Random::new(3);
    for _ in 0..3_000 {
        let mut terms = Terms::new();
        let snapshot = terms.snapshot(vec![5, 6, 7, 200, 0, 9]);
        let mut roots = Vec::new();
        for _ in 0..8 {
            let width = *random.pick(&[1, 5, 8, 16, 32, 64, 128]);
            let root = random_term(&mut random, &mut terms, width, 4);
            roots.push(root);
        }
        let index = random_term(&mut random, &mut terms, 64, 2);
        roots.push(terms.read(index, snapshot, 16));
        let conditions: Vec<TermId> = (0..6)
            .map(|_| random_predicate(&mut random, &mut terms, 3))
            .collect();
        let salt = random.next();
        let inputs = |byte: InputByte| Random::new(salt ^ byte.offset as u64).byte();
        let mut evaluator = Evaluator::new();
        let mut ranges = Ranges::new();
        check(&terms, &mut ranges, &mut evaluator, &inputs, &roots);
        for condition in conditions {
            let truth = evaluator.holds(&terms, &inputs, condition);
            suppose(&terms, &mut ranges, &mut evaluator, &inputs, condition);
            ranges.assume(&terms, condition, truth);
            assert!(!ranges.is_contradictory());
            assert_ne!(ranges.truth(&terms, condition), Some(!truth));
            check(&terms, &mut ranges, &mut evaluator, &inputs, &roots);
        }
    }
}

/// What is supposed holds for inputs of which it is true, and leaves nothing behind.
fn suppose(
    terms: &Terms,
    ranges: &mut Ranges,
    evaluator: &mut Evaluator,
    inputs: &dyn crate::Inputs,
    condition: TermId,
) {
    let all: Vec<TermId> = (0..terms.len()).map(TermId::from_index).collect();
    let before: Vec<Range> = all.iter().map(|&id| ranges.range(terms, id)).collect();
    let found = ranges.supposing(terms, &[condition], &all);
    if evaluator.holds(terms, inputs, condition) {
        let found = found.expect("the input shows that nothing is contradicted");
        for (&id, range) in all.iter().zip(&found) {
            assert!(range.contains(evaluator.evaluate(terms, inputs, id)));
        }
    }
    let after: Vec<Range> = all.iter().map(|&id| ranges.range(terms, id)).collect();
    assert_eq!(before, after);
}

fn check(
    terms: &Terms,
    ranges: &mut Ranges,
    evaluator: &mut Evaluator,
    inputs: &dyn crate::Inputs,
    roots: &[TermId],
) {
    for &root in roots {
        ranges.range(terms, root);
    }
    for index in 0..terms.len() {
        let id = TermId::from_index(index);
        let value = evaluator.evaluate(terms, inputs, id);
        let range = ranges.range(terms, id);
        assert!(
            range.contains(value),
            "{value:#x} not in {range:?} of {}",
            expression(terms, id, 5)
        );
    }
}

/// Bounds of one width, all pairs of small ranges, all values: the operations of the table.
#[test]
fn operations_on_small_ranges() {
    let width = 3;
    let all: Vec<Range> = (0..8)
        .flat_map(|from| (0..8).map(move |to| Range::wrapped(width, from, to)))
        .collect();
    for &op in Op::ALL {
        if nearmiss_abi::op::evaluate(op, width, 0, 0).is_none() {
            continue;
        }
        for a in &all {
            for b in &all {
                let range = match op.arity() {
                    1 => transfer::unary(op, a),
                    _ => transfer::binary(op, a, b),
                };
                for x in (0..8).filter(|&x| a.contains(x)) {
                    for y in (0..8).filter(|&y| b.contains(y)) {
                        let value = nearmiss_abi::op::evaluate(op, width, x, y).unwrap();
                        assert!(range.contains(value), "{} {x} {y}: {range:?}", op.name());
                    }
                }
            }
        }
    }
}

/// The terms of the cases below.
struct Path {
    terms: Terms,
    ranges: Ranges,
}

impl Path {
    fn new() -> Path {
        Path {
            terms: Terms::new(),
            ranges: Ranges::new(),
        }
    }

    fn byte(&mut self, offset: u32, width: u32) -> TermId {
        let input = self.terms.input(InputByte { channel: 0, offset });
        self.terms.zext(input, width)
    }

    /// Four bytes as an `int`.
    fn int(&mut self, offset: u32) -> TermId {
        let bytes = [0, 1, 2, 3].map(|k| self.byte(offset + k, 8));
        bytes
            .into_iter()
            .reduce(|low, high| self.terms.concat(high, low))
            .unwrap()
    }

    fn constant(&mut self, width: u32, value: i128) -> TermId {
        self.terms.constant(width, value as u128)
    }

    fn compare(&mut self, op: Op, a: TermId, constant: i128) -> TermId {
        let constant = self.constant(self.terms.width(a), constant);
        self.terms.binary(op, a, constant)
    }

    fn truth(&mut self, condition: TermId) -> Option<bool> {
        self.ranges.truth(&self.terms, condition)
    }

    fn assume(&mut self, condition: TermId, truth: bool) {
        self.ranges.assume(&self.terms, condition, truth);
    }
}

#[test]
fn sums_of_bytes_do_not_overflow() {
    let mut path = Path::new();
    let bytes = [0, 1, 2, 3].map(|offset| path.byte(offset, 32));
    let mut sum = bytes[0];
    for &byte in &bytes[1..] {
        let overflow = path.terms.binary(Op::SAddOverflow, sum, byte);
        assert_eq!(path.truth(overflow), Some(false));
        sum = path.terms.binary(Op::Add, sum, byte);
    }
    for op in [Op::SMulOverflow, Op::UMulOverflow, Op::SSubOverflow] {
        let overflow = path.terms.binary(op, sum, bytes[1]);
        assert_eq!(path.truth(overflow), Some(false), "{}", op.name());
    }
    let square = path.terms.binary(Op::Mul, sum, sum);
    let overflow = path.terms.binary(Op::SMulOverflow, square, square);
    assert_eq!(path.truth(overflow), None);
}

#[test]
fn an_index_is_in_bounds_after_its_comparison() {
    let mut path = Path::new();
    let index = path.int(0);
    let wide = path.terms.sext(index, 64);
    let offset = path.compare(Op::Ult, wide, 10);
    assert_eq!(path.truth(offset), None);
    let four = path.constant(64, 4);
    let scaled = path.terms.binary(Op::Mul, wide, four);
    let base = path.constant(64, 0x7fff_0000_1000);
    let address = path.terms.binary(Op::Add, scaled, base);
    let in_object = path.compare(Op::Ult, address, 0x7fff_0000_1000 + 40);
    let after_base = path.compare(Op::Ult, address, 0x7fff_0000_1000);
    assert_eq!(path.truth(in_object), None);
    let not_negative = path.compare(Op::Sle, index, -1);
    path.assume(not_negative, false);
    let below = path.compare(Op::Slt, index, 10);
    path.assume(below, true);
    assert_eq!(path.truth(offset), Some(true));
    assert_eq!(path.truth(in_object), Some(true));
    assert_eq!(path.truth(after_base), Some(false));
}

#[test]
fn shifts_and_divisions_after_their_guards() {
    let mut path = Path::new();
    let value = path.int(0);
    let thirty_one = path.constant(32, 31);
    let distance = path.terms.and(value, thirty_one);
    let in_width = path.compare(Op::Ult, distance, 32);
    assert_eq!(path.truth(in_width), Some(true));
    let zero = path.compare(Op::Eq, value, 0);
    assert_eq!(path.truth(zero), None);
    let positive = path.compare(Op::Slt, value, 1);
    path.assume(positive, false);
    assert_eq!(path.truth(zero), Some(false));
    let other = path.int(8);
    let quotient = path.terms.binary(Op::SDiv, other, value);
    let less = path.terms.binary(Op::SAddOverflow, quotient, other);
    assert_eq!(path.truth(less), None);
}

#[test]
fn conjunctions_ranges_of_letters_and_symbolic_bounds() {
    let mut path = Path::new();
    let letter = path.byte(0, 32);
    // c >= 'a' && c <= 'z', as compilers write it: c - 'a' < 26.
    let shifted = path.compare(Op::Add, letter, -97);
    let is_letter = path.compare(Op::Ult, shifted, 26);
    path.assume(is_letter, true);
    let range = path.ranges.range(&path.terms, letter);
    assert_eq!((range.low, range.high), (97, 122));
    let (count, limit) = (path.int(4), path.int(8));
    let small = path.compare(Op::Ult, limit, 100);
    let less = path.terms.binary(Op::Ult, count, limit);
    let both = path.terms.and(small, less);
    path.assume(both, true);
    let check = path.compare(Op::Ult, count, 99);
    assert_eq!(path.truth(check), Some(true));
    let not_empty = path.compare(Op::Ne, limit, 0);
    assert_eq!(path.truth(not_empty), Some(true));
}

#[test]
fn values_at_the_ends_are_excluded() {
    let mut path = Path::new();
    let word = path.int(0);
    let small = path.compare(Op::Ult, word, 10);
    path.assume(small, true);
    for excluded in [9, 0, 5, 1] {
        let equal = path.compare(Op::Eq, word, excluded);
        path.assume(equal, false);
    }
    let range = path.ranges.range(&path.terms, word);
    assert_eq!((range.low, range.high), (2, 8));
    let contradiction = path.compare(Op::Ult, word, 2);
    path.assume(contradiction, true);
    assert!(path.ranges.is_contradictory());
}

#[test]
fn a_table_narrows_its_index() {
    let mut path = Path::new();
    let index = path.byte(0, 64);
    let table: Vec<u8> = (0..=255u8).map(|c| c.is_ascii_digit() as u8).collect();
    let snapshot = path.terms.snapshot(table);
    let read = path.terms.read(index, snapshot, 8);
    let is_digit = path.compare(Op::Ne, read, 0);
    path.assume(is_digit, true);
    let range = path.ranges.range(&path.terms, index);
    assert_eq!((range.low, range.high), (48, 57));
}

#[test]
fn a_deep_chain() {
    let mut path = Path::new();
    let byte = path.byte(0, 32);
    let mut sum = byte;
    for k in 0..1_000_000 {
        let other = path.byte(k % 7, 32);
        let op = if k % 2 == 0 { Op::Xor } else { Op::Add };
        sum = path.terms.binary(op, sum, other);
    }
    let check = path.compare(Op::Ult, sum, 5);
    assert_eq!(path.truth(check), None);
    path.assume(check, true);
    assert_eq!(path.truth(check), Some(true));
}

/// A length that is compared with more and more numbers: what is decided is not looked at again.
#[test]
fn decided_comparisons_are_left_alone() {
    let mut terms = Terms::new();
    let bytes = [0, 1].map(|offset| terms.input(InputByte { channel: 0, offset }));
    let length = terms.concat(bytes[0], bytes[1]);
    let mut ranges = Ranges::new();
    for number in 0..3 * MAX_STEPS as u128 {
        let number = terms.constant(16, number);
        let more = terms.binary(Op::Ult, number, length);
        ranges.assume(&terms, more, true);
    }
    assert_eq!(ranges.range(&terms, length).low, 3 * MAX_STEPS as u128);
    ranges.mark_users(length);
    assert!(ranges.stale.len() <= 1, "{} are stale", ranges.stale.len());
}
