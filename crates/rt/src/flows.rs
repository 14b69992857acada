//! Pipes and sockets: inputs whose bytes are known only when they come.
//!
//! A descriptor that leads to a pipe or socket is marked when it is made, and becomes a channel
//! when it is read for the first time. Contents of channels lie in one piece, so each has room
//! set aside at once; its content grows as bytes come, and what does not fit is concrete.
//!
//! In a run with an invented input (`NEARMISS_REPLAY`) the real read is made, so that whoever
//! writes at the other end notices nothing, and then its bytes are replaced.

use nearmiss_abi::channel::{ChannelKind, ChannelRow};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;

use crate::events::place_of;
use crate::input::Source;
use crate::replay;
use crate::runtime::Runtime;
use crate::system;

/// Bytes of a pipe or socket that are symbolic.
const ROOM: u64 = 64 << 10;

impl Runtime {
    /// Descriptors of a pipe or socket were made.
    pub fn made_flow(&mut self, descriptors: &[i32], kind: ChannelKind) {
        for &fd in descriptors {
            let wanted = self.options.has_channel(kind).then_some(kind);
            self.inputs.set_flow(fd, wanted);
        }
    }

    /// Where the next `read` of a descriptor gets its bytes.
    pub fn source(&mut self, fd: i32) -> Option<Source> {
        if self.inputs.has_forked() && self.is_flow(fd) {
            self.inputs.set_flow(fd, None);
            self.fed_by_child();
        }
        if let Some(kind) = self.inputs.flow(fd) {
            let channel = self.add_flow(kind);
            self.inputs.set_descriptor(fd, channel);
        }
        match self.inputs.of_descriptor(fd) {
            Some(_) => self.inputs.source(fd),
            None => self.kept_source(fd),
        }
    }

    /// Where a read at an offset of the program's choice gets its bytes.
    pub fn source_at(&mut self, fd: i32, offset: i64) -> Option<Source> {
        let Some(channel) = self.inputs.of_descriptor(fd) else {
            let source = self.kept_source(fd)?;
            return Some(Source {
                offset: offset as u64,
                ..source
            });
        };
        let start = self.inputs.channel(channel).start;
        Some(Source {
            channel,
            offset: (offset as u64).wrapping_sub(start),
            seekable: true,
        })
    }

    /// What a child of the program writes follows from what the child was given.
    pub fn fed_by_child(&mut self) {
        self.trace
            .note(NoteKind::Outside, place_of(SiteId::NONE), 1);
    }

    /// Whether the descriptor leads to a pipe or socket that is an input, read or not.
    pub fn is_flow(&mut self, fd: i32) -> bool {
        let channel = self.inputs.of_descriptor(fd);
        let was_read = channel.is_some_and(|number| self.inputs.channel(number).room != 0);
        was_read || self.inputs.flow(fd).is_some()
    }

    fn add_flow(&mut self, kind: ChannelKind) -> Option<u32> {
        let (name, index): (&[u8], u32) = match kind {
            ChannelKind::Pipe => (b"pipe", self.inputs.pipes),
            _ => (b"socket", self.inputs.sockets),
        };
        // SAFETY: the name is readable.
        let name_offset = unsafe { self.trace.append_blob(name.as_ptr(), name.len() as u64) };
        let blobs = name_offset.and_then(|name_offset| {
            self.trace.blob_room(ROOM)?;
            Ok((name_offset, self.trace.blob_keep(ROOM)))
        });
        let (name_offset, content_offset) = match blobs {
            Ok(offsets) => offsets,
            Err(full) => {
                self.blob_full(full);
                return None;
            }
        };
        let row = ChannelRow {
            index,
            name_offset,
            name_size: name.len() as u64,
            content_offset,
            ..ChannelRow::default()
        };
        let channel = self.add_row(kind, row)?;
        match kind {
            ChannelKind::Pipe => self.inputs.pipes += 1,
            _ => self.inputs.sockets += 1,
        }
        self.inputs.channel(channel).room = ROOM;
        Some(channel)
    }

    /// Bytes of a pipe or socket came to `address`: replaces those that the invented input has,
    /// and keeps them in the trace. How many are part of the channel.
    ///
    /// # Safety
    /// The bytes are writable.
    pub unsafe fn flowed(&mut self, source: Source, address: u64, size: u64, site: SiteId) -> u64 {
        let row = self.trace.channel(source.channel);
        let name = self.trace.blob(row.name_offset, row.name_size);
        replay::with_content(name, row.index, |content| {
            let from = content.get(source.offset as usize..).unwrap_or_default();
            let replaced = from.len().min(size as usize);
            // SAFETY: as promised by the caller; the row is mapped.
            unsafe { system::copy_bytes(address as *mut u8, from.as_ptr(), replaced) };
        });
        let room = self.inputs.channel(source.channel).room;
        let kept = size.min(room.saturating_sub(source.offset));
        if kept < size {
            self.trace.note(NoteKind::InputLimit, site, 1);
        }
        // SAFETY: as promised by the caller; the room was set aside.
        unsafe {
            self.trace
                .set_content(source.channel, source.offset, address as *const u8, kept);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::testing::Scratch;

    #[test]
    fn a_pipe_becomes_a_channel_when_it_is_read() {
        let mut runtime = Scratch::with_options(b"channels=p");
        runtime.made_flow(&[700, 701], ChannelKind::Pipe);
        runtime.made_flow(&[702], ChannelKind::Socket);
        assert_eq!(runtime.inputs.of_descriptor(700), None);
        assert_eq!(runtime.inputs.count(), 0);
        assert!(runtime.source(702).is_none(), "sockets are not wanted");
        let text = *b"first second";
        let at = text.as_ptr() as u64;
        for (from, size) in [(0, 6), (6, 6)] {
            let source = runtime.source(700);
            assert!(source.is_some_and(|source| source.offset == from));
            // SAFETY: the text is there.
            unsafe { runtime.received(source, (at + from, size), SiteId::NONE) };
        }
        let row = runtime.trace.channel(0);
        assert_eq!((row.kind, row.index), (ChannelKind::Pipe as u8, 0));
        let content = runtime.trace.blob(row.content_offset, row.content_size);
        assert_eq!(content, b"first second");
        let last = runtime.load(at + 11, 1, b'd' as u64);
        assert_eq!(runtime.trace.term(last).b, 11);
        // The other end is another channel.
        assert!(
            runtime
                .source(701)
                .is_some_and(|source| source.channel == 1)
        );
    }
}
