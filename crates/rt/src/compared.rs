//! Comparisons of the program's own: a loop over two strings costs a fork for each byte. Where the first bytes differ,
//! that all of the rest are equal is a hint, as the models of `strcmp` and its relatives give one.

use nearmiss_abi::event::EventKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::CONCRETE;

use crate::formula::Truth;
use crate::runtime::Runtime;
use crate::server;

/// Bytes that one step makes equal, at most.
const MOST_BYTES: u64 = 64;

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
