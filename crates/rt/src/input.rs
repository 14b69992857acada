//! Channels: which byte of memory is which byte of input.
//!
//! An input byte is the term `Input(channel, offset)`. A descriptor leads to a channel; where
//! in the channel a read starts is asked of the kernel for what can seek, and counted for
//! what cannot (a pipe as standard input).

use nearmiss_abi::channel::{CHANNEL_ROWS, ChannelKind, ChannelRow};
use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label, ShadowWord, Term};

use crate::runtime::Runtime;
use crate::system::{self, Status};
use crate::text::Text;
use crate::trace::Full;

/// Descriptors above this are not followed.
const DESCRIPTORS: usize = 4096;

/// The descriptor of a pipe, or of a socket, that nobody has read yet.
const UNREAD_PIPE: u16 = u16::MAX - 1;
const UNREAD_SOCKET: u16 = u16::MAX;
const _: () = assert!(CHANNEL_ROWS < UNREAD_PIPE as usize);

/// What is known of a channel beyond its row in the trace.
#[derive(Clone, Copy)]
pub struct Channel {
    /// For what cannot seek: how far it was read.
    pub position: u64,
    /// For what can: where the channel's first byte lies.
    pub start: u64,
    /// The file as it was when it was opened.
    pub status: Status,
    /// The channel is itself the length of a piece of another.
    pub is_length: bool,
    /// The term of the length of all of it; 0: that is fixed.
    pub whole: Label,
    /// How many lines of it have a symbolic length.
    pub lines: u32,
    /// How many reads of it had a symbolic count.
    pub counts: u32,
    /// The path says that the length is at least this.
    pub reached: u64,
    /// The term of the position, 64 bits, where a length decides on it; else 0.
    pub mark: Label,
    /// The program itself moved the position there.
    pub sought: bool,
    /// For a pipe or socket: how many bytes of it can be kept; else 0.
    pub room: u64,
}

/// A channel of which nothing is known.
const EMPTY: Channel = Channel {
    position: 0,
    start: 0,
    status: Status {
        device: 0,
        inode: 0,
        mode: 0,
        special: 0,
        size: 0,
        changed_seconds: 0,
        changed_nanoseconds: 0,
    },
    is_length: false,
    whole: CONCRETE,
    lines: 0,
    counts: 0,
    reached: 0,
    mark: CONCRETE,
    sought: false,
    room: 0,
};

/// Channels and the descriptors that lead to them.
pub struct Inputs {
    channels: [Channel; CHANNEL_ROWS],
    /// In place of a channel for what is none: see [`crate::kept`].
    no_channel: Channel,
    count: usize,
    /// By descriptor: the channel's number and one more; 0: none; or what it will be.
    descriptors: [u16; DESCRIPTORS],
    /// Room for a path that is made absolute.
    pub path: Text<8192>,
    /// Files that this process writes: by place and number.
    pub written: [(u64, u64); 64],
    /// How many files became channels because the program asked for their size.
    pub asked_about: u32,
    /// How many pipes were read.
    pub pipes: u32,
    /// How many sockets were read.
    pub sockets: u32,
    /// How many were written; the oldest are forgotten.
    pub written_count: usize,
    /// When the first child was started, as files have the time; 0: there was none.
    pub forked_at: (u64, u64),
}

/// Where input comes from.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The channel.
    pub channel: u32,
    /// The offset of the next byte.
    pub offset: u64,
    /// Whether the offset is the kernel's word.
    pub seekable: bool,
}

impl Inputs {
    /// No inputs yet.
    pub const fn none() -> Inputs {
        Inputs {
            channels: [EMPTY; CHANNEL_ROWS],
            no_channel: EMPTY,
            count: 0,
            descriptors: [0; DESCRIPTORS],
            path: Text::EMPTY,
            written: [(0, 0); 64],
            asked_about: 0,
            pipes: 0,
            sockets: 0,
            written_count: 0,
            forked_at: (0, 0),
        }
    }

    /// Whether another process may write what this one reads.
    pub fn has_forked(&self) -> bool {
        self.forked_at != (0, 0)
    }

    /// A child was, or is about to be, started.
    pub fn forked(&mut self) {
        if !self.has_forked() {
            self.forked_at = system::file_time();
        }
    }

    /// The channel that a descriptor leads to.
    pub fn of_descriptor(&self, fd: i32) -> Option<u32> {
        let number = *self.descriptors.get(fd as usize)?;
        if number >= UNREAD_PIPE {
            return None;
        }
        (number as u32).checked_sub(1)
    }

    /// The descriptor leads to an unread pipe or socket, or to nothing.
    pub fn set_flow(&mut self, fd: i32, kind: Option<ChannelKind>) {
        if let Some(place) = self.descriptors.get_mut(fd as usize) {
            *place = match kind {
                Some(ChannelKind::Pipe) => UNREAD_PIPE,
                Some(ChannelKind::Socket) => UNREAD_SOCKET,
                _ => 0,
            };
        }
    }

    /// Whether the descriptor leads to a pipe or socket that was not read yet.
    pub fn flow(&self, fd: i32) -> Option<ChannelKind> {
        match *self.descriptors.get(fd as usize)? {
            UNREAD_PIPE => Some(ChannelKind::Pipe),
            UNREAD_SOCKET => Some(ChannelKind::Socket),
            _ => None,
        }
    }

    /// `to` leads to whatever `from` leads to.
    pub fn duplicate(&mut self, from: i32, to: i32) {
        let same = self.descriptors.get(from as usize).copied().unwrap_or(0);
        if let Some(place) = self.descriptors.get_mut(to as usize) {
            *place = same;
        }
    }

    /// From now on the descriptor leads to this channel, or to none.
    pub fn set_descriptor(&mut self, fd: i32, channel: Option<u32>) {
        if let Some(place) = self.descriptors.get_mut(fd as usize) {
            *place = channel.map_or(0, |channel| channel as u16 + 1);
        }
    }

    /// What is known of a channel.
    pub fn channel(&mut self, number: u32) -> &mut Channel {
        match self.channels.get_mut(number as usize) {
            Some(channel) => channel,
            None => {
                self.no_channel = EMPTY;
                &mut self.no_channel
            }
        }
    }

    /// Whether a channel is a length: asked for every new input term.
    pub fn is_length(&self, number: u32) -> bool {
        self.channels[number as usize % CHANNEL_ROWS].is_length
    }

    /// How many lines of a channel have a symbolic length.
    pub fn lines(&self, number: u32) -> u32 {
        self.channels[number as usize % CHANNEL_ROWS].lines
    }

    /// How many channels there are.
    pub fn count(&self) -> u32 {
        self.count as u32
    }

    /// Where the next `read` of a descriptor gets its bytes.
    pub fn source(&mut self, fd: i32) -> Option<Source> {
        let channel = self.of_descriptor(fd)?;
        let known = *self.channel(channel);
        let position = system::position(fd);
        Some(Source {
            channel,
            offset: match position {
                Some(position) => position.wrapping_sub(known.start),
                None => known.position,
            },
            seekable: position.is_some(),
        })
    }
}

impl Runtime {
    /// A new channel with this name and content, which are copied.
    pub fn add_channel(
        &mut self,
        kind: ChannelKind,
        index: u32,
        name: &[u8],
        content: &[u8],
    ) -> Option<u32> {
        // SAFETY: slices are readable.
        let blobs = unsafe {
            self.trace
                .append_blob(name.as_ptr(), name.len() as u64)
                .and_then(|name| {
                    let content = self
                        .trace
                        .append_blob(content.as_ptr(), content.len() as u64)?;
                    Ok((name, content))
                })
        };
        match blobs {
            Ok((name_offset, content_offset)) => self.add_row(
                kind,
                ChannelRow {
                    index,
                    name_offset,
                    name_size: name.len() as u64,
                    content_offset,
                    content_size: content.len() as u64,
                    ..ChannelRow::default()
                },
            ),
            Err(full) => {
                self.blob_full(full);
                None
            }
        }
    }

    /// A new channel whose name and content are in the trace already.
    pub fn add_row(&mut self, kind: ChannelKind, row: ChannelRow) -> Option<u32> {
        let channel = self.trace.append_channel(kind, row);
        match channel {
            Some(_) => self.inputs.count += 1,
            None => self.trace.note(NoteKind::InputLimit, SiteId::NONE, 1),
        }
        channel
    }

    /// Without room for a blob an input is concrete; without disk nothing can go on.
    pub fn blob_full(&mut self, full: Full) {
        match full {
            Full::Limit => self.trace.note(NoteKind::InputLimit, SiteId::NONE, 1),
            Full::Disk | Full::Closed => self.stop_full(full),
        }
    }

    /// The term of an input byte; 0 if it once had another value.
    pub fn input_byte(&mut self, channel: u32, offset: u32, value: u8) -> Label {
        let term = Term::new(Op::Input, 8, channel, offset, 0);
        let label = self.intern(term, value as u128);
        if label != CONCRETE && self.trace.term(label).value != value as u64 {
            self.trace.note(NoteKind::InputChanged, SiteId::NONE, 1);
            return CONCRETE;
        }
        label
    }

    /// The `size` bytes at `address` are the channel's from `offset` on.
    ///
    /// # Safety
    /// The bytes are readable.
    pub unsafe fn label_input(
        &mut self,
        channel: u32,
        offset: u64,
        (address, size): (u64, u64),
        site: SiteId,
    ) {
        self.shadow.clear(address, size);
        let room = self.options.input.saturating_sub(offset);
        let labelled = size.min(room);
        if labelled < size {
            self.trace.note(NoteKind::InputLimit, site, 1);
            self.keeps_rest(channel, offset + size, site);
        }
        for byte in 0..labelled {
            // SAFETY: as promised by the caller.
            let value = unsafe { ((address + byte) as *const u8).read() };
            let label = self.input_byte(channel, (offset + byte) as u32, value);
            if label != CONCRETE {
                self.shadow.set(address + byte, ShadowWord::new(label, 0));
            } else if self.has_stopped() {
                return;
            }
        }
    }

    /// Bytes beyond the limit are what they are: the input does not end before `end`.
    fn keeps_rest(&mut self, channel: u32, end: u64, site: SiteId) {
        let length = self.inputs.channel(channel).whole;
        if length != CONCRETE && u128::from(end) <= self.value(length) {
            let there = self.is_at_most(u128::from(end), length);
            self.decided(EventKind::Assume, there, true, site);
        }
    }

    /// The program read what is no input. Where only named memory is input, paths may depend on that,
    /// also on what the program itself has written there.
    pub fn came_from_outside(&mut self, site: SiteId) {
        let reads_inputs = [ChannelKind::File, ChannelKind::Stdin];
        if !reads_inputs
            .into_iter()
            .any(|kind| self.options.has_channel(kind))
        {
            self.trace.note(NoteKind::NoInput, site, 1);
        }
    }

    /// Bytes came from a source, or from somewhere unknown.
    ///
    /// # Safety
    /// The bytes are readable.
    pub unsafe fn received(
        &mut self,
        source: Option<Source>,
        (address, size): (u64, u64),
        site: SiteId,
    ) {
        let Some(source) = source else {
            if size > 0 {
                self.came_from_outside(site);
                // SAFETY: as promised by the caller: somebody has just written them.
                unsafe { self.note_answer_bytes((address, size), site) };
            }
            return self.shadow.clear(address, size);
        };
        if let Some(index) = source.kept() {
            return self.came_back(index, source.offset, (address, size), site);
        }
        let channel = self.inputs.channel(source.channel);
        let is_flow = channel.room != 0;
        if is_flow {
            // A stream has read ahead of what it gives the program.
            channel.position = channel.position.max(source.offset + size);
        } else if !source.seekable {
            channel.position = source.offset + size;
        }
        let mut size = size;
        if is_flow {
            self.shadow.clear(address, size);
            // SAFETY: as promised by the caller: somebody has just written them.
            size = unsafe { self.flowed(source, address, size, site) };
        }
        // SAFETY: as promised by the caller.
        unsafe { self.label_input(source.channel, source.offset, (address, size), site) };
    }
}
