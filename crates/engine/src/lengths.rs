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

use std::collections::HashMap;
use std::time::{Duration, Instant};

use nearmiss_abi::op::Op;
use nearmiss_expr::{InputByte, TermId, Terms};
use nearmiss_solve::{Answer, Limits, Model, Session};
use nearmiss_trace::{Channel, Piece};

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

/// How far an input is from the recorded one: changed bytes, where a length counts as one, then
/// by how much lengths change.
pub fn distance(channels: &[Channel], model: &Model) -> (usize, u64) {
    let is_length = |byte: InputByte| {
        let channel = channels.get(byte.channel as usize);
        channel.is_some_and(|channel| channel.piece.is_some())
    };
    let bytes = model.iter().filter(|(byte, _)| !is_length(*byte)).count();
    let resizes = resizes(channels, model);
    let by = resizes.iter().map(|one| u64::from(one.distance())).sum();
    (bytes + resizes.len(), by)
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
        time: Duration,
    ) -> Model {
        let lengths = related.iter().map(|&position| &self.lengths[position]);
        let mut search = Search {
            session,
            goal,
            lengths: lengths.collect(),
            time,
            deadline: Instant::now() + time * SHARE,
        };
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

/// The search for the nearest length may take as long as so many questions.
const SHARE: u32 = 4;

struct Search<'s, 'a> {
    session: &'s mut Session<'a>,
    goal: TermId,
    lengths: Vec<&'s Length>,
    time: Duration,
    deadline: Instant,
}

impl Search<'_, '_> {
    fn find(&mut self, terms: &mut Terms, first: Model) -> Model {
        let same_lengths = self.with_recorded_lengths(terms);
        if same_lengths.as_ref().is_some_and(|model| model.len() <= 1) {
            return same_lengths.unwrap_or(first);
        }
        // A length that changes is one change: better than several bytes.
        let other_lengths = self.with_recorded_bytes(terms);
        match (same_lengths, other_lengths) {
            (Some(same), Some(other)) if same.len() <= self.resized(&other).len() => same,
            (_, Some(other)) => other,
            (Some(same), None) => same,
            (None, None) => self.with_both(terms, first),
        }
    }

    /// The nearest answer with all lengths as they were.
    fn with_recorded_lengths(&mut self, terms: &mut Terms) -> Option<Model> {
        let mut goal = self.goal;
        for length in &self.lengths {
            let recorded = terms.constant(32, length.piece.length.into());
            let same = terms.eq(length.term, recorded);
            goal = terms.and(goal, same);
        }
        self.ask_nearest(terms, goal)
    }

    /// The nearest answer with other lengths, and all other bytes as they were.
    fn with_recorded_bytes(&mut self, terms: &mut Terms) -> Option<Model> {
        let slice = self.session.slice(terms, self.goal);
        let recorded = self.session.recorded();
        let is_length = |byte: &InputByte| {
            let mut numbers = self.lengths.iter().map(|length| length.number);
            numbers.any(|number| number == byte.channel)
        };
        let others = slice.bytes.iter().filter(|byte| !is_length(byte));
        let mut fixed: Vec<(InputByte, u8)> =
            others.map(|&byte| (byte, recorded.byte(byte))).collect();
        let mut model = self.ask_with(terms, self.goal, &fixed)?;
        for length in self.lengths.clone() {
            // Perhaps it need not change.
            let as_recorded = length.fixed_to(length.piece.length);
            let with_this: Vec<_> = fixed.iter().copied().chain(as_recorded).collect();
            if length.in_model(&model) != length.piece.length
                && let Some(nearer) = self.ask_with(terms, self.goal, &with_this)
            {
                model = nearer;
            }
            model = self.bisect(terms, length, &fixed, model);
            fixed.extend(length.fixed_to(length.in_model(&model)));
        }
        Some(model)
    }

    /// Other lengths and other bytes: near, but not always the nearest.
    fn with_both(&mut self, terms: &mut Terms, first: Model) -> Model {
        let mut model = self.ask_nearest(terms, self.goal).unwrap_or(first);
        let mut goal = self.goal;
        for length in self.lengths.clone() {
            model = self.bisect(terms, length, &[], model);
            let found = terms.constant(32, length.in_model(&model).into());
            let as_found = terms.eq(length.term, found);
            goal = terms.and(goal, as_found);
        }
        self.ask_nearest(terms, goal).unwrap_or(model)
    }

    /// Brings one length as near to the recorded one as it can be.
    fn bisect(
        &mut self,
        terms: &mut Terms,
        length: &Length,
        fixed: &[(InputByte, u8)],
        mut model: Model,
    ) -> Model {
        let recorded = length.piece.length;
        let goes_up = length.in_model(&model) > recorded;
        let mut too_near = 0;
        loop {
            let distance = length.in_model(&model).abs_diff(recorded);
            if distance <= too_near + 1 || Instant::now() >= self.deadline {
                return model;
            }
            let tried = too_near + (distance - too_near) / 2;
            let nearer = self.nearer(terms, length, goes_up, tried);
            match self.ask_with(terms, nearer, fixed) {
                Some(found) => model = found,
                None => too_near = tried,
            }
        }
    }

    /// The goal, with a length at most so far from the recorded one.
    fn nearer(&self, terms: &mut Terms, length: &Length, goes_up: bool, most: u32) -> TermId {
        let recorded = length.piece.length;
        let (low, high) = if goes_up {
            (recorded, recorded.saturating_add(most))
        } else {
            (recorded.saturating_sub(most), recorded)
        };
        let (low, high) = (
            terms.constant(32, low.into()),
            terms.constant(32, high.into()),
        );
        let above = terms.binary(Op::Ule, low, length.term);
        let below = terms.binary(Op::Ule, length.term, high);
        let between = terms.and(above, below);
        terms.and(self.goal, between)
    }

    fn resized(&self, model: &Model) -> Vec<u32> {
        let changed = |length: &&&Length| length.in_model(model) != length.piece.length;
        let lengths = self.lengths.iter().filter(changed);
        lengths.map(|length| length.number).collect()
    }

    fn limits(&self) -> Limits {
        let left = self.deadline.saturating_duration_since(Instant::now());
        Limits::time(self.time.min(left))
    }

    fn ask_with(
        &mut self,
        terms: &mut Terms,
        goal: TermId,
        fixed: &[(InputByte, u8)],
    ) -> Option<Model> {
        let limits = self.limits();
        match self.session.ask_with(terms, goal, fixed, &limits) {
            Answer::Sat(model) => Some(model.changes(self.session.recorded())),
            _ => None,
        }
    }

    fn ask_nearest(&mut self, terms: &mut Terms, goal: TermId) -> Option<Model> {
        let limits = self.limits();
        match self.session.ask_nearest(terms, goal, &limits) {
            Answer::Sat(model) => Some(model),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_abi::channel::ChannelKind;
    use nearmiss_solve::Stack;
    use nearmiss_trace::Recorded;

    fn channel(kind: ChannelKind, content: &[u8], piece: Option<Piece>) -> Channel {
        Channel {
            kind,
            index: 0,
            name: Vec::new(),
            content: content.to_vec(),
            piece,
        }
    }

    /// Channel 0 is standard input with a line of `length` bytes at `start`, 1 its length.
    fn line(text: &[u8], start: u32, length: u32) -> [Channel; 2] {
        let piece = Piece {
            channel: 0,
            start,
            length,
            is_line: true,
        };
        [
            channel(ChannelKind::Stdin, text, None),
            channel(ChannelKind::Length, &length.to_le_bytes(), Some(piece)),
        ]
    }

    struct Case<'a> {
        terms: Terms,
        session: Session<'a>,
        lengths: Lengths,
        length: TermId,
        channels: &'a [Channel],
    }

    impl<'a> Case<'a> {
        fn new(channels: &'a [Channel], recorded: &'a Recorded<'a>, limit: u64) -> Case<'a> {
            let mut terms = Terms::new();
            let mut lengths = Lengths::new(&mut terms, channels, limit);
            lengths.mention(byte(1, 0), true);
            Case {
                length: length_term(&mut terms, 1),
                session: Stack::default().session(recorded),
                terms,
                lengths,
                channels,
            }
        }

        /// `n < value`, or `value <= n`.
        fn is_below(&mut self, value: u32) -> TermId {
            let value = self.terms.constant(32, value.into());
            self.terms.binary(Op::Ult, self.length, value)
        }

        fn is_at_least(&mut self, value: u32) -> TermId {
            let below = self.is_below(value);
            self.terms.not(below)
        }

        fn is_byte(&mut self, offset: u32, value: u8) -> TermId {
            let input = self.terms.input(byte(0, offset));
            let value = self.terms.constant(8, value.into());
            self.terms.eq(input, value)
        }

        /// The nearest answer, with the new length.
        fn solve(&mut self, goal: TermId) -> Option<(Model, u32)> {
            let mut assume = |session: &mut Session, terms: &mut Terms, fact| {
                session.assume(terms, fact);
            };
            let related =
                self.lengths
                    .related(&mut self.session, &mut self.terms, goal, &mut assume);
            let limits = Limits::default();
            let Answer::Sat(first) = self.session.ask(&mut self.terms, goal, &limits) else {
                return None;
            };
            let model = self.lengths.nearest(
                &mut self.session,
                &mut self.terms,
                goal,
                &related,
                first,
                limits.time,
            );
            let length = length_in(&model, 1, self.channels[1].piece?.length);
            Some((model, length))
        }
    }

    fn byte(channel: u32, offset: u32) -> InputByte {
        InputByte { channel, offset }
    }

    #[test]
    fn the_nearest_length_is_found_on_both_sides() {
        let channels = line(b"hello world\nx\n", 6, 5);
        let recorded = Recorded(&channels);
        let mut case = Case::new(&channels, &recorded, 16 << 10);
        for (goal, expected) in [(1024, 1024), (6, 6), (10_007, 10_007)] {
            let goal = case.is_at_least(goal);
            assert_eq!(case.solve(goal).unwrap().1, expected);
        }
        let shorter = case.is_below(3);
        let (model, length) = case.solve(shorter).unwrap();
        assert_eq!(length, 2);
        assert_eq!(distance(&channels, &model), (1, 3));
    }

    #[test]
    fn lengths_have_a_limit() {
        let channels = line(b"hello\n", 0, 5);
        let recorded = Recorded(&channels);
        let mut case = Case::new(&channels, &recorded, 100);
        let (at_limit, beyond) = (case.is_at_least(100), case.is_at_least(101));
        assert_eq!(case.solve(at_limit).unwrap().1, 100);
        assert!(case.solve(beyond).is_none());
    }

    #[test]
    fn a_limit_of_zero_lets_pieces_shrink_only() {
        let channels = line(b"hello\n", 0, 5);
        let recorded = Recorded(&channels);
        let mut case = Case::new(&channels, &recorded, 0);
        let (longer, shorter) = (case.is_at_least(6), case.is_below(5));
        assert!(case.solve(longer).is_none());
        assert_eq!(case.solve(shorter).unwrap().1, 4);
    }

    #[test]
    fn bytes_that_decide_something_are_there() {
        let channels = line(b"hello\n", 0, 5);
        let recorded = Recorded(&channels);
        let mut case = Case::new(&channels, &recorded, 100);
        case.lengths.mention(byte(0, 2), false);
        let empty = case.is_below(1);
        assert_eq!(case.solve(empty).unwrap().1, 0, "assumptions do not bind");
        case.lengths.mention(byte(0, 2), true);
        assert!(case.solve(empty).is_none());
        let shorter = case.is_below(5);
        assert_eq!(case.solve(shorter).unwrap().1, 4);
    }

    #[test]
    fn newlines_bind_lines_that_are_read_byte_by_byte() {
        let channels = line(b"hello\n", 0, 5);
        let recorded = Recorded(&channels);
        let mut case = Case::new(&channels, &recorded, 100);
        let longer = case.is_at_least(6);
        case.lengths.mention(byte(0, 5), true);
        assert_eq!(case.solve(longer).unwrap().1, 6, "found from its end");
        case.lengths.mention(byte(0, 4), true);
        case.lengths.mention(byte(0, 5), true);
        assert!(case.solve(longer).is_none());
    }

    #[test]
    fn one_changed_byte_is_nearer_than_a_length_and_that_nearer_than_two() {
        let channels = line(b"hello\n", 0, 5);
        let recorded = Recorded(&channels);
        let mut case = Case::new(&channels, &recorded, 100);
        let longer = case.is_at_least(7);
        let (first, second) = (case.is_byte(0, b'j'), case.is_byte(1, b'u'));
        let one = case.terms.or(longer, first);
        let (model, length) = case.solve(one).unwrap();
        assert_eq!((model.len(), length), (1, 5));
        let both = case.terms.and(first, second);
        let two = case.terms.or(longer, both);
        assert_eq!(case.solve(two).unwrap().1, 7);
        let mixed = case.terms.and(longer, first);
        let (model, length) = case.solve(mixed).unwrap();
        assert_eq!((model.get(byte(0, 0)), length), (Some(b'j'), 7));
        assert_eq!(distance(&channels, &model), (2, 2));
    }
}
