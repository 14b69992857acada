//! Sums, differences, products, quotients.
//!
//! Canonical form: constants are added (never subtracted) and stand outermost in a sum;
//! factors and divisors that are powers of two become shifts and masks.

use nearmiss_abi::op::{self, Op};

use super::{Draft, rules};
use crate::node::{Node, TermId};
use crate::terms::Terms;

rules! {
    add_zero: Add;
    sub_self: Sub;
    sub_constant: Sub;
    sub_from_zero: Sub;
    add_negated: Add;
    cancel_difference: Add;
    cancel_sum: Sub;
    add_constants: Add;
    add_constant_outward: Add;
    sub_constant_outward: Sub;
    negate_twice: Neg;
    multiply_simple: Mul;
    multiply_power: Mul;
    multiply_constants: Mul;
    divide_by_one: UDiv | SDiv;
    remainder_by_one: URem | SRem;
    divide_by_power: UDiv;
    remainder_by_power: URem;
    divide_extended: UDiv | URem;
    divide_nonnegative: SDiv | SRem;
}

/// match: x + 0
/// result: x
fn add_zero(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    (terms.as_constant(draft.b)? == 0).then_some(draft.a)
}

/// match: x - x
/// result: 0
fn sub_self(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    (draft.a == draft.b).then(|| terms.constant(draft.width, 0))
}

/// match: x - c
/// result: x + (-c)
fn sub_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    let negated = terms.constant(draft.width, constant.wrapping_neg());
    Some(terms.binary(Op::Add, draft.a, negated))
}

/// match: 0 - x
/// result: -x
fn sub_from_zero(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    (terms.as_constant(draft.a)? == 0).then(|| terms.unary(Op::Neg, draft.b))
}

/// match: x + -y, -x + y
/// result: x - y, y - x
fn add_negated(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    if terms.as_constant(draft.b).is_some() {
        return None;
    }
    if let Node::Unary { op: Op::Neg, a } = terms.node(draft.b) {
        return Some(terms.binary(Op::Sub, draft.a, a));
    }
    if let Node::Unary { op: Op::Neg, a } = terms.node(draft.a) {
        return Some(terms.binary(Op::Sub, draft.b, a));
    }
    None
}

/// match: (x - y) + y, y + (x - y)
/// result: x
fn cancel_difference(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let cancel = |difference: TermId, other: TermId| match terms.node(difference) {
        Node::Binary { op: Op::Sub, a, b } if b == other => Some(a),
        _ => None,
    };
    cancel(draft.a, draft.b).or_else(|| cancel(draft.b, draft.a))
}

/// match: (x + y) - y, (y + x) - y
/// result: x
fn cancel_sum(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    match terms.node(draft.a) {
        Node::Binary { op: Op::Add, a, b } if b == draft.b => Some(a),
        Node::Binary { op: Op::Add, a, b } if a == draft.b => Some(b),
        _ => None,
    }
}

/// A sum with a constant: the other summand and the constant.
pub(super) fn plus_constant(terms: &Terms, id: TermId) -> Option<(TermId, u128)> {
    match terms.node(id) {
        Node::Binary { op: Op::Add, a, b } => Some((a, terms.as_constant(b)?)),
        _ => None,
    }
}

/// match: (x + c1) + c2
/// result: x + (c1 + c2)
fn add_constants(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let second = terms.as_constant(draft.b)?;
    let (a, first) = plus_constant(terms, draft.a)?;
    let sum = terms.constant(draft.width, first.wrapping_add(second));
    Some(terms.binary(Op::Add, a, sum))
}

/// match: (x + c) + y, y + (x + c)
/// result: (x + y) + c
fn add_constant_outward(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    if terms.as_constant(draft.b).is_some() {
        return None;
    }
    let (inner, other, constant) = match plus_constant(terms, draft.a) {
        Some((inner, constant)) => (inner, draft.b, constant),
        None => {
            let (inner, constant) = plus_constant(terms, draft.b)?;
            (inner, draft.a, constant)
        }
    };
    let sum = terms.binary(Op::Add, inner, other);
    let constant = terms.constant(draft.width, constant);
    Some(terms.binary(Op::Add, sum, constant))
}

/// match: (x + c) - y, x - (y + c)
/// result: (x - y) + c, (x - y) + (-c)
fn sub_constant_outward(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let (a, b, constant) = match plus_constant(terms, draft.a) {
        Some((inner, constant)) => (inner, draft.b, constant),
        None => {
            let (inner, constant) = plus_constant(terms, draft.b)?;
            (draft.a, inner, constant.wrapping_neg())
        }
    };
    let difference = terms.binary(Op::Sub, a, b);
    let constant = terms.constant(draft.width, constant);
    Some(terms.binary(Op::Add, difference, constant))
}

/// match: -(-x), -(x - y)
/// result: x, y - x
fn negate_twice(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    match terms.node(draft.a) {
        Node::Unary { op: Op::Neg, a } => Some(a),
        Node::Binary { op: Op::Sub, a, b } => Some(terms.binary(Op::Sub, b, a)),
        _ => None,
    }
}

/// match: x * 0, x * 1, x * -1
/// result: 0, x, -x
fn multiply_simple(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    match terms.as_constant(draft.b)? {
        0 => Some(draft.b),
        1 => Some(draft.a),
        c if c == op::truncate(u128::MAX, draft.width) => Some(terms.unary(Op::Neg, draft.a)),
        _ => None,
    }
}

/// A constant that is a power of two: the exponent.
fn exponent(terms: &Terms, id: TermId) -> Option<u32> {
    let constant = terms.as_constant(id)?;
    constant
        .is_power_of_two()
        .then(|| constant.trailing_zeros())
}

/// match: x * 2^k
/// result: x << k
fn multiply_power(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let exponent = exponent(terms, draft.b)?;
    let distance = terms.constant(draft.width, exponent as u128);
    Some(terms.binary(Op::Shl, draft.a, distance))
}

/// match: (x * c1) * c2
/// result: x * (c1 * c2)
fn multiply_constants(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let second = terms.as_constant(draft.b)?;
    let Node::Binary { op: Op::Mul, a, b } = terms.node(draft.a) else {
        return None;
    };
    let first = terms.as_constant(b)?;
    let product = terms.constant(draft.width, first.wrapping_mul(second));
    Some(terms.binary(Op::Mul, a, product))
}

/// Whether a term is the constant 1 as a signed number, too (in one bit, 1 is -1).
fn is_one(terms: &Terms, id: TermId, op: Op) -> bool {
    let unsigned = matches!(op, Op::UDiv | Op::URem);
    terms.as_constant(id) == Some(1) && (unsigned || terms.width(id) > 1)
}

/// match: x / 1
/// result: x
fn divide_by_one(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    is_one(terms, draft.b, draft.op).then_some(draft.a)
}

/// match: x % 1
/// result: 0
fn remainder_by_one(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    is_one(terms, draft.b, draft.op).then(|| terms.constant(draft.width, 0))
}

/// match: x / 2^k, unsigned
/// result: x >> k
fn divide_by_power(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let exponent = exponent(terms, draft.b)?;
    let distance = terms.constant(draft.width, exponent as u128);
    Some(terms.binary(Op::LShr, draft.a, distance))
}

/// match: x % 2^k, unsigned
/// result: x & (2^k - 1)
fn remainder_by_power(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let exponent = exponent(terms, draft.b)?;
    let mask = terms.constant(draft.width, (1u128 << exponent) - 1);
    Some(terms.binary(Op::And, draft.a, mask))
}

/// match: zext(x) / c, zext(x) % c, unsigned, c not 0
/// result: zext(x / c), zext(x % c); 0 and zext(x) where c is wider than x
fn divide_extended(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let divisor = terms.as_constant(draft.b).filter(|&c| c != 0)?;
    let Node::ZExt { a, .. } = terms.node(draft.a) else {
        return None;
    };
    let width = terms.width(a);
    if op::truncate(divisor, width) != divisor {
        return Some(match draft.op {
            Op::UDiv => terms.constant(draft.width, 0),
            _ => draft.a,
        });
    }
    let divisor = terms.constant(width, divisor);
    let narrow = terms.binary(draft.op, a, divisor);
    Some(terms.zext(narrow, draft.width))
}

/// match: zext(x) / c, zext(x) % c, signed, c positive
/// result: the same, unsigned
fn divide_nonnegative(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let divisor = terms.as_constant(draft.b)?;
    let positive = op::signed(divisor, draft.width) > 0;
    if !positive || !matches!(terms.node(draft.a), Node::ZExt { .. }) {
        return None;
    }
    let unsigned = match draft.op {
        Op::SDiv => Op::UDiv,
        _ => Op::URem,
    };
    Some(terms.binary(unsigned, draft.a, draft.b))
}
