//! Longer inputs of a test's shape: what repeats in the test's input, repeated more often.
//!
//! A path is tied to the number of turns of its loops. What lies beyond is not predicted but tried, after the idea
//! of loop-extended symbolic execution: the trip count is the unknown, and what a turn consumes of the input is known.
//!
//! ```text
//!  "a,bc,d"        the site that looks for ',' was at 0 1 2 3 4 5, and found it at 1 and 4
//!  segments        "a," · ",bc" · ",d"      what one turn of the outer loop consumes
//!                  "c"                      what one turn of the inner loop consumes
//!  k more turns    "a,bc" + ",bc" × k + ",d"
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | this one | what grows together, and the input with k more of it |
//! | [`looks`] | which bytes of the input the decisions of a path look at |
//! | [`segments`] | what one turn of a loop consumes |
//! | [`counts`] | numbers in the input that say how many turns there are |
//! | [`trial`] | which k are tried, and the least that fails |
//! | [`numbers`], [`tokens`], [`rewrite`] | numbers in text as values, whatever their digits |
//!
//! Everything here is a guess: `explore::grow` runs it, and the twin decides.

pub mod counts;
mod looks;
pub mod numbers;
mod rewrite;
mod segments;
mod tokens;
pub mod trial;

use std::collections::HashSet;
use std::ffi::OsString;
use std::ops::Range;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_expr::Terms;
use nearmiss_sites::Sites;
use nearmiss_trace::{Channel, RecordedPath};

use counts::CountField;

/// Most bytes by which an argument or a variable grows: the kernel refuses strings of 128 KiB.
const MAX_STRING: usize = 100_000;
/// Most bytes by which other inputs grow.
const MAX_CONTENT: usize = 1 << 18;
/// Most things that are tried to grow for one test.
const MAX_GROWING: usize = 64;
/// Most shapes with one turn more, and most with fewer, whose paths are explored.
const MAX_NEXT: usize = 16;
/// Most kinds of arguments that are repeated.
const MAX_ARGUMENTS: usize = 6;

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
    fn len(&self) -> usize {
        self.end - self.start
    }

    /// The input without it.
    fn removed(&self, channels: &[Channel]) -> ShapedInput {
        let mut input = ShapedInput::of(channels);
        input.contents[self.channel].drain(self.start..self.end);
        input
    }

    fn overlaps(&self, other: &Segment) -> bool {
        self.channel == other.channel && self.start < other.end && other.start < self.end
    }
}

/// What is repeated together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Growing {
    /// Parts of contents, each as often as the others; and the number that counts them.
    Segments(Vec<Segment>, Option<CountField>),
    /// Neighbouring arguments, by their places in the command line.
    Arguments(Range<usize>),
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
}

impl Growing {
    /// The bytes that one more turn adds.
    pub fn size(&self, arguments: &[OsString]) -> usize {
        match self {
            Growing::Segments(segments, _) => segments.iter().map(Segment::len).sum(),
            Growing::Arguments(range) => {
                let sizes = arguments[range.clone()].iter().map(|one| one.len() + 1);
                sizes.sum()
            }
        }
    }

    /// Most turns that are put in: no more than `wanted`, and no more than such an input may grow.
    pub fn most_turns(&self, channels: &[Channel], arguments: &[OsString], wanted: u64) -> u64 {
        let room = match self {
            Growing::Arguments(_) => MAX_STRING,
            Growing::Segments(segments, _) => {
                let is_string = |segment: &Segment| {
                    let kind = channels[segment.channel].kind;
                    matches!(kind, ChannelKind::Argument | ChannelKind::Environment)
                };
                match segments.iter().any(is_string) {
                    true => MAX_STRING,
                    false => MAX_CONTENT,
                }
            }
        };
        let most = wanted.min((room / self.size(arguments).max(1)) as u64);
        match self {
            Growing::Segments(_, Some(count)) => most.min(count.room()),
            _ => most,
        }
    }

    /// The test's input with so many turns more.
    pub fn grown(&self, channels: &[Channel], arguments: &[OsString], turns: u64) -> ShapedInput {
        let turns = turns as usize;
        let mut input = ShapedInput::of(channels);
        match self {
            Growing::Segments(segments, count) => {
                let mut splices: Vec<(usize, Range<usize>, Vec<u8>)> = segments
                    .iter()
                    .map(|one| {
                        let bytes = &channels[one.channel].content[one.start..one.end];
                        (one.channel, one.end..one.end, bytes.repeat(turns))
                    })
                    .collect();
                splices.extend(count.as_ref().map(|field| field.raised(channels, turns)));
                // From the last to the first, so that places stay valid.
                splices.sort_by_key(|(_, range, _)| std::cmp::Reverse(range.start));
                for (channel, range, bytes) in splices {
                    input.contents[channel].splice(range, bytes);
                }
            }
            Growing::Arguments(range) => {
                let repeated = vec![&arguments[range.clone()]; turns].concat();
                input.arguments = Some((range.end..range.end, repeated));
            }
        }
        input
    }

    /// The input without arguments that may be repeated.
    fn removed(&self, channels: &[Channel]) -> Option<ShapedInput> {
        match self {
            Growing::Segments(..) => None,
            Growing::Arguments(range) => Some(ShapedInput {
                arguments: Some((range.clone(), Vec::new())),
                ..ShapedInput::of(channels)
            }),
        }
    }
}

/// What may grow in a test's input, by its path, and the shapes next to its own.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    /// What may grow: what is likely first.
    pub growing: Vec<Growing>,
    /// Inputs with one turn more, one less, or none.
    pub next: Vec<ShapedInput>,
}

impl Shapes {
    /// Those of a test with this path and these arguments.
    pub fn of(path: &RecordedPath, terms: &Terms, sites: &Sites, arguments: &[OsString]) -> Shapes {
        let looks = looks::of_path(path, terms);
        let growing = growing(path, &looks, sites, arguments);
        let channels = &path.channels;
        let more = growing.iter().take(MAX_NEXT);
        let mut next: Vec<ShapedInput> = more.map(|it| it.grown(channels, arguments, 1)).collect();
        let fewer = segments::removable(&looks, channels);
        next.extend(fewer.iter().take(MAX_NEXT).map(|it| it.removed(channels)));
        let arguments = repeated_arguments(path, arguments);
        next.extend(arguments.iter().filter_map(|it| it.removed(channels)));
        Shapes { growing, next }
    }
}

fn growing(
    path: &RecordedPath,
    looks: &looks::Looks,
    sites: &Sites,
    arguments: &[OsString],
) -> Vec<Growing> {
    let segments = segments::of_looks(looks, &path.channels);
    let mut all = repeated_arguments(path, arguments);
    all.extend(counts::counted(looks, sites, &path.channels, &segments));
    all.extend(brackets(&segments, &path.channels));
    let alone = segments.into_iter();
    all.extend(alone.map(|segment| Growing::Segments(vec![segment], None)));
    let mut known = HashSet::new();
    all.retain(|one| known.insert(one.clone()));
    all.truncate(MAX_GROWING);
    all
}

/// Arguments that may be given again: an option with its value, any argument alone.
fn repeated_arguments(path: &RecordedPath, arguments: &[OsString]) -> Vec<Growing> {
    let is_input = |channel: &Channel| channel.kind == ChannelKind::Argument;
    if !path.channels.iter().any(is_input) {
        return Vec::new();
    }
    let is_option = |at: usize| arguments[at].as_encoded_bytes().starts_with(b"-");
    let mut ranges = Vec::new();
    for at in 1..arguments.len() {
        if is_option(at) && at + 1 < arguments.len() && !is_option(at + 1) {
            ranges.push(at..at + 2);
        }
    }
    // The last argument is likelier to be one of many than the first.
    ranges.extend((1..arguments.len()).rev().map(|at| at..at + 1));
    ranges.truncate(MAX_ARGUMENTS);
    ranges.into_iter().map(Growing::Arguments).collect()
}

/// What opens and what closes, repeated together.
fn brackets(segments: &[Segment], channels: &[Channel]) -> Vec<Growing> {
    let byte = |segment: &Segment| channels[segment.channel].content[segment.start];
    let single = segments.iter().filter(|segment| segment.len() == 1);
    let mut pairs = Vec::new();
    for open in single.clone() {
        let closing = match byte(open) {
            b'(' => b')',
            b'[' => b']',
            b'{' => b'}',
            b'<' => b'>',
            _ => continue,
        };
        let is_behind = |close: &&Segment| {
            close.channel == open.channel && close.start > open.start && byte(close) == closing
        };
        let close = single.clone().filter(is_behind).max_by_key(|it| it.start);
        pairs.extend(close.map(|close| Growing::Segments(vec![*open, *close], None)));
    }
    pairs
}

#[cfg(test)]
mod tests {
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
        let count = CountField::of(&channels, segment(0, 1), 2);
        let growing = Growing::Segments(vec![segment(6, 10)], count);
        let grown = growing.grown(&channels, &[], 9);
        let text = String::from_utf8(grown.contents[0].clone()).unwrap();
        assert_eq!(text, format!("11: [x] [y]{}", " [y]".repeat(9)));
        let pair = Growing::Segments(vec![segment(3, 4), segment(5, 6)], None);
        let grown = pair.grown(&channels, &[], 2);
        assert_eq!(grown.contents[0], b"2: [[[x]]] [y]");
    }

    #[test]
    fn brackets_grow_in_pairs() {
        let channels = [channel(ChannelKind::Argument, "((1))")];
        let segments: Vec<Segment> = (0..5).map(|at| segment(at, at + 1)).collect();
        let pairs = brackets(&segments, &channels);
        let expected =
            [0, 1].map(|open| Growing::Segments(vec![segments[open], segments[4]], None));
        assert_eq!(pairs, expected);
    }

    #[test]
    fn strings_of_the_kernel_grow_less_than_files() {
        let arguments = ["prog".into(), "-I".into(), "include".into()];
        let growing = Growing::Segments(vec![segment(0, 50)], None);
        let most = |kind| growing.most_turns(&[channel(kind, "")], &arguments, 5000);
        assert_eq!(most(ChannelKind::Argument), 2000);
        assert_eq!(most(ChannelKind::File), 5000);
        assert_eq!(Growing::Arguments(1..3).size(&arguments), 11);
    }
}
