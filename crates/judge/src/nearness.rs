//! How near an input is to another: one measure wherever inputs of one defect are compared.
//!
//! Each byte that is changed, put in or taken out costs 1, and each piece of input that gets another
//! length 1 more. So two changed bytes are nearer than a file that lost five, and of two files that
//! lost bytes the longer one is nearer.

use nearmiss_abi::channel::ChannelKind;
use nearmiss_results::{Change, Finding, Resized};
use nearmiss_trace::Channel;

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
    let (changes, lengths) = differences(own, channels, contents);
    cost(&changes, &lengths)
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

/// Where contents differ from what other channels of the same names hold: changed bytes, and
/// channels that became longer or shorter.
pub fn differences(
    old: &[Channel],
    channels: &[Channel],
    contents: &[Vec<u8>],
) -> (Vec<Change>, Vec<Resized>) {
    let (mut changes, mut lengths) = (Vec::new(), Vec::new());
    for (channel, content) in channels.iter().zip(contents) {
        let label = channel.label();
        let before = old.iter().find(|one| one.label() == label);
        if before.is_none() && channel.kind == ChannelKind::Argument {
            changes.push(whole(&label, &[], content));
        }
        let Some(before) = before.filter(|one| one.kind != ChannelKind::Length) else {
            continue;
        };
        let from = &before.content;
        if from.len() == content.len() {
            changes.extend(changed_runs(&label, from, content));
        } else {
            changes.push(replaced_middle(&label, from, content));
            lengths.push(Resized {
                channel: label,
                offset: 0,
                line: false,
                from: from.len() as u64,
                to: content.len() as u64,
            });
        }
    }
    // Of many kinds of input a run may not get to one; of its arguments it has each.
    for gone in old.iter().filter(|one| one.kind == ChannelKind::Argument) {
        let label = gone.label();
        if channels.iter().all(|one| one.label() != label) {
            changes.push(whole(&label, &gone.content, &[]));
        }
    }
    (changes, lengths)
}

/// An argument that was put in or taken out.
fn whole(label: &str, from: &[u8], to: &[u8]) -> Change {
    Change {
        channel: label.to_string(),
        offset: 0,
        from: from.to_vec(),
        to: to.to_vec(),
    }
}

/// Runs of neighbouring bytes that differ between two contents of one length.
pub fn changed_runs(label: &str, from: &[u8], to: &[u8]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut last = None;
    let pairs = from.iter().zip(to).enumerate();
    for (offset, (from, to)) in pairs.filter(|(_, (from, to))| from != to) {
        if last.is_none_or(|last: usize| last + 1 != offset) {
            changes.push(Change {
                channel: label.to_string(),
                offset: offset as u64,
                from: Vec::new(),
                to: Vec::new(),
            });
        }
        let change = changes.last_mut().expect("one was just made");
        change.from.push(*from);
        change.to.push(*to);
        last = Some(offset);
    }
    changes
}

/// What lies between the common beginning and the common end of two contents.
fn replaced_middle(label: &str, from: &[u8], to: &[u8]) -> Change {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let start = from.iter().zip(to).take_while(same).count();
    let (left, right) = (&from[start..], &to[start..]);
    let (left_end, right_end) = (left.iter().rev(), right.iter().rev());
    let end = left_end.zip(right_end).take_while(same).count();
    Change {
        channel: label.to_string(),
        offset: start as u64,
        from: left[..left.len() - end].to_vec(),
        to: right[..right.len() - end].to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn differences_of_equal_and_of_other_lengths() {
        let channel = |index, content: &[u8]| Channel {
            kind: ChannelKind::Argument,
            index,
            name: Vec::new(),
            content: content.to_vec(),
            piece: None,
        };
        let old = [
            channel(1, b"abcdef"),
            channel(2, b"key=1"),
            channel(3, b"x"),
        ];
        let new = [b"aBcdEF".to_vec(), b"key=221".to_vec(), b"x".to_vec()];
        let (changes, lengths) = differences(&old, &old, &new);
        let shown: Vec<(&str, u64, &[u8], &[u8])> = changes
            .iter()
            .map(|one| (one.channel.as_str(), one.offset, &one.from[..], &one.to[..]))
            .collect();
        let expected: [(&str, u64, &[u8], &[u8]); 3] = [
            ("argv[1]", 1, b"b", b"B"),
            ("argv[1]", 4, b"ef", b"EF"),
            ("argv[2]", 4, b"", b"22"),
        ];
        assert_eq!(shown, expected);
        assert_eq!((lengths.len(), lengths[0].from, lengths[0].to), (1, 5, 7));
    }
}
