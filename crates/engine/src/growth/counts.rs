//! Numbers in the input that say how often a loop turns: `i < n`, where n was read. They grow with what the loop
//! consumes, each time that it is entered.

use std::ops::Range;

use nearmiss_abi::site::SiteId;
use nearmiss_sites::Sites;
use nearmiss_trace::Channel;

use super::copies::Copies;
use super::fields::{NumberField, Raised};
use super::looks::{Look, Looks};
use super::{Growing, Parts, Segment};

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
            // A loop inside of another is left as often as that turns: width and height of a picture.
            let times = (group.len() - turns.len()).max(1);
            let each = (turns.len().is_multiple_of(times)).then_some(turns.len() / times);
            let count = each.and_then(|each| NumberField::of(channels, place, each as u64));
            let Some(count) = count else {
                continue;
            };
            let end = group[group.len() - 1].event;
            let consumed = consumed(looks, &turns, end, &place, channels);
            let like = consumed.into_iter().flat_map(|one| alike(one, segments));
            let apart = like.filter(|segment| !segment.overlaps(&place));
            let raised = Raised {
                field: count,
                per_turn: 1,
            };
            for one in apart {
                let parts = Parts {
                    copies: Copies::times(times as u64),
                    ..Parts::alone(one).raising(raised)
                };
                found.push(Growing::Parts(parts.clone()));
                if is_nested(looks, sites, &place, count.value) {
                    found.push(Growing::Parts(Parts {
                        copies: Copies::Square(count.value),
                        ..parts
                    }));
                }
            }
        }
    }
    found
}

/// Whether a loop inside of the one that a number counts is counted by it as well.
fn is_nested(looks: &Looks, sites: &Sites, place: &Segment, turns: u64) -> bool {
    let stays = |((site, channel), looks): (&(u64, usize), &Vec<Look>)| {
        let (_, site) = sites.get(SiteId(*site))?;
        let around = site.in_loop.as_ref()?;
        let here = looks.iter().filter(|look| {
            (*channel, look.start, look.end) == (place.channel, place.start, place.end)
        });
        Some(here.filter(|look| around.stays(look.choice)).count() as u64)
    };
    let turns_of_loops = looks.iter().filter_map(stays);
    turns_of_loops.into_iter().any(|inner| inner > turns)
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
