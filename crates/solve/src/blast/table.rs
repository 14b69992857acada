//! Reads of a snapshot at an index that is a word: a tree of choices, one for each bit of the
//! index, over the offsets that the index can have.

use std::ops::RangeInclusive;

use super::gates::{Bit, Gates};
use super::words::{self, Word};

/// A read of `width` bits; offsets outside `feasible` need not be right.
pub(super) fn read(
    gates: &mut Gates,
    bytes: &[u8],
    index: &[Bit],
    feasible: RangeInclusive<u128>,
    width: u32,
) -> Word {
    let zero = words::constant(width, 0);
    if bytes.is_empty() {
        return zero;
    }
    let last = bytes.len() as u128 - 1;
    let levels = (u128::BITS - last.leading_zeros()) as usize;
    let inside = *feasible.start()..=last.min(*feasible.end());
    let tree = Tree {
        bytes,
        index,
        width,
        inside,
    };
    let value = tree.choose(gates, 0, levels).unwrap_or(zero.clone());
    if *feasible.end() <= last {
        return value;
    }
    let limit = words::constant(index.len() as u32, bytes.len() as u128);
    let is_inside = words::below(gates, index, &limit, false);
    words::mux(gates, is_inside, &value, &zero)
}

struct Tree<'a> {
    bytes: &'a [u8],
    index: &'a [Bit],
    width: u32,
    inside: RangeInclusive<u128>,
}

impl Tree<'_> {
    /// The value for an index among the `1 << levels` from `start`; `None` if it has none of
    /// them. As deep as an index has bits.
    fn choose(&self, gates: &mut Gates, start: u128, levels: usize) -> Option<Word> {
        let last = start + ((1u128 << levels) - 1);
        if start > *self.inside.end() || last < *self.inside.start() {
            return None;
        }
        if levels == 0 || self.is_uniform(start as usize, last as usize) {
            let value = read_bytes(self.bytes, start as usize, self.width);
            return Some(words::constant(self.width, value));
        }
        let level = levels - 1;
        let condition = self.index[level];
        let upper_start = start + (1u128 << level);
        match condition.known() {
            Some(true) => return self.choose(gates, upper_start, level),
            Some(false) => return self.choose(gates, start, level),
            None => {}
        }
        let lower = self.choose(gates, start, level);
        let upper = self.choose(gates, upper_start, level);
        match (upper, lower) {
            (Some(upper), Some(lower)) => Some(words::mux(gates, condition, &upper, &lower)),
            (only, None) | (None, only) => only,
        }
    }

    /// Whether reads at all these offsets give the same: a hash table is mostly empty, and there is nothing to choose.
    fn is_uniform(&self, first: usize, last: usize) -> bool {
        let end = last + self.width as usize / 8;
        match self.bytes.get(first..end) {
            Some([value, rest @ ..]) => rest.iter().all(|other| other == value),
            _ => false,
        }
    }
}

/// A little-endian read; bytes outside are zero.
fn read_bytes(bytes: &[u8], start: usize, width: u32) -> u128 {
    bytes[start..]
        .iter()
        .take(width as usize / 8)
        .enumerate()
        .fold(0, |value, (position, &byte)| {
            value | u128::from(byte) << (8 * position)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_everywhere_is_no_choice() {
        let mut bytes = vec![7; 64];
        bytes[40] = 1;
        let tree = Tree {
            bytes: &bytes,
            index: &[],
            width: 16,
            inside: 0..=63,
        };
        assert!(tree.is_uniform(0, 31) && tree.is_uniform(41, 62));
        // The last read reaches beyond its offset, or beyond the table.
        assert!(!tree.is_uniform(32, 39) && !tree.is_uniform(48, 63));
    }
}
