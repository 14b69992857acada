//! Shifts by a distance that is a word itself: one layer of choices for each of its bits.

use super::gates::{Bit, Gates};
use super::words::{self, Word};

pub(super) fn left(gates: &mut Gates, a: &[Bit], distance: &[Bit]) -> Word {
    let reversed: Word = a.iter().rev().copied().collect();
    let mut shifted = right(gates, &reversed, distance, Bit::FALSE);
    shifted.reverse();
    shifted
}

/// `fill` comes in from above; a distance of the width or more leaves nothing else.
pub(super) fn right(gates: &mut Gates, a: &[Bit], distance: &[Bit], fill: Bit) -> Word {
    let width = a.len();
    // The bits of the distance that move by less than the width.
    let layers = (0..distance.len())
        .take_while(|&layer| layer < usize::BITS as usize - 1 && 1 << layer < width)
        .count();
    let mut word = a.to_vec();
    for (layer, &condition) in distance[..layers].iter().enumerate() {
        let mut moved = word[1 << layer..].to_vec();
        moved.resize(width, fill);
        word = words::mux(gates, condition, &moved, &word);
    }
    let too_far = gates.any(distance[layers..].iter().copied());
    let filled = vec![fill; width];
    words::mux(gates, too_far, &filled, &word)
}
