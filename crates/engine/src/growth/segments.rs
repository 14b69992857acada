//! What one turn of a loop consumes, by where its decisions look.
//!
//! ```text
//!  a site at neighbouring bytes, going one way    each byte is a turn: the last one is repeated
//!  a site at 0, 4, 8, …                           a turn consumes four bytes
//!  a site that goes the rare way at 3, 7, …       what lies between is what a turn of the loop around consumes
//!  lines that were read one by one                each is a turn
//! ```

use std::collections::{BTreeMap, HashMap};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_trace::Channel;

use super::Segment;
use super::looks::{Look, Looks, passes};

/// The longest part that is repeated.
const MAX_SEGMENT: usize = 4096;

/// The parts of a test's input that may be repeated: of each site a few, since what is true of one word is true of
/// the next.
pub fn of_looks(looks: &Looks, channels: &[Channel]) -> Vec<Segment> {
    let mut found = Found::default();
    for segment in lines(channels) {
        found.add(segment, channels);
    }
    for ((_, channel), looks) in looks {
        let mut runs = Vec::new();
        let mut turns = Vec::new();
        for pass in passes(looks) {
            runs.extend(byte_runs(&pass));
            turns.extend(delimited(&pass));
            turns.extend(strides(&pass));
        }
        let bytes = few(runs).into_iter().map(|(_, end)| (end - 1, end));
        for (start, end) in bytes.chain(few(turns)) {
            let segment = Segment {
                channel: *channel,
                start,
                end,
            };
            found.add(segment, channels);
        }
    }
    found.in_order()
}

/// The parts of a test's input without which it has one turn less, or none: words, lines, digits.
pub fn removable(looks: &Looks, channels: &[Channel]) -> Vec<Segment> {
    let mut found = Found::default();
    for ((_, channel), looks) in looks {
        let runs = passes(looks)
            .iter()
            .flat_map(|pass| byte_runs(pass))
            .collect();
        for (start, end) in few(runs) {
            let segment = Segment {
                channel: *channel,
                start,
                end,
            };
            found.add(segment, channels);
        }
    }
    for segment in lines(channels) {
        found.add(segment, channels);
    }
    found.in_order()
}

/// The last byte of each input and all of it, whatever was looked at: what is only copied is looked at by no decision.
pub fn plain(channels: &[Channel]) -> Vec<Segment> {
    let mut found = Found::default();
    for (channel, it) in channels.iter().enumerate() {
        let has_its_size = matches!(it.kind, ChannelKind::Named | ChannelKind::Call);
        if it.piece.is_some() || has_its_size {
            continue;
        }
        let whole = it.content.len();
        // A byte before the end of the last line belongs to that line.
        let text = whole - usize::from(it.content.ends_with(b"\n"));
        for (start, end) in [(text.saturating_sub(1), text), (0, whole)] {
            let segment = Segment {
                channel,
                start,
                end,
            };
            found.add(segment, channels);
        }
    }
    found.in_order()
}

/// Segments whose repetitions differ, each with how many sites suggest it.
#[derive(Default)]
struct Found {
    segments: Vec<(Segment, usize)>,
    /// The number of each, by channel, place and bytes of what is put in.
    known: HashMap<(usize, usize, Vec<u8>), usize>,
}

impl Found {
    fn add(&mut self, segment: Segment, channels: &[Channel]) {
        let Segment {
            channel,
            start,
            end,
        } = segment;
        let content = &channels[channel].content;
        if start >= end || end > content.len() || end - start > MAX_SEGMENT {
            return;
        }
        let put_in = (channel, end, content[start..end].to_vec());
        let number = *self.known.entry(put_in).or_insert_with(|| {
            self.segments.push((segment, 0));
            self.segments.len() - 1
        });
        self.segments[number].1 += 1;
    }

    /// What most sites suggest comes first: it is part of the input's structure.
    fn in_order(mut self) -> Vec<Segment> {
        self.segments
            .sort_by_key(|(_, sites)| std::cmp::Reverse(*sites));
        self.segments
            .into_iter()
            .map(|(segment, _)| segment)
            .collect()
    }
}

/// The first, the last and the longest of each kind: of what a site decided, and how.
fn few(found: Vec<(u64, usize, usize)>) -> Vec<(usize, usize)> {
    let mut kinds: BTreeMap<u64, Vec<(usize, usize)>> = BTreeMap::new();
    for (kind, start, end) in found {
        kinds.entry(kind).or_default().push((start, end));
    }
    let mut chosen = Vec::new();
    for these in kinds.values() {
        let longest = these.iter().max_by_key(|(start, end)| end - start);
        for one in [these.first(), these.last(), longest].into_iter().flatten() {
            if !chosen.contains(one) {
                chosen.push(*one);
            }
        }
    }
    chosen
}

/// Runs of neighbouring bytes at which the site went one way.
fn byte_runs(pass: &[Look]) -> Vec<(u64, usize, usize)> {
    let mut runs = Vec::new();
    let is_run = |one: &Look, next: &Look| {
        next.start == one.start + 1 && next.choice == one.choice && one.end == next.start
    };
    for run in pass.chunk_by(is_run) {
        let (first, last) = (run[0], run[run.len() - 1]);
        if last.end == last.start + 1 {
            runs.push((first.choice, first.start, last.end));
        }
    }
    runs
}

/// What lies from one place at which the site goes a way to the next, and before the first and behind the last:
/// only ways that it does not go at two neighbouring places.
fn delimited(pass: &[Look]) -> Vec<(u64, usize, usize)> {
    let mut ways: BTreeMap<u64, Vec<&Look>> = BTreeMap::new();
    for look in pass {
        ways.entry(look.choice).or_default().push(look);
    }
    let (Some(first), Some(last)) = (pass.first(), pass.last()) else {
        return Vec::new();
    };
    if ways.len() < 2 {
        return Vec::new();
    }
    let mut turns = Vec::new();
    for (choice, places) in ways {
        turns.push((choice, first.start, places[0].end));
        for pair in places.windows(2) {
            turns.push((choice, pair[0].start, pair[1].start));
        }
        turns.push((choice, places[places.len() - 1].start, last.end));
    }
    turns.retain(|(_, start, end)| end > &(start + 1));
    turns
}

/// What lies between one place that the site looks at and the next, if that is more than a byte: so much was consumed
/// in between, whichever way it went. A kind for each size.
fn strides(pass: &[Look]) -> Vec<(u64, usize, usize)> {
    let turns = pass.windows(2).map(|pair| {
        let size = pair[1].start - pair[0].start;
        (1 << 32 | size as u64, pair[0].start, pair[1].start)
    });
    turns.filter(|(_, start, end)| end > &(start + 1)).collect()
}

/// Lines that were read one by one, with their newlines.
fn lines(channels: &[Channel]) -> Vec<Segment> {
    let pieces = channels.iter().filter_map(|channel| channel.piece);
    let lines = pieces.filter(|piece| piece.is_line).map(|piece| Segment {
        channel: piece.channel as usize,
        start: piece.start as usize,
        end: piece.end() as usize + 1,
    });
    let is_whole = |line: &Segment| {
        let content = channels.get(line.channel).map(|channel| &channel.content);
        content.and_then(|content| content.get(line.end - 1)) == Some(&b'\n')
    };
    let lines: Vec<Segment> = lines.filter(is_whole).collect();
    let longest = lines.iter().max_by_key(|line| line.len());
    let chosen = [lines.first(), lines.last(), longest];
    chosen.into_iter().flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_trace::Piece;

    fn channel(content: &str) -> Channel {
        Channel {
            kind: ChannelKind::Stdin,
            index: 0,
            name: Vec::new(),
            content: content.into(),
            piece: None,
        }
    }

    /// What is found where one site looked at these places and went these ways.
    fn texts(content: &str, places: &[(usize, u64)]) -> Vec<String> {
        let looks = places.iter().map(|(start, choice)| Look {
            start: *start,
            end: start + 1,
            choice: *choice,
            event: 0,
        });
        let looks = Looks::from([((7, 0), looks.collect())]);
        let segments = of_looks(&looks, &[channel(content)]);
        let text = |one: &Segment| content[one.start..one.end].to_string();
        segments.iter().map(text).collect()
    }

    #[test]
    fn fields_and_their_bytes() {
        let places: Vec<(usize, u64)> = "a,bc,d"
            .bytes()
            .map(|byte| u64::from(byte == b','))
            .enumerate()
            .collect();
        let found = texts("a,bc,d", &places);
        for expected in ["a,", ",bc", ",d", "c", ","] {
            assert!(
                found.contains(&expected.to_string()),
                "{expected}: {found:?}"
            );
        }
    }

    #[test]
    fn an_escape_is_a_turn_of_its_own() {
        let found = texts("a%41b", &[(0, 0), (1, 1), (4, 0)]);
        assert!(found.contains(&"%41".to_string()), "{found:?}");
    }

    #[test]
    fn records_of_one_size() {
        let found = texts("aaaabbbbcccc", &[(0, 1), (4, 1), (8, 1)]);
        assert!(found.contains(&"bbbb".to_string()), "{found:?}");
    }

    #[test]
    fn lines_that_were_read() {
        let length = |start, length| Channel {
            kind: ChannelKind::Length,
            piece: Some(Piece {
                channel: 0,
                start,
                length,
                is_line: true,
            }),
            ..channel("")
        };
        let channels = [
            channel("one\nthree\nno end"),
            length(0, 3),
            length(4, 5),
            length(10, 6),
        ];
        let found = of_looks(&Looks::new(), &channels);
        let mut places: Vec<(usize, usize)> =
            found.iter().map(|one| (one.start, one.end)).collect();
        places.sort_unstable();
        assert_eq!(places, [(0, 4), (4, 10)]);
    }
}
