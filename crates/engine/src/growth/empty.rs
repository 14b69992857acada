//! Calls of unit tests with no data at all, for one of their parameters: the shortest input of another shape, and one that
//! tests forget.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use nearmiss_abi::boundary::shape;
use nearmiss_abi::channel::ChannelKind;
use nearmiss_trace::Channel;
use siphasher::sip::SipHasher13;

use super::growing::{ShapedInput, function_of};
use crate::calls::fitting;

/// The inputs in which one parameter of a call has no data, each with a name that calls of the same function share.
pub fn emptied(channels: &[Channel]) -> BTreeMap<u64, ShapedInput> {
    let numbered = channels.iter().enumerate();
    let with_data = numbered.filter(|(number, channel)| {
        let is_data = channel.kind == ChannelKind::Call && channel.index & shape::IS_PLAIN == 0;
        is_data && !channel.content.is_empty() && fitting(channels, *number, b"").is_empty()
    });
    with_data
        .map(|(number, channel)| {
            let mut hasher = SipHasher13::new();
            (function_of(channel), channel.index & shape::PARAMETER).hash(&mut hasher);
            let mut input = ShapedInput::of(channels);
            input.contents[number].clear();
            (hasher.finish(), input)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use nearmiss_trace::Piece;

    use super::*;

    #[test]
    fn texts_may_be_empty_and_arrays_of_known_length_may_not() {
        let text = shape::IS_STRING | shape::MOVES | 1 << 12;
        let channel = |name: &str, index: u32, content: &[u8]| Channel {
            kind: ChannelKind::Call,
            index,
            name: name.into(),
            content: content.to_vec(),
            piece: None,
        };
        let length = |of: u32| Channel {
            kind: ChannelKind::Length,
            piece: Some(Piece {
                channel: of,
                start: 0,
                length: 2,
                is_line: false,
            }),
            ..channel("", 0, &[2, 0, 0, 0])
        };
        let channels = [
            channel("1:f", text, b"ab"),
            channel("2:f", text, b"xy"),
            channel("3:g", 1 | 4 << 12, &[1, 0, 0, 0]),
            length(0),
            length(1),
        ];
        let inputs: Vec<ShapedInput> = emptied(&channels).into_values().collect();
        assert_eq!(inputs.len(), 1, "the same parameter of the same function");
        assert!(inputs[0].contents.iter().any(Vec::is_empty));
        assert_eq!(inputs[0].contents[2], [1, 0, 0, 0]);
    }
}
