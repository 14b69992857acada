//! Bit counts in basic operations.

use nearmiss_abi::op::{Op, truncate};

use crate::node::TermId;
use crate::terms::Terms;

/// The number of ones: neighbouring fields are added, each step in fields twice as wide.
pub(super) fn ones(terms: &mut Terms, a: TermId) -> TermId {
    let width = terms.width(a);
    let mut sum = a;
    let mut field = 1;
    while field < width {
        let mask = terms.constant(width, alternating(field, width));
        let distance = terms.constant(width, field as u128);
        let even = terms.and(sum, mask);
        let shifted = terms.binary(Op::LShr, sum, distance);
        let odd = terms.and(shifted, mask);
        sum = terms.binary(Op::Add, even, odd);
        field *= 2;
    }
    sum
}

/// Every other field of `field` bits filled with ones, from the lowest.
fn alternating(field: u32, width: u32) -> u128 {
    let ones = truncate(u128::MAX, field);
    (0..width)
        .step_by(2 * field as usize)
        .fold(0, |mask, low| mask | ones << low)
}

/// The number of zeros above the highest one: the zeros that are left when that one is
/// copied to all bits beneath it.
pub(super) fn leading_zeros(terms: &mut Terms, a: TermId) -> TermId {
    let width = terms.width(a);
    let mut filled = a;
    let mut distance = 1;
    while distance < width {
        let by = terms.constant(width, distance as u128);
        let shifted = terms.binary(Op::LShr, filled, by);
        filled = terms.or(filled, shifted);
        distance *= 2;
    }
    let zeros = terms.not(filled);
    ones(terms, zeros)
}

/// The number of zeros beneath the lowest one: the ones of `~a & (a - 1)`.
pub(super) fn trailing_zeros(terms: &mut Terms, a: TermId) -> TermId {
    let one = terms.constant(terms.width(a), 1);
    let less = terms.binary(Op::Sub, a, one);
    let complement = terms.not(a);
    let zeros = terms.and(complement, less);
    ones(terms, zeros)
}
