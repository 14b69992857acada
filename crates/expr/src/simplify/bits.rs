//! Bitwise operations; on one bit these are the connectives of conditions.
//!
//! Canonical form: masks become extensions, extractions and concatenations; or of disjoint
//! parts is a concatenation; a negated comparison is the opposite comparison.

use nearmiss_abi::op::{self, Op};

use super::{Draft, constant_choice, rules};
use crate::node::{Node, TermId};
use crate::terms::Terms;

rules! {
    bits_self: And | Or | Xor;
    bits_neutral: And | Or | Xor;
    xor_ones: Xor;
    bits_complement: And | Or | Xor;
    bits_constants: And | Or | Xor;
    absorb: And | Or;
    mask_low: And;
    mask_high: And;
    bits_extended_constant: And | Or | Xor;
    bits_extended: And | Or | Xor;
    join_disjoint: Or | Xor | Add;
    bits_over_concat: And | Or;
    not_not: Not;
    not_comparison: Not;
    not_ite: Not;
}

fn all_ones(width: u32) -> u128 {
    op::truncate(u128::MAX, width)
}

/// match: x & x, x | x, x ^ x
/// result: x, x, 0
fn bits_self(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    if draft.a != draft.b {
        return None;
    }
    Some(match draft.op {
        Op::Xor => terms.constant(draft.width, 0),
        _ => draft.a,
    })
}

/// match: x & 0, x & ones, x | 0, x | ones, x ^ 0
/// result: 0, x, x, ones, x
fn bits_neutral(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    match (draft.op, constant == 0, constant == all_ones(draft.width)) {
        (Op::And, true, _) | (Op::Or, _, true) => Some(draft.b),
        (Op::And, _, true) | (Op::Or | Op::Xor, true, _) => Some(draft.a),
        _ => None,
    }
}

/// match: x ^ ones
/// result: ~x
fn xor_ones(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    (constant == all_ones(draft.width)).then(|| terms.not(draft.a))
}

/// match: x & ~x, x | ~x, x ^ ~x
/// result: 0, ones, ones
fn bits_complement(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let is_complement = |a: TermId, b: TermId| matches!(terms.node(b), Node::Unary { op: Op::Not, a: inner } if inner == a);
    if !is_complement(draft.a, draft.b) && !is_complement(draft.b, draft.a) {
        return None;
    }
    Some(match draft.op {
        Op::And => terms.constant(draft.width, 0),
        _ => terms.constant(draft.width, u128::MAX),
    })
}

/// match: (x & c1) & c2, the same for | and ^
/// result: x & (c1 & c2)
fn bits_constants(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let second = terms.as_constant(draft.b)?;
    let Node::Binary { op, a, b } = terms.node(draft.a) else {
        return None;
    };
    let first = terms.as_constant(b).filter(|_| op == draft.op)?;
    let constant = terms.constant(draft.width, op::evaluate(op, draft.width, first, second)?);
    Some(terms.binary(op, a, constant))
}

/// match: x & (x & y), x | (x | y), in any order
/// result: x & y, x | y
fn absorb(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let has = |whole: TermId, part: TermId| {
        matches!(terms.node(whole), Node::Binary { op, a, b }
            if op == draft.op && (a == part || b == part))
    };
    if has(draft.a, draft.b) {
        Some(draft.a)
    } else {
        has(draft.b, draft.a).then_some(draft.b)
    }
}

/// match: x & (2^k - 1)
/// result: zext(extract(x, 0, k))
fn mask_low(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let mask = terms.as_constant(draft.b)?;
    let kept = mask.trailing_ones();
    if kept == 0 || mask != all_ones(kept) {
        return None;
    }
    let low = terms.extract(draft.a, 0, kept);
    Some(terms.zext(low, draft.width))
}

/// match: x & ~(2^k - 1)
/// result: concat(extract(x, k, …), 0)
fn mask_high(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let mask = terms.as_constant(draft.b)?;
    let cleared = mask.trailing_zeros();
    if cleared == 0 || cleared >= draft.width || mask >> cleared != all_ones(draft.width - cleared)
    {
        return None;
    }
    let high = terms.extract(draft.a, cleared, draft.width - cleared);
    let low = terms.constant(cleared, 0);
    Some(terms.concat(high, low))
}

/// match: zext(x) & c, zext(x) | c, zext(x) ^ c
/// result: zext(x & c), concat(c's upper part, x | c), the same for ^
fn bits_extended_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    let Node::ZExt { a, .. } = terms.node(draft.a) else {
        return None;
    };
    let width = terms.width(a);
    let low_constant = terms.constant(width, constant);
    let low = terms.binary(draft.op, a, low_constant);
    let upper = match draft.op {
        Op::And => 0,
        _ => constant >> width,
    };
    let high = terms.constant(draft.width - width, upper);
    Some(terms.concat(high, low))
}

/// match: zext(x) & zext(y), the same for | and ^
/// result: zext(x & y), the narrower one extended to the other
fn bits_extended(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let (Node::ZExt { a, .. }, Node::ZExt { a: b, .. }) =
        (terms.node(draft.a), terms.node(draft.b))
    else {
        return None;
    };
    let width = terms.width(a).max(terms.width(b));
    let (a, b) = (terms.zext(a, width), terms.zext(b, width));
    let narrow = terms.binary(draft.op, a, b);
    Some(terms.zext(narrow, draft.width))
}

/// How many of the low bits are zero by the shape of a term.
fn low_zeros(terms: &Terms, id: TermId) -> u32 {
    let constant = match terms.node(id) {
        Node::Concat { low, .. } => low,
        Node::ZExt { a, .. } => match terms.node(a) {
            Node::Concat { low, .. } => low,
            _ => return 0,
        },
        _ => return 0,
    };
    match terms.as_constant(constant) {
        Some(0) => terms.width(constant),
        _ => 0,
    }
}

/// How many bits may be other than zero by the shape of a term.
fn significant_bits(terms: &Terms, id: TermId) -> u32 {
    match terms.node(id) {
        Node::ZExt { a, .. } => terms.width(a),
        Node::Const { value, .. } => 128 - value.leading_zeros(),
        _ => terms.width(id),
    }
}

/// match: concat(x, 0) | zext(y), y not wider than the zeros; the same for ^ and +
/// result: concat(x, y)
fn join_disjoint(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let fits = |high: TermId, low: TermId| {
        let zeros = low_zeros(terms, high);
        (zeros > 0 && significant_bits(terms, low) <= zeros).then_some((high, low, zeros))
    };
    let (high, low, split) = fits(draft.a, draft.b).or_else(|| fits(draft.b, draft.a))?;
    let high = terms.extract(high, split, draft.width - split);
    let low = terms.extract(low, 0, split);
    Some(terms.concat(high, low))
}

/// match: concat(x, y) & c, concat(x, y) | c, where half of c is 0 or ones
/// result: concat(x & c's upper part, y & c's lower part), the same for |
fn bits_over_concat(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    let Node::Concat { high, low } = terms.node(draft.a) else {
        return None;
    };
    let (high_width, low_width) = (terms.width(high), terms.width(low));
    let (upper, lower) = (constant >> low_width, op::truncate(constant, low_width));
    let plain = |value: u128, width: u32| value == 0 || value == all_ones(width);
    if !plain(upper, high_width) && !plain(lower, low_width) {
        return None;
    }
    let upper = terms.constant(high_width, upper);
    let lower = terms.constant(low_width, lower);
    let high = terms.binary(draft.op, high, upper);
    let low = terms.binary(draft.op, low, lower);
    Some(terms.concat(high, low))
}

/// match: ~~x
/// result: x
fn not_not(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    match terms.node(draft.a) {
        Node::Unary { op: Op::Not, a } => Some(a),
        _ => None,
    }
}

/// match: !(a == b), !(a < b), …
/// result: a != b, b <= a, …
fn not_comparison(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let Node::Binary { op, a, b } = terms.node(draft.a) else {
        return None;
    };
    match op {
        Op::Eq => Some(terms.binary(Op::Ne, a, b)),
        Op::Ne => Some(terms.binary(Op::Eq, a, b)),
        Op::Ult => Some(terms.binary(Op::Ule, b, a)),
        Op::Ule => Some(terms.binary(Op::Ult, b, a)),
        Op::Slt => Some(terms.binary(Op::Sle, b, a)),
        Op::Sle => Some(terms.binary(Op::Slt, b, a)),
        _ => None,
    }
}

/// match: ~ite(x, c1, c2)
/// result: ite(x, ~c1, ~c2)
fn not_ite(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let (condition, then, otherwise) = constant_choice(terms, draft.a)?;
    let (then, otherwise) = (terms.not(then), terms.not(otherwise));
    Some(terms.ite(condition, then, otherwise))
}
