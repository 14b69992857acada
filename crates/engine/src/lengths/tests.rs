//! Lengths of one line, and the nearest ones that make goals true.

use nearmiss_abi::channel::ChannelKind;
use nearmiss_solve::{Answer, Limits, Stack};
use nearmiss_trace::Recorded;

use super::*;

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
        let related = self
            .lengths
            .related(&mut self.session, &mut self.terms, goal, &mut assume);
        let limits = Limits::default();
        let Answer::Sat(first) = self.session.query(&mut self.terms, goal, &limits).answer else {
            return None;
        };
        let model = self.lengths.nearest(
            &mut self.session,
            &mut self.terms,
            goal,
            &related,
            first,
            limits,
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
    assert_eq!(model_cost(&channels, &model), 4);
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
fn few_changed_bytes_are_nearer_than_a_length_and_that_nearer_than_many() {
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
    assert_eq!(case.solve(two).unwrap().1, 5);
    let (third, fourth) = (case.is_byte(2, b'm'), case.is_byte(3, b'p'));
    let more = case.terms.and(third, fourth);
    let all = case.terms.and(both, more);
    let four = case.terms.or(longer, all);
    assert_eq!(case.solve(four).unwrap().1, 7, "two bytes and a length");
    let mixed = case.terms.and(longer, first);
    let (model, length) = case.solve(mixed).unwrap();
    assert_eq!((model.get(byte(0, 0)), length), (Some(b'j'), 7));
    assert_eq!(model_cost(&channels, &model), 4);
}
