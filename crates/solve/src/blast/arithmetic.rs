//! Sums, products and whether they overflow.

use super::gates::{Bit, Gates};
use super::words::{self, Word, complement, extend, sign};

/// A sum with its carries: `carries[i]` goes into bit `i`, the last one leaves the word.
struct Sum {
    bits: Word,
    carries: Word,
}

fn ripple(gates: &mut Gates, a: &[Bit], b: &[Bit], carry: Bit) -> Sum {
    let mut carries = vec![carry];
    let bits = words::bitwise(a, b, |a, b| {
        let carry = carries[carries.len() - 1];
        carries.push(gates.majority(a, b, carry));
        gates.xor3(a, b, carry)
    });
    Sum { bits, carries }
}

pub(super) fn add(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Word {
    ripple(gates, a, b, Bit::FALSE).bits
}

pub(super) fn subtract(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Word {
    ripple(gates, a, &complement(b), Bit::TRUE).bits
}

pub(super) fn negate(gates: &mut Gates, a: &[Bit]) -> Word {
    let zero = words::constant(a.len() as u32, 0);
    subtract(gates, &zero, a)
}

/// `-a` if `condition`, else `a`.
pub(super) fn negate_if(gates: &mut Gates, condition: Bit, a: &[Bit]) -> Word {
    let zero = words::constant(a.len() as u32, 0);
    let flipped: Word = a.iter().map(|&bit| gates.xor(bit, condition)).collect();
    ripple(gates, &flipped, &zero, condition).bits
}

pub(super) fn multiply(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Word {
    match (words::known(a), words::known(b)) {
        (Some(factor), _) => multiply_constant(gates, b, factor),
        (_, Some(factor)) => multiply_constant(gates, a, factor),
        _ => multiply_words(gates, a, b),
    }
}

/// A row of the product for each bit of `b`, added up.
fn multiply_words(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Word {
    // A row that is known to be zero costs nothing: let the word with more zeros have the rows.
    let zeros = |word: &[Bit]| word.iter().filter(|&&bit| bit == Bit::FALSE).count();
    let (a, b) = if zeros(a) > zeros(b) { (b, a) } else { (a, b) };
    let mut product = words::constant(a.len() as u32, 0);
    for (shift, &bit) in b.iter().enumerate() {
        if bit == Bit::FALSE {
            continue;
        }
        let row: Word = a[..a.len() - shift]
            .iter()
            .map(|&factor| gates.and(factor, bit))
            .collect();
        let upper = add(gates, &product[shift..], &row);
        product.truncate(shift);
        product.extend(upper);
    }
    product
}

/// A product with a constant: as many additions and subtractions as its non-adjacent form has
/// digits, about a third of its bits.
fn multiply_constant(gates: &mut Gates, a: &[Bit], factor: u128) -> Word {
    let width = a.len();
    let mut product = words::constant(width as u32, 0);
    let mut rest = factor;
    for shift in 0..width {
        if rest & 1 == 1 {
            let row = &a[..width - shift];
            // The digit is -1 where a run of ones starts.
            let upper = if rest & 2 == 2 {
                rest = rest.wrapping_add(1);
                subtract(gates, &product[shift..], row)
            } else {
                add(gates, &product[shift..], row)
            };
            product.truncate(shift);
            product.extend(upper);
        }
        rest >>= 1;
    }
    product
}

pub(super) fn unsigned_add_overflows(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Bit {
    sign(&ripple(gates, a, b, Bit::FALSE).carries)
}

pub(super) fn signed_add_overflows(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Bit {
    let carries = ripple(gates, a, b, Bit::FALSE).carries;
    gates.xor(carries[a.len() - 1], carries[a.len()])
}

pub(super) fn signed_subtract_overflows(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Bit {
    let carries = ripple(gates, a, &complement(b), Bit::TRUE).carries;
    gates.xor(carries[a.len() - 1], carries[a.len()])
}

/// The product overflows if two set bits have positions with a sum of `width` or more; if not,
/// it fits into one more bit, which tells.
pub(super) fn unsigned_multiply_overflows(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Bit {
    let width = a.len() as u32 + 1;
    let far = far_apart(gates, a, b, a.len());
    let (a, b) = (extend(a, width, Bit::FALSE), extend(b, width, Bit::FALSE));
    let product = multiply(gates, &a, &b);
    gates.or(far, sign(&product))
}

/// The same with magnitudes (negative words complemented) and one position less, as a bit goes
/// to the sign; what is not decided by positions fits into one more bit.
pub(super) fn signed_multiply_overflows(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Bit {
    let width = a.len() as u32 + 1;
    let (a_sign, b_sign) = (sign(a), sign(b));
    let a_magnitude: Word = a.iter().map(|&bit| gates.xor(bit, a_sign)).collect();
    let b_magnitude: Word = b.iter().map(|&bit| gates.xor(bit, b_sign)).collect();
    let far = far_apart(gates, &a_magnitude, &b_magnitude, a.len() - 1);
    let (wide_a, wide_b) = (extend(a, width, a_sign), extend(b, width, b_sign));
    let product = multiply(gates, &wide_a, &wide_b);
    let differ = gates.xor(product[a.len()], product[a.len() - 1]);
    gates.or(far, differ)
}

/// Whether there are set bits of `a` and `b` whose positions have a sum of `limit` or more.
fn far_apart(gates: &mut Gates, a: &[Bit], b: &[Bit], limit: usize) -> Bit {
    // From the top of `a` downwards: whether `a` has a bit at this position or above.
    let mut at_or_above = Bit::FALSE;
    let mut pairs = Vec::with_capacity(a.len());
    let mut next = a.len();
    for (position, &bit) in b.iter().enumerate() {
        while next > limit.saturating_sub(position) && next > 0 {
            next -= 1;
            at_or_above = gates.or(at_or_above, a[next]);
        }
        pairs.push(gates.and(at_or_above, bit));
    }
    gates.any(pairs)
}
