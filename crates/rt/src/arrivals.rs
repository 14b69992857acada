//! What a read brings: how many bytes arrive at its destination, for this input and for others.
//!
//! ```text
//! arriving = min(length of the input - position, size asked for)
//! ```
//!
//! So many must have room, whatever the length and the size are: `read(0, b, 64)` into eight bytes
//! fails for an input of nine. The destination is checked before anything is concretized. Where
//! the length is not known (pipes, sockets, terminals) a size that leaves the destination is a
//! probe: such an input is run, and the twin judges what came.

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::bounds::Span;
use crate::formula::{Truth, Word};
use crate::input::Source;
use crate::runtime::Runtime;

/// Maximum number of reads of a channel whose counts are symbolic: a program that reads byte by
/// byte would otherwise make more terms about the length than about the bytes.
pub const MAX_COUNTS: u32 = 1024;

/// A read that is under way.
#[derive(Clone, Copy)]
pub struct Reading {
    /// Where its bytes come from.
    pub source: Option<Source>,
    /// How many bytes arrive, as far as the input's length and the size tell.
    arriving: Word,
}

impl Reading {
    /// A read whose destination was checked, if anything tells how many bytes arrive.
    pub fn of(source: Option<Source>, arriving: Word, is_known: bool) -> Reading {
        Reading {
            source,
            arriving: if is_known {
                arriving
            } else {
                Word::concrete(0)
            },
        }
    }
}

impl Default for Reading {
    fn default() -> Reading {
        Reading {
            source: None,
            arriving: Word::concrete(0),
        }
    }
}

impl Runtime {
    /// `to.size` bytes of a source are about to be read to `to.address`: those that arrive must
    /// fit. Address and size then keep their values, except for lengths.
    pub fn reading(&mut self, source: Option<Source>, to: &Span) -> Reading {
        let left = self.left(source, to.site);
        match left {
            Some(left) => {
                let size = self.smaller(to.size, left);
                self.check_span(&Span { size, ..*to });
            }
            None => self.probe_room(source, to),
        }
        self.settle(to.address, NoteKind::Address, to.site);
        let asked = self.settled(to.size, to.site);
        Reading {
            source,
            arriving: left.map_or(Word::concrete(0), |left| self.smaller(asked, left)),
        }
    }

    /// The size after it was concretized, which a length is not.
    pub fn settled(&mut self, size: Word, site: SiteId) -> Word {
        self.settle(size, NoteKind::Size, site);
        if self.is_length(size.label) {
            size
        } else {
            Word::concrete(size.value)
        }
    }

    /// Nothing tells how many bytes come: all that are asked for may.
    pub fn probe_room(&mut self, source: Option<Source>, to: &Span) {
        let Some(fits) = self.fits(to) else {
            return;
        };
        if fits.label != CONCRETE {
            self.probe(Kind::OutOfBoundsWrite, fits, to.site);
        } else if source.is_some_and(|source| source.kept().is_none()) && !fits.holds {
            // Of this input no longer version is tried.
            self.trace.note(NoteKind::Length, to.site, 1);
        }
    }

    /// Bytes between the source's position and the end of the input. `None`: not known.
    pub fn left(&mut self, source: Option<Source>, site: SiteId) -> Option<Word> {
        let source = source?;
        let known = *self.inputs.channel(source.channel);
        let Some(length) = self.length_at(source) else {
            let end = known.status.size.wrapping_sub(known.start);
            let is_file = source.seekable && known.status.is_regular();
            return is_file.then(|| Word::concrete(end.saturating_sub(source.offset)));
        };
        let counts = &mut self.inputs.channel(source.channel).counts;
        *counts += 1;
        if *counts > MAX_COUNTS {
            let left = self.value(length) as u64 - source.offset;
            self.fix_length(source.channel, site);
            return Some(Word::concrete(left));
        }
        let position = self.position(source);
        if !position.is_symbolic() {
            self.reached(source.channel, length, source.offset, site);
        }
        let whole = self.wide_length(length);
        Some(self.calculate(Op::Sub, whole, position))
    }

    /// A length of 32 bits as a word.
    pub fn wide_length(&mut self, length: Label) -> Word {
        Word {
            label: self.zero_extend(length, 64),
            value: self.value(length) as u64,
        }
    }

    /// The smaller of two words.
    pub fn smaller(&mut self, a: Word, b: Word) -> Word {
        if a.label == b.label && a.value == b.value {
            return a;
        }
        let is_a = self.relate(Op::Ule, a, b);
        let values = [a.value, b.value];
        Word {
            label: self.choose(64, (is_a.label, is_a.holds), [a.label, b.label], values),
            value: a.value.min(b.value),
        }
    }

    /// The read brought `got` bytes: the label of that count, 64 bits. A read may get less than
    /// there is (of a terminal, say): then it has none.
    pub fn count_of(&self, reading: &Reading, got: u64) -> Label {
        if reading.arriving.value == got {
            reading.arriving.label
        } else {
            CONCRETE
        }
    }

    /// As [`Runtime::count_of`], of a read that moved the position.
    pub fn count_read(&mut self, reading: &Reading, got: u64) -> Label {
        let label = self.count_of(reading, got);
        if let Some(source) = reading.source {
            self.moved(source, Word { label, value: got });
        }
        label
    }

    /// Items of `size` bytes in `bytes`, a count of 64 bits.
    pub fn count_items(&mut self, bytes: Label, size: u64) -> Label {
        if bytes == CONCRETE || size <= 1 {
            return bytes;
        }
        let value = self.value(bytes) as u64;
        self.operate(Op::UDiv, 64, [bytes, CONCRETE], [value, size])
    }
}

/// Positions that depend on the length of the input: behind `lseek(fd, -4, SEEK_END)`, say.
impl Runtime {
    /// The position of a source, as far as reads have to know it.
    fn position(&mut self, source: Source) -> Word {
        let known = *self.inputs.channel(source.channel);
        if known.sought {
            self.told_position(source)
        } else {
            Word::concrete(source.offset)
        }
    }

    /// The position of a source, as `ftell` says it.
    pub fn told_position(&mut self, source: Source) -> Word {
        let mark = self.inputs.channel(source.channel).mark;
        let is_here = mark != CONCRETE && self.value(mark) == source.offset as u128;
        Word {
            label: if is_here { mark } else { CONCRETE },
            value: source.offset,
        }
    }

    /// A read moved the position on by `count`.
    fn moved(&mut self, source: Source, count: Word) {
        let before = self.position(source);
        let after = self.calculate(Op::Add, before, count);
        let known = self.inputs.channel(source.channel);
        known.mark = after.label;
        known.sought &= after.is_symbolic();
    }

    /// The program moved a descriptor or stream, which stood at `before`, by `offset` from where
    /// `whence` says to `position`. The label of that position.
    pub fn sought(
        &mut self,
        before: Source,
        (offset, whence, position): (i64, i32, u64),
        site: SiteId,
    ) -> Label {
        const SEEK_CUR: i32 = 1;
        const SEEK_END: i32 = 2;
        if self.inputs.channel(before.channel).start != 0 {
            self.sought_elsewhere(before.channel);
            return CONCRETE;
        }
        match whence {
            SEEK_END => self.sought_from_end(before.channel, offset, position, site),
            SEEK_CUR => {
                let told = self.told_position(before);
                let after = self.calculate(Op::Add, told, Word::concrete(offset as u64));
                let known = self.inputs.channel(before.channel);
                known.mark = after.label;
                known.sought |= offset != 0;
                known.sought &= after.is_symbolic();
            }
            _ => self.sought_elsewhere(before.channel),
        }
        let source = Source {
            offset: position,
            ..before
        };
        self.told_position(source).label
    }

    /// The program moved the position of a channel to `position`, by `offset` from the end.
    /// A file that is too short has no such position.
    fn sought_from_end(&mut self, channel: u32, offset: i64, position: u64, site: SiteId) {
        let known = *self.inputs.channel(channel);
        self.sought_elsewhere(channel);
        if known.whole == CONCRETE {
            return;
        }
        let wide = self.zero_extend(known.whole, 64);
        let mark = self.plus(wide, offset as i128 as u128 & u64::MAX as u128);
        if mark == CONCRETE || self.value(mark) != position as u128 {
            return;
        }
        if offset < 0 {
            let there = self.is_at_most(offset.unsigned_abs() as u128, known.whole);
            self.decided(EventKind::Branch, there, true, site);
        }
        let known = self.inputs.channel(channel);
        known.mark = mark;
        known.sought = true;
    }

    /// The program moved the position of a channel to a place that no length decides.
    fn sought_elsewhere(&mut self, channel: u32) {
        let known = self.inputs.channel(channel);
        known.mark = CONCRETE;
        known.sought = false;
    }

    /// The span lies in its object, if that is known.
    fn fits(&mut self, span: &Span) -> Option<Truth> {
        self.know_globals();
        let object = self.objects.find_live(span.address.value)?;
        Some(self.inside(span, object))
    }
}

#[cfg(test)]
mod tests;
