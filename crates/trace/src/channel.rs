//! Input channels with their recorded content.

use nearmiss_abi::channel::{ChannelKind, ChannelRow};
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
}

impl Channel {
    /// How reports call it: `argv[1]`, `stdin`, `file:PATH`, `name:NAME[0]`.
    pub fn label(&self) -> String {
        let name = String::from_utf8_lossy(&self.name);
        match self.kind {
            ChannelKind::Argument => format!("argv[{}]", self.index),
            ChannelKind::Stdin => "stdin".to_string(),
            ChannelKind::File => format!("file:{name}"),
            ChannelKind::Named => format!("name:{name}[{}]", self.index),
            ChannelKind::Length => format!("length of channel {}", self.index),
            ChannelKind::Environment => format!("env:{name}"),
            ChannelKind::Pipe => format!("pipe[{}]", self.index),
            ChannelKind::Socket => format!("socket[{}]", self.index),
        }
    }
}

/// The recorded input as an assignment; bytes that no channel has are 0.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a>(pub &'a [Channel]);

impl Inputs for Recorded<'_> {
    fn byte(&self, byte: InputByte) -> u8 {
        recorded(self.0, byte.channel, byte.offset).unwrap_or(0)
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
