//! Lengths of inputs: what the path says about them without saying so, and the nearest one that
//! will do.
//!
//! A length is four input bytes of a channel of its own, so a solver treats it as any other
//! input. What the recording leaves unsaid is added here:
//!
//! - a piece whose byte `k` decided something is longer than `k`;
//! - a line whose bytes were looked at one by one up to its newline is as long as it was;
//! - no piece becomes longer than the limit.
//!
//! These are assumed only when a question is about that length, because a loop over a file
//! would otherwise say "longer than 1", "longer than 2", … at each byte.

mod nearest;
/// How far a solver's answer is from the recorded input: the measure of [`nearmiss_judge::nearness`].
pub fn model_cost(channels: &[Channel], model: &Model) -> u64 {
    // What stands behind the recorded end is put in, which the new length says.
    let is_changed = |byte: InputByte| {
        let channel = channels.get(byte.channel as usize);
        channel.is_some_and(|it| it.piece.is_none() && (byte.offset as usize) < it.content.len())
    };
    let bytes = model.iter().filter(|(byte, _)| is_changed(*byte)).count();
    let lengths = resizes(channels, model);
    bytes as u64 + lengths.iter().map(resize_cost).sum::<u64>()
}

/// What another length costs.
pub fn resize_cost(resize: &Resize) -> u64 {
    1 + u64::from(resize.distance())
}

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use nearmiss_abi::op::Op;
use nearmiss_expr::{InputByte, TermId, Terms};
use nearmiss_solve::{Limits, Model, Session};
use nearmiss_trace::{Channel, Piece};

use nearest::Search;

/// Bytes of a length.
const SIZE: u32 = 4;

/// A piece that becomes longer or shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resize {
    /// What.
    pub piece: Piece,
    /// Its new length.
    pub to: u32,
}

impl Resize {
    /// By how much it changes.
    pub fn distance(&self) -> u32 {
        self.piece.length.abs_diff(self.to)
    }
}

/// The pieces that have another length in a model.
pub fn resizes(channels: &[Channel], model: &Model) -> Vec<Resize> {
    let mut resizes = Vec::new();
    for (number, channel) in channels.iter().enumerate() {
        if let Some(piece) = channel.piece {
            let to = length_in(model, number as u32, piece.length);
            resizes.extend((to != piece.length).then_some(Resize { piece, to }));
        }
    }
    resizes
}

/// The value of the length in channel `number`.
fn length_in(model: &Model, number: u32, recorded: u32) -> u32 {
    let recorded = recorded.to_le_bytes();
    u32::from_le_bytes(std::array::from_fn(|offset| {
        let byte = InputByte {
            channel: number,
            offset: offset as u32,
        };
        model.get(byte).unwrap_or(recorded[offset])
    }))
}

/// What is known about the length of one piece.
#[derive(Debug)]
struct Length {
    /// The channel of its four bytes.
    number: u32,
    piece: Piece,
    /// The length as a term of 32 bits.
    term: TermId,
    is_mentioned: bool,
    /// No shorter than this.
    least: u32,
    /// The last byte before the newline decided something.
    is_read_to_its_end: bool,
    /// It is as it was recorded.
    is_exact: bool,
    /// What of this was assumed: the limit, the lower bound, that it is exact.
    assumed_limit: bool,
    assumed_least: u32,
    assumed_exact: bool,
}

impl Length {
    fn bytes(&self) -> impl Iterator<Item = InputByte> + use<> {
        let channel = self.number;
        (0..SIZE).map(move |offset| InputByte { channel, offset })
    }

    fn in_model(&self, model: &Model) -> u32 {
        length_in(model, self.number, self.piece.length)
    }

    /// Its bytes with a value.
    fn fixed_to(&self, value: u32) -> impl Iterator<Item = (InputByte, u8)> + use<> {
        self.bytes().zip(value.to_le_bytes())
    }
}

/// Positions of the lengths of one channel's pieces.
#[derive(Debug, Default)]
struct Pieces {
    wholes: Vec<usize>,
    /// In the order in which they start; they do not overlap, but one may be read twice.
    lines: Vec<usize>,
}

/// The lengths of a path's inputs.
#[derive(Debug, Default)]
pub struct Lengths {
    lengths: Vec<Length>,
    /// Positions in `lengths` by the channel of the piece.
    by_piece: HashMap<u32, Pieces>,
    /// Positions by the channel of the length.
    by_number: HashMap<u32, usize>,
    /// Positions of those that the path mentions.
    mentioned: Vec<usize>,
    limit: u32,
}

impl Lengths {
    /// Nothing is known yet; no piece may become longer than `limit`.
    pub fn new(terms: &mut Terms, channels: &[Channel], limit: u64) -> Lengths {
        let mut lengths = Lengths {
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
            ..Lengths::default()
        };
        for (number, channel) in channels.iter().enumerate() {
            if let Some(piece) = channel.piece {
                lengths.add(terms, number as u32, piece);
            }
        }
        let start = |position: &usize| lengths.lengths[*position].piece.start;
        for pieces in lengths.by_piece.values_mut() {
            pieces.lines.sort_by_key(start);
        }
        lengths
    }

    fn add(&mut self, terms: &mut Terms, number: u32, piece: Piece) {
        let position = self.lengths.len();
        let pieces = self.by_piece.entry(piece.channel).or_default();
        if piece.is_line {
            pieces.lines.push(position);
        } else {
            pieces.wholes.push(position);
        }
        self.by_number.insert(number, position);
        self.lengths.push(Length {
            number,
            piece,
            term: length_term(terms, number),
            is_mentioned: false,
            least: 0,
            is_read_to_its_end: false,
            is_exact: false,
            assumed_limit: false,
            assumed_least: 0,
            assumed_exact: false,
        });
    }

    /// A byte is mentioned by the path. If it decides something there (`binds`), the pieces that
    /// it is part of are at least so long. Bytes of one condition come in ascending order.
    pub fn mention(&mut self, byte: InputByte, binds: bool) {
        if let Some(&position) = self.by_number.get(&byte.channel) {
            if !std::mem::replace(&mut self.lengths[position].is_mentioned, true) {
                self.mentioned.push(position);
            }
        } else if binds {
            for position in self.pieces_of(byte) {
                self.lengths[position].decided_by(byte.offset);
            }
        }
    }

    /// The pieces that a byte may be part of.
    fn pieces_of(&self, byte: InputByte) -> Vec<usize> {
        let Some(pieces) = self.by_piece.get(&byte.channel) else {
            return Vec::new();
        };
        let start = |position: usize| self.lengths[position].piece.start;
        let lines = &pieces.lines;
        let after = lines.partition_point(|&line| start(line) <= byte.offset);
        let last = lines[..after].last().map(|&line| start(line));
        let here = lines[..after].iter().rev();
        let here = here.take_while(|&&line| Some(start(line)) == last);
        let wholes = pieces.wholes.iter();
        wholes
            .filter(|&&whole| start(whole) <= byte.offset)
            .chain(here)
            .copied()
            .collect()
    }

    /// The term of the length in a channel.
    pub fn term_of(&self, channel: u32) -> Option<TermId> {
        let position = self.by_number.get(&channel)?;
        Some(self.lengths[*position].term)
    }

    /// The lengths that a goal may depend on, by position, after what is known about them was
    /// given to `assume`.
    pub fn related(
        &mut self,
        session: &mut Session,
        terms: &mut Terms,
        goal: TermId,
        assume: &mut dyn FnMut(&mut Session, &mut Terms, TermId),
    ) -> Vec<usize> {
        let bytes: Vec<InputByte> = self
            .mentioned
            .iter()
            .flat_map(|&position| self.lengths[position].bytes())
            .collect();
        if bytes.is_empty() {
            return Vec::new();
        }
        let is_related = session.related(terms, goal, &bytes);
        let mut related = Vec::new();
        for (&position, bytes) in self.mentioned.iter().zip(is_related.chunks(SIZE as usize)) {
            if bytes.contains(&true) {
                related.push(position);
                for fact in self.lengths[position].news(terms, self.limit) {
                    assume(session, terms, fact);
                }
            }
        }
        related
    }

    /// An answer to the goal that is as near to the recorded input as can be found, given that
    /// `first` is one. `related` are the lengths that it may depend on.
    pub fn nearest(
        &self,
        session: &mut Session,
        terms: &mut Terms,
        goal: TermId,
        related: &[usize],
        first: Model,
        limits: Limits,
    ) -> Model {
        let lengths = related.iter().map(|&position| &self.lengths[position]);
        let mut search = Search::new(session, goal, lengths.collect(), limits);
        search.find(terms, first)
    }
}

impl Length {
    /// A byte of its channel, not before its start, decided something.
    fn decided_by(&mut self, offset: u32) {
        let (position, length) = (offset - self.piece.start, self.piece.length);
        if position < length {
            self.least = self.least.max(position + 1);
            self.is_read_to_its_end |= position + 1 == length;
        } else if position == length && self.piece.is_line {
            // A newline that is found from the end moves with the length; one that is found by
            // looking at each byte does not.
            self.is_exact |= self.is_read_to_its_end || length == 0;
        }
    }

    /// What was not assumed before.
    fn news(&mut self, terms: &mut Terms, limit: u32) -> Vec<TermId> {
        let mut news = Vec::new();
        let constant = |terms: &mut Terms, value: u32| terms.constant(32, value.into());
        if self.is_exact {
            if !self.assumed_exact {
                self.assumed_exact = true;
                let recorded = constant(terms, self.piece.length);
                news.push(terms.eq(self.term, recorded));
            }
            return news;
        }
        if !self.assumed_limit {
            self.assumed_limit = true;
            let most = constant(terms, limit.max(self.piece.length));
            news.push(terms.binary(Op::Ule, self.term, most));
        }
        if self.least > self.assumed_least {
            self.assumed_least = self.least;
            let least = constant(terms, self.least);
            news.push(terms.binary(Op::Ule, least, self.term));
        }
        news
    }
}

/// The four bytes as a number.
fn length_term(terms: &mut Terms, number: u32) -> TermId {
    let byte = |offset| InputByte {
        channel: number,
        offset,
    };
    let low = terms.input(byte(0));
    (1..SIZE).fold(low, |low, offset| {
        let high = terms.input(byte(offset));
        terms.concat(high, low)
    })
}
