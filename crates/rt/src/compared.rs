//! Comparisons of the program's own: a loop over two strings costs a fork for each byte. Where the first bytes differ,
//! that all of the rest are equal is a hint, as the models of `strcmp` and its relatives give one.

use nearmiss_abi::event::{Event, EventKind, WORD_LENGTH_SIZE};
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::CONCRETE;
use nearmiss_abi::trace::Snapshot;

use crate::formula::Truth;
use crate::runtime::Runtime;
use crate::server;
use crate::system;

/// Bytes that one step makes equal, at most, and of a text in place of a word.
const MOST_BYTES: u64 = 64;
/// Words that are told of in one run, at most.
pub const MOST_WORDS: u32 = 4096;

/// A text in memory.
#[derive(Clone, Copy)]
pub struct Text {
    /// Where.
    pub start: u64,
    /// Bytes.
    pub length: u64,
}

/// What is kept of a word: see [`EventKind::Word`].
#[repr(C)]
struct Row {
    length: [u8; WORD_LENGTH_SIZE],
    text: [u8; MOST_BYTES as usize],
}

impl Runtime {
    /// The bytes that were read at two addresses are compared. Of interest is where one of them is input, one is
    /// not, and they differ in this run.
    pub fn compared(&mut self, left: u64, right: u64, site: SiteId) {
        let is_input = |address| self.shadow.get(address).label() != CONCRETE;
        // Where all paths are explored every fork has its turn.
        if is_input(left) == is_input(right) || server::is_asked() {
            return;
        }
        // They were read before: the memory may be gone.
        let room = self.room_at(left).min(self.room_at(right)).min(MOST_BYTES);
        if room < 2 || byte_at(left) == byte_at(right) {
            return;
        }
        let is_end = |offset: &u64| byte_at(left + offset) == 0 || byte_at(right + offset) == 0;
        let end = (0..room).find(is_end).unwrap_or(room);
        self.rests(left, right, room, site);
        if end < 2 {
            return;
        }
        let mut all = Truth::concrete(true);
        for offset in 0..end {
            let equal = self.are_equal(left + offset, right + offset);
            all = self.both(all, equal);
        }
        if !all.holds && all.label != CONCRETE {
            self.decided(EventKind::Hint, all.label, false, site);
        }
    }

    /// What is left of two strings that differ from here on.
    fn rests(&mut self, left: u64, right: u64, room: u64, site: SiteId) {
        let length = |start: u64| (0..room).find(|offset| byte_at(start + offset) == 0);
        if let (Some(one), Some(other)) = (length(left), length(right)) {
            let text = |start, length| Text { start, length };
            self.words(text(left, one), text(right, other), site);
        }
    }

    /// Two texts are compared, and found to differ at the next decision. Where one is input and the other is not, and
    /// they have different lengths, no change of bytes makes them equal: the trace tells what would have to be put in.
    pub fn words(&mut self, one: Text, other: Text, site: SiteId) {
        let is_input = |text: Text| self.shadow.get(text.start).label() != CONCRETE;
        let (word, text) = match (is_input(one), is_input(other)) {
            (true, false) => (one, other),
            (false, true) => (other, one),
            _ => return,
        };
        let is_usable = |text: Text| (1..=MOST_BYTES).contains(&text.length);
        if word.length == text.length || !is_usable(word) || !is_usable(text) || server::is_asked()
        {
            return;
        }
        let label = self.peek(word.start, 1, u64::from(byte_at(word.start)));
        if label == CONCRETE || self.words_told == MOST_WORDS {
            return;
        }
        self.words_told += 1;
        let mut row = Row {
            length: (word.length as u32).to_le_bytes(),
            text: [0; MOST_BYTES as usize],
        };
        // SAFETY: the text can be read and is no longer than the row's.
        let blob = unsafe {
            system::copy_bytes(
                row.text.as_mut_ptr(),
                text.start as *const u8,
                text.length as usize,
            );
            let size = WORD_LENGTH_SIZE as u64 + text.length;
            self.trace.append_blob((&raw const row).cast(), size)
        };
        let number = blob.and_then(|blob_offset| {
            self.trace.append_snapshot(Snapshot {
                address: text.start,
                blob_offset,
                size: WORD_LENGTH_SIZE as u64 + text.length,
            })
        });
        if let Some(aux) = number.ok().and_then(|number| u16::try_from(number).ok()) {
            let event = Event::new(EventKind::Word, false, label, site);
            self.append(&Event { aux, ..event });
        }
    }

    /// Whether two bytes in objects that are known are equal.
    fn are_equal(&mut self, left: u64, right: u64) -> Truth {
        let values = [left, right].map(|address| u64::from(byte_at(address)));
        let labels = [
            self.peek(left, 1, values[0]),
            self.peek(right, 1, values[1]),
        ];
        Truth {
            label: self.operate(Op::Eq, 8, labels, values),
            holds: values[0] == values[1],
        }
    }

    /// Bytes from an address to the end of its object; none if that is not known.
    fn room_at(&mut self, address: u64) -> u64 {
        let object = self.find_object(address).filter(|object| object.live);
        object.map_or(0, |object| object.rest(address))
    }
}

/// A byte of an object that lives.
fn byte_at(address: u64) -> u8 {
    // SAFETY: the caller has asked whether there is one.
    unsafe { (address as *const u8).read() }
}
