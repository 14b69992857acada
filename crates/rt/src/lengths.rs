//! Lengths of inputs: they are inputs too.
//!
//! A *piece* of a channel (an argument, a file, a line) has a length channel of four bytes, and
//! `n` is the term that these bytes make. Bytes inside the recorded piece are plain input bytes,
//! not "byte `k` if `k < n`", which would tie all of them to `n`; the engine adds what a
//! condition about byte `k` implies.
//!
//! The zero byte behind an input string is an *open end*: the term
//!
//! ```text
//! Ite(L < n, x, 0)        L the recorded length, x a byte that is not zero
//! ```
//!
//! It is 0 in this run, and says where the string would go on. It travels with copies of the
//! string like any label, so `strlen` of a copy finds the length again. Code that looks at the
//! byte itself (a loop of the program's own) branches on it, which pins `n` as it must.
//!
//! An open end may have any term of 32 bits for its length that depends on lengths only: the
//! end of a string that was put together from two, or that was cut off at its end.

use nearmiss_abi::channel::{CHANNEL_ROWS, ChannelKind, ChannelRow, PIECE_LINE, PIECE_WHOLE};
use nearmiss_abi::check::Kind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label, ShadowWord, Term};

use crate::formula::Truth;
use crate::runtime::Runtime;

/// Most lines of a channel that have a symbolic length.
const MOST_LINES: u32 = 256;
/// Rows of the table of channels that lines leave for other channels.
const ROWS_TO_SPARE: usize = 1024;
/// Lengths are terms of this many bits.
pub const LENGTH_BITS: u32 = 32;
/// What stands where a string went on that did not in this run, if that is not known better:
/// not zero, and nothing that programs look for.
const ANY_BYTE: u128 = b'A' as u128;

impl Runtime {
    /// The term of the length of a piece of `channel`, `recorded` bytes from `start` on.
    /// `None`: lengths are not symbolic, or there are too many of them.
    pub fn add_length(
        &mut self,
        channel: u32,
        start: u64,
        recorded: u64,
        piece: u8,
    ) -> Option<Label> {
        if self.options.length == 0 {
            return None;
        }
        let is_line = piece == PIECE_LINE;
        let lines_full = is_line
            && (self.inputs.channel(channel).lines >= MOST_LINES
                || self.inputs.count() as usize >= CHANNEL_ROWS - ROWS_TO_SPARE);
        if recorded > i32::MAX as u64 || lines_full {
            self.trace.note(NoteKind::Length, SiteId::NONE, 1);
            return None;
        }
        let length = self.add_length_row(channel, start, recorded as u32, piece)?;
        let known = self.inputs.channel(channel);
        if is_line {
            known.lines += 1;
        } else if piece == PIECE_WHOLE {
            known.whole = length;
        }
        Some(length)
    }

    fn add_length_row(
        &mut self,
        channel: u32,
        start: u64,
        recorded: u32,
        piece: u8,
    ) -> Option<Label> {
        let content = recorded.to_le_bytes();
        // SAFETY: four bytes are readable.
        let blob = unsafe { self.trace.append_blob(content.as_ptr(), 4) };
        let content_offset = match blob {
            Ok(offset) => offset,
            Err(full) => {
                self.blob_full(full);
                return None;
            }
        };
        let row = ChannelRow {
            piece,
            index: channel,
            content_offset,
            content_size: 4,
            start,
            ..ChannelRow::default()
        };
        let number = self.add_row(ChannelKind::Length, row)?;
        self.inputs.channel(number).is_length = true;
        self.length_term(number)
    }

    /// The length of the line from `start` on, `recorded` bytes without its newline.
    pub fn line_length(&mut self, channel: u32, start: u64, recorded: u64) -> Option<Label> {
        if self.inputs.channel(channel).lines >= MOST_LINES {
            self.trace.note(NoteKind::Length, SiteId::NONE, 1);
            return None;
        }
        match self.find_line(channel, start) {
            Some(length) if self.value(length) == recorded as u128 => Some(length),
            Some(_) => None,
            None => self.add_length(channel, start, recorded, PIECE_LINE),
        }
    }

    /// The length of a line that was read before.
    fn find_line(&mut self, channel: u32, start: u64) -> Option<Label> {
        let number = self.line_where(channel, |row| row.start == start)?;
        self.length_term(number)
    }

    /// The length of the line that the newline at `address` ends.
    pub fn line_ended_by(&mut self, address: u64) -> Option<Label> {
        let term = *self.trace.term(self.shadow.get(address).label());
        if term.op != Op::Input as u8 {
            return None;
        }
        let end = term.b as u64;
        let contents = &self.trace;
        let number = self.line_where(term.a, |row| {
            let size = contents.blob(row.content_offset, 4);
            size.try_into()
                .is_ok_and(|size| row.start + u32::from_le_bytes(size) as u64 == end)
        })?;
        self.length_term(number)
    }

    /// The latest line of a channel with this property.
    fn line_where(&self, channel: u32, wanted: impl Fn(&ChannelRow) -> bool) -> Option<u32> {
        if self.inputs.lines(channel) == 0 {
            return None;
        }
        (0..self.inputs.count()).rev().find(|&number| {
            let row = self.trace.channel(number);
            row.kind == ChannelKind::Length as u8
                && row.piece == PIECE_LINE
                && row.index == channel
                && wanted(&row)
        })
    }

    /// The term that the four bytes of a length channel make.
    fn length_term(&mut self, number: u32) -> Option<Label> {
        let row = self.trace.channel(number);
        let mut content = [0; 4];
        content.copy_from_slice(self.trace.blob(row.content_offset, 4));
        let mut length = CONCRETE;
        for (offset, &value) in content.iter().enumerate() {
            let byte = self.input_byte(number, offset as u32, value);
            length = if offset == 0 {
                byte
            } else {
                self.concatenate(byte, length)
            };
        }
        (length != CONCRETE).then_some(length)
    }

    /// A length as a term of 32 bits: `label` is one, or the same with more bits.
    pub fn narrow_length(&mut self, label: Label) -> Label {
        if self.width(label) <= LENGTH_BITS {
            return self.resize(label, LENGTH_BITS);
        }
        self.extract(label, 0, LENGTH_BITS)
    }

    /// The byte behind a string of `length` bytes, a term of 32 bits.
    pub fn open_end(&mut self, length: Label) -> Label {
        let recorded = self.value(length);
        let there = match self.byte_behind(length) {
            Some(byte) => byte,
            None => self.constant(8, ANY_BYTE),
        };
        let zero = self.constant(8, 0);
        let goes_on = self.is_below(recorded, length);
        if goes_on == CONCRETE || there == CONCRETE {
            return CONCRETE;
        }
        self.intern(Term::new(Op::Ite, 8, goes_on, there, zero), 0)
    }

    /// `number < length`, for a number of the length's width.
    pub fn is_below(&mut self, number: u128, length: Label) -> Label {
        self.compare(Op::Ult, number, length)
    }

    /// `number <= length`.
    pub fn is_at_most(&mut self, number: u128, length: Label) -> Label {
        self.compare(Op::Ule, number, length)
    }

    fn compare(&mut self, op: Op, number: u128, length: Label) -> Label {
        let width = self.width(length);
        if length == CONCRETE || width > 64 {
            return CONCRETE;
        }
        let value = self.value(length) as u64;
        self.operate(op, width, [CONCRETE, length], [number as u64, value])
    }

    /// The row of the channel whose length `length` is: the length itself.
    pub fn row_of_length(&mut self, length: Label) -> Option<ChannelRow> {
        let lowest = self.extract(length, 0, 8);
        let term = *self.trace.term(lowest);
        if term.op != Op::Input as u8 || !self.inputs.is_length(term.a) {
            return None;
        }
        let is_length = self.length_term(term.a) == Some(length);
        is_length.then(|| self.trace.channel(term.a))
    }

    /// The input byte behind a whole piece of which `length` is the length itself.
    pub fn byte_behind(&mut self, length: Label) -> Option<Label> {
        let row = self.row_of_length(length)?;
        if row.piece != PIECE_WHOLE {
            return None;
        }
        let offset = row.start + self.value(length) as u64;
        // Nobody has seen it: it is 0 in this run.
        let byte = self.intern(
            Term::new(Op::Input, 8, row.index, u32::try_from(offset).ok()?, 0),
            0,
        );
        (byte != CONCRETE).then_some(byte)
    }

    /// The length of the string that `label`, if it is an open end, is the end of.
    pub fn length_of_end(&self, label: Label) -> Option<Label> {
        let end = *self.trace.term(label);
        if end.op != Op::Ite as u8 || end.width != 8 || end.value != 0 {
            return None;
        }
        let condition = *self.trace.term(end.a);
        let is_end = condition.op == Op::Ult as u8
            && condition.value == 0
            && self.is_constant(condition.a)
            && (self.is_length(condition.b) || self.is_any_byte(end.b))
            && self.width(condition.b) == LENGTH_BITS
            && self.value(condition.a) == self.value(condition.b)
            && self.is_constant(end.c);
        is_end.then_some(condition.b)
    }

    /// Whether a term is the byte that stands for any that may follow.
    fn is_any_byte(&self, label: Label) -> bool {
        self.is_constant(label) && self.value(label) == ANY_BYTE
    }

    /// The length that ends at `address`, if an open end lies there.
    pub fn open_end_at(&self, address: u64) -> Option<Label> {
        let word = self.shadow.get(address);
        if word.byte() != 0 {
            return None;
        }
        self.length_of_end(word.label())
    }

    /// The zero byte at `address` ends a string of `length` bytes: 32 or 64 bits, or concrete.
    /// Printed numbers have lengths too, although those depend on values.
    pub fn end_string(&mut self, address: u64, length: Label) {
        let end = if length != CONCRETE && self.width(length) >= LENGTH_BITS {
            let length = self.narrow_length(length);
            self.open_end(length)
        } else {
            CONCRETE
        };
        if end == CONCRETE {
            self.shadow.clear(address, 1);
        } else {
            self.shadow.set(address, ShadowWord::new(end, 0));
        }
    }

    /// A zero was stored at `address`, which depends on lengths of inputs only: the string that
    /// ends there got shorter or longer.
    ///
    /// The length is counted from wherever the address is counted from (the constant part of
    /// the sum): any place will do, as [`Runtime::open_length`] asks for the difference.
    pub fn open_end_stored(&mut self, address: u64, address_label: Label) {
        let sum = self.sum(address_label);
        let recorded = self.value(sum.base);
        let plausible = self.is_length(address_label) && recorded <= i32::MAX as u128;
        self.end_string(address, if plausible { sum.base } else { CONCRETE });
    }

    /// The length of the string at `start`, `length` bytes in this run: a term of 64 bits.
    /// `None`: it does not end with an open end, or the length does not depend on that.
    pub fn open_length(
        &mut self,
        (start, start_label): (u64, Label),
        length: u64,
        site: SiteId,
    ) -> Option<Label> {
        let counted = self.open_end_at(start.wrapping_add(length))?;
        let recorded = self.value(counted) as u64;
        self.assume_not_zero(start, length, site);
        let wide = self.zero_extend(counted, 64);
        // The end lies where the count starts, and so much further.
        let origin = start.wrapping_add(length).wrapping_sub(recorded);
        if start_label == CONCRETE || self.width(start_label) != 64 {
            if origin < start {
                let within = self.is_at_most((start - origin) as u128, counted);
                let truth = Truth {
                    label: within,
                    holds: true,
                };
                self.check_that(Kind::OutOfBoundsRead, truth, site);
            }
            return Some(self.plus(wide, origin.wrapping_sub(start) as u128));
        }
        let end = self.plus(wide, origin as u128);
        let values = [self.value(end) as u64, start];
        let distance = self.operate(Op::Sub, 64, [end, start_label], values);
        (distance != CONCRETE).then_some(distance)
    }

    /// The bytes of a string are not zero, or it would end there. Arguments have no zeros
    /// anyway; for what comes from files it must be said, once for each byte.
    fn assume_not_zero(&mut self, start: u64, length: u64, site: SiteId) {
        let end = start.saturating_add(length);
        let mut at = start;
        while let Some(address) = self.shadow.first_label(at, end - at) {
            at = address + 1;
            let word = self.shadow.get(address);
            let byte = self.extract(word.label(), 8 * word.byte(), 8);
            if byte == CONCRETE || self.cannot_be_zero(byte) || !self.assumed.is_new(byte) {
                continue;
            }
            self.decided(EventKind::Assume, byte, true, site);
        }
    }

    fn cannot_be_zero(&self, byte: Label) -> bool {
        let term = self.trace.term(byte);
        if term.op != Op::Input as u8 || term.a >= self.inputs.count() {
            return false;
        }
        let kind = self.trace.channel(term.a).kind;
        kind == ChannelKind::Argument as u8 || kind == ChannelKind::Environment as u8
    }
}

/// Bytes that were assumed not to be zero: a cache, which may forget.
pub struct Assumed {
    bytes: [Label; Assumed::SIZE],
}

impl Assumed {
    const SIZE: usize = 4096;

    /// Nothing is assumed yet.
    pub const fn none() -> Assumed {
        Assumed {
            bytes: [CONCRETE; Assumed::SIZE],
        }
    }

    /// Whether this was not assumed before, as far as is known.
    pub fn is_new(&mut self, byte: Label) -> bool {
        let place = &mut self.bytes[byte as usize % Assumed::SIZE];
        core::mem::replace(place, byte) != byte
    }
}

#[cfg(test)]
mod tests;
