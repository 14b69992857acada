//! Overflow tests in basic operations.

use nearmiss_abi::op::{MAX_WIDTH, Op};

use crate::node::TermId;
use crate::terms::Terms;

/// The sum is below a summand.
pub(super) fn unsigned_add(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let sum = terms.binary(Op::Add, a, b);
    terms.binary(Op::Ult, sum, a)
}

/// Whether the sign bit is set.
fn is_negative(terms: &mut Terms, a: TermId) -> TermId {
    let sign = terms.width(a) - 1;
    terms.extract(a, sign, 1)
}

/// Both summands have the sign that the sum has not.
pub(super) fn signed_add(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let sum = terms.binary(Op::Add, a, b);
    let a_differs = terms.binary(Op::Xor, a, sum);
    let b_differs = terms.binary(Op::Xor, b, sum);
    let both = terms.and(a_differs, b_differs);
    is_negative(terms, both)
}

/// The operands differ in sign, and the difference has not the sign of the first.
pub(super) fn signed_sub(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let difference = terms.binary(Op::Sub, a, b);
    let operands_differ = terms.binary(Op::Xor, a, b);
    let result_differs = terms.binary(Op::Xor, a, difference);
    let both = terms.and(operands_differ, result_differs);
    is_negative(terms, both)
}

/// The product in twice the width has something in its upper half.
pub(super) fn unsigned_mul(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let width = terms.width(a);
    if 2 * width > MAX_WIDTH {
        return unsigned_mul_wide(terms, a, b);
    }
    let (wide_a, wide_b) = (terms.zext(a, 2 * width), terms.zext(b, 2 * width));
    let product = terms.binary(Op::Mul, wide_a, wide_b);
    let upper = terms.extract(product, width, width);
    let zero = terms.constant(width, 0);
    terms.binary(Op::Ne, upper, zero)
}

/// The product in twice the width is not the extension of its lower half.
pub(super) fn signed_mul(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let width = terms.width(a);
    if 2 * width > MAX_WIDTH {
        return signed_mul_wide(terms, a, b);
    }
    let (wide_a, wide_b) = (terms.sext(a, 2 * width), terms.sext(b, 2 * width));
    let product = terms.binary(Op::Mul, wide_a, wide_b);
    let lower = terms.truncate(product, width);
    let extended = terms.sext(lower, 2 * width);
    terms.binary(Op::Ne, product, extended)
}

/// Too wide to double: the factor is not zero and dividing by it does not undo it.
fn unsigned_mul_wide(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let product = terms.binary(Op::Mul, a, b);
    let quotient = terms.binary(Op::UDiv, product, b);
    let zero = terms.constant(terms.width(b), 0);
    let nonzero = terms.binary(Op::Ne, b, zero);
    let changed = terms.binary(Op::Ne, quotient, a);
    terms.and(nonzero, changed)
}

/// The same, signed; the least value times -1 is the one overflow that division undoes.
fn signed_mul_wide(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let width = terms.width(a);
    let product = terms.binary(Op::Mul, a, b);
    let quotient = terms.binary(Op::SDiv, product, b);
    let zero = terms.constant(width, 0);
    let nonzero = terms.binary(Op::Ne, b, zero);
    let changed = terms.binary(Op::Ne, quotient, a);
    let lost = terms.and(nonzero, changed);
    let (least, minus_one) = (
        terms.constant(width, 1 << (width - 1)),
        terms.constant(width, u128::MAX),
    );
    let (a_least, b_minus_one) = (terms.eq(a, least), terms.eq(b, minus_one));
    let special = terms.and(a_least, b_minus_one);
    terms.or(lost, special)
}
