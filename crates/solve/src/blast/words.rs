//! Words, least significant bit first: what the operations of terms are made of.

use super::gates::{Bit, Gates};

/// The bits of a word, the least significant first.
pub(crate) type Word = Vec<Bit>;

/// A constant of `width` bits, which may be more than a value has.
pub(super) fn constant(width: u32, value: u128) -> Word {
    (0..width)
        .map(|bit| Bit::constant(value.checked_shr(bit).unwrap_or(0) & 1 == 1))
        .collect()
}

/// The value of a word that is constant and no wider than a value.
pub(super) fn known(a: &[Bit]) -> Option<u128> {
    if a.len() > u128::BITS as usize {
        return None;
    }
    a.iter()
        .rev()
        .try_fold(0, |value, bit| Some(value << 1 | u128::from(bit.known()?)))
}

pub(super) fn complement(a: &[Bit]) -> Word {
    a.iter().map(|&bit| !bit).collect()
}

/// A bit-by-bit operation.
pub(super) fn bitwise(a: &[Bit], b: &[Bit], mut gate: impl FnMut(Bit, Bit) -> Bit) -> Word {
    a.iter().zip(b).map(|(&a, &b)| gate(a, b)).collect()
}

/// `then` if `condition`, else `otherwise`.
pub(super) fn mux(gates: &mut Gates, condition: Bit, then: &[Bit], otherwise: &[Bit]) -> Word {
    bitwise(then, otherwise, |then, otherwise| {
        gates.mux(condition, then, otherwise)
    })
}

/// Zero or sign extension.
pub(super) fn extend(a: &[Bit], width: u32, fill: Bit) -> Word {
    let mut word = a.to_vec();
    word.resize(width as usize, fill);
    word
}

/// The most significant bit.
pub(super) fn sign(a: &[Bit]) -> Bit {
    a[a.len() - 1]
}

/// Whether two words are equal.
pub(super) fn equal(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Bit {
    let equal_bits = bitwise(a, b, |a, b| gates.equal(a, b));
    gates.all(equal_bits)
}

/// Whether `a` is below `b`, unsigned; with `or_equal`, also whether they are equal.
pub(super) fn below(gates: &mut Gates, a: &[Bit], b: &[Bit], or_equal: bool) -> Bit {
    let start = Bit::constant(or_equal);
    a.iter()
        .zip(b)
        .fold(start, |lower, (&a, &b)| gates.majority(!a, b, lower))
}

/// The same for signed words: the sign bits swap their roles.
pub(super) fn below_signed(gates: &mut Gates, a: &[Bit], b: &[Bit], or_equal: bool) -> Bit {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    let top = a.len() - 1;
    std::mem::swap(&mut a[top], &mut b[top]);
    below(gates, &a, &b, or_equal)
}
