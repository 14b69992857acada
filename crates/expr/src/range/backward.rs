//! What the range of a term says about its operands.
//!
//! Each function pushes pairs of an operand and a range that it must be in; the caller meets
//! them with what is known.

use nearmiss_abi::op::Op;

use super::Ranges;
use super::table;
use super::transfer;
use super::value::Range;
use crate::node::{Node, TermId};
use crate::terms::Terms;

/// Narrower ranges of operands.
pub(super) type Narrowings = Vec<(TermId, Range)>;

/// What `range`, the range of `id`, says about the operands of `id`.
pub(super) fn operands(
    ranges: &Ranges,
    terms: &Terms,
    id: TermId,
    range: &Range,
    found: &mut Narrowings,
) {
    match terms.node(id) {
        Node::Const { .. } | Node::Input(_) => {}
        Node::Unary { op, a } => unary(op, a, range, found),
        Node::Binary { op, a, b } => {
            let pair = Pair {
                a,
                b,
                a_range: ranges.known(a),
                b_range: ranges.known(b),
            };
            binary(op, &pair, range, found);
        }
        Node::Concat { high, low } => concat(terms, high, low, range, found),
        Node::Extract { a, low, .. } => extract(a, &ranges.known(a), low, range, found),
        Node::ZExt { a, .. } | Node::SExt { a, .. } => {
            found.push((a, transfer::extract(range, 0, terms.width(a))));
        }
        Node::Ite {
            condition,
            then,
            otherwise,
        } => ite(ranges, condition, [then, otherwise], range, found),
        Node::Read {
            index,
            snapshot,
            width,
        } => {
            let bytes = terms.snapshot_bytes(snapshot);
            let feasible = table::indices(bytes, &ranges.known(index), width, range);
            found.extend(feasible.map(|narrower| (index, narrower)));
        }
    }
}

/// The operands of a binary operation and what is known of them.
struct Pair {
    a: TermId,
    b: TermId,
    a_range: Range,
    b_range: Range,
}

fn unary(op: Op, a: TermId, range: &Range, found: &mut Narrowings) {
    match op {
        Op::Not | Op::Neg => found.push((a, transfer::unary(op, range))),
        _ => {}
    }
}

fn binary(op: Op, pair: &Pair, range: &Range, found: &mut Narrowings) {
    match op {
        Op::Add => {
            found.push((pair.a, transfer::sub(range, &pair.b_range)));
            found.push((pair.b, transfer::sub(range, &pair.a_range)));
        }
        Op::Sub => {
            found.push((pair.a, transfer::add(range, &pair.b_range)));
            found.push((pair.b, transfer::sub(&pair.a_range, range)));
        }
        Op::Mul => factor(pair, range, found),
        Op::UDiv => dividend(pair, range, found),
        Op::And | Op::Or | Op::Xor => bits(op, pair, range, found),
        _ => {
            if let Some(truth) = range.truth() {
                predicate(op, pair, truth, found);
            }
        }
    }
}

/// `a * c` in the range, where no product overflows: `a` is between the quotients.
fn factor(pair: &Pair, range: &Range, found: &mut Narrowings) {
    let Some(constant) = pair.b_range.value().filter(|&c| c != 0) else {
        return;
    };
    let greatest = pair.a_range.high.checked_mul(constant);
    if greatest.is_some_and(|product| product <= range.mask()) {
        let (low, high) = (range.low.div_ceil(constant), range.high / constant);
        if low <= high {
            found.push((pair.a, Range::unsigned(range.width, low, high)));
        }
    }
}

/// `a / c` in the range: `a` is between the products.
fn dividend(pair: &Pair, range: &Range, found: &mut Narrowings) {
    let Some(constant) = pair.b_range.value().filter(|&c| c != 0) else {
        return;
    };
    let low = range.low.saturating_mul(constant);
    let high = range
        .high
        .checked_mul(constant)
        .and_then(|product| product.checked_add(constant - 1))
        .map_or(range.mask(), |high| high.min(range.mask()));
    if low <= high {
        found.push((pair.a, Range::unsigned(range.width, low, high)));
    }
}

/// Bits of the result that decide bits of the operands.
fn bits(op: Op, pair: &Pair, range: &Range, found: &mut Narrowings) {
    let sides = [(pair.a, &pair.b_range), (pair.b, &pair.a_range)];
    for (operand, other) in sides {
        let (zeros, ones) = match op {
            Op::And => (range.zeros & other.ones, range.ones),
            Op::Or => (range.zeros, range.ones & other.zeros),
            _ => (
                range.zeros & other.zeros | range.ones & other.ones,
                range.zeros & other.ones | range.ones & other.zeros,
            ),
        };
        if zeros | ones != 0 {
            found.push((operand, Range::bits(range.width, zeros, ones)));
        }
    }
}

fn predicate(op: Op, pair: &Pair, truth: bool, found: &mut Narrowings) {
    let &Pair {
        a,
        b,
        ref a_range,
        ref b_range,
    } = pair;
    match (op, truth) {
        (Op::Eq, true) | (Op::Ne, false) => {
            found.push((a, *b_range));
            found.push((b, *a_range));
        }
        (Op::Eq, false) | (Op::Ne, true) => {
            different((a, a_range), b_range, found);
            different((b, b_range), a_range, found);
        }
        (Op::Ult, true) => below((a, a_range), (b, b_range), 1, found),
        (Op::Ule, true) => below((a, a_range), (b, b_range), 0, found),
        (Op::Ult, false) => below((b, b_range), (a, a_range), 0, found),
        (Op::Ule, false) => below((b, b_range), (a, a_range), 1, found),
        (Op::Slt, true) => signed_below((a, a_range), (b, b_range), 1, found),
        (Op::Sle, true) => signed_below((a, a_range), (b, b_range), 0, found),
        (Op::Slt, false) => signed_below((b, b_range), (a, a_range), 0, found),
        (Op::Sle, false) => signed_below((b, b_range), (a, a_range), 1, found),
        _ => {}
    }
}

/// `a` is not the value of `other`, if that has but one. It counts only at an end of what is
/// known of `a`, hence the meeting here.
fn different(a: (TermId, &Range), other: &Range, found: &mut Narrowings) {
    let Some(value) = other.value() else {
        return;
    };
    // Nothing left: let the caller see it.
    let empty = Range::constant(other.width, !value);
    let rest =
        a.1.meet_wrapped(value.wrapping_add(1), value.wrapping_sub(1));
    found.push((a.0, rest.unwrap_or(empty)));
}

/// `a + distance <= b`, unsigned.
fn below(a: (TermId, &Range), b: (TermId, &Range), distance: u128, found: &mut Narrowings) {
    let mask = a.1.mask();
    if b.1.high >= distance {
        found.push((a.0, Range::unsigned(a.1.width, 0, b.1.high - distance)));
    }
    if a.1.low <= mask - distance {
        found.push((b.0, Range::unsigned(b.1.width, a.1.low + distance, mask)));
    }
}

/// `a + distance <= b`, signed.
fn signed_below(a: (TermId, &Range), b: (TermId, &Range), distance: i128, found: &mut Narrowings) {
    let full = Range::full(a.1.width);
    if b.1.signed_high >= full.signed_low + distance {
        let high = b.1.signed_high - distance;
        found.push((a.0, Range::signed(full.width, full.signed_low, high)));
    }
    if a.1.signed_low <= full.signed_high - distance {
        let low = a.1.signed_low + distance;
        found.push((b.0, Range::signed(full.width, low, full.signed_high)));
    }
}

fn concat(terms: &Terms, high: TermId, low: TermId, range: &Range, found: &mut Narrowings) {
    let (high_width, low_width) = (terms.width(high), terms.width(low));
    found.push((high, transfer::extract(range, low_width, high_width)));
    found.push((low, transfer::extract(range, 0, low_width)));
}

fn extract(a: TermId, a_range: &Range, low: u32, range: &Range, found: &mut Narrowings) {
    let width = a_range.width;
    let bits = Range::bits(width, range.zeros << low, range.ones << low);
    found.push((a, bits));
    if low != 0 {
        return;
    }
    // Where truncation changes no value, the bounds are those of the operand.
    if a_range.high <= range.mask() {
        found.push((a, Range::unsigned(width, range.low, range.high)));
    }
    let full = Range::full(range.width);
    if a_range.signed_low >= full.signed_low && a_range.signed_high <= full.signed_high {
        found.push((a, Range::signed(width, range.signed_low, range.signed_high)));
    }
}

fn ite(
    ranges: &Ranges,
    condition: TermId,
    arms: [TermId; 2],
    range: &Range,
    found: &mut Narrowings,
) {
    let [then, otherwise] = arms;
    let possible = |arm: TermId| ranges.known(arm).meet(range).is_some();
    let taken = match ranges.known(condition).truth() {
        Some(truth) => Some(truth),
        None if !possible(then) => Some(false),
        None if !possible(otherwise) => Some(true),
        None => None,
    };
    if let Some(truth) = taken {
        found.push((condition, Range::constant(1, truth as u128)));
        found.push((if truth { then } else { otherwise }, *range));
    }
}
