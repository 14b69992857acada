//! How far reading gets: what an input's length means for the functions that read it.
//!
//! What they return (a count, a byte or the end, a line or nothing) depends on the length. What
//! such a result says about the length *behind* it, the path is told by branches in their name:
//! whoever reads byte 100 has an input of at least 100 bytes.

use nearmiss_abi::event::{
    LENGTH_ENDING, LENGTH_FITS, LENGTH_GOES_ON, LENGTH_NO_ENDING, LENGTH_REACHED,
};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::bounds::Span;
use crate::formula::Word;
use crate::input::Source;
use crate::runtime::Runtime;

/// The maximum of bytes of a line without an end that are known not to end it.
const MOST_IN_LINE: u64 = 4096;

/// A line as it was read: `size` bytes, with the byte that ends it if there is one.
#[derive(Clone, Copy)]
pub struct Line {
    /// Where it lies in memory.
    pub address: u64,
    /// Bytes, without the zero behind them.
    pub size: u64,
    /// The byte that ends lines.
    pub ending: u8,
    /// Where it was read to, and how many bytes with the zero; `None`: as many as it needs.
    pub room: Option<Span>,
}

impl Runtime {
    /// The length of the channel, if it is symbolic and the source stands inside it.
    pub fn length_at(&mut self, source: Source) -> Option<Label> {
        if source.kept().is_some() {
            return None;
        }
        let length = self.inputs.channel(source.channel).whole;
        let inside = length != CONCRETE && source.offset as u128 <= self.value(length);
        inside.then_some(length)
    }

    /// From here on the length of a channel is what it was in this run.
    pub fn fix_length(&mut self, channel: u32, site: SiteId) {
        let length = core::mem::take(&mut self.inputs.channel(channel).whole);
        self.fix(length, NoteKind::Length, site);
    }

    /// The input is at least `position` bytes long: so much was read of it.
    /// Said once: it holds of every smaller position as well.
    pub fn reached(&mut self, channel: u32, length: Label, position: u64, site: SiteId) {
        let known = &mut self.inputs.channel(channel).reached;
        if position > *known {
            *known = position;
            let there = self.is_at_most(position as u128, length);
            self.decided_by_length(LENGTH_REACHED, there, true, site);
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
        self.reached(source.channel, length, source.offset, site);
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
        self.reached(source.channel, length, source.offset, site);
        let goes_on = self.is_below(source.offset as u128, length);
        self.decided_by_length(LENGTH_GOES_ON, goes_on, false, site);
    }

    /// A line was read, and its bytes are labelled: labels its end. Returns the label of its
    /// size, with the byte that ends it, 64 bits.
    ///
    /// # Safety
    /// The line is readable.
    pub unsafe fn line_read(&mut self, source: Source, line: Line, site: SiteId) -> Label {
        if source.kept().is_some() || source.offset + line.size > self.options.input {
            return CONCRETE;
        }
        // SAFETY: as promised by the caller.
        let has_ending = line.size > 0
            && unsafe { ((line.address + line.size - 1) as *const u8).read() } == line.ending;
        let size = if has_ending {
            let size = self.size_of_ended_line(source, line);
            if size.is_none() {
                self.ends_there(&line, site);
            }
            size
        } else {
            self.goes_on(&line, site);
            self.size_of_last_line(source, line, site)
        };
        if let Some(room) = line.room {
            self.check_line(source, &line, size, &room);
        }
        let Some(size) = size else {
            return CONCRETE;
        };
        if let Some(room) = line.room {
            // With less room the rest of the line would be read as another one.
            let asked = self.settled(room.size, site);
            let wide = self.wide_length(size);
            let fits = self.relate(Op::Ult, wide, asked);
            self.decided_by_length(LENGTH_FITS, fits.label, true, site);
        }
        self.end_string(line.address + line.size, size);
        self.zero_extend(size, 64)
    }

    /// No byte of a line that the end of the input or of its room ended would have ended it: one decision for all
    /// of them.
    fn goes_on(&mut self, line: &Line, site: SiteId) {
        let all = self.has_no_ending(line, line.size);
        self.decided_by_length(LENGTH_NO_ENDING, all, true, site);
    }

    /// A line has no length of its own, and was ended by its last byte: that is one decision, too.
    fn ends_there(&mut self, line: &Line, site: SiteId) {
        let before = self.has_no_ending(line, line.size - 1);
        let last = self.compare_with_ending(line, line.address + line.size - 1, Op::Eq);
        let both = self.all_of(before, last);
        let size = line.size.min(u64::from(u16::MAX - LENGTH_ENDING)) as u16;
        self.decided_by_length(LENGTH_ENDING + size, both, true, site);
    }

    /// That none of the first bytes of a line would have ended it.
    fn has_no_ending(&mut self, line: &Line, size: u64) -> Label {
        let mut all = CONCRETE;
        for address in line.address..line.address + size.min(MOST_IN_LINE) {
            let differs = self.compare_with_ending(line, address, Op::Ne);
            all = self.all_of(all, differs);
        }
        all
    }

    /// Whether a byte of a line is, or is not, the one that ends lines; concrete where it is no input.
    fn compare_with_ending(&mut self, line: &Line, address: u64, op: Op) -> Label {
        let label = self.shadow.get(address).label();
        let term = *self.trace.term(label);
        if term.op != Op::Input as u8 {
            return CONCRETE;
        }
        let value = self.value(label) as u64;
        self.operate(op, 8, [label, CONCRETE], [value, line.ending as u64])
    }

    /// That both hold, of conditions that do; a concrete one says nothing.
    fn all_of(&mut self, one: Label, other: Label) -> Label {
        match (one, other) {
            (CONCRETE, it) | (it, CONCRETE) => it,
            _ => self.operate(Op::And, 1, [one, other], [1, 1]),
        }
    }

    /// A line of `size` bytes (0: as many as in this run) was read to `room`, whose size counts the
    /// zero: must it fit, whatever its length and the size are?
    fn check_line(&mut self, source: Source, line: &Line, size: Option<Label>, room: &Span) {
        let line_size = match size {
            Some(size) => self.wide_length(size),
            None if line.size + 1 < room.size.value => Word::concrete(line.size),
            // The room ended the line. How long it is, is not known: as long as the input, at most.
            None => {
                let left = self.left(Some(source), room.site);
                let all = left.map_or(room.size, |left| self.one_more(left));
                let size = self.smaller(room.size, all);
                return self.probe_room(Some(source), &Span { size, ..*room });
            }
        };
        let with_zero = self.one_more(line_size);
        let size = self.smaller(with_zero, room.size);
        self.check_span(&Span { size, ..*room });
    }

    fn one_more(&mut self, word: Word) -> Word {
        self.calculate(Op::Add, word, Word::concrete(1))
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

    /// The length of a word of `count` bytes that was read from a stream to `address`: 64 bits.
    pub fn word_length(&mut self, address: u64, count: u64, at_end: bool, site: SiteId) -> Label {
        let Some(source) = self.source_of_word(address, count) else {
            return CONCRETE;
        };
        let word = Line {
            address,
            size: count,
            ending: 0,
            room: None,
        };
        let length = if at_end {
            self.size_of_last_line(source, word, site)
        } else {
            self.line_length(source.channel, source.offset, count)
        };
        length.map_or(CONCRETE, |length| self.zero_extend(length, 64))
    }

    /// Where the bytes of a word come from, if they are one piece of a channel.
    fn source_of_word(&self, address: u64, count: u64) -> Option<Source> {
        let byte_at = |place: u64| {
            let term = *self.trace.term(self.shadow.get(place).label());
            let is_input = term.op == Op::Input as u8 && !self.inputs.is_length(term.a);
            is_input.then_some((term.a, term.b as u64))
        };
        let (channel, offset) = byte_at(address)?;
        let last = byte_at(address + count.checked_sub(1)?)?;
        let in_one_piece = last == (channel, offset + count - 1);
        in_one_piece.then_some(Source {
            channel,
            offset,
            seekable: true,
        })
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
            self.reached(source.channel, length, end, site);
            return None;
        }
        self.reached(source.channel, length, source.offset + 1, site);
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
        let mut line = |text: &[u8], offset: u64, room: Option<u64>| {
            let line = Line {
                address: text.as_ptr() as u64,
                size: text.len() as u64 - 1,
                ending: b'\n',
                room: room.map(|size| Span {
                    address: Word::concrete(text.as_ptr() as u64),
                    size: Word::concrete(size),
                    write: true,
                    site: SiteId::NONE,
                }),
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
