//! Numbers in the input that say how often a loop turns: `i < n`, where n was read. They grow with what the loop
//! consumes.

use std::ops::Range;

use nearmiss_abi::site::SiteId;
use nearmiss_sites::Sites;
use nearmiss_trace::Channel;

use super::looks::{Look, Looks};
use super::{Growing, Segment};

/// How a count is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Notation {
    /// In decimal digits.
    Decimal,
    /// In bytes, the lowest first.
    LittleEndian,
    /// In bytes, the highest first.
    BigEndian,
}

/// A number in the input that counts turns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CountField {
    place: Segment,
    value: u64,
    notation: Notation,
}

impl CountField {
    /// The field at a place, if the test's own bytes there say `turns` in one of the usual ways.
    pub fn of(channels: &[Channel], place: Segment, turns: u64) -> Option<CountField> {
        let bytes = &channels[place.channel].content[place.start..place.end];
        if bytes.is_empty() || bytes.len() > 8 {
            return None;
        }
        let little = bytes
            .iter()
            .rev()
            .fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let big = bytes
            .iter()
            .fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let text = std::str::from_utf8(bytes)
            .ok()
            .filter(|text| !text.starts_with('+'));
        let decimal = text.and_then(|text| text.parse().ok());
        let notations = [
            (decimal, Notation::Decimal),
            (Some(little), Notation::LittleEndian),
            (Some(big), Notation::BigEndian),
        ];
        let found = notations
            .into_iter()
            .find(|(value, _)| *value == Some(turns));
        found.map(|(_, notation)| CountField {
            place,
            value: turns,
            notation,
        })
    }

    /// How much larger it may become without more bytes; of digits there may be more.
    pub fn room(&self) -> u64 {
        let bits = 8 * self.place.len() as u32;
        match self.notation {
            Notation::Decimal => u64::MAX,
            _ => (u64::MAX >> (64 - bits)) - self.value,
        }
    }

    /// What stands in its place when there are so many turns more: the channel, its place, the bytes.
    pub fn raised(&self, channels: &[Channel], turns: usize) -> (usize, Range<usize>, Vec<u8>) {
        let value = self.value + turns as u64;
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

/// What grows together with the number that counts it.
pub fn counted(
    looks: &Looks,
    sites: &Sites,
    channels: &[Channel],
    segments: &[Segment],
) -> Vec<Growing> {
    let mut found = Vec::new();
    for ((site, channel), looks_of_site) in looks {
        let Some(around) = sites
            .get(SiteId(*site))
            .and_then(|(_, it)| it.in_loop.as_ref())
        else {
            continue;
        };
        if !around.is_left() {
            continue;
        }
        for group in
            looks_of_site.chunk_by(|one, next| (one.start, one.end) == (next.start, next.end))
        {
            let turns: Vec<&Look> = (group.iter())
                .filter(|look| around.stays(look.choice))
                .collect();
            let place = Segment {
                channel: *channel,
                start: group[0].start,
                end: group[0].end,
            };
            let Some(count) = CountField::of(channels, place, turns.len() as u64) else {
                continue;
            };
            let end = group[group.len() - 1].event;
            let consumed = consumed(looks, &turns, end, &place, channels);
            let like = consumed.into_iter().flat_map(|one| alike(one, segments));
            let apart = like.filter(|segment| !segment.overlaps(&place));
            found.extend(apart.map(|one| Growing::Segments(vec![one], Some(count.clone()))));
        }
    }
    found
}

/// What the last turn of a counting loop consumed: from where it looked first to where the turn before did; where it
/// looked at nothing, its part of all that follows the count.
fn consumed(
    looks: &Looks,
    turns: &[&Look],
    end: usize,
    count: &Segment,
    channels: &[Channel],
) -> Option<Segment> {
    let last = turns.len().checked_sub(1)?;
    let first_look = |events: Range<usize>| -> Option<(usize, usize, usize)> {
        let all = looks
            .iter()
            .flat_map(|((_, channel), looks)| looks.iter().map(|look| (*channel, *look)));
        let here = all.filter(|(channel, look)| {
            events.contains(&look.event) && (*channel, look.start) != (count.channel, count.start)
        });
        let (channel, start, end) = here.fold(
            None,
            |best: Option<(usize, usize, usize)>, (channel, look)| match best {
                None => Some((channel, look.start, look.end)),
                Some((known, start, end)) if known == channel => {
                    Some((known, start.min(look.start), end.max(look.end)))
                }
                other => other,
            },
        )?;
        Some((channel, start, end))
    };
    let now = first_look(turns[last].event + 1..end);
    let before = match last {
        0 => None,
        _ => first_look(turns[last - 1].event + 1..turns[last].event),
    };
    if let (Some((channel, start, _)), Some((other, before, _))) = (now, before)
        && channel == other
        && before < start
    {
        return Some(Segment {
            channel,
            start: before,
            end: start,
        });
    }
    if let Some((channel, start, end)) = now.filter(|_| last == 0) {
        return Some(Segment {
            channel,
            start,
            end,
        });
    }
    let size = channels[count.channel].content.len();
    let part = (size - count.end) / turns.len();
    (part > 0).then_some(Segment {
        channel: count.channel,
        start: size - part,
        end: size,
    })
}

/// A segment, and those that begin or end where it does: how far a turn looks ahead is not known.
fn alike(one: Segment, segments: &[Segment]) -> Vec<Segment> {
    let is_alike = |other: &&Segment| {
        other.channel == one.channel && other.end == one.end && other.len() > 1 && **other != one
    };
    let more = segments.iter().filter(is_alike).take(2);
    std::iter::once(one).chain(more.copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_abi::channel::ChannelKind;

    fn raised(content: &[u8], place: Range<usize>, value: u64, turns: usize) -> Option<Vec<u8>> {
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
        let field = CountField::of(&channels, place, value)?;
        Some(field.raised(&channels, turns).2)
    }

    #[test]
    fn counts_keep_their_notation() {
        assert_eq!(raised(b"n=12;", 2..4, 12, 100), Some(b"112".to_vec()));
        assert_eq!(raised(b"n=003;", 2..5, 3, 9), Some(b"012".to_vec()));
        assert_eq!(raised(&[2, 0], 0..2, 2, 300), Some(vec![0x2e, 1]));
        assert_eq!(raised(&[0, 2], 0..2, 2, 300), Some(vec![1, 0x2e]));
        assert_eq!(raised(b"n=12;", 2..4, 13, 1), None, "counts something else");
    }
}
