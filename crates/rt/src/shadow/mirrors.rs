//! Memory that lies at two addresses: a file that is mapped twice.
//!
//! What is stored at the one is there at the other, and so are its labels. A process with such
//! mappings is rare: a range around all of them keeps the others from paying for them.

use nearmiss_abi::term::ShadowWord;

use super::Shadow;
use crate::list::List;

/// How many there can be at a time; each pair of mappings needs two.
const MOST: usize = 64;

/// What is stored in `size` bytes from `start` on appears at `other` too.
#[derive(Clone, Copy)]
struct Mirror {
    start: u64,
    size: u64,
    other: u64,
}

impl Mirror {
    const NONE: Mirror = Mirror {
        start: 0,
        size: 0,
        other: 0,
    };

    /// The part of a range that appears elsewhere: its start, its size, where it appears.
    fn part(&self, start: u64, end: u64) -> Option<(u64, u64, u64)> {
        let first = start.max(self.start);
        let last = end.min(self.start + self.size);
        (first < last).then(|| (first, last - first, self.other + (first - self.start)))
    }
}

/// All of them.
pub(super) struct Mirrors {
    rows: List<Mirror, MOST>,
    /// The range that they lie in.
    low: u64,
    high: u64,
}

impl Mirrors {
    pub(super) const fn none() -> Mirrors {
        Mirrors {
            rows: List::new(Mirror::NONE),
            low: 0,
            high: 0,
        }
    }

    /// Whether a part of these bytes may lie elsewhere too.
    #[inline(always)]
    pub(super) fn may_have(&self, address: u64, size: u64) -> bool {
        address < self.high && address.saturating_add(size) > self.low
    }

    fn add(&mut self, mirror: Mirror) -> bool {
        let end = mirror.start + mirror.size;
        let is_first = self.rows.as_slice().is_empty();
        self.low = if is_first {
            mirror.start
        } else {
            self.low.min(mirror.start)
        };
        self.high = self.high.max(end);
        self.rows.push(mirror)
    }
}

impl Shadow {
    /// The same memory lies at both addresses from now on. `false`: too many do.
    pub fn mirror(&mut self, one: u64, other: u64, size: u64) -> bool {
        let row = |start, other| Mirror { start, size, other };
        self.mirrors.add(row(one, other)) && self.mirrors.add(row(other, one))
    }

    /// Nothing in these bytes lies elsewhere any more.
    pub fn end_mirrors(&mut self, start: u64, size: u64) {
        let old = self.mirrors.rows;
        self.mirrors = Mirrors::none();
        let end = start.saturating_add(size);
        let touches = |at: u64, length: u64| at < end && at + length > start;
        for row in old.as_slice() {
            if !touches(row.start, row.size) && !touches(row.other, row.size) {
                self.mirrors.add(*row);
            }
        }
    }

    #[cold]
    pub(super) fn set_mirrored(&mut self, address: u64, word: ShadowWord) {
        for index in 0..MOST {
            if let Some((_, _, other)) = self.mirrored(index, address, address + 1) {
                self.set_here(other, word);
            }
        }
    }

    #[cold]
    pub(super) fn clear_mirrored(&mut self, start: u64, end: u64) {
        for index in 0..MOST {
            if let Some((_, size, other)) = self.mirrored(index, start, end) {
                self.clear_dirty(other, other + size);
            }
        }
    }

    /// The labels of these bytes, which were set, appear where the bytes do.
    #[cold]
    pub(super) fn copy_mirrored(&mut self, start: u64, end: u64) {
        for index in 0..MOST {
            if let Some((first, size, other)) = self.mirrored(index, start, end) {
                self.clear_dirty(other, other + size);
                for byte in 0..size {
                    let word = self.get(first + byte);
                    if word.0 != 0 {
                        self.set_here(other + byte, word);
                    }
                }
            }
        }
    }

    fn mirrored(&self, index: usize, start: u64, end: u64) -> Option<(u64, u64, u64)> {
        self.mirrors.rows.as_slice().get(index)?.part(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::testing::Scratch;

    #[test]
    fn labels_appear_where_their_bytes_do() {
        const ONE: u64 = 0x5555_0000_1000;
        const TWO: u64 = 0x5555_0010_2000;
        // In its turn: there is room for one shadow in an address space.
        let mut runtime = Scratch::new();
        let shadow = &mut runtime.shadow;
        assert!(shadow.mirror(ONE, TWO, 4096));
        shadow.set(ONE + 9, ShadowWord::new(5, 0));
        assert_eq!(shadow.first_label(TWO, 4096), Some(TWO + 9));
        shadow.copy(TWO + 100, ONE, 64);
        assert_eq!(shadow.first_label(ONE + 64, 4000), Some(ONE + 109));
        shadow.clear(TWO, 4096);
        assert_eq!(shadow.first_label(ONE, 4096), None);
        shadow.end_mirrors(TWO, 1);
        shadow.set(ONE + 9, ShadowWord::new(5, 0));
        assert_eq!(shadow.first_label(TWO, 4096), None);
    }
}
