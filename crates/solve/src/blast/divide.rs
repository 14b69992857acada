//! Quotients and remainders. Division by zero is as SMT-LIB has it, which is what the circuit
//! gives anyway: all ones, and the dividend.

use super::arithmetic::negate_if;
use super::gates::{Bit, Gates};
use super::words::{self, Word, complement, sign};

/// Quotient and remainder, unsigned, by long division: each step brings down one bit of the
/// dividend and subtracts the divisor if it can.
pub(super) fn unsigned(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> (Word, Word) {
    let width = a.len();
    let not_b = complement(b);
    let mut quotient = words::constant(width as u32, 0);
    let mut remainder: Word = Vec::new();
    for step in (0..width).rev() {
        // The remainder has at most as many bits as were brought down.
        remainder.insert(0, a[step]);
        let low = remainder.len().min(width);
        let rest_of_b_is_zero = gates.all(not_b[low..].iter().copied());
        let (difference, no_borrow) = subtract(gates, &remainder, &not_b[..low]);
        let fits = gates.and(no_borrow, rest_of_b_is_zero);
        quotient[step] = fits;
        remainder = words::mux(gates, fits, &difference, &remainder);
    }
    (quotient, remainder)
}

/// `a - b` and whether there was no borrow, given the complement of `b`.
fn subtract(gates: &mut Gates, a: &[Bit], not_b: &[Bit]) -> (Word, Bit) {
    let mut carry = Bit::TRUE;
    let difference = words::bitwise(a, not_b, |a, b| {
        let bit = gates.xor3(a, b, carry);
        carry = gates.majority(a, b, carry);
        bit
    });
    (difference, carry)
}

/// Quotient and remainder, signed: of the absolute values, with the signs put back.
pub(super) fn signed(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> (Word, Word) {
    let (a_sign, b_sign) = (sign(a), sign(b));
    let a_absolute = negate_if(gates, a_sign, a);
    let b_absolute = negate_if(gates, b_sign, b);
    let (quotient, remainder) = unsigned(gates, &a_absolute, &b_absolute);
    let signs_differ = gates.xor(a_sign, b_sign);
    (
        negate_if(gates, signs_differ, &quotient),
        negate_if(gates, a_sign, &remainder),
    )
}
