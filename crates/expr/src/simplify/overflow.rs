//! Overflow tests.
//!
//! Canonical form: with a constant operand an overflow test is a comparison of the other.

use nearmiss_abi::op::{self, Op};

use super::{Draft, rules};
use crate::node::TermId;
use crate::terms::Terms;

rules! {
    borrow: USubOverflow;
    difference_of_self: SSubOverflow;
    carry_constant: UAddOverflow;
    signed_sum_constant: SAddOverflow | SSubOverflow;
    product_constant: UMulOverflow;
    signed_product_constant: SMulOverflow;
}

/// match: x - y wraps around
/// result: x < y
fn borrow(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    Some(terms.binary(Op::Ult, draft.a, draft.b))
}

/// match: x - x overflows
/// result: false
fn difference_of_self(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    (draft.a == draft.b).then(|| terms.truth(false))
}

/// match: x + c wraps around
/// result: greatest - c < x
fn carry_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    let bound = terms.constant(terms.width(draft.a), !constant);
    Some(terms.binary(Op::Ult, bound, draft.a))
}

/// The least and the greatest signed value.
fn signed_extremes(width: u32) -> (i128, i128) {
    let unused = 128 - width;
    (i128::MIN >> unused, i128::MAX >> unused)
}

fn below(terms: &mut Terms, a: TermId, bound: i128) -> TermId {
    let bound = terms.constant(terms.width(a), bound as u128);
    terms.binary(Op::Slt, a, bound)
}

fn above(terms: &mut Terms, a: TermId, bound: i128) -> TermId {
    let bound = terms.constant(terms.width(a), bound as u128);
    terms.binary(Op::Slt, bound, a)
}

/// match: x + c overflows, x - c overflows
/// result: x lies beyond greatest - c, or before least - c; the signs of c swapped for -
fn signed_sum_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let width = terms.width(draft.a);
    let constant = op::signed(terms.as_constant(draft.b)?, width);
    let (least, greatest) = signed_extremes(width);
    Some(match (draft.op, constant < 0) {
        (Op::SAddOverflow, true) => below(terms, draft.a, least - constant),
        (Op::SAddOverflow, false) => above(terms, draft.a, greatest - constant),
        (_, true) => above(terms, draft.a, greatest + constant),
        (_, false) => below(terms, draft.a, least + constant),
    })
}

/// match: x * c wraps around
/// result: greatest / c < x; false where c is 0
fn product_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    if constant == 0 {
        return Some(terms.truth(false));
    }
    let width = terms.width(draft.a);
    let bound = terms.constant(width, op::truncate(u128::MAX, width) / constant);
    Some(terms.binary(Op::Ult, bound, draft.a))
}

/// match: x * c overflows
/// result: x lies outside least / c … greatest / c; false where c is 0
fn signed_product_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let width = terms.width(draft.a);
    let constant = op::signed(terms.as_constant(draft.b)?, width);
    let (least, greatest) = signed_extremes(width);
    if constant == 0 {
        return Some(terms.truth(false));
    }
    if constant == -1 {
        let least = terms.constant(width, least as u128);
        return Some(terms.eq(draft.a, least));
    }
    // Rounding to zero is right on both sides: a product is beyond the bound exactly where
    // the factor is beyond the rounded quotient.
    let (low, high) = match constant < 0 {
        false => (least / constant, greatest / constant),
        true => (greatest / constant, least / constant),
    };
    let (below, above) = (below(terms, draft.a, low), above(terms, draft.a, high));
    Some(terms.or(below, above))
}
