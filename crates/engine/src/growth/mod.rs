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
//! | this one | what is tried to grow, and in which order |
//! | [`growing`] | what grows together, and the input with k more of it |
//! | [`copies`] | how the repetitions of a part differ from it |
//! | [`looks`] | which bytes of the input the decisions of a path look at |
//! | [`segments`] | what one turn of a loop consumes |
//! | [`counts`] | numbers in the input that say how many turns there are |
//! | [`sizes`] | numbers in the input that say how long a part of it is, or all of it |
//! | [`fields`] | such numbers, as they are written |
//! | [`tags`] | numbers that are compared with one value, and measure nothing |
//! | [`empty`] | calls of unit tests without data |
//! | [`trial`] | which k are tried, and the least that fails |
//! | [`numbers`], [`tokens`], [`rewrite`] | numbers in text as values, whatever their digits |
//!
//! Everything here is a guess: `explore::grow` runs it, and the twin decides.

mod copies;
mod counts;
mod empty;
mod fields;
mod growing;
mod looks;
pub mod numbers;
mod rewrite;
mod segments;
mod sizes;
mod tags;
mod tokens;
pub mod trial;

use std::collections::HashSet;
use std::ffi::OsString;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_expr::Terms;
use nearmiss_sites::Sites;
use nearmiss_trace::{Channel, RecordedPath};

pub use empty::emptied;
pub use growing::{Growing, Parts, Segment, ShapedInput};

use copies::Copies;
use sizes::Measures;

/// Most things that are tried to grow for one test.
const MAX_GROWING: usize = 64;
/// Most of them whose copies differ, besides.
const MAX_DIFFERING: usize = 8;
/// Most of them that no decision looked at, besides.
const MAX_PLAIN: usize = 16;
/// Most shapes with one turn more, and most with fewer, whose paths are explored.
const MAX_NEXT: usize = 16;
/// Most kinds of arguments that are repeated.
const MAX_ARGUMENTS: usize = 6;

/// What may grow in a test's input, by its path, and the shapes next to its own.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    /// What may grow: what is likely first.
    pub growing: Vec<Growing>,
    /// How much more may grow that is not tried.
    pub left_out: usize,
    /// Inputs with one turn more, one less, or none.
    pub next: Vec<ShapedInput>,
}

impl Shapes {
    /// Those of a test with this path and these arguments.
    pub fn of(path: &RecordedPath, terms: &Terms, sites: &Sites, arguments: &[OsString]) -> Shapes {
        let looks = looks::of_path(path, terms);
        let measures = Measures::of(path, terms);
        let (growing, left_out) = growing(path, &looks, &measures, sites, arguments);
        let channels = &path.channels;
        let more = growing.iter().take(MAX_NEXT);
        let mut next: Vec<ShapedInput> = more.map(|it| it.grown(channels, arguments, 1)).collect();
        let fewer = segments::removable(&looks, channels);
        next.extend(fewer.iter().take(MAX_NEXT).map(|it| it.removed(channels)));
        let arguments = repeated_arguments(path, arguments);
        next.extend(arguments.iter().filter_map(|it| it.removed(channels)));
        Shapes {
            growing,
            left_out,
            next,
        }
    }
}

/// What may grow, and how much more that is left out.
fn growing(
    path: &RecordedPath,
    looks: &looks::Looks,
    measures: &Measures,
    sites: &Sites,
    arguments: &[OsString],
) -> (Vec<Growing>, usize) {
    let channels = &path.channels;
    let segments = segments::of_looks(looks, channels);
    let mut all = repeated_arguments(path, arguments);
    all.extend(counts::counted(looks, sites, channels, &segments));
    all.extend(brackets(&segments, channels));
    all.extend(measures.growing());
    let alone = segments.iter();
    all.extend(alone.map(|segment| Growing::segment(*segment)));
    let measured = all.into_iter().flat_map(|one| measures.applied(one));
    let mut known = HashSet::new();
    let mut all: Vec<Growing> = measured.filter(|one| known.insert(one.clone())).collect();
    let left_out = all.len().saturating_sub(MAX_GROWING);
    all.truncate(MAX_GROWING);
    all.extend(differing(&segments, channels));
    let plain = segments::plain(channels).into_iter().take(MAX_PLAIN);
    let plain = plain.map(Growing::segment);
    all.extend(plain.filter(|one| known.insert(one.clone())));
    (all, left_out)
}

/// Parts whose repetitions must differ to be repetitions.
fn differing(segments: &[Segment], channels: &[Channel]) -> Vec<Growing> {
    let mut found = Vec::new();
    for copies in [Copies::Distinct, Copies::Indented] {
        let suit = |segment: &&Segment| copies.suit(segment.bytes(channels));
        let these = segments.iter().filter(suit).take(MAX_DIFFERING / 2);
        found.extend(these.map(|segment| {
            Growing::Parts(Parts {
                copies,
                ..Parts::alone(*segment)
            })
        }));
    }
    found
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
        pairs.extend(close.map(|close| pair(*open, *close)));
    }
    pairs
}

/// Two parts that are repeated together.
fn pair(one: Segment, other: Segment) -> Growing {
    Growing::Parts(Parts {
        segments: vec![one, other],
        ..Parts::alone(one)
    })
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
    fn brackets_grow_in_pairs() {
        let channels = [channel(ChannelKind::Argument, "((1))")];
        let segments: Vec<Segment> = (0..5).map(|at| segment(at, at + 1)).collect();
        let pairs = brackets(&segments, &channels);
        let expected = [0, 1].map(|open| pair(segments[open], segments[4]));
        assert_eq!(pairs, expected);
    }
}
