//! Input channels with their recorded content.

use nearmiss_abi::boundary::shape;
use nearmiss_abi::channel::{ChannelKind, ChannelRow, PIECE_LINE};
use nearmiss_abi::op::Op;
use nearmiss_expr::{InputByte, Inputs};

use crate::raw::RawTrace;

/// Where input bytes came from, and what they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// What it is.
    pub kind: ChannelKind,
    /// Position of an argument, count of a name.
    pub index: u32,
    /// Path of a file, name of memory.
    pub name: Vec<u8>,
    /// The recorded bytes.
    pub content: Vec<u8>,
    /// For a length: what it is the length of.
    pub piece: Option<Piece>,
}

/// A part of a channel whose length may be another in another input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The channel.
    pub channel: u32,
    /// Where the piece starts in it.
    pub start: u32,
    /// Its recorded length.
    pub length: u32,
    /// Whether it is a line, whose newline follows; else it is all there is.
    pub is_line: bool,
}

impl Piece {
    /// The first offset behind it.
    pub fn end(&self) -> u32 {
        self.start.saturating_add(self.length)
    }
}

impl Channel {
    /// How reports call it: `argv[1]`, `stdin`, `file:PATH`, `name:NAME[0]`, `call:7:FUNCTION(1)`.
    pub fn label(&self) -> String {
        let name = String::from_utf8_lossy(&self.name);
        match self.kind {
            ChannelKind::Argument => format!("argv[{}]", self.index),
            ChannelKind::Stdin => "stdin".to_string(),
            ChannelKind::File => format!("file:{name}"),
            ChannelKind::Named => format!("name:{name}[{}]", self.index),
            ChannelKind::Length => match self.piece {
                Some(piece) if piece.is_line => format!(
                    "length of the line at {} of channel {}",
                    piece.start, piece.channel
                ),
                _ => format!("length of channel {}", self.index),
            },
            ChannelKind::Environment => format!("env:{name}"),
            ChannelKind::Pipe => format!("pipe[{}]", self.index),
            ChannelKind::Socket => format!("socket[{}]", self.index),
            ChannelKind::Call => {
                let parameter = self.index & shape::PARAMETER;
                format!("call:{name}({})", parameter + 1)
            }
        }
    }
}

/// The recorded input as an assignment. Bytes behind the end of a channel are those that it
/// would get if it were longer: see [`padding`].
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a>(pub &'a [Channel]);

impl Inputs for Recorded<'_> {
    fn byte(&self, byte: InputByte) -> u8 {
        let Some(channel) = self.0.get(byte.channel as usize) else {
            return 0;
        };
        let content = &channel.content;
        match content.get(byte.offset as usize) {
            Some(value) => *value,
            None if channel.kind == ChannelKind::Length => 0,
            None => padding(content, byte.offset as usize - content.len()),
        }
    }
}

/// How many of the last letters and digits of a text are repeated to make it longer.
const STYLE: usize = 8;

/// Byte `number` of what makes a text longer in its own style: its last letters and digits over
/// and over. Never zero, and never a newline.
pub fn padding(text: &[u8], number: usize) -> u8 {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric();
    let end = text.iter().rposition(is_plain).map_or(0, |last| last + 1);
    let run = text[..end].iter().rev().take(STYLE);
    let size = run.take_while(|byte| is_plain(byte)).count();
    match size {
        0 => b'A',
        size => text[end - size + number % size],
    }
}

/// One recorded byte.
pub(crate) fn recorded(channels: &[Channel], channel: u32, offset: u32) -> Option<u8> {
    let content = &channels.get(channel as usize)?.content;
    content.get(offset as usize).copied()
}

/// The channels of a trace. Standard input is not in the trace: `stdin` is what was fed to the
/// program; without it the content is put together from the bytes that terms mention.
pub(crate) fn channels(raw: &RawTrace, stdin: Option<&[u8]>) -> Vec<Channel> {
    let mut channels: Vec<Channel> = raw
        .channels
        .iter()
        .map_while(|row| channel(raw, row, stdin))
        .collect();
    if stdin.is_none() {
        gather_stdin(raw, &mut channels);
    }
    channels
}

/// `None`, which ends the table, for a row that makes no sense or whose bytes are cut off.
fn channel(raw: &RawTrace, row: &ChannelRow, stdin: Option<&[u8]>) -> Option<Channel> {
    let kind = ChannelKind::from_code(row.kind)?;
    let content = match kind {
        ChannelKind::Stdin => stdin.unwrap_or_default(),
        _ if row.content_size == 0 => &[],
        _ => raw.blob(row.content_offset, row.content_size)?,
    };
    Some(Channel {
        kind,
        index: row.index,
        name: raw.blob(row.name_offset, row.name_size)?.to_vec(),
        content: content.to_vec(),
        piece: piece(kind, row, content),
    })
}

/// `None` for what is no length, or makes no sense.
fn piece(kind: ChannelKind, row: &ChannelRow, content: &[u8]) -> Option<Piece> {
    if kind != ChannelKind::Length {
        return None;
    }
    Some(Piece {
        channel: row.index,
        start: u32::try_from(row.start).ok()?,
        length: u32::from_le_bytes(content.try_into().ok()?),
        is_line: row.piece == PIECE_LINE,
    })
}

/// Longest standard input that is put together from terms.
const MAX_GATHERED: usize = 1 << 24;

fn gather_stdin(raw: &RawTrace, channels: &mut [Channel]) {
    for term in raw.terms.iter().filter(|term| term.op == Op::Input as u8) {
        let Some(channel) = channels.get_mut(term.a as usize) else {
            continue;
        };
        let offset = term.b as usize;
        if channel.kind != ChannelKind::Stdin || offset >= MAX_GATHERED {
            continue;
        }
        if channel.content.len() <= offset {
            channel.content.resize(offset + 1, 0);
        }
        channel.content[offset] = term.value as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_in_the_style_of_the_text() {
        let padded = |text: &str| -> String {
            (0..6)
                .map(|number| padding(text.as_bytes(), number) as char)
                .collect()
        };
        assert_eq!(padded("key=abc"), "abcabc");
        assert_eq!(padded("abc\n"), "abcabc");
        assert_eq!(padded("0123456789"), "234567");
        assert_eq!(padded("a-7--"), "777777");
        assert_eq!(padded("--"), "AAAAAA");
        assert_eq!(padded(""), "AAAAAA");
    }
}
