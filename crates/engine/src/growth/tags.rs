//! Numbers that a program compares with one value: a version, a type, a magic number. They count and measure nothing.

use std::collections::HashSet;

use nearmiss_expr::support::Supports;
use nearmiss_expr::{Evaluator, InputByte, TermId, Terms};
use nearmiss_trace::{Channel, RecordedPath};

use super::Segment;
use super::sizes::{MAX_NUMBER, runs};

/// Most conditions of a path that are evaluated.
const MAX_CONDITIONS: usize = 4096;
/// What is added to a byte, to see whether a decision goes the same way.
const OTHERS: [u8; 5] = [1, 2, 64, 0x80, 0xff];

/// The places of numbers that a decision of the path takes for one value only: it goes another way with any other. A loop
/// that counts up to a number asks for less each time, so what counts is none of these.
pub fn of_path(path: &RecordedPath, terms: &Terms) -> HashSet<Segment> {
    let (mut supports, mut evaluator) = (Supports::new(), Evaluator::new());
    let mut asked: HashSet<TermId> = HashSet::new();
    let mut tags = HashSet::new();
    for event in path.events.iter().filter(|event| event.is_decision()) {
        let Some(condition) = event.condition.filter(|_| event.implied.is_none()) else {
            continue;
        };
        if asked.len() >= MAX_CONDITIONS || !asked.insert(condition) {
            continue;
        }
        let set = supports.of(terms, condition);
        let bytes = supports.bytes(set);
        if bytes.len() > MAX_NUMBER {
            continue;
        }
        if let [place] = runs(&bytes, &path.channels)[..]
            && place.len() == bytes.len()
            && is_one_value(&mut evaluator, terms, condition, &path.channels, place)
        {
            tags.insert(place);
        }
    }
    tags
}

/// Whether a condition that holds of the recorded bytes holds of no others, as far as each byte is tried.
fn is_one_value(
    evaluator: &mut Evaluator,
    terms: &Terms,
    condition: TermId,
    channels: &[Channel],
    place: Segment,
) -> bool {
    let mut holds = |changed: usize, by: u8| {
        let byte = |it: InputByte| {
            let content = &channels[it.channel as usize].content;
            let recorded = content.get(it.offset as usize).copied().unwrap_or(0);
            let is_changed = it.offset as usize == changed;
            recorded.wrapping_add(if is_changed { by } else { 0 })
        };
        evaluator.reset();
        evaluator.holds(terms, &byte, condition)
    };
    (place.start..place.end).all(|at| OTHERS.iter().all(|by| !holds(at, *by)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_abi::channel::ChannelKind;
    use nearmiss_abi::op::Op;

    /// Whether a comparison of the only byte, 3, with a number takes it for one value.
    fn is_tag(op: Op, number: u128) -> bool {
        let mut terms = Terms::new();
        let byte = terms.input(InputByte {
            channel: 0,
            offset: 0,
        });
        let number = terms.constant(8, number);
        let condition = terms.binary(op, byte, number);
        let channels = [Channel {
            kind: ChannelKind::File,
            index: 0,
            name: Vec::new(),
            content: vec![3],
            piece: None,
        }];
        let place = Segment {
            channel: 0,
            start: 0,
            end: 1,
        };
        is_one_value(&mut Evaluator::new(), &terms, condition, &channels, place)
    }

    #[test]
    fn only_what_is_compared_for_equality_is_a_tag() {
        assert!(is_tag(Op::Eq, 3));
        assert!(!is_tag(Op::Ne, 7));
        assert!(!is_tag(Op::Ult, 4), "the last turn of a loop");
        assert!(!is_tag(Op::Ule, 3), "the end of a loop");
    }
}
