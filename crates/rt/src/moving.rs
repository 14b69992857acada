//! Accesses at addresses that move with the length of an input: `s[strlen(s) - 1]`.
//!
//! Such an address is `C + n` with `n` the length of one piece. For each shorter piece it is one
//! place before the recorded one, and what lies there is known:
//!
//! ```text
//! recorded, n = 5        h e l l o 0         s[n - 1] is o, s[n] is 0
//! n = 3                  h e l 0             s[n - 1] is l, s[n] is 0: the end has moved along
//! ```
//!
//! So a load is a choice over the values of `n` below the recorded one, over a few above it
//! where the bytes that a longer piece would have are known, and beyond that the recorded byte,
//! as if the end of the piece had moved along with it: an approximation that replays judge.
//!
//! A choice is [`TERM_CHOSEN`]: what a place holds is looked at only if the piece is long enough
//! for it, so a condition about the choice does not say that the piece is longer than that.
//!
//! Where the places cannot be chosen from, the path assumes that the address is no lower than the
//! recorded one, and says so ([`NO_LOWER`]): shorter inputs are another way there. An access of which
//! not even the piece is known (two lengths, half a length, `n > 3 ? 3 : 0`) is noted: its byte is a guess.

mod flags;

use nearmiss_abi::channel::{ChannelRow, PIECE_LINE, PIECE_WHOLE};
use nearmiss_abi::event::{Event, EventKind, NO_LOWER};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label, TERM_CHOSEN, Term};

use crate::bounds::Checked;
use crate::evaluate::mask;
use crate::events::place_of;
use crate::formula::Word;
use crate::runtime::Runtime;
use crate::snapshots::read_bytes;
use crate::symbolic::Access;

/// How many lengths above the recorded one are told apart.
const LONGER: u64 = 8;
/// Terms that an address may be made of, one around the other.
const DEPTH: u32 = 12;

/// An address that moves with a piece.
#[derive(Clone, Copy)]
struct Moving {
    /// The length of the piece, 32 bits.
    length: Label,
    /// The length at which the address is what it was recorded as: the recorded length, or less
    /// where a read was limited by its buffer.
    recorded: u64,
    row: ChannelRow,
}

impl Moving {
    fn is_line(&self) -> bool {
        self.row.piece == PIECE_LINE
    }
}

impl Runtime {
    /// What was read at an address that depends on lengths only, after its check.
    pub fn load_moving(
        &mut self,
        address: Word,
        access: Access,
        checked: &Checked,
        site: SiteId,
    ) -> Label {
        let loaded = self.load(access.address, access.size, access.value);
        let Some(moving) = self.moving(address.label) else {
            // What other lengths find at other addresses is not known: the recorded byte is a guess.
            self.lost(address.label, NoteKind::Address, site);
            self.no_lower(address, site);
            return loaded;
        };
        let lowest = checked.object.map_or(access.address, |object| object.start);
        let is_end = access.size == 1 && self.is_end_of(access.address, &moving);
        let mut result = Word {
            label: if is_end { CONCRETE } else { loaded },
            value: access.value & mask(8 * access.size),
        };
        result = self.choose_longer(result, access, &moving);
        let most = moving.recorded.min(access.address.saturating_sub(lowest));
        if !self.may_choose(most) {
            self.no_shorter(&moving, site);
            return result.label;
        }
        for less in 1..=most {
            let length = moving.recorded - less;
            let Some(held) = self.held_by_shorter(access, less, length, &moving) else {
                self.no_shorter_than(length + 1, &moving, site);
                break;
            };
            result = self.choose_at(length, held, result, access.size, &moving);
        }
        result.label
    }

    /// `label` was written at an address that depends on lengths only, after its check.
    pub fn store_moving(
        &mut self,
        address: Word,
        access: Access,
        (label, old): (Label, u64),
        (checked, site): (&Checked, SiteId),
    ) {
        let ends = access.size == 1 && label == CONCRETE && access.value as u8 == 0;
        if ends {
            return self.open_end_stored(access.address, address.label);
        }
        let lowest = checked.object.map_or(access.address, |object| object.start);
        let moving = self.moving(address.label);
        if moving.is_none() {
            // What other lengths overwrite, and what stays here then, is not known.
            self.lost(address.label, NoteKind::Address, site);
        }
        let moving = moving.filter(|_| access.size == 1);
        let most = moving.map_or(0, |moving| {
            moving.recorded.min(access.address.saturating_sub(lowest))
        });
        let Some(moving) = moving.filter(|_| self.may_choose(most)) else {
            self.no_lower(address, site);
            return self.store(access.address, access.size, label);
        };
        let written = Word {
            label,
            value: access.value & 0xff,
        };
        let before = self.peek(access.address, 1, old & 0xff);
        for less in 1..=most {
            let at = access.address - less;
            // SAFETY: between the object's start and the byte that the program wrote.
            let held = unsafe { read_bytes(at, 1) };
            let held = Word {
                label: self.peek(at, 1, held),
                value: held,
            };
            let updated = self.choose_at(moving.recorded - less, written, held, 1, &moving);
            self.store(at, 1, updated.label);
        }
        let holds = self.is_at_most(moving.recorded as u128, moving.length);
        let values = [written.value, old & 0xff];
        let here = self.choose(8, (holds, true), [label, before], values);
        self.store(access.address, 1, here);
    }

    /// The piece that an address, or part of it, moves with.
    fn moving(&mut self, address: Label) -> Option<Moving> {
        let (length, recorded) = self.length_within(address, DEPTH)?;
        let row = self.row_of_length(length)?;
        let known = row.piece == PIECE_LINE || row.piece == PIECE_WHOLE;
        known.then_some(Moving {
            length,
            recorded,
            row,
        })
    }

    /// The length that a term is a sum of, and the length from which on the term is as recorded.
    ///
    /// match: `n`, `x + c`, `ext(x)`, `x <= c ? x : c`
    fn length_within(&self, label: Label, depth: u32) -> Option<(Label, u64)> {
        if label == CONCRETE || depth == 0 {
            return None;
        }
        let sum = self.sum(label);
        if sum.base != label {
            return self.length_within(sum.base, depth - 1);
        }
        let term = *self.trace.term(label);
        match Op::from_code(term.op)? {
            Op::ZExt | Op::SExt => self.length_within(term.a, depth - 1),
            Op::Concat => Some((label, self.value(label) as u64)),
            Op::Ite => {
                let is_smaller = *self.trace.term(term.a);
                let is_minimum = is_smaller.op == Op::Ule as u8
                    && is_smaller.a == term.b
                    && is_smaller.b == term.c
                    && self.is_constant(term.c);
                let (length, recorded) = self.length_within(term.b, depth - 1)?;
                let beyond = self.value(term.b).saturating_sub(self.value(term.c));
                is_minimum.then_some((length, recorded.checked_sub(beyond as u64)?))
            }
            _ => None,
        }
    }

    /// Whether the zero at `address` is the end of a string that ends where the piece does.
    fn is_end_of(&mut self, address: u64, moving: &Moving) -> bool {
        let Some(end) = self.open_end_at(address) else {
            return false;
        };
        let within = self.length_within(end, DEPTH);
        within.is_some_and(|(length, _)| length == moving.length)
    }

    /// What the place `less` bytes before the recorded one holds where the piece is `length` long.
    /// `None`: that is not known.
    fn held_by_shorter(
        &mut self,
        access: Access,
        less: u64,
        length: u64,
        moving: &Moving,
    ) -> Option<Word> {
        let at = access.address - less;
        // SAFETY: between the object's start and the bytes that the program just read.
        let value = unsafe { read_bytes(at, access.size) };
        let mut tail = None;
        for byte in at..at + access.size as u64 {
            match self.byte_of(byte, moving)? {
                Some(position) if position >= length => tail = Some((byte, position)),
                _ => {}
            }
        }
        let Some((byte, position)) = tail else {
            let label = self.peek(at, access.size, value);
            return Some(Word { label, value });
        };
        let recorded = self.value(moving.length) as u64;
        let row = moving.row;
        let behind = position - length;
        if access.size != 1 {
            return None;
        }
        if moving.is_line() && behind == 0 {
            let newline = u32::try_from(row.start + recorded).ok()?;
            let label = self.input_byte(row.index, newline, b'\n');
            return Some(Word {
                label,
                value: b'\n' as u64,
            });
        }
        let end = byte + (recorded + moving.is_line() as u64 - position);
        let ends = behind == moving.is_line() as u64 && self.is_end_of(end, moving);
        ends.then_some(Word::concrete(0))
    }

    /// The position in the piece of the input byte that lies at `address`; `Some(None)`: none of
    /// the piece, and it is there whatever the length. `None`: that is not known.
    fn byte_of(&self, address: u64, moving: &Moving) -> Option<Option<u64>> {
        let label = self.shadow.get(address).label();
        if label == CONCRETE {
            return Some(None);
        }
        if self.length_of_end(label).is_some() {
            return None;
        }
        let term = *self.trace.term(label);
        if term.op != Op::Input as u8 {
            return Some(None);
        }
        if term.a != moving.row.index {
            return None;
        }
        Some((term.b as u64).checked_sub(moving.row.start))
    }

    /// A few longer pieces: what follows in the recorded piece, then what would follow it.
    fn choose_longer(&mut self, recorded: Word, access: Access, moving: &Moving) -> Word {
        let position = self.byte_of(access.address, moving).flatten();
        let whole = moving.row.piece == PIECE_WHOLE;
        let full = self.value(moving.length) as u64;
        let Some(position) = position.filter(|_| access.size == 1 && whole) else {
            return recorded;
        };
        // A read that its buffer limited gives no more of a longer input.
        if moving.recorded != full || position >= full {
            return recorded;
        }
        let mut result = recorded;
        for more in (1..=LONGER).rev() {
            let Ok(offset) = u32::try_from(moving.row.start + position + more) else {
                continue;
            };
            let value = if position + more < full {
                // SAFETY: a byte of the piece, which lies behind the one that was read.
                unsafe { read_bytes(access.address + more, 1) }
            } else {
                0
            };
            let label = if position + more < full {
                self.peek(access.address + more, 1, value)
            } else {
                let byte = Term::new(Op::Input, 8, moving.row.index, offset, 0);
                self.intern(byte, 0)
            };
            result = self.choose_at(full + more, Word { label, value }, result, 1, moving);
        }
        result
    }

    /// `held` if the piece is `length` long, which it is not in this run; else `other`.
    fn choose_at(
        &mut self,
        length: u64,
        held: Word,
        other: Word,
        size: u32,
        moving: &Moving,
    ) -> Word {
        let value = self.value(moving.length) as u64;
        let here = self.operate(Op::Eq, 32, [moving.length, CONCRETE], [value, length]);
        let same = held.label == other.label && held.value == other.value;
        if here == CONCRETE || same {
            return other;
        }
        let width = 8 * size;
        let [held, chosen] = [held, other].map(|word| match word.label {
            CONCRETE => self.constant(width, word.value as u128),
            label => label,
        });
        let mut term = Term::new(Op::Ite, width, here, held, chosen);
        term.flags = TERM_CHOSEN;
        let label = self.intern(term, other.value as u128);
        Word {
            label,
            value: other.value,
        }
    }

    /// Whether so many places may be chosen from, which is then counted.
    fn may_choose(&mut self, count: u64) -> bool {
        let left = self.choices_left();
        let may = count <= self.options.elements.min(left);
        self.chosen_elements += if may { count } else { 0 };
        may
    }

    /// The path assumes that the piece is no shorter than it was for this address.
    fn no_shorter(&mut self, moving: &Moving, site: SiteId) {
        self.no_shorter_than(moving.recorded, moving, site);
    }

    fn no_shorter_than(&mut self, length: u64, moving: &Moving, site: SiteId) {
        let label = self.is_at_most(length as u128, moving.length);
        self.no_less(label, length, site);
    }

    /// The path assumes that the address is no lower than it was.
    fn no_lower(&mut self, address: Word, site: SiteId) {
        let truth = self.relate(Op::Ule, Word::concrete(address.value), address);
        self.no_less(truth.label, address.value, site);
    }

    /// What is said once is enough.
    fn no_less(&mut self, label: Label, than: u64, site: SiteId) {
        if label == CONCRETE || self.is_constant(label) || !self.assumed.is_new(label) {
            return;
        }
        let event = Event::new(EventKind::Assume, true, label, place_of(site));
        self.append(&Event {
            aux: NO_LOWER | than as u16 & !NO_LOWER,
            ..event
        });
    }
}
