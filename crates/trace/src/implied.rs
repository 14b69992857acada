//! What a path says about lengths of inputs without an event of the program's.
//!
//! A piece of input (an argument, a line, a file) whose byte `k` decided something is longer than
//! `k`. For a shorter one the program saw something else there: the end of the string, what its
//! buffer held before. That is another way that execution can go, so the path gets an event for it,
//! `k < n`, before the one that byte `k` decided: an assumption, whose other way is one more of the
//! fork that it stands before, or else a fork of its own.
//!
//! Of a large input only the first such ways are tried. The others are events too, so that it is
//! said where what is known about the path does not hold for shorter inputs.

use std::collections::{HashMap, HashSet};

use nearmiss_abi::event::EventKind;
use nearmiss_abi::op::Op;
use nearmiss_expr::support::{Part, Supports};
use nearmiss_expr::{InputByte, TermId, Terms};

use crate::binding::Bindings;
use crate::channel::{Channel, Piece};
use crate::path::{Event, LengthBound};

/// Maximum number of such ways that are tried for one piece: a program that looks at each byte of
/// a large file would otherwise have as many more forks as it has bytes.
const MAX_PER_PIECE: u32 = 32;
/// Maximum number of such ways that are tried on a path.
const MAX_PER_PATH: u32 = 256;

/// Bytes of a length.
const LENGTH_SIZE: u32 = 4;

/// A piece and what the path says of it so far.
struct Known {
    /// The channel of its length.
    number: u32,
    piece: Piece,
    /// No shorter than this.
    least: u32,
    tried: u32,
}

struct Walk<'a> {
    terms: &'a mut Terms,
    bindings: &'a Bindings,
    supports: Supports,
    seen: HashSet<Part>,
    pieces: Vec<Known>,
    /// Positions in `pieces` by the channel that they are pieces of.
    by_channel: HashMap<u32, Vec<usize>>,
    /// Conditions that the path has.
    conditions: HashSet<TermId>,
    tried: u32,
}

/// The events with those that they imply, each right before the first event that implies it.
pub(crate) fn insert(
    events: Vec<Event>,
    terms: &mut Terms,
    channels: &[Channel],
    bindings: &Bindings,
) -> Vec<Event> {
    let mut walk = Walk::new(terms, channels, bindings);
    if walk.pieces.is_empty() {
        return events;
    }
    let mut all = Vec::with_capacity(events.len());
    for event in events {
        walk.imply(&event, &mut all);
        walk.conditions.extend(event.condition);
        all.push(event);
    }
    // Before another event than a fork, that an input is long enough is a fork of its own.
    let mut is_before_fork = false;
    for event in all.iter_mut().rev() {
        match event.implied {
            Some(bound) if bound.is_tried && !is_before_fork => event.kind = EventKind::Branch,
            Some(_) => {}
            None => is_before_fork = is_fork(event),
        }
    }
    all
}

fn is_fork(event: &Event) -> bool {
    matches!(event.kind, EventKind::Branch | EventKind::Switch)
}

impl<'a> Walk<'a> {
    fn new(terms: &'a mut Terms, channels: &[Channel], bindings: &'a Bindings) -> Walk<'a> {
        let mut walk = Walk {
            terms,
            bindings,
            supports: Supports::new(),
            seen: HashSet::new(),
            pieces: Vec::new(),
            by_channel: HashMap::new(),
            conditions: HashSet::new(),
            tried: 0,
        };
        for (number, channel) in channels.iter().enumerate() {
            if let Some(piece) = channel.piece {
                let position = walk.pieces.len();
                walk.pieces.push(Known {
                    number: number as u32,
                    piece,
                    least: 0,
                    tried: 0,
                });
                let pieces = walk.by_channel.entry(piece.channel).or_default();
                pieces.push(position);
            }
        }
        walk
    }

    /// Appends the branches that an event implies.
    fn imply(&mut self, event: &Event, all: &mut Vec<Event>) {
        let Some(condition) = event.condition else {
            return;
        };
        // What a model assumes, or the recording concretized, decided nothing.
        if matches!(event.kind, EventKind::Assume | EventKind::Concretized) {
            return;
        }
        let mut raised: Vec<usize> = Vec::new();
        for byte in self.bytes(event, condition) {
            if let Some(position) = self.raise(byte)
                && !raised.contains(&position)
            {
                raised.push(position);
            }
        }
        for position in raised {
            all.extend(self.branch(position, event));
        }
    }

    /// The bytes that an event is the first to bind.
    fn bytes(&mut self, event: &Event, condition: TermId) -> Vec<InputByte> {
        if let Some(bytes) = self.bindings.get(event.binding) {
            return bytes.to_vec();
        }
        let set = self.supports.of(self.terms, condition);
        self.supports.new_bytes(set, &mut self.seen)
    }

    /// The piece that a byte makes longer than was known before. Of a line and the whole that it
    /// is part of the line: a whole without the byte has another line.
    fn raise(&mut self, byte: InputByte) -> Option<usize> {
        let pieces = self.by_channel.get(&byte.channel)?;
        let has_it = |piece: &Piece| (piece.start..piece.end()).contains(&byte.offset);
        let holding = pieces.iter().copied();
        let holding = holding.filter(|position| has_it(&self.pieces[*position].piece));
        let position = holding.max_by_key(|position| self.pieces[*position].piece.is_line)?;
        let known = &mut self.pieces[position];
        let least = byte.offset - known.piece.start + 1;
        let is_longer = least > known.least;
        known.least = known.least.max(least);
        is_longer.then_some(position)
    }

    fn branch(&mut self, position: usize, event: &Event) -> Option<Event> {
        let known = &mut self.pieces[position];
        let length = length_term(self.terms, known.number);
        let last = self.terms.constant(32, (known.least - 1).into());
        let condition = self.terms.binary(Op::Ult, last, length);
        if !self.conditions.insert(condition) {
            return None;
        }
        let is_tried = known.tried < MAX_PER_PIECE && self.tried < MAX_PER_PATH;
        let bound = LengthBound {
            channel: Some(known.number),
            least: known.least,
            is_tried,
        };
        known.tried += u32::from(is_tried);
        self.tried += u32::from(is_tried);
        Some(Event {
            kind: EventKind::Assume,
            truth: true,
            choice: 1,
            condition: Some(condition),
            switched: None,
            reason: None,
            failure: None,
            binding: None,
            implied: Some(bound),
            sensitive: false,
            frame: 0,
            ..*event
        })
    }
}

/// The four bytes of a length as a number.
fn length_term(terms: &mut Terms, number: u32) -> TermId {
    let byte = |offset| InputByte {
        channel: number,
        offset,
    };
    let low = terms.input(byte(0));
    (1..LENGTH_SIZE).fold(low, |low, offset| {
        let high = terms.input(byte(offset));
        terms.concat(high, low)
    })
}
