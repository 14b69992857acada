//! How near an input is to another: one measure wherever inputs of one defect are compared.
//!
//! Each byte that is changed, put in or taken out costs 1, and each piece of input that gets another
//! length 1 more. So two changed bytes are nearer than a file that lost five, and of two files that
//! lost bytes the longer one is nearer.

use nearmiss_expr::InputByte;
use nearmiss_results::{Change, Finding, Resized};
use nearmiss_solve::Model;
use nearmiss_trace::Channel;

use crate::inputs;
use crate::lengths::{Resize, resizes};

/// What these differences cost.
pub fn cost(changes: &[Change], lengths: &[Resized]) -> u64 {
    let bytes: u64 = changes.iter().map(bytes).sum();
    bytes + lengths.len() as u64
}

/// How far the input of a finding is from its test's.
pub fn of_finding(finding: &Finding) -> u64 {
    cost(&finding.changes, &finding.lengths)
}

/// How far contents are from what channels of the same names hold in `own`.
pub fn of_contents(own: &[Channel], channels: &[Channel], contents: &[Vec<u8>]) -> u64 {
    let (changes, lengths) = inputs::differences(own, channels, contents);
    cost(&changes, &lengths)
}

/// How far a solver's answer is from the recorded input.
pub fn of_model(channels: &[Channel], model: &Model) -> u64 {
    // What stands behind the recorded end is put in, which the new length says.
    let is_changed = |byte: InputByte| {
        let channel = channels.get(byte.channel as usize);
        channel.is_some_and(|it| it.piece.is_none() && (byte.offset as usize) < it.content.len())
    };
    let bytes = model.iter().filter(|(byte, _)| is_changed(*byte)).count();
    let lengths = resizes(channels, model);
    bytes as u64 + lengths.iter().map(of_resize).sum::<u64>()
}

/// What another length costs.
pub fn of_resize(resize: &Resize) -> u64 {
    1 + u64::from(resize.distance())
}

/// The bytes that a change changes, puts in and takes out: at its end, or at its start.
fn bytes(change: &Change) -> u64 {
    let Change { from, to, .. } = change;
    let differ = |(one, other): &(&u8, &u8)| one != other;
    let from_start = from.iter().zip(to).filter(differ).count();
    let from_end = from
        .iter()
        .rev()
        .zip(to.iter().rev())
        .filter(differ)
        .count();
    (from_start.min(from_end) + from.len().abs_diff(to.len())) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_abi::channel::ChannelKind;

    fn between(own: &[u8], new: &[u8]) -> u64 {
        let channel = Channel {
            kind: ChannelKind::Stdin,
            index: 0,
            name: Vec::new(),
            content: own.to_vec(),
            piece: None,
        };
        let channels = [channel];
        of_contents(&channels, &channels, &[new.to_vec()])
    }

    #[test]
    fn every_byte_and_every_length_costs() {
        assert_eq!(between(b"abcd", b"abcd"), 0);
        assert_eq!(between(b"abcd", b"aXcY"), 2);
        assert_eq!(between(b"abcdefgh", b"abc"), 6, "five bytes and a length");
        assert_eq!(between(b"abc", b"abcd"), 2);
        assert_eq!(between(b"abcdef", b"aXcd"), 4, "one changed, two lost");
        assert_eq!(between(b"one\ntwo\n", b"on\ntwo\n"), 2, "a line lost one");
    }
}
