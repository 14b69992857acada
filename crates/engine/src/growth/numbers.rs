//! Numbers in text as values: what a conversion gives ranges over its type, and not only over numbers with as many
//! digits as the test has.
//!
//! ```text
//!  "x=12;"     terms of the path that are the number: 10·(b2 - 48) + (b3 - 48), however it was computed
//!  number      eight bytes of a channel of its own stand for them; what only says that b2 and b3 are digits goes
//!  solver      path ∧ ¬check ─► the number is 300
//!  input       "x=300;"
//! ```
//!
//! Which terms are a number is found out by evaluation, not by their form: strtol, scanf and loops by hand are alike.
//! How the program reads more or fewer digits is not known, so answers are guesses.

use std::collections::{BTreeSet, HashSet};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::op::Op;
use nearmiss_expr::support::{InputSet, Supports};
use nearmiss_expr::{InputByte, TermId, Terms};
use nearmiss_solve::Model;
use nearmiss_trace::{Channel, Event, RecordedPath};

use super::Segment;
use super::rewrite::Rewriter;
use super::tokens::{NumberToken, value_terms};
use crate::invent::contents_of;
use crate::resize::Growth;

/// Most numbers of one path that become values.
const MAX_NUMBERS: usize = 32;
/// Bytes of a value.
const SIZE: usize = 8;
/// Paths with more terms are not searched.
const MAX_TERMS: usize = 1 << 20;

/// A path on which numbers are values.
#[derive(Debug)]
pub struct NumberedPath {
    /// The path, with one channel more for each number, behind all others.
    pub path: RecordedPath,
    /// Events that depend on a value.
    pub events: BTreeSet<usize>,
    tokens: Vec<NumberToken>,
}

impl NumberedPath {
    /// What each channel of the test holds when the solver's answer is written down.
    pub fn contents(&self, model: &Model) -> Vec<Vec<u8>> {
        let channels = &self.path.channels;
        let mut contents = contents_of(channels, model, Growth::End);
        let values = contents.split_off(channels.len() - self.tokens.len());
        let mut splices: Vec<(Segment, Vec<u8>)> = Vec::new();
        for ((token, value), channel) in
            (self.tokens.iter().zip(values)).zip(&channels[contents.len()..])
        {
            let bytes: [u8; SIZE] = value.as_slice().try_into().expect("a value has its size");
            if bytes != channel.content[..] {
                splices.push(token.rendered(channels, i64::from_le_bytes(bytes)));
            }
        }
        // From the last to the first, so that places stay valid.
        splices.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
        for (place, text) in splices {
            let content = &mut contents[place.channel];
            if place.end <= content.len() {
                content.splice(place.start..place.end, text);
            }
        }
        contents
    }
}

/// The path with its numbers as values; `None` if there are none on which anything depends.
pub fn with_numbers(path: &RecordedPath, terms: &mut Terms) -> Option<NumberedPath> {
    if terms.len() > MAX_TERMS {
        return None;
    }
    let mut supports = Supports::new();
    let found = value_terms(path, terms, &mut supports);
    let mut tokens: Vec<NumberToken> = found.iter().map(|it| it.token).collect();
    tokens.sort_by_key(|token| (token.place, token.base));
    // In which base more digits are read is decided by those that are there.
    tokens.dedup_by_key(|token| token.place);
    tokens.truncate(MAX_NUMBERS);
    if tokens.is_empty() {
        return None;
    }
    let mut numbered = NumberedPath {
        path: path.clone(),
        events: BTreeSet::new(),
        tokens,
    };
    let first = path.channels.len();
    let mut rewriter = Rewriter::default();
    let mut spelled = InputSet::EMPTY;
    let mut values = InputSet::EMPTY;
    for (number, token) in numbered.tokens.iter().enumerate() {
        let channel = (first + number) as u32;
        numbered
            .path
            .channels
            .push(value_channel(token, &path.channels));
        numbered.path.numbers.push(channel);
        let value = value_term(terms, channel);
        for it in found.iter().filter(|it| it.token == *token) {
            let width = terms.width(it.term);
            let low = terms.truncate(value, width);
            let added = terms.constant(width, it.added);
            let sum = terms.binary(Op::Add, low, added);
            rewriter.replace(it.term, sum);
        }
        for offset in token.place.start..token.place.end {
            let byte = InputByte {
                channel: token.place.channel as u32,
                offset: offset as u32,
            };
            let single = supports.single(byte);
            spelled = supports.union(spelled, single);
        }
        let set = supports.of(terms, value);
        values = supports.union(values, set);
    }
    let scans = scanned_bytes(path, terms, &mut supports);
    for (number, event) in numbered.path.events.iter_mut().enumerate() {
        if event.condition.is_some() && scans.contains(&number) {
            // That a byte is a digit is what a value needs not to be.
            event.condition = None;
            event.switched = None;
        }
        let sets = (spelled, values);
        if rewrite_event(event, terms, &mut rewriter, &mut supports, sets) {
            numbered.events.insert(number);
        }
    }
    (!numbered.events.is_empty()).then_some(numbered)
}

/// Puts values into an event; says whether it depends on one. What depends on the digits in another way is left
/// out, and what does not depend on values need not be asked again.
fn rewrite_event(
    event: &mut Event,
    terms: &mut Terms,
    rewriter: &mut Rewriter,
    supports: &mut Supports,
    (spelled, values): (InputSet, InputSet),
) -> bool {
    let is_check = matches!(event.kind, EventKind::Check | EventKind::Probe);
    event.hint = None;
    let Some(condition) = event.condition else {
        return false;
    };
    let before = supports.of(terms, condition);
    let mut depends = false;
    if supports.intersects(before, spelled) {
        let new = rewriter.rewrite(terms, condition);
        let after = supports.of(terms, new);
        event.binding = None;
        event.switched = event.switched.map(|it| rewriter.rewrite(terms, it));
        if supports.intersects(after, spelled) || terms.as_constant(new).is_some() {
            event.condition = None;
            event.switched = None;
        } else {
            event.condition = Some(new);
            depends = supports.intersects(after, values);
        }
    }
    if is_check && !depends {
        event.kind = EventKind::Assume;
    }
    depends
}

/// Events that look for the end of a row of digits: decisions about one byte, at a site that looks at the next byte
/// too. A number of one digit is the same term as its digit, and only this tells what is asked of which.
fn scanned_bytes(path: &RecordedPath, terms: &Terms, supports: &mut Supports) -> HashSet<usize> {
    let mut single = Vec::new();
    let mut seen: HashSet<(u64, InputByte)> = HashSet::new();
    for (number, event) in path.events.iter().enumerate() {
        let Some(condition) = event.condition.filter(|_| event.is_decision()) else {
            continue;
        };
        let set = supports.of(terms, condition);
        let mut bytes = supports.bytes(set);
        bytes.retain(|byte| path.channels[byte.channel as usize].piece.is_none());
        if let [byte] = bytes[..] {
            seen.insert((event.site.0, byte));
            single.push((number, event.site.0, byte));
        }
    }
    let scans = single.into_iter().filter(|(_, site, byte)| {
        let next = InputByte {
            offset: byte.offset + 1,
            ..*byte
        };
        seen.contains(&(*site, next))
    });
    scans.map(|(number, ..)| number).collect()
}

fn value_channel(token: &NumberToken, channels: &[Channel]) -> Channel {
    let value = token.value(token.digits(channels).iter().copied());
    Channel {
        kind: ChannelKind::Named,
        index: 0,
        name: b"number".to_vec(),
        content: value.to_le_bytes().to_vec(),
        piece: None,
    }
}

/// The bytes of a value as one term.
fn value_term(terms: &mut Terms, channel: u32) -> TermId {
    let mut value = terms.input(InputByte { channel, offset: 0 });
    for offset in 1..SIZE as u32 {
        let byte = terms.input(InputByte { channel, offset });
        value = terms.concat(byte, value);
    }
    value
}
