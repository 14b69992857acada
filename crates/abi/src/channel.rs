//! Where input bytes come from.

use core::fmt::{self, Write};

/// The kind of an input channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ChannelKind {
    /// An argument of the command line; `index` is its position, 1 is the first after the
    /// program's name.
    Argument = 1,
    /// Standard input.
    Stdin = 2,
    /// A file opened for reading; the name is its path as the program gave it, made absolute.
    File = 3,
    /// Memory named by a harness (`nearmiss_symbolic`); `index` counts the calls with this
    /// name from 0.
    Named = 4,
    /// How long a piece of another channel is: four bytes, little-endian. `index` is that
    /// channel, `start` where the piece starts in it; the recorded content of this channel is
    /// the recorded length, so the piece ends at `start` plus that.
    Length = 5,
    /// An environment variable: the name is its name, the content its value.
    Environment = 6,
    /// A pipe that is not standard input; `index` counts those that were read, from 0. The
    /// content is what was read in the whole run.
    Pipe = 7,
    /// A socket; otherwise as a pipe.
    Socket = 8,
    /// What a pointer argument of a call at the boundary of the code under test leads to
    /// ([`crate::boundary`]); the name is `NUMBER:FUNCTION`, `index` has the parameter and how it is given.
    Call = 9,
}

impl ChannelKind {
    /// The kind with this code, if there is one.
    pub const fn from_code(code: u8) -> Option<ChannelKind> {
        Some(match code {
            1 => ChannelKind::Argument,
            2 => ChannelKind::Stdin,
            3 => ChannelKind::File,
            4 => ChannelKind::Named,
            5 => ChannelKind::Length,
            6 => ChannelKind::Environment,
            7 => ChannelKind::Pipe,
            8 => ChannelKind::Socket,
            9 => ChannelKind::Call,
            _ => return None,
        })
    }
}

/// Kinds of channels: those whose bytes are inputs. Processes name it by letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelSet(u16);

/// The letters that name kinds of channels in [`crate::environment::OPTION_CHANNELS`].
const LETTERS: [(u8, ChannelKind); 8] = [
    (b'a', ChannelKind::Argument),
    (b'i', ChannelKind::Stdin),
    (b'f', ChannelKind::File),
    (b'n', ChannelKind::Named),
    (b'e', ChannelKind::Environment),
    (b'p', ChannelKind::Pipe),
    (b's', ChannelKind::Socket),
    (b'c', ChannelKind::Call),
];

impl ChannelSet {
    /// No kind.
    pub const NONE: ChannelSet = ChannelSet(0);

    /// What is an input unless something else is said.
    pub const DEFAULT: ChannelSet = ChannelSet::parse(b"aifn");

    /// This and one more kind.
    pub const fn with(self, kind: ChannelKind) -> ChannelSet {
        ChannelSet(self.0 | ChannelSet::bit(kind))
    }

    /// This without one kind.
    pub const fn without(self, kind: ChannelKind) -> ChannelSet {
        ChannelSet(self.0 & !ChannelSet::bit(kind))
    }

    /// Whether a kind is in it.
    pub const fn contains(self, kind: ChannelKind) -> bool {
        self.0 & ChannelSet::bit(kind) != 0
    }

    const fn bit(kind: ChannelKind) -> u16 {
        1 << kind as u16
    }

    /// The kinds that these letters name. Other letters are skipped.
    pub const fn parse(letters: &[u8]) -> ChannelSet {
        let mut set = ChannelSet::NONE;
        let mut at = 0;
        while at < letters.len() {
            let mut row = 0;
            while row < LETTERS.len() {
                let (letter, kind) = LETTERS[row];
                if letter == letters[at] {
                    set = set.with(kind);
                }
                row += 1;
            }
            at += 1;
        }
        set
    }
}

impl fmt::Display for ChannelSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = LETTERS
            .iter()
            .filter(|(_, kind)| self.contains(*kind))
            .map(|(letter, _)| *letter as char);
        letters.try_for_each(|letter| f.write_char(letter))
    }
}

/// A row of the trace's table of channels.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ChannelRow {
    /// The code of the [`ChannelKind`]; 0: the row is free.
    pub kind: u8,
    /// For a length: one of the `PIECE_*`.
    pub piece: u8,
    /// Zero.
    pub reserved: [u8; 2],
    /// Depends on the kind.
    pub index: u32,
    /// Where the name lies in the blob region.
    pub name_offset: u64,
    /// Bytes of the name.
    pub name_size: u64,
    /// Where the content lies in the blob region, if `content_size` is not 0. For a file: its
    /// bytes when it was opened. For a name: the bytes before the run changed them. For an
    /// argument: the string without its end.
    pub content_offset: u64,
    /// Bytes of the content; standard input has none here (the engine feeds it).
    pub content_size: u64,
    /// For a length: where the piece starts in its channel.
    pub start: u64,
}

/// The piece is all of an argument, an environment string or a file: what is behind its end is
/// the end of the input.
pub const PIECE_WHOLE: u8 = 0;
/// The piece is a line without the byte that ends it, which follows.
pub const PIECE_LINE: u8 = 1;

/// Rows of the table of channels.
pub const CHANNEL_ROWS: usize = 4096;

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use super::*;

    #[test]
    fn letters_name_a_set_in_one_order() {
        let set = ChannelSet::parse(b"pxia i");
        assert_eq!(set.to_string(), "aip");
        assert!(set.contains(ChannelKind::Pipe) && !set.contains(ChannelKind::Socket));
        let less = set.without(ChannelKind::Stdin).with(ChannelKind::Socket);
        assert_eq!(less.to_string(), "aps");
        assert_eq!(ChannelSet::DEFAULT.to_string(), "aifn");
        assert_eq!(ChannelSet::NONE.to_string(), "");
        for (letter, kind) in LETTERS {
            assert_eq!(ChannelSet::parse(&[letter]), ChannelSet::NONE.with(kind));
        }
    }
}
