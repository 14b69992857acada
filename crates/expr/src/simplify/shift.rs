//! Shifts.
//!
//! Canonical form: a shift by a constant is no shift but a move of bits, written with extract,
//! concat and the extensions, which the other rules see through.

use nearmiss_abi::op::Op;

use super::{Draft, rules};
use crate::node::TermId;
use crate::terms::Terms;

rules! {
    shift_zero: Shl | LShr | AShr;
    shift_by_zero: Shl | LShr | AShr;
    shift_out: Shl | LShr;
    shift_left_constant: Shl;
    shift_right_constant: LShr;
    shift_sign_constant: AShr;
}

/// match: 0 << x, 0 >> x
/// result: 0
fn shift_zero(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    (terms.as_constant(draft.a)? == 0).then_some(draft.a)
}

/// match: x << 0, x >> 0
/// result: x
fn shift_by_zero(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    (terms.as_constant(draft.b)? == 0).then_some(draft.a)
}

/// A constant distance of a shift that leaves something.
fn distance(terms: &Terms, draft: &Draft) -> Option<u32> {
    let distance = terms.as_constant(draft.b)?;
    (distance > 0 && distance < draft.width as u128).then_some(distance as u32)
}

/// match: x << c, x >> c, logical, c not below the width
/// result: 0
fn shift_out(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let distance = terms.as_constant(draft.b)?;
    (distance >= draft.width as u128).then(|| terms.constant(draft.width, 0))
}

/// match: x << c
/// result: concat(extract(x, 0, width - c), 0)
fn shift_left_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let distance = distance(terms, draft)?;
    let high = terms.extract(draft.a, 0, draft.width - distance);
    let low = terms.constant(distance, 0);
    Some(terms.concat(high, low))
}

/// match: x >> c, logical
/// result: zext(extract(x, c, width - c))
fn shift_right_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let distance = distance(terms, draft)?;
    let kept = terms.extract(draft.a, distance, draft.width - distance);
    Some(terms.zext(kept, draft.width))
}

/// match: x >> c, arithmetic
/// result: sext(extract(x, c, width - c)); of the sign alone where c is not below the width
fn shift_sign_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    debug_assert_eq!(draft.op, Op::AShr);
    let distance = terms.as_constant(draft.b)?.min(draft.width as u128 - 1) as u32;
    let kept = terms.extract(draft.a, distance, draft.width - distance);
    Some(terms.sext(kept, draft.width))
}
