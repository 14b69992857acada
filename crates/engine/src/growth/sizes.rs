//! Numbers in the input that say how long a part of it is, or all of it: they grow with what they measure.
//!
//! ```text
//!  3 a b c  5 d e f g h      a number that a decision looks at, so many bytes behind it, then something is looked at
//!  ^        ^                again, or the end: the last of those bytes is repeated
//!  size 9 …                  the length of the whole input: grows with everything that is repeated in it
//! ```
//!
//! Whether a number means that is a guess, as all growth is; where bytes of text are numbers by chance, it is not asked.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use nearmiss_expr::support::Supports;
use nearmiss_expr::{InputByte, Terms};
use nearmiss_trace::{Channel, RecordedPath};

use super::fields::{NumberField, Raised};
use super::{Growing, Parts, Segment, tags};

/// Most bytes of a number.
pub const MAX_NUMBER: usize = 8;
/// Most parts that are tried to grow with their lengths.
const MAX_MEASURED: usize = 8;
/// Most numbers that grow with one part.
const MAX_RAISED: usize = 4;
/// Most bytes between a number and what it measures.
const MAX_HEAD: usize = 16;
/// Bytes that may stand behind what is measured, up to the next number or the end: an end of line, a checksum.
const TRAILERS: [usize; 4] = [0, 1, 2, 4];

/// A number, and the part that it measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Measure {
    field: NumberField,
    /// Behind its last byte.
    end: usize,
}

/// What the numbers of an input measure.
#[derive(Debug, Default)]
pub struct Measures {
    parts: Vec<Measure>,
    /// Numbers that are the length of their whole channel, or of all of it behind them.
    totals: Vec<NumberField>,
}

impl Measures {
    /// Those of a path's input.
    pub fn of(path: &RecordedPath, terms: &Terms) -> Measures {
        let channels = &path.channels;
        let by_site = places_by_site(path, terms);
        let boundaries: BTreeSet<(usize, usize)> = (by_site.values().flatten())
            .map(|place| (place.channel, place.start))
            .collect();
        let mut measures = Measures::default();
        let mut seen = HashSet::new();
        let tags = tags::of_path(path, terms);
        for places in by_site.values() {
            for (number, place) in places.iter().enumerate() {
                let next = places[number + 1..]
                    .iter()
                    .find(|it| it.channel == place.channel && it.start >= place.end);
                let fields = NumberField::readings(channels, *place).into_iter();
                let is_binary = is_binary(&channels[place.channel].content);
                for field in fields.filter(|it| it.value > 0 && (it.is_text() || is_binary)) {
                    if seen.insert((field, next.copied())) {
                        measures.add_total(field, channels);
                        if !tags.contains(place) {
                            measures.add_part(field, next, &boundaries, channels);
                        }
                    }
                }
            }
        }
        measures
    }

    /// Adds a number that is the length of all there is, or of all behind it. It may well be compared with that one length.
    fn add_total(&mut self, field: NumberField, channels: &[Channel]) {
        let Segment {
            channel,
            start,
            end,
        } = field.place;
        let size = channels[channel].content.len();
        let is_total = |all: usize| all as u64 == field.value;
        if [size, size - start, size - end].into_iter().any(is_total)
            && !self.totals.contains(&field)
        {
            self.totals.push(field);
        }
    }

    /// Adds a number with the parts that it may be the length of.
    fn add_part(
        &mut self,
        field: NumberField,
        next: Option<&Segment>,
        boundaries: &BTreeSet<(usize, usize)>,
        channels: &[Channel],
    ) {
        let Segment {
            channel,
            start,
            end,
        } = field.place;
        let size = channels[channel].content.len();
        let Some(value) = usize::try_from(field.value).ok().filter(|it| *it <= size) else {
            return;
        };
        let is_end = |at: &usize| *at == size || boundaries.contains(&(channel, *at));
        let direct = [end + value, start + value].into_iter().filter(is_end);
        let direct = direct.filter(|_| !field.is_text());
        let limit = next.map_or(size, |it| it.start);
        let before_next = TRAILERS
            .iter()
            .filter_map(|bytes| limit.checked_sub(*bytes));
        let fits = |at: &usize| *at > end && *at <= size;
        let content = &channels[channel].content;
        // A part may have a head of its own behind its length, so its end says more than its beginning.
        let has_head = |at: &usize| {
            let first = at.checked_sub(value).filter(|first| *first >= end);
            first.is_some_and(|first| is_head(&content[end..first], field.is_text()))
        };
        for at in direct.chain(before_next.filter(has_head)).filter(fits) {
            let measure = Measure { field, end: at };
            if !self.parts.contains(&measure) {
                self.parts.push(measure);
            }
        }
    }

    /// The last byte of each measured part, with the number.
    pub fn growing(&self) -> Vec<Growing> {
        let parts = self.parts.iter().take(MAX_MEASURED);
        let last_byte = |part: &Measure| Segment {
            channel: part.field.place.channel,
            start: part.end - 1,
            end: part.end,
        };
        let measured = |part: &Measure| {
            let parts = Parts::alone(last_byte(part));
            Growing::Parts(parts.raising(raised(part.field, 1)))
        };
        parts.map(measured).collect()
    }

    /// What grows, with the numbers that measure it: all that do, those that measure everything, and none.
    pub fn applied(&self, growing: Growing) -> Vec<Growing> {
        let Growing::Parts(parts) = growing else {
            return vec![growing];
        };
        let (segments, known) = (&parts.segments, &parts.numbers);
        let size = segments.iter().map(Segment::len).sum::<usize>() as u64;
        let is_free = |field: &NumberField| {
            let is_apart = segments
                .iter()
                .all(|segment| !segment.overlaps(&field.place));
            is_apart
                && known
                    .iter()
                    .all(|it| !it.field.place.overlaps(&field.place))
        };
        let covers = |part: &&Measure| {
            let place = part.field.place;
            let is_inside = |segment: &Segment| {
                segment.channel == place.channel
                    && (place.end..=part.end).contains(&segment.start)
                    && segment.end <= part.end
            };
            segments.iter().all(is_inside) && is_free(&part.field)
        };
        let in_channel = |field: &&NumberField| {
            let channel = field.place.channel;
            segments.iter().any(|it| it.channel == channel) && is_free(field)
        };
        let mut totals: Vec<NumberField> = Vec::new();
        for field in self.totals.iter().filter(in_channel) {
            add_apart(&mut totals, *field);
        }
        let mut covering: Vec<&Measure> = self.parts.iter().filter(covers).collect();
        covering.sort_by_key(|part| part.end - part.field.place.start);
        let mut all = totals.clone();
        for part in &covering {
            add_apart(&mut all, part.field);
        }
        let mut variants: Vec<Vec<NumberField>> = vec![all];
        variants.push(totals);
        variants.push(Vec::new());
        variants.dedup();
        let with_raised = |fields: Vec<NumberField>| {
            let fields = fields.into_iter().take(MAX_RAISED);
            let raise = |parts: Parts, field| parts.raising(raised(field, size));
            Growing::Parts(fields.fold(parts.clone(), raise))
        };
        variants.into_iter().map(with_raised).collect()
    }
}

/// A number that grows by so much with each turn.
fn raised(field: NumberField, per_turn: u64) -> Raised {
    Raised { field, per_turn }
}

/// Whether bytes may stand between a number and what it measures: behind digits an end of line or a colon, behind bytes a
/// few others.
fn is_head(bytes: &[u8], is_text: bool) -> bool {
    match is_text {
        true => {
            bytes.len() <= 4 && !bytes.is_empty() && !bytes.iter().any(u8::is_ascii_alphanumeric)
        }
        false => bytes.len() <= MAX_HEAD,
    }
}

/// Adds a field where none stands yet.
fn add_apart(fields: &mut Vec<NumberField>, field: NumberField) {
    if fields
        .iter()
        .all(|known| !known.place.overlaps(&field.place))
    {
        fields.push(field);
    }
}

/// The neighbouring bytes that the decisions, checks and sizes of a path depend on, by site, in the order of the path.
fn places_by_site(path: &RecordedPath, terms: &Terms) -> BTreeMap<u64, Vec<Segment>> {
    let mut supports = Supports::new();
    let mut seen = HashSet::new();
    let mut places: BTreeMap<u64, Vec<Segment>> = BTreeMap::new();
    for event in path.events.iter().filter(|event| event.implied.is_none()) {
        let Some(condition) = event.condition else {
            continue;
        };
        let set = supports.of(terms, condition);
        if seen.insert((event.site.0, set)) {
            let runs = runs(&supports.bytes(set), &path.channels);
            places.entry(event.site.0).or_default().extend(runs);
        }
    }
    places
}

/// Rows of neighbouring bytes of contents that are as long as numbers are.
pub fn runs(bytes: &[InputByte], channels: &[Channel]) -> Vec<Segment> {
    let is_content = |byte: &&InputByte| {
        let channel = channels.get(byte.channel as usize);
        channel.is_some_and(|it| it.piece.is_none() && (byte.offset as usize) < it.content.len())
    };
    let mut bytes: Vec<&InputByte> = bytes.iter().filter(is_content).collect();
    bytes.sort_unstable();
    let is_next = |one: &&InputByte, next: &&InputByte| {
        one.channel == next.channel && one.offset + 1 == next.offset
    };
    let runs = bytes
        .chunk_by(is_next)
        .filter(|run| run.len() <= MAX_NUMBER);
    runs.map(|run| Segment {
        channel: run[0].channel as usize,
        start: run[0].offset as usize,
        end: run[run.len() - 1].offset as usize + 1,
    })
    .collect()
}

/// Whether a content has bytes that no text has.
fn is_binary(content: &[u8]) -> bool {
    let is_text = |byte: &u8| matches!(byte, 7..=13 | 27 | 32..);
    !content.iter().all(is_text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_abi::channel::ChannelKind;

    fn channels(content: &[u8]) -> [Channel; 1] {
        [Channel {
            kind: ChannelKind::File,
            index: 0,
            name: Vec::new(),
            content: content.to_vec(),
            piece: None,
        }]
    }

    fn segment(start: usize, end: usize) -> Segment {
        Segment {
            channel: 0,
            start,
            end,
        }
    }

    /// What the numbers at these places measure, each with the place that its site looks at next.
    fn measures(channels: &[Channel], places: &[(Segment, Option<Segment>)]) -> Measures {
        let boundaries = places.iter().map(|(place, _)| (0, place.start)).collect();
        let mut measures = Measures::default();
        for (place, next) in places {
            for field in NumberField::readings(channels, *place) {
                measures.add_total(field, channels);
                measures.add_part(field, next.as_ref(), &boundaries, channels);
            }
        }
        measures
    }

    fn grown(channels: &[Channel], growing: &Growing, turns: u64) -> Vec<u8> {
        growing.grown(channels, &[], turns).contents.remove(0)
    }

    #[test]
    fn a_record_grows_with_its_length() {
        let channels = channels(b"\x03abc\x02de");
        let places = [(segment(0, 1), Some(segment(4, 5))), (segment(4, 5), None)];
        let inputs: Vec<Vec<u8>> = (measures(&channels, &places).growing().iter())
            .map(|growing| grown(&channels, growing, 2))
            .collect();
        assert!(inputs.contains(&b"\x05abccc\x02de".to_vec()), "{inputs:?}");
        assert!(inputs.contains(&b"\x03abc\x04deee".to_vec()), "{inputs:?}");
    }

    #[test]
    fn a_record_may_have_a_head_and_an_end() {
        let channels = channels(b"5:hello,");
        let inputs: Vec<Vec<u8>> = (measures(&channels, &[(segment(0, 1), None)]).growing())
            .iter()
            .map(|growing| grown(&channels, growing, 6))
            .collect();
        assert!(inputs.contains(&b"11:hellooooooo,".to_vec()), "{inputs:?}");
    }

    #[test]
    fn all_lengths_around_a_part_grow() {
        let channels = channels(b"\x07\x02:\x03bob");
        let places = [(segment(0, 1), None), (segment(3, 4), None)];
        let measures = measures(&channels, &places);
        let variants = measures.applied(Growing::segment(segment(4, 6)));
        assert_eq!(grown(&channels, &variants[0], 1), b"\x09\x02:\x05bobob");
        let last = variants.last().unwrap();
        assert_eq!(grown(&channels, last, 1), b"\x07\x02:\x03bobob");
    }

    #[test]
    fn text_has_no_bytes_that_are_numbers() {
        assert!(is_binary(b"\x00ab") && is_binary(b"PK\x05\x06"));
        assert!(!is_binary(b"one\ttwo\r\n\x1b[0m") && !is_binary("é".as_bytes()));
    }
}
