//! The functions that a harness and C's library have for us, and accesses at addresses that are terms.

use nearmiss_abi::event::PHASE_SETUP;
use nearmiss_abi::op::Op;
use nearmiss_expr::{InputByte, Node, TermId};

use crate::GaveUp;
use crate::machine::{Machine, unknown};
use crate::memory::{self, Place, places};
use crate::state::{self, State};

/// Most offsets that an access is spread over.
const MOST_OFFSETS: u64 = 512;
/// The largest block that is copied or set.
const LARGEST_BLOCK: u64 = 64 << 10;

type Returned = Result<Option<(State, Option<TermId>)>, GaveUp>;

impl Machine<'_> {
    /// A call of a function that has no body here.
    pub(crate) fn call_word(
        &mut self,
        name: &str,
        arguments: &[TermId],
        mut state: State,
    ) -> Returned {
        let mut value = None;
        match (name, arguments) {
            ("nearmiss_symbolic", &[start, size, _]) => {
                let size = self.constant(size)?;
                for offset in 0..size {
                    let byte = InputByte {
                        channel: self.request.channel,
                        offset: offset as u32,
                    };
                    let byte = self.terms.input(byte);
                    let at = self.behind(start, offset);
                    self.store(&mut state, at, byte)?;
                }
            }
            ("nearmiss_assume", &[condition]) => {
                let condition = self.terms.truncate(condition, 1);
                match self.is_setup {
                    // It holds for all inputs that are ever asked about: no condition of being here.
                    true => self.ranges.assume(self.terms, condition, true),
                    false => state.require(self.terms, condition),
                }
            }
            ("nearmiss_result", &[row, start, size]) => {
                if self.text(&mut state, row)? == self.request.accepted {
                    let size = self.constant(size)?;
                    let said = self.load(&mut state, start, 8 * size as u32)?;
                    let is_accepted = self.truth_of(said);
                    let is_here = state::all(self.terms, &state.guard);
                    let both = self.terms.and(is_here, is_accepted);
                    self.accepted.push(both);
                }
            }
            ("__nm_mark", &[phase]) => self.is_setup = self.constant(phase)? == PHASE_SETUP.into(),
            ("__nm_mode", _) => {
                value = Some(self.terms.constant(32, self.request.mode.into()));
            }
            ("__nm_concrete", &[number]) => value = Some(number),
            ("__nm_block", &[capacity, size, content, room]) => {
                value = Some(self.block(&mut state, [capacity, size, content, room])?);
            }
            ("abort" | "exit" | "_exit" | "__assert_fail", _) => return Ok(None),
            ("abs" | "labs" | "llabs", &[number]) => value = Some(self.absolute(number)),
            ("strlen", &[start]) => value = Some(self.length(&mut state, start)?),
            _ if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") => {
                self.copy(&mut state, arguments)?;
            }
            _ if name.starts_with("llvm.memset.") => self.set(&mut state, arguments)?,
            _ => return Err(unknown(&format!("{name}()"))),
        }
        Ok((!state.is_empty(self.terms)).then_some((state, value)))
    }

    fn constant(&mut self, term: TermId) -> Result<u64, GaveUp> {
        let value = self.terms.as_constant(term);
        value
            .map(|value| value as u64)
            .ok_or_else(|| unknown("a size that is input"))
    }

    fn behind(&mut self, start: TermId, offset: u64) -> TermId {
        let offset = self.terms.constant(64, offset.into());
        self.terms.binary(Op::Add, start, offset)
    }

    /// A constant string.
    fn text(&mut self, state: &mut State, start: TermId) -> Result<String, GaveUp> {
        let mut text = Vec::new();
        for offset in 0.. {
            let at = self.behind(start, offset);
            let byte = self.load(state, at, 8)?;
            match self.constant(byte)? {
                0 => break,
                byte => text.push(byte as u8),
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Whether a number is not zero: where it is a choice of numbers, as a condition over what chooses.
    fn truth_of(&mut self, number: TermId) -> TermId {
        match self.terms.node(number) {
            Node::Ite {
                condition,
                then,
                otherwise,
            } => {
                let (then, otherwise) = (self.truth_of(then), self.truth_of(otherwise));
                let opposite = self.terms.not(condition);
                match [then, otherwise].map(|arm| self.terms.as_constant(arm)) {
                    [Some(0), _] => self.terms.and(opposite, otherwise),
                    [Some(_), _] => self.terms.or(condition, otherwise),
                    [_, Some(0)] => self.terms.and(condition, then),
                    [_, Some(_)] => self.terms.or(opposite, then),
                    _ => self.terms.ite(condition, then, otherwise),
                }
            }
            Node::ZExt { a, .. } | Node::SExt { a, .. } => self.truth_of(a),
            _ => {
                let zero = self.terms.constant(self.terms.width(number), 0);
                let is_zero = self.terms.eq(number, zero);
                self.terms.not(is_zero)
            }
        }
    }

    fn absolute(&mut self, number: TermId) -> TermId {
        let zero = self.terms.constant(self.terms.width(number), 0);
        let is_negative = self.terms.binary(Op::Slt, number, zero);
        let opposite = self.terms.unary(Op::Neg, number);
        self.terms.ite(is_negative, opposite, number)
    }

    /// A block of a harness: memory for the largest size, of which the program has `size`.
    fn block(
        &mut self,
        state: &mut State,
        [capacity, size, content, room]: [TermId; 4],
    ) -> Result<TermId, GaveUp> {
        let bytes = self.constant(capacity)?;
        if bytes > LARGEST_BLOCK {
            return Err(GaveUp::TooLong);
        }
        let mut copied = Vec::new();
        for offset in 0..bytes {
            let at = self.behind(content, offset);
            copied.push(self.load(state, at, 8)?);
        }
        let is_input = self.terms.as_constant(size).is_none();
        let object = self.new_object(is_input.then_some(size));
        let own = self
            .terms
            .as_constant(size)
            .map_or(bytes, |size| size as u64);
        state
            .memory
            .fill(object, copied.into_iter().take(own as usize));
        self.store(state, room, capacity)?;
        Ok(self.address_of(object))
    }

    fn copy(&mut self, state: &mut State, arguments: &[TermId]) -> Result<(), GaveUp> {
        let &[to, from, size, ..] = arguments else {
            return Err(unknown("a copy"));
        };
        let size = self.constant(size)?;
        if size > LARGEST_BLOCK {
            return Err(GaveUp::TooLong);
        }
        // Words stay words where that is possible.
        let step = if size.is_multiple_of(8) {
            8
        } else if size.is_multiple_of(4) {
            4
        } else {
            1
        };
        let mut words = Vec::new();
        for offset in (0..size).step_by(step) {
            let at = self.behind(from, offset);
            words.push(self.load(state, at, 8 * step as u32)?);
        }
        for (offset, word) in (0..).step_by(step).zip(words) {
            let at = self.behind(to, offset);
            self.store(state, at, word)?;
        }
        Ok(())
    }

    fn set(&mut self, state: &mut State, arguments: &[TermId]) -> Result<(), GaveUp> {
        let &[to, byte, size, ..] = arguments else {
            return Err(unknown("a memset"));
        };
        for offset in 0..self.constant(size)?.min(LARGEST_BLOCK) {
            let at = self.behind(to, offset);
            self.store(state, at, byte)?;
        }
        Ok(())
    }

    /// The length of a string: bytes are looked at until one is certainly zero, or none is left.
    fn length(&mut self, state: &mut State, start: TermId) -> Result<TermId, GaveUp> {
        let mut not_ended = Vec::new();
        let mut ends = Vec::new();
        for offset in 0..MOST_OFFSETS {
            let at = self.behind(start, offset);
            let mut here = state.clone();
            here.guard.clear();
            let byte = self.load(&mut here, at, 8)?;
            if here.is_empty(self.terms) {
                break;
            }
            let zero = self.terms.constant(8, 0);
            let is_end = self.terms.eq(byte, zero);
            // That the byte may be read is required of those who come so far.
            let may_read = state::all(self.terms, &here.guard);
            let comes = state::all(self.terms, &not_ended);
            let stays_out = self.terms.not(comes);
            let is_fine = self.terms.or(stays_out, may_read);
            state.require(self.terms, is_fine);
            ends.push((is_end, offset));
            if self.terms.as_constant(is_end) == Some(1) {
                break;
            }
            let goes_on = self.terms.not(is_end);
            not_ended.push(goes_on);
        }
        let any = self.terms.truth(false);
        let any = ends
            .iter()
            .fold(any, |any, &(is_end, _)| self.terms.or(any, is_end));
        state.require(self.terms, any);
        let none = self.terms.constant(64, 0);
        Ok(ends
            .into_iter()
            .rev()
            .fold(none, |length, (is_end, offset)| {
                let here = self.terms.constant(64, offset.into());
                self.terms.ite(is_end, here, length)
            }))
    }

    /// Reads an integer; who reads outside of an object does not come further.
    pub(crate) fn load(
        &mut self,
        state: &mut State,
        address: TermId,
        width: u32,
    ) -> Result<TermId, GaveUp> {
        let size = width.div_ceil(8);
        let mut result = None;
        for place in self.places(state, address, size)? {
            let Some(object) = place.object else { continue };
            for offset in self.offsets(state, place, size)? {
                let here = state.memory.load(self.terms, object, offset, size);
                result = Some(match result {
                    None => here,
                    Some(other) => {
                        let is_here = self.is_at(place, offset);
                        state::choose(self.terms, is_here, here, other)
                    }
                });
            }
        }
        let word = result.unwrap_or_else(|| self.terms.constant(8 * size, 0));
        Ok(self.terms.truncate(word, width))
    }

    /// Writes an integer; who writes outside of an object does not come further.
    pub(crate) fn store(
        &mut self,
        state: &mut State,
        address: TermId,
        value: TermId,
    ) -> Result<(), GaveUp> {
        let size = self.terms.width(value).div_ceil(8);
        let value = self.terms.zext(value, 8 * size);
        let places = self.places(state, address, size)?;
        for &place in &places {
            let Some(object) = place.object else { continue };
            let offsets = self.offsets(state, place, size)?;
            for &offset in &offsets {
                let mut word = value;
                if places.len() > 1 || offsets.len() > 1 {
                    let before = state.memory.load(self.terms, object, offset, size);
                    let is_here = self.is_at(place, offset);
                    word = state::choose(self.terms, is_here, value, before);
                }
                state.memory.store(self.terms, object, offset, word);
            }
        }
        Ok(())
    }

    fn is_at(&mut self, place: Place, offset: u64) -> TermId {
        let offset = self.terms.constant(64, offset.into());
        let is_offset = self.terms.eq(place.offset, offset);
        self.terms.and(place.when, is_offset)
    }

    /// The places that an address may be; the access is inside of each, as is required.
    fn places(
        &mut self,
        state: &mut State,
        address: TermId,
        size: u32,
    ) -> Result<Vec<Place>, GaveUp> {
        let objects = self.sizes.len() as u32;
        let found = places(self.terms, address, objects);
        let found = found.ok_or_else(|| unknown("an address"))?;
        for place in &found {
            let is_inside = match place.object {
                Some(object) => {
                    self.prepare(state, object)?;
                    self.is_inside(state, object, place.offset, size)
                }
                None => self.terms.truth(false),
            };
            let is_elsewhere = self.terms.not(place.when);
            let is_fine = self.terms.or(is_elsewhere, is_inside);
            let is_fine = self.known(is_fine);
            state.require(self.terms, is_fine);
        }
        Ok(found)
    }

    fn is_inside(&mut self, state: &State, object: u32, offset: TermId, size: u32) -> TermId {
        let end = match self.sizes[object as usize] {
            // The harness fills what is there for the largest size.
            Some(end) if !self.is_setup => end,
            _ => self.terms.constant(64, state.memory.size(object).into()),
        };
        let size = self.terms.constant(64, size.into());
        if self.terms.as_constant(offset).is_some() {
            let needed = self.terms.binary(Op::Add, offset, size);
            let fits = self.terms.binary(Op::Ule, needed, end);
            return self.known(fits);
        }
        let is_large = self.terms.binary(Op::Ule, size, end);
        let last = self.terms.binary(Op::Sub, end, size);
        let is_low = self.terms.binary(Op::Ule, offset, last);
        let (is_large, is_low) = (self.known(is_large), self.known(is_low));
        self.terms.and(is_large, is_low)
    }

    /// The offsets that a place may have.
    fn offsets(&mut self, state: &State, place: Place, size: u32) -> Result<Vec<u64>, GaveUp> {
        let Some(object) = place.object else {
            return Ok(Vec::new());
        };
        let bytes = state.memory.size(object);
        let Some(last) = bytes.checked_sub(size.into()) else {
            return Ok(Vec::new());
        };
        if let Some(offset) = self.terms.as_constant(place.offset) {
            let offset = offset as u64;
            return Ok(Vec::from_iter((offset <= last).then_some(offset)));
        }
        let step = memory::stride(self.terms, place.offset).max(1);
        let range = self.ranges.range(self.terms, place.offset);
        let (low, high) = (
            range.low.min(u64::MAX.into()) as u64,
            range.high.min(last.into()) as u64,
        );
        let first = low.next_multiple_of(step);
        if first > high {
            return Ok(Vec::new());
        }
        if (high - first) / step >= MOST_OFFSETS {
            return Err(GaveUp::TooLong);
        }
        Ok((first..=high).step_by(step as usize).collect())
    }
}
