//! Reads of snapshots: which values they give, and which indices give a value.

use super::value::Range;
use crate::evaluate;

/// Tables with more feasible indices than this are not looked at.
const MAX_ENTRIES: u128 = 1024;

/// The feasible indices of a range: from the least to the greatest, in steps of the alignment
/// that its low bits say. `None` if there are more than [`MAX_ENTRIES`].
fn feasible(index: &Range) -> Option<impl DoubleEndedIterator<Item = u128> + use<>> {
    let step = step(index);
    let count = (index.high - index.low) / step + 1;
    let low = index.low;
    (count <= MAX_ENTRIES).then(|| (0..count as u64).map(move |k| low + k as u128 * step))
}

/// The distance between neighbouring values of a range whose low bits are known.
pub(crate) fn step(index: &Range) -> u128 {
    1 << (index.zeros | index.ones).trailing_ones().min(63)
}

/// The range of a read.
pub(super) fn values(bytes: &[u8], index: &Range, width: u32) -> Range {
    let full = Range::full(width);
    let Some(indices) = feasible(index) else {
        return full;
    };
    indices
        .filter(|&at| index.contains(at))
        .map(|at| Range::constant(width, evaluate::read(bytes, at, width)))
        .reduce(|a, b| a.join(&b))
        .unwrap_or(full)
}

/// The indices between the first and the last that give a value in `range`.
pub(super) fn indices(bytes: &[u8], index: &Range, width: u32, range: &Range) -> Option<Range> {
    let gives = |&at: &u128| range.contains(evaluate::read(bytes, at, width));
    let first = feasible(index)?.find(gives)?;
    let last = feasible(index)?.rfind(gives)?;
    Some(Range::unsigned(index.width, first, last))
}
