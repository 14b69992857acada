//! Reads of snapshots as trees of comparisons.

use nearmiss_abi::op::Op;

use crate::evaluate;
use crate::node::{Node, SnapshotId, TermId};
use crate::range::{Range, Ranges, table};
use crate::terms::Terms;

/// A read as a balanced tree of comparisons of its index, over the range of the index. Equal
/// neighbours are one leaf, and offsets that the index cannot have are none.
pub fn lower_read(terms: &mut Terms, ranges: &mut Ranges, read: TermId) -> TermId {
    let Node::Read {
        index,
        snapshot,
        width,
    } = terms.node(read)
    else {
        return read;
    };
    let bounds = ranges.range(terms, index);
    expand(terms, index, &bounds, snapshot, width)
}

/// How many leaves the tree of a read would have: what lowering it costs.
pub fn read_size(terms: &Terms, ranges: &mut Ranges, read: TermId) -> usize {
    let Node::Read {
        index,
        snapshot,
        width,
    } = terms.node(read)
    else {
        return 0;
    };
    let bounds = ranges.range(terms, index);
    runs(terms.snapshot_bytes(snapshot), &bounds, width).len()
}

pub(super) fn expand(
    terms: &mut Terms,
    index: TermId,
    bounds: &Range,
    snapshot: SnapshotId,
    width: u32,
) -> TermId {
    let runs = runs(terms.snapshot_bytes(snapshot), bounds, width);
    tree(terms, index, &runs, width)
}

/// From `start` on, up to the start of the next run, the read gives `value`.
struct Run {
    start: u128,
    value: u128,
}

/// The values of a table in the order of their indices.
fn runs(bytes: &[u8], bounds: &Range, width: u32) -> Vec<Run> {
    let step = table::step(bounds);
    let end = bytes.len() as u128;
    let mut runs: Vec<Run> = Vec::new();
    let mut at = bounds.low;
    loop {
        let value = evaluate::read(bytes, at, width);
        if runs.last().is_none_or(|last| last.value != value) {
            runs.push(Run { start: at, value });
        }
        // Beyond the end everything is zero: one index there stands for all.
        if at >= end || bounds.high - at < step {
            return runs;
        }
        at += step;
    }
}

/// Recursion is as deep as the logarithm of the number of runs.
fn tree(terms: &mut Terms, index: TermId, runs: &[Run], width: u32) -> TermId {
    if let [run] = runs {
        return terms.constant(width, run.value);
    }
    let (before, after) = runs.split_at(runs.len() / 2);
    let split = terms.constant(64, after[0].start);
    let is_before = terms.binary(Op::Ult, index, split);
    let before = tree(terms, index, before, width);
    let after = tree(terms, index, after, width);
    terms.ite(is_before, before, after)
}
