//! Where an input was refused: the byte of it that was looked at last, before its end.
//!
//! A changed input often makes a parser give up, and what it would have taken instead is in the comparisons of the last byte that it
//! looked at (parser-directed testing). These forks lie behind all others of the path, so their turn would come late.
//!
//! ```text
//!   test     {"one":1}                            derived  ["one":1}   refused at ':', which was compared with ',' and ']'
//! ```

use std::collections::{BTreeMap, BTreeSet};

use nearmiss_abi::op::Op;
use nearmiss_expr::support::Supports;
use nearmiss_expr::{InputByte, Node, TermId, Terms};
use nearmiss_trace::{Channel, Event, RecordedPath};

use super::tree::is_fork;
use crate::analyse::can_flip;

/// Bytes of one comparison: a condition on more is a sum or a digest, which no single byte decides.
const MOST_BYTES: usize = 8;
/// Forks of one path: the last ones.
const MOST_FORKS: usize = 12;

/// The events of forks, from one event on, that are about the last byte that was looked at of an input.
pub fn forks(terms: &Terms, path: &RecordedPath, from: usize) -> BTreeSet<usize> {
    let mut supports = Supports::new();
    let events = path.events.iter().enumerate();
    let looked_at =
        events.filter_map(|(number, event)| Some((number, byte_of(terms, &mut supports, event)?)));
    let mut forks = about_last(looked_at, &path.channels);
    forks.retain(|number| *number >= from && can_flip(&path.events[*number]));
    let few = forks.len().saturating_sub(MOST_FORKS);
    forks.split_off(few).into_iter().collect()
}

/// Of events and the bytes that they are about, those about the last byte of each input that was not looked at to its end.
fn about_last(
    looked_at: impl Iterator<Item = (usize, InputByte)>,
    channels: &[Channel],
) -> Vec<usize> {
    let mut last: BTreeMap<u32, (u32, Vec<usize>)> = BTreeMap::new();
    for (number, byte) in looked_at {
        let (offset, events) = last.entry(byte.channel).or_default();
        if byte.offset > *offset {
            *offset = byte.offset;
            events.clear();
        }
        if byte.offset == *offset {
            events.push(number);
        }
    }
    let refused = last.into_iter().filter(|(channel, (offset, _))| {
        let channel = channels.get(*channel as usize);
        channel.is_some_and(|it| !is_whole(it, *offset))
    });
    let mut events: Vec<usize> = refused.flat_map(|(_, (_, events))| events).collect();
    events.sort_unstable();
    events
}

/// Whether an input was looked at up to its end.
fn is_whole(channel: &Channel, offset: u32) -> bool {
    offset as usize + 1 >= channel.content.len()
}

/// The last byte that a decision is about. Whether a byte ends a text is not what it is refused for, and its length is found before.
fn byte_of(terms: &Terms, supports: &mut Supports, event: &Event) -> Option<InputByte> {
    let is_plain = is_fork(event) && event.by_length.is_none() && event.implied.is_none();
    let condition = event.condition.filter(|_| is_plain)?;
    if event.switched.is_none() && is_zero_test(terms, condition) {
        return None;
    }
    let set = supports.of(terms, condition);
    let bytes = supports.bytes(set);
    let last = bytes.iter().max_by_key(|byte| byte.offset)?;
    let is_one = bytes.iter().all(|byte| byte.channel == last.channel);
    (is_one && bytes.len() <= MOST_BYTES).then_some(*last)
}

/// Whether a condition says that something is zero, or that it is not.
fn is_zero_test(terms: &Terms, condition: TermId) -> bool {
    match terms.node(condition) {
        Node::Unary { op: Op::Not, a } => is_zero_test(terms, a),
        Node::Binary {
            op: Op::Eq | Op::Ne,
            a,
            b,
        } => [a, b].iter().any(|it| terms.as_constant(*it) == Some(0)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use nearmiss_abi::channel::ChannelKind;

    use super::*;

    fn channel(size: usize) -> Channel {
        Channel {
            kind: ChannelKind::Argument,
            index: 0,
            name: Vec::new(),
            content: vec![b'x'; size],
            piece: None,
        }
    }

    #[test]
    fn the_byte_that_was_looked_at_last_is_the_one_that_was_refused() {
        let looked_at = [(0, 0), (2, 1), (3, 1), (7, 0)].map(|(number, offset)| {
            let byte = InputByte { channel: 0, offset };
            (number, byte)
        });
        let refused = |size| about_last(looked_at.into_iter(), &[channel(size)]);
        assert_eq!(refused(4), [2, 3]);
        assert!(refused(2).is_empty(), "it was looked at to its end");
    }

    #[test]
    fn that_a_text_ends_is_no_reason_to_refuse_it() {
        let mut terms = Terms::new();
        let byte = terms.input(InputByte {
            channel: 0,
            offset: 3,
        });
        let mut is = |value| {
            let value = terms.constant(8, value);
            let equal = terms.eq(byte, value);
            (equal, terms.not(equal))
        };
        let ((zero, not_zero), (letter, _)) = (is(0), is(65));
        assert!(is_zero_test(&terms, zero) && is_zero_test(&terms, not_zero));
        assert!(!is_zero_test(&terms, letter));
    }
}
