//! Numbers in the input that say how many turns a loop makes, or how long something is.

use std::ops::Range;

use nearmiss_trace::Channel;

use super::Segment;

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Notation {
    /// In decimal digits.
    Decimal,
    /// In bytes, the lowest first.
    LittleEndian,
    /// In bytes, the highest first.
    BigEndian,
}

/// A number in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberField {
    /// Where it stands.
    pub place: Segment,
    /// What it says in the test's own input.
    pub value: u64,
    notation: Notation,
}

/// A number that must grow with what is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Raised {
    /// The number.
    pub field: NumberField,
    /// How much larger each turn makes it.
    pub per_turn: u64,
}

impl Raised {
    /// Most turns for which there is room in its bytes.
    pub fn most_turns(&self) -> u64 {
        self.field.room() / self.per_turn.max(1)
    }

    /// What stands in its place after so many turns more: the channel, its place, the bytes.
    pub fn raised(&self, channels: &[Channel], turns: u64) -> (usize, Range<usize>, Vec<u8>) {
        self.field.raised(channels, self.per_turn * turns)
    }
}

impl NumberField {
    /// The field at a place, if the test's own bytes there say `value` in one of the usual ways.
    pub fn of(channels: &[Channel], place: Segment, value: u64) -> Option<NumberField> {
        let mut readings = NumberField::readings(channels, place).into_iter();
        readings.find(|field| field.value == value)
    }

    /// What the bytes at a place say, in each of the usual ways.
    pub fn readings(channels: &[Channel], place: Segment) -> Vec<NumberField> {
        let bytes = &channels[place.channel].content[place.start..place.end];
        if bytes.is_empty() || bytes.len() > 8 {
            return Vec::new();
        }
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        let little = bytes.iter().rev().fold(0, add);
        let big = bytes.iter().fold(0, add);
        let is_decimal = bytes.iter().all(u8::is_ascii_digit);
        let text = std::str::from_utf8(bytes).ok().filter(|_| is_decimal);
        let decimal = text.and_then(|text| text.parse().ok());
        let notations = [
            (decimal, Notation::Decimal),
            (Some(little), Notation::LittleEndian),
            (Some(big).filter(|_| bytes.len() > 1), Notation::BigEndian),
        ];
        let field = |(value, notation): (Option<u64>, Notation)| {
            Some(NumberField {
                place,
                value: value?,
                notation,
            })
        };
        notations.into_iter().filter_map(field).collect()
    }

    /// Whether it is written in digits.
    pub fn is_text(&self) -> bool {
        self.notation == Notation::Decimal
    }

    /// How much larger it may become without more bytes; of digits there may be more.
    pub fn room(&self) -> u64 {
        let bits = 8 * self.place.len() as u32;
        match self.notation {
            Notation::Decimal => u64::MAX,
            _ => (u64::MAX >> (64 - bits)) - self.value,
        }
    }

    /// What stands in its place when it is larger by so much: the channel, its place, the bytes.
    pub fn raised(&self, channels: &[Channel], by: u64) -> (usize, Range<usize>, Vec<u8>) {
        let value = self.value + by;
        let Segment {
            channel,
            start,
            end,
        } = self.place;
        let size = end - start;
        let bytes = match self.notation {
            Notation::Decimal => {
                // Zeros in front stay as long as there is room for them.
                let is_padded = channels[channel].content[start] == b'0' && size > 1;
                let width = if is_padded { size } else { 0 };
                format!("{value:0width$}").into_bytes()
            }
            Notation::LittleEndian => value.to_le_bytes()[..size].to_vec(),
            Notation::BigEndian => value.to_be_bytes()[8 - size..].to_vec(),
        };
        (channel, start..end, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_abi::channel::ChannelKind;

    fn raised(content: &[u8], place: Range<usize>, value: u64, by: u64) -> Option<Vec<u8>> {
        let channels = [Channel {
            kind: ChannelKind::File,
            index: 0,
            name: Vec::new(),
            content: content.to_vec(),
            piece: None,
        }];
        let place = Segment {
            channel: 0,
            start: place.start,
            end: place.end,
        };
        let field = NumberField::of(&channels, place, value)?;
        Some(field.raised(&channels, by).2)
    }

    #[test]
    fn numbers_keep_their_notation() {
        assert_eq!(raised(b"n=12;", 2..4, 12, 100), Some(b"112".to_vec()));
        assert_eq!(raised(b"n=003;", 2..5, 3, 9), Some(b"012".to_vec()));
        assert_eq!(raised(&[2, 0], 0..2, 2, 300), Some(vec![0x2e, 1]));
        assert_eq!(raised(&[0, 2], 0..2, 2, 300), Some(vec![1, 0x2e]));
        assert_eq!(raised(b"n=12;", 2..4, 13, 1), None, "says something else");
    }
}
