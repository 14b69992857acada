//! What grows together, and the input with more of it.

use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_trace::{Channel, Word};
use siphasher::sip::SipHasher13;

use super::copies::Copies;
use super::fields::Raised;

/// Most bytes by which an argument or a variable grows: the kernel refuses strings of 128 KiB.
const MAX_STRING: usize = 100_000;
/// Most bytes by which other inputs grow.
const MAX_CONTENT: usize = 1 << 17;

/// A part of a channel's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Segment {
    /// The channel's number.
    pub channel: usize,
    /// Its first byte.
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
}

impl Segment {
    /// How long it is.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Its bytes.
    pub fn bytes<'c>(&self, channels: &'c [Channel]) -> &'c [u8] {
        &channels[self.channel].content[self.start..self.end]
    }

    /// The input without it.
    pub fn removed(&self, channels: &[Channel]) -> ShapedInput {
        let mut input = ShapedInput::of(channels);
        input.contents[self.channel].drain(self.start..self.end);
        input
    }

    /// Whether they have bytes in common.
    pub fn overlaps(&self, other: &Segment) -> bool {
        self.channel == other.channel && self.start < other.end && other.start < self.end
    }
}

/// What is repeated together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Growing {
    /// Parts of contents.
    Parts(Parts),
    /// Neighbouring arguments, by their places in the command line.
    Arguments(Range<usize>),
}

/// Parts of contents, each repeated as often as the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parts {
    /// The parts.
    pub segments: Vec<Segment>,
    /// Numbers that say how many or how long they are.
    pub numbers: Vec<Raised>,
    /// What stands in place of a repetition.
    pub copies: Copies,
}

/// An input of another shape than the test's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShapedInput {
    /// What each channel holds.
    pub contents: Vec<Vec<u8>>,
    /// Places of the command line, and the arguments that take them.
    pub arguments: Option<(Range<usize>, Vec<OsString>)>,
}

impl ShapedInput {
    /// The test's own input.
    pub fn of(channels: &[Channel]) -> ShapedInput {
        ShapedInput {
            contents: channels.iter().map(|one| one.content.clone()).collect(),
            arguments: None,
        }
    }

    /// The test's own input with a text in the place of a word.
    pub fn replacing(word: &Word, channels: &[Channel]) -> ShapedInput {
        let mut input = ShapedInput::of(channels);
        if let Some(content) = input.contents.get_mut(word.start.channel as usize) {
            let start = content.len().min(word.start.offset as usize);
            let end = content.len().min(start + word.length as usize);
            content.splice(start..end, word.text.iter().copied());
        }
        input
    }
}

/// The function whose data a channel of a call is; of other channels their name.
pub fn function_of(channel: &Channel) -> &[u8] {
    let mut parts = channel.name.split(|byte| *byte == b':');
    parts.nth(1).unwrap_or(&channel.name)
}

impl Parts {
    /// One part, repeated as it is.
    pub fn alone(segment: Segment) -> Parts {
        Parts {
            segments: vec![segment],
            numbers: Vec::new(),
            copies: Copies::Same,
        }
    }

    /// The same with a number that grows with it.
    pub fn raising(mut self, number: Raised) -> Parts {
        self.numbers.push(number);
        self
    }

    /// A name for what grows: the same bytes between the same ones, as data of the same function or of the same channel.
    pub fn likeness(&self, channels: &[Channel]) -> u64 {
        let mut hasher = SipHasher13::new();
        for segment in &self.segments {
            let channel = &channels[segment.channel];
            let content = &channel.content;
            let around = segment.start.saturating_sub(1)..content.len().min(segment.end + 1);
            (channel.kind as u8, function_of(channel)).hash(&mut hasher);
            (&content[around], segment.len()).hash(&mut hasher);
        }
        (self.numbers.len(), &self.copies).hash(&mut hasher);
        hasher.finish()
    }

    /// Bytes that so many turns add.
    fn size(&self, turns: u64) -> u64 {
        let sizes = self.segments.iter().map(Segment::len);
        sizes.map(|size| self.copies.size(size, turns)).sum()
    }

    /// Most turns, no more than `wanted`, for which there is room, in an input that grows by no more than `bytes`.
    fn most_turns(&self, channels: &[Channel], wanted: u64, bytes: usize) -> u64 {
        let is_string = |segment: &Segment| {
            let kind = channels[segment.channel].kind;
            matches!(kind, ChannelKind::Argument | ChannelKind::Environment)
        };
        let room = match self.segments.iter().any(is_string) {
            true => MAX_STRING,
            false => MAX_CONTENT,
        };
        let numbers = self.numbers.iter().map(Raised::most_turns);
        let (mut low, mut high) = (0, numbers.fold(wanted, u64::min));
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match self.size(middle) <= room.min(bytes) as u64 {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        low
    }

    /// The contents with so many turns more.
    fn grown(&self, channels: &[Channel], turns: u64) -> Vec<Vec<u8>> {
        let copies = self.segments.iter().map(|one| {
            let bytes = self.copies.of(one.bytes(channels), turns);
            (one.channel, one.end..one.end, bytes)
        });
        let raised = self.numbers.iter().map(|it| it.raised(channels, turns));
        let mut splices: Vec<(usize, Range<usize>, Vec<u8>)> = copies.chain(raised).collect();
        // From the last to the first, so that places stay valid.
        splices.sort_by_key(|(_, range, _)| std::cmp::Reverse(range.start));
        let mut contents = ShapedInput::of(channels).contents;
        for (channel, range, bytes) in splices {
            contents[channel].splice(range, bytes);
        }
        contents
    }
}

impl Growing {
    /// One part of a content, repeated as it is.
    pub fn segment(segment: Segment) -> Growing {
        Growing::Parts(Parts::alone(segment))
    }

    /// The bytes that one more turn adds.
    pub fn size(&self, arguments: &[OsString]) -> u64 {
        match self {
            Growing::Parts(parts) => parts.size(1),
            Growing::Arguments(range) => {
                let sizes = arguments[range.clone()].iter().map(|one| one.len() + 1);
                sizes.sum::<usize>() as u64
            }
        }
    }

    /// Most turns that are put in: no more than `wanted`, and no more than such an input may grow, or than so many bytes.
    pub fn most_turns(
        &self,
        channels: &[Channel],
        arguments: &[OsString],
        wanted: u64,
        bytes: usize,
    ) -> u64 {
        match self {
            Growing::Parts(parts) => parts.most_turns(channels, wanted, bytes),
            Growing::Arguments(_) => {
                let room = MAX_STRING.min(bytes) as u64;
                wanted.min(room / self.size(arguments).max(1))
            }
        }
    }

    /// The test's input with so many turns more.
    pub fn grown(&self, channels: &[Channel], arguments: &[OsString], turns: u64) -> ShapedInput {
        match self {
            Growing::Parts(parts) => ShapedInput {
                contents: parts.grown(channels, turns),
                arguments: None,
            },
            Growing::Arguments(range) => {
                let repeated = vec![&arguments[range.clone()]; turns as usize].concat();
                ShapedInput {
                    arguments: Some((range.end..range.end, repeated)),
                    ..ShapedInput::of(channels)
                }
            }
        }
    }

    /// The input without arguments that may be repeated.
    pub fn removed(&self, channels: &[Channel]) -> Option<ShapedInput> {
        match self {
            Growing::Parts(..) => None,
            Growing::Arguments(range) => Some(ShapedInput {
                arguments: Some((range.clone(), Vec::new())),
                ..ShapedInput::of(channels)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::NumberField;
    use super::*;

    fn channel(kind: ChannelKind, content: &str) -> Channel {
        Channel {
            kind,
            index: 1,
            name: Vec::new(),
            content: content.into(),
            piece: None,
        }
    }

    fn segment(start: usize, end: usize) -> Segment {
        Segment {
            channel: 0,
            start,
            end,
        }
    }

    #[test]
    fn segments_grow_together_with_their_count() {
        let channels = [channel(ChannelKind::Stdin, "2: [x] [y]")];
        let count = NumberField::of(&channels, segment(0, 1), 2).unwrap();
        let count = Raised {
            field: count,
            per_turn: 1,
        };
        let growing = Growing::Parts(Parts::alone(segment(6, 10)).raising(count));
        let grown = growing.grown(&channels, &[], 9);
        let text = String::from_utf8(grown.contents[0].clone()).unwrap();
        assert_eq!(text, format!("11: [x] [y]{}", " [y]".repeat(9)));
        let mut pair = Parts::alone(segment(3, 4));
        pair.segments.push(segment(5, 6));
        let pair = Growing::Parts(pair);
        let grown = pair.grown(&channels, &[], 2);
        assert_eq!(grown.contents[0], b"2: [[[x]]] [y]");
    }

    #[test]
    fn strings_of_the_kernel_grow_less_than_files() {
        let arguments = ["prog".into(), "-I".into(), "include".into()];
        let growing = Growing::segment(segment(0, 50));
        let most = |kind| growing.most_turns(&[channel(kind, "")], &arguments, 5000, usize::MAX);
        assert_eq!(most(ChannelKind::Argument), 2000);
        assert_eq!(most(ChannelKind::File), 2621);
        let first = growing.most_turns(&[channel(ChannelKind::File, "")], &arguments, 5000, 1000);
        assert_eq!(first, 20);
        assert_eq!(Growing::Arguments(1..3).size(&arguments), 11);
    }
}
