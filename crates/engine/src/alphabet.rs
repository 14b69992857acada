//! What holds of single bytes because of where they come from: the kernel ends arguments and
//! variables at a zero, and a line that was read as one has no newline but the last.
//!
//! Said only of bytes that the path mentions, when it first does.

use std::collections::{HashMap, HashSet};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::op::Op;
use nearmiss_expr::{InputByte, TermId, Terms};
use nearmiss_trace::Channel;

/// Which bytes can be what.
#[derive(Debug, Default)]
pub struct Alphabet {
    /// Channels that are strings of the kernel.
    strings: HashSet<u32>,
    /// Lines by channel: first and last offset of each, where the last is the newline's.
    lines: HashMap<u32, Vec<(u32, u32)>>,
    known: HashSet<InputByte>,
}

impl Alphabet {
    /// The rules of these channels.
    pub fn new(channels: &[Channel]) -> Alphabet {
        let mut alphabet = Alphabet::default();
        for (number, channel) in channels.iter().enumerate() {
            if matches!(
                channel.kind,
                ChannelKind::Argument | ChannelKind::Environment
            ) {
                alphabet.strings.insert(number as u32);
            }
            if let Some(piece) = channel.piece.filter(|piece| piece.is_line) {
                let lines = alphabet.lines.entry(piece.channel).or_default();
                lines.push((piece.start, piece.end()));
            }
        }
        for lines in alphabet.lines.values_mut() {
            lines.sort_unstable();
        }
        alphabet
    }

    /// What holds of a byte that the path mentions, if that was not said before. The recorded
    /// byte agrees.
    pub fn learn(&mut self, terms: &mut Terms, byte: InputByte, recorded: u8) -> Option<TermId> {
        if !self.known.insert(byte) {
            return None;
        }
        let (op, value) = if self.strings.contains(&byte.channel) {
            (Op::Ne, 0)
        } else {
            match self.place_in_line(byte)? {
                InLine::Inside => (Op::Ne, b'\n'),
                InLine::Newline => (Op::Eq, b'\n'),
            }
        };
        let agrees = (recorded == value) == (op == Op::Eq);
        agrees.then(|| {
            let input = terms.input(byte);
            let value = terms.constant(8, value.into());
            terms.binary(op, input, value)
        })
    }

    fn place_in_line(&self, byte: InputByte) -> Option<InLine> {
        let lines = self.lines.get(&byte.channel)?;
        let after = lines.partition_point(|(start, _)| *start <= byte.offset);
        let (_, newline) = lines[..after].last()?;
        match byte.offset.cmp(newline) {
            std::cmp::Ordering::Less => Some(InLine::Inside),
            std::cmp::Ordering::Equal => Some(InLine::Newline),
            std::cmp::Ordering::Greater => None,
        }
    }
}

enum InLine {
    Inside,
    Newline,
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_trace::Piece;

    fn channel(kind: ChannelKind, piece: Option<Piece>) -> Channel {
        Channel {
            kind,
            index: 0,
            name: Vec::new(),
            content: b"ab\ncd\n".to_vec(),
            piece,
        }
    }

    #[test]
    fn strings_have_no_zero_and_lines_no_newline() {
        let line = |start| Piece {
            channel: 1,
            start,
            length: 2,
            is_line: true,
        };
        let channels = [
            channel(ChannelKind::Argument, None),
            channel(ChannelKind::Stdin, None),
            channel(ChannelKind::Length, Some(line(0))),
            channel(ChannelKind::Length, Some(line(3))),
        ];
        let (mut alphabet, mut terms) = (Alphabet::new(&channels), Terms::new());
        let mut says = |channel: u32, offset: u32, recorded: u8| {
            let byte = InputByte { channel, offset };
            let fact = alphabet.learn(&mut terms, byte, recorded);
            fact.map(|fact| nearmiss_expr::Evaluator::new().holds(&terms, &|_| b'\n', fact))
        };
        assert_eq!(says(0, 1, b'b'), Some(true));
        assert_eq!(says(0, 1, b'b'), None, "said before");
        assert_eq!(says(1, 4, b'd'), Some(false));
        assert_eq!(says(1, 2, b'\n'), Some(true));
        assert_eq!(says(1, 7, b'd'), None);
        assert_eq!(says(1, 5, b'x'), None, "the recorded input says otherwise");
    }
}
