//! Counting bits.

use super::arithmetic::add;
use super::gates::{Bit, Gates};
use super::words::{self, Word, constant, extend};

/// How many bits are set: sums of ever more bits, pair by pair.
pub(super) fn ones(gates: &mut Gates, a: &[Bit]) -> Word {
    let mut sums: Vec<Word> = a.iter().map(|&bit| vec![bit]).collect();
    while sums.len() > 1 {
        sums = sums
            .chunks(2)
            .map(|pair| match pair {
                [left, right] => add_wider(gates, left, right),
                _ => pair[0].clone(),
            })
            .collect();
    }
    let mut total = sums.pop().unwrap_or_default();
    // The count of a width of 1 or 2 may need more bits than the width has, as zeros.
    total.truncate(a.len());
    extend(&total, a.len() as u32, Bit::FALSE)
}

/// A sum that cannot overflow.
fn add_wider(gates: &mut Gates, a: &[Bit], b: &[Bit]) -> Word {
    let width = a.len().max(b.len()) as u32 + 1;
    let (a, b) = (extend(a, width, Bit::FALSE), extend(b, width, Bit::FALSE));
    add(gates, &a, &b)
}

/// How many zeros there are above the highest set bit.
pub(super) fn leading_zeros(gates: &mut Gates, a: &[Bit]) -> Word {
    let downwards: Word = a.iter().rev().copied().collect();
    trailing_zeros(gates, &downwards)
}

/// How many zeros there are below the lowest set bit.
pub(super) fn trailing_zeros(gates: &mut Gates, a: &[Bit]) -> Word {
    let width = a.len() as u32;
    let nothing_set = constant(width, width.into());
    a.iter()
        .enumerate()
        .rev()
        .fold(nothing_set, |count, (position, &bit)| {
            let here = constant(width, position as u128);
            words::mux(gates, bit, &here, &count)
        })
}
