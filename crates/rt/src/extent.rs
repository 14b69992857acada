//! How far reading gets: what an input's length means for the functions that read it.
//!
//! What they return (a count, a byte or the end, a line or nothing) depends on the length. What
//! such a result says about the length *behind* it, the path is told by branches in their name:
//! whoever reads byte 100 has an input of at least 100 bytes.

use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::input::Source;
use crate::lengths::LENGTH_BITS;
use crate::runtime::Runtime;

/// Most reads of a channel whose counts are symbolic: a program that reads byte by byte would
/// otherwise make more terms about the length than about the bytes.
const MOST_COUNTS: u32 = 1024;

/// A line as it was read: `size` bytes, with the byte that ends it if there is one.
#[derive(Clone, Copy)]
pub struct Line {
    /// Where it lies in memory.
    pub address: u64,
    /// Bytes, without the zero behind them.
    pub size: u64,
    /// The byte that ends lines.
    pub ending: u8,
    /// Bytes that there was room for, with the zero; `None`: as many as the line needs.
    pub room: Option<u64>,
}

impl Runtime {
    /// The length of the channel, if it is symbolic and the source stands inside it.
    fn length_at(&mut self, source: Source) -> Option<Label> {
        let length = self.inputs.channel(source.channel).whole;
        let inside = length != CONCRETE && source.offset as u128 <= self.value(length);
        inside.then_some(length)
    }

    /// The label of what a read of `size` bytes returned, `got`: 64 bits.
    pub fn count_read(&mut self, source: Source, size: u64, got: u64, site: SiteId) -> Label {
        let Some(length) = self.length_at(source) else {
            return CONCRETE;
        };
        let counts = &mut self.inputs.channel(source.channel).counts;
        *counts += 1;
        if *counts > MOST_COUNTS {
            self.fix_length(source.channel, site);
            return CONCRETE;
        }
        self.reached(length, source.offset, site);
        let count = self.read_count(length, source.offset, size);
        // A read may get less than there is (of a terminal, say).
        self.trusted_count(count, got)
    }

    fn trusted_count(&mut self, count: Label, got: u64) -> Label {
        if count != CONCRETE && self.value(count) == got as u128 {
            count
        } else {
            CONCRETE
        }
    }

    /// From here on the length of a channel is what it was in this run.
    pub fn fix_length(&mut self, channel: u32, site: SiteId) {
        let length = core::mem::take(&mut self.inputs.channel(channel).whole);
        self.fix(length, NoteKind::Length, site);
    }

    /// `min(length - position, size)` as a term of 64 bits.
    fn read_count(&mut self, length: Label, position: u64, size: u64) -> Label {
        let wide = self.zero_extend(length, 64);
        let left = self.plus(wide, position.wrapping_neg() as u128);
        let left_value = self.value(left) as u64;
        let values = [left_value, size];
        let is_all = self.operate(Op::Ule, 64, [left, CONCRETE], values);
        self.choose(64, (is_all, left_value <= size), [left, CONCRETE], values)
    }

    /// Items of `size` bytes in `bytes`, a count of 64 bits.
    pub fn count_items(&mut self, bytes: Label, size: u64) -> Label {
        if bytes == CONCRETE || size <= 1 {
            return bytes;
        }
        let value = self.value(bytes) as u64;
        self.operate(Op::UDiv, 64, [bytes, CONCRETE], [value, size])
    }

    /// The input is at least `position` bytes long: so much was read of it.
    fn reached(&mut self, length: Label, position: u64, site: SiteId) {
        if position != 0 {
            let there = self.is_at_most(position as u128, length);
            self.decided(EventKind::Branch, there, true, site);
        }
    }

    /// The label of what `getc` returns at the end: -1, or the byte there of a longer input.
    pub fn byte_at_end(&mut self, source: Source, site: SiteId) -> Label {
        let Some(length) = self.length_at(source) else {
            return CONCRETE;
        };
        if source.offset as u128 != self.value(length) {
            return CONCRETE;
        }
        let Some(byte) = self.byte_behind(length) else {
            return CONCRETE;
        };
        self.reached(length, source.offset, site);
        let goes_on = self.is_below(source.offset as u128, length);
        let byte = self.zero_extend(byte, 32);
        self.choose(32, (goes_on, false), [byte, CONCRETE], [0, u32::MAX as u64])
    }

    /// A function that reads lines got none, at the end of the input.
    pub fn no_line(&mut self, source: Source, site: SiteId) {
        let Some(length) = self.length_at(source) else {
            return;
        };
        if source.offset as u128 != self.value(length) {
            return;
        }
        self.reached(length, source.offset, site);
        let goes_on = self.is_below(source.offset as u128, length);
        self.decided(EventKind::Branch, goes_on, false, site);
    }

    /// A line was read, and its bytes are labelled: labels its end. Returns the label of its
    /// size, with the byte that ends it, 64 bits.
    ///
    /// # Safety
    /// The line is readable.
    pub unsafe fn line_read(&mut self, source: Source, line: Line, site: SiteId) -> Label {
        if source.offset + line.size > self.options.input {
            return CONCRETE;
        }
        // SAFETY: as promised by the caller.
        let has_ending = line.size > 0
            && unsafe { ((line.address + line.size - 1) as *const u8).read() } == line.ending;
        let size = if has_ending {
            self.size_of_ended_line(source, line)
        } else {
            self.size_of_last_line(source, line, site)
        };
        let Some(size) = size else {
            return CONCRETE;
        };
        if let Some(room) = line.room {
            // With less room the rest of the line would be read as another one.
            let values = [line.size, room];
            let fits = self.operate(Op::Ult, LENGTH_BITS, [size, CONCRETE], values);
            self.decided(EventKind::Branch, fits, true, site);
        }
        self.end_string(line.address + line.size, size);
        self.zero_extend(size, 64)
    }

    /// The size of the block that `getline` has for a line of `size` bytes, `room` in this run:
    /// it is made larger for a longer one.
    pub fn room_of_line(&mut self, size: Label, room: u64) -> Label {
        if size == CONCRETE {
            return CONCRETE;
        }
        let needed = self.plus(size, 1);
        let value = self.value(needed) as u64;
        let fits = self.operate(Op::Ule, 64, [needed, CONCRETE], [value, room]);
        self.choose(64, (fits, value <= room), [CONCRETE, needed], [room, value])
    }

    fn size_of_ended_line(&mut self, source: Source, line: Line) -> Option<Label> {
        let length = self.line_length(source.channel, source.offset, line.size - 1)?;
        Some(self.plus(length, 1))
    }

    /// The end of the input ended the line, or there was no more room for it.
    fn size_of_last_line(&mut self, source: Source, line: Line, site: SiteId) -> Option<Label> {
        let length = self.length_at(source)?;
        let end = source.offset + line.size;
        if end as u128 != self.value(length) {
            self.reached(length, end, site);
            return None;
        }
        self.reached(length, source.offset + 1, site);
        Some(self.plus(length, source.offset.wrapping_neg() as u128))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::testing::Scratch;
    use nearmiss_abi::channel::{ChannelKind, PIECE_WHOLE};

    /// A file of this content, with a symbolic length.
    fn file(runtime: &mut Scratch, content: &[u8]) -> Label {
        let channel = runtime
            .add_channel(ChannelKind::File, 0, b"/f", content)
            .unwrap();
        runtime
            .add_length(channel, 0, content.len() as u64, PIECE_WHOLE)
            .unwrap()
    }

    fn at(offset: u64) -> Source {
        Source {
            channel: 0,
            offset,
            seekable: true,
        }
    }

    #[test]
    fn counts_of_reads_are_what_is_left() {
        let mut runtime = Scratch::new();
        file(&mut runtime, b"0123456789");
        for (offset, got) in [(0, 4), (8, 2), (10, 0)] {
            let count = runtime.count_read(at(offset), 4, got, SiteId::NONE);
            assert_eq!(runtime.value(count), got as u128);
            assert!(runtime.is_length(count));
        }
        let short = runtime.count_read(at(0), 4, 3, SiteId::NONE);
        assert_eq!(short, CONCRETE, "fewer than there are");
        let outside = runtime.count_read(at(11), 4, 0, SiteId::NONE);
        assert_eq!(outside, CONCRETE);
    }

    #[test]
    fn items_are_whole_ones() {
        let mut runtime = Scratch::new();
        file(&mut runtime, b"0123456789");
        let bytes = runtime.count_read(at(0), 400, 10, SiteId::NONE);
        let items = runtime.count_items(bytes, 4);
        assert_eq!(runtime.value(items), 2);
        assert_eq!(runtime.count_items(bytes, 1), bytes);
    }

    #[test]
    fn many_reads_fix_the_length() {
        let mut runtime = Scratch::new();
        let length = file(&mut runtime, b"0123456789");
        for _ in 0..MOST_COUNTS {
            assert_ne!(runtime.count_read(at(0), 4, 4, SiteId::NONE), CONCRETE);
        }
        assert_eq!(runtime.count_read(at(0), 4, 4, SiteId::NONE), CONCRETE);
        assert!(runtime.fixed.contains(&length));
        assert_eq!(runtime.count_read(at(0), 4, 4, SiteId::NONE), CONCRETE);
    }

    #[test]
    fn the_end_of_a_file_is_a_byte_of_a_longer_one() {
        let mut runtime = Scratch::new();
        file(&mut runtime, b"012");
        let end = runtime.byte_at_end(at(3), SiteId::NONE);
        assert_eq!(runtime.value(end), u32::MAX as u128);
        assert_eq!(runtime.byte_at_end(at(2), SiteId::NONE), CONCRETE);
    }

    #[test]
    fn lines_end_with_a_newline_or_with_the_file() {
        let mut runtime = Scratch::new();
        let whole = file(&mut runtime, b"one\nlast");
        let mut line = |text: &[u8], offset: u64, room| {
            let line = Line {
                address: text.as_ptr() as u64,
                size: text.len() as u64 - 1,
                ending: b'\n',
                room,
            };
            // SAFETY: the text is readable.
            let size = unsafe { runtime.line_read(at(offset), line, SiteId::NONE) };
            let end = runtime.open_end_at(line.address + line.size);
            (size, end.map(|end| runtime.sum(end)))
        };
        let (size, end) = line(b"one\n\0", 0, Some(100));
        assert_ne!(size, CONCRETE);
        assert_eq!(end.map(|end| end.offset), Some(1));
        let (size, end) = line(b"last\0", 4, Some(100));
        assert_ne!(size, CONCRETE);
        assert_eq!(end.map(|end| end.base), Some(whole));
        let (size, end) = line(b"on\0", 0, Some(3));
        assert_eq!((size, end), (CONCRETE, None), "the room ended it");
    }
}
