//! Values of single bytes, where the path does not know what depends on them.
//!
//! What went into a floating-point number, a function without a model, assembly or another process is concrete from
//! there on: no query is about it. Where such a thing was noted, and nothing else is left to do for a test, its first
//! bytes have their other values, one by one. These are runs, not claims: what was lost stays lost in the report.

use std::sync::Arc;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_expr::InputByte;
use nearmiss_search::Trail;
use nearmiss_search::strategy::FIRST_DISTANCES;
use nearmiss_solve::Model;
use nearmiss_trace::Channel;

use super::derived::{PendingFlip, Prediction};
use super::seed::Seed;
use crate::invent::Alteration;

/// A choice that no fork has: a byte has a value.
const BY_VALUE: u64 = 1 << 61;
/// Bytes of each input that have other values.
const BYTES_OF_EACH: u32 = 8;
/// The distance of what is found: how many branches lie between is not known, so it is no nearer than what the
/// scheme of distances finds first.
const BEYOND: u32 = FIRST_DISTANCES + 1;
/// The maximum of bytes of all inputs together.
const MOST_BYTES: usize = 24;

/// The runs in which one byte of a test's own input has another value, the most promising first.
pub fn flips(seed: &Seed, channels: &Arc<Vec<Channel>>) -> Vec<PendingFlip> {
    let Some(&root) = seed.memory.nodes.first() else {
        return Vec::new();
    };
    let capsule = Arc::new(seed.test.capsule.clone());
    let bytes = bytes_of(channels);
    let mut flips = Vec::new();
    for value in by_promise() {
        for &(byte, recorded) in &bytes {
            if value == recorded || !is_possible(&channels[byte.channel as usize], value) {
                continue;
            }
            let place = u64::from(byte.channel) << 40 | u64::from(byte.offset) << 8;
            let choice = BY_VALUE | place | u64::from(value);
            flips.push(PendingFlip {
                capsule: capsule.clone(),
                channels: channels.clone(),
                alteration: Alteration::Changes(Model::from_iter([(byte, value)])),
                outcome: (0, choice),
                node: Trail::at(root).way(0, choice),
                prediction: Prediction::Nothing,
                point: 0,
                depth: BEYOND,
                leaves: None,
                staleness: 0,
                moves_lines: false,
                is_about_refused: false,
            });
        }
    }
    flips
}

/// The bytes that have other values, and their own.
fn bytes_of(channels: &[Channel]) -> Vec<(InputByte, u8)> {
    let inputs = channels.iter().zip(0..);
    let inputs = inputs.filter(|(channel, _)| channel.kind != ChannelKind::Length);
    let bytes = inputs.flat_map(|(channel, number)| {
        let first = channel.content.iter().zip(0..BYTES_OF_EACH);
        first.map(move |(&value, offset)| {
            let byte = InputByte {
                channel: number,
                offset,
            };
            (byte, value)
        })
    });
    bytes.take(MOST_BYTES).collect()
}

/// All values: digits, letters, other characters, and the rest.
fn by_promise() -> impl Iterator<Item = u8> {
    let class = |value: &u8| match value {
        b'0'..=b'9' => 0,
        value if value.is_ascii_alphabetic() => 1,
        value if value.is_ascii_graphic() => 2,
        _ => 3,
    };
    let mut values: Vec<u8> = (0..=u8::MAX).collect();
    values.sort_by_key(class);
    values.into_iter()
}

/// Arguments and variables end at a zero.
fn is_possible(channel: &Channel, value: u8) -> bool {
    let is_string = matches!(
        channel.kind,
        ChannelKind::Argument | ChannelKind::Environment
    );
    value != 0 || !is_string
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_of_each_input_have_other_values() {
        let channel = |kind, content: &[u8]| Channel {
            kind,
            index: 0,
            name: Vec::new(),
            content: content.to_vec(),
            piece: None,
        };
        let channels = [
            channel(ChannelKind::Argument, b"5a"),
            channel(ChannelKind::Length, &[2, 0, 0, 0]),
            channel(ChannelKind::Stdin, &[7; 100]),
        ];
        let bytes = bytes_of(&channels);
        let of = |number| {
            bytes
                .iter()
                .filter(move |(byte, _)| byte.channel == number)
                .count()
        };
        assert_eq!((of(0), of(1), of(2)), (2, 0, 8));
        assert_eq!(by_promise().next(), Some(b'0'));
        assert_eq!(by_promise().count(), 256);
        assert!(!is_possible(&channels[0], 0) && is_possible(&channels[2], 0));
    }
}
