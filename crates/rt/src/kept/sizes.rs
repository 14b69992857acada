//! How large kept files are: a write of symbolic length leaves a file of symbolic size, and what is
//! written behind it lies elsewhere for another length. As long as the program does not look, no length is
//! decided.

use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use super::{Lengths, MOST_FILES};
use crate::formula::Word;
use crate::runtime::Runtime;

impl Runtime {
    /// How many bytes the program writes to a descriptor is symbolic: another number would lie otherwise.
    pub fn wrote_some(&mut self, fd: i32, size: Word, site: SiteId) {
        if let Some((index, _)) = self.target(fd, true, site) {
            let row = &mut self.kept.rows[index % MOST_FILES];
            row.lost |= !row.lengths.push(size.label);
        }
    }

    /// The program sees what it wrote to a kept file, or how large that is.
    pub fn told_size(&mut self, index: usize, site: SiteId) {
        let row = &mut self.kept.rows[index % MOST_FILES];
        let lengths = core::mem::replace(&mut row.lengths, Lengths::new(CONCRETE));
        let (is_queue, lost) = (row.is_queue, row.lost);
        // What a longer input would bring through a pipe is not checked against where it is read to.
        let is_length = |&length: &Label| self.is_length(length);
        if lost || is_queue && lengths.as_slice().iter().any(is_length) {
            self.trace.note(NoteKind::ReadBack, site, 1);
        }
        for &length in lengths.as_slice() {
            self.decide_length(length, site);
        }
    }

    /// From here on a length is what it was. Decided bit by bit, since each length is a path of its own: that one
    /// number is not another tells no paths apart. The lowest bits come last: what is near is tried first.
    fn decide_length(&mut self, length: Label, site: SiteId) {
        const BITS: u32 = 16;
        let value = self.value(length) as u64;
        let below = self.operate(Op::Ult, 64, [length, CONCRETE], [value, 1 << BITS]);
        self.decided(EventKind::Branch, below, value < 1 << BITS, site);
        for bit in (0..BITS).rev() {
            let label = self.extract(length, bit, 1);
            self.decided(EventKind::Branch, label, value >> bit & 1 != 0, site);
        }
    }

    /// Likewise of the file with this device and number.
    pub fn told_size_of(&mut self, identity: (u64, u64), site: SiteId) {
        if let Some(index) = self.kept.find(identity) {
            self.told_size(index, site);
        }
    }
}
