//! Which bytes of the input the decisions of a path look at, in order.

use std::collections::BTreeMap;

use nearmiss_expr::support::Supports;
use nearmiss_expr::{InputByte, Terms};
use nearmiss_trace::{Channel, RecordedPath};

/// A decision about more bytes than these looks at no place.
const MAX_BYTES: usize = 16;

/// One decision that looked at neighbouring bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The first byte.
    pub start: usize,
    /// Behind the last one.
    pub end: usize,
    /// Which way it went.
    pub choice: u64,
    /// The event's number.
    pub event: usize,
}

/// What each site looked at, by its number and the channel's.
pub type Looks = BTreeMap<(u64, usize), Vec<Look>>;

/// What the decisions of a path looked at. Whether an input is long enough is none.
pub fn of_path(path: &RecordedPath, terms: &Terms) -> Looks {
    let mut looks = Looks::new();
    let mut supports = Supports::new();
    for (number, event) in path.events.iter().enumerate() {
        let Some(condition) = event.condition else {
            continue;
        };
        if !event.is_decision() || event.implied.is_some() {
            continue;
        }
        let set = supports.of(terms, condition);
        let bytes = supports.bytes(set);
        let Some((channel, start, end)) = place(&bytes, &path.channels) else {
            continue;
        };
        let look = Look {
            start,
            end,
            choice: event.choice,
            event: number,
        };
        looks.entry((event.site.0, channel)).or_default().push(look);
    }
    looks
}

/// The place of a few bytes of one content. Lengths, and what would lie behind its end, do not count.
fn place(bytes: &[InputByte], channels: &[Channel]) -> Option<(usize, usize, usize)> {
    let is_content = |byte: &&InputByte| {
        let channel = channels.get(byte.channel as usize);
        channel.is_some_and(|it| it.piece.is_none() && (byte.offset as usize) < it.content.len())
    };
    let mut found: Option<(usize, usize, usize)> = None;
    if bytes.len() > MAX_BYTES {
        return None;
    }
    for byte in bytes.iter().filter(is_content) {
        let (channel, offset) = (byte.channel as usize, byte.offset as usize);
        found = match found {
            None => Some((channel, offset, offset + 1)),
            Some((other, ..)) if other != channel => return None,
            Some((_, start, end)) => Some((channel, start.min(offset), end.max(offset + 1))),
        };
    }
    found
}

/// The passes of a site over its input: within each places only grow. A site that looks at a byte twice counts
/// once, as it went last.
pub fn passes(looks: &[Look]) -> Vec<Vec<Look>> {
    let mut passes: Vec<Vec<Look>> = Vec::new();
    for look in looks {
        match passes.last_mut() {
            Some(pass) => match pass.last_mut() {
                Some(last) if last.start == look.start => *last = *look,
                Some(last) if last.start < look.start => pass.push(*look),
                _ => passes.push(vec![*look]),
            },
            None => passes.push(vec![*look]),
        }
    }
    passes
}
