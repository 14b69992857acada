//! Loads and stores: from shadow words to terms and back.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::truncate;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::evaluate::mask;
use crate::runtime::Runtime;

/// The widest access that the shadow can describe: byte numbers have four bits.
const LARGEST_ACCESS: u32 = 16;

impl Runtime {
    /// The label of the `size` (1 to 8) bytes at `address`, which hold `value`.
    #[inline]
    pub fn load(&mut self, address: u64, size: u32, value: u64) -> Label {
        if size == 0 || size > 8 {
            return CONCRETE;
        }
        let value = value & mask(8 * size);
        let label = self.whole_term(address, size);
        if label != CONCRETE && self.trace.term(label).value == value {
            return label;
        }
        self.load_pieces(address, size, value)
    }

    /// How many bytes from `address` on hold consecutive bytes of one term, or are concrete.
    #[inline(always)]
    fn run_length(&self, address: u64, most: u32) -> u32 {
        let first = self.shadow.get(address);
        let step = if first.label() == CONCRETE {
            0
        } else {
            1 << nearmiss_abi::term::LABEL_BITS
        };
        let mut expected = first.0;
        let mut length = 1;
        while length < most {
            let (next, past_the_last_byte) = expected.overflowing_add(step);
            expected = next;
            if past_the_last_byte || self.shadow.get(address + length as u64).0 != expected {
                break;
            }
            length += 1;
        }
        length
    }

    /// Puts a value together from what its bytes hold.
    fn load_pieces(&mut self, address: u64, size: u32, value: u64) -> Label {
        let mut any = false;
        let mut done = 0;
        while done < size {
            let at = address + done as u64;
            let run = self.run_length(at, size - done);
            any |= self.shadow.get(at).label() != CONCRETE
                && self.verify(at, run, value >> (8 * done));
            done += run;
        }
        if !any {
            return CONCRETE;
        }
        self.join_pieces(address, size, value)
    }

    /// As [`Runtime::load`] for bytes that the program did not just read: where they are not
    /// what their labels say, they count as concrete.
    pub fn peek(&mut self, address: u64, size: u32, value: u64) -> Label {
        let mut any = false;
        let mut done = 0;
        while done < size {
            let at = address + done as u64;
            let run = self.run_length(at, size - done);
            if self.shadow.get(at).label() != CONCRETE {
                any = true;
                if !self.agrees(at, run, value >> (8 * done)) {
                    return CONCRETE;
                }
            }
            done += run;
        }
        if any {
            self.join_pieces(address, size, value)
        } else {
            CONCRETE
        }
    }

    fn join_pieces(&mut self, address: u64, size: u32, value: u64) -> Label {
        let mut result = CONCRETE;
        let mut done = 0;
        while done < size {
            let at = address + done as u64;
            let run = self.run_length(at, size - done);
            let piece = self.piece(at, run, value >> (8 * done));
            result = if done == 0 {
                piece
            } else {
                self.concatenate(piece, result)
            };
            done += run;
        }
        result
    }

    /// Whether the bytes still have the value of their term. If not, they are concrete from now
    /// on: somebody wrote them without instrumentation; or a store at a symbolic address took
    /// them for what the program was to write there later in the region.
    fn verify(&mut self, address: u64, size: u32, value: u64) -> bool {
        if self.agrees(address, size, value) {
            return true;
        }
        self.shadow.clear(address, size as u64);
        let (start, length) = self.last_updated;
        if address.wrapping_sub(start) >= length {
            self.trace.note(NoteKind::Overwritten, SiteId::NONE, 1);
        }
        false
    }

    /// The term that the bytes hold from its first byte to its last; 0 if there is none.
    #[inline]
    pub fn whole_term(&self, address: u64, size: u32) -> Label {
        let first = self.shadow.get(address);
        let label = first.label();
        let whole = first.byte() == 0 && self.width(label) == 8 * size;
        if whole && self.run_length(address, size) == size {
            label
        } else {
            CONCRETE
        }
    }

    /// Whether a run of bytes has the value of its term.
    fn agrees(&self, address: u64, size: u32, value: u64) -> bool {
        let word = self.shadow.get(address);
        let low = 8 * word.byte();
        let fits = low + 8 * size <= self.width(word.label());
        let recorded = truncate(self.value(word.label()) >> low, 8 * size) as u64;
        fits && recorded == value & mask(8 * size)
    }

    /// The term of a run of bytes.
    fn piece(&mut self, address: u64, size: u32, value: u64) -> Label {
        let word = self.shadow.get(address);
        if word.label() == CONCRETE {
            return self.constant(8 * size, value as u128);
        }
        let piece = self.extract(word.label(), 8 * word.byte(), 8 * size);
        if piece != CONCRETE {
            return piece;
        }
        // These bits of the term do not depend on input.
        self.constant(8 * size, value as u128)
    }

    /// The `size` bytes at `address` now hold `label`, or are concrete.
    #[inline]
    pub fn store(&mut self, address: u64, size: u32, label: Label) {
        if size > LARGEST_ACCESS {
            return self.shadow.clear(address, size as u64);
        }
        let label = if label != CONCRETE && self.width(label) != 8 * size {
            self.resize(label, 8 * size)
        } else {
            label
        };
        if label == CONCRETE {
            self.shadow.clear(address, size as u64);
        } else {
            self.shadow.set_term(address, size, label);
        }
    }

    /// `size` bytes now hold the low byte of `label`, or are concrete.
    pub fn fill(&mut self, address: u64, size: u64, label: Label) {
        let label = if label == CONCRETE {
            CONCRETE
        } else {
            self.resize(label, 8)
        };
        if label == CONCRETE {
            self.shadow.clear(address, size);
        } else {
            self.shadow.fill(address, size, label);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::runtime::testing::Scratch;
    use nearmiss_abi::op::Op;
    use nearmiss_abi::term::Term;

    const AT: u64 = 0x5555_0000_1000;

    fn input(runtime: &mut Scratch, offset: u32, value: u8) -> u32 {
        runtime.intern(Term::new(Op::Input, 8, 0, offset, 0), value as u128)
    }

    #[test]
    fn what_was_stored_is_found_whole() {
        let mut runtime = Scratch::new();
        let byte = input(&mut runtime, 0, 0x41);
        let wide = runtime.sign_extend(byte, 32);
        runtime.store(AT, 4, wide);
        assert_eq!(runtime.load(AT, 4, 0x41), wide);
        assert_eq!(runtime.load(AT, 1, 0x41), byte);
        // The upper half of a sign extension is an extract.
        let upper = runtime.load(AT + 2, 2, 0);
        assert_eq!(runtime.trace.term(upper).op, Op::Extract as u8);
        // Half of it with concrete bytes above.
        runtime.store(AT + 2, 2, 0);
        let mixed = runtime.load(AT, 4, 0x41);
        assert_eq!(runtime.value(mixed), 0x41);
        assert_eq!(runtime.trace.term(mixed).op, Op::ZExt as u8);
    }

    #[test]
    fn bytes_become_one_value_and_come_apart_again() {
        let mut runtime = Scratch::new();
        for offset in 0..4 {
            let byte = input(&mut runtime, offset, 0x10 + offset as u8);
            runtime.store(AT + offset as u64, 1, byte);
        }
        let word = runtime.load(AT, 4, 0x1312_1110);
        assert_eq!(runtime.value(word), 0x1312_1110);
        assert_eq!(runtime.width(word), 32);
        runtime.store(AT + 100, 4, word);
        let third = runtime.load(AT + 102, 1, 0x12);
        assert_eq!(third, input(&mut runtime, 2, 0x12));
        assert_eq!(runtime.load(AT, 4, 0x1312_1110), word, "hash-consed");
    }

    #[test]
    fn a_changed_value_drops_the_label() {
        let mut runtime = Scratch::new();
        let byte = input(&mut runtime, 0, 7);
        runtime.store(AT, 1, byte);
        assert_eq!(runtime.load(AT, 1, 8), 0);
        assert_eq!(runtime.load(AT, 1, 7), 0, "the label is gone for good");
        let mut expected = 0;
        runtime.store(AT, 1, byte);
        for size in 1..=8 {
            expected = runtime.load(AT, size, 0x100 * 77 + 7);
            assert_eq!(runtime.width(expected), 8 * size);
        }
        assert_ne!(expected, 0);
    }

    #[test]
    fn odd_widths_are_stored_with_zeros_above() {
        let mut runtime = Scratch::new();
        let byte = input(&mut runtime, 0, 0xff);
        let bit = runtime.extract(byte, 3, 1);
        runtime.store(AT, 1, bit);
        let loaded = runtime.load(AT, 1, 1);
        assert_eq!(runtime.width(loaded), 8);
        assert_eq!(runtime.extract(loaded, 0, 1), bit);
    }

    #[test]
    fn shadow_moves_like_memory() {
        let mut runtime = Scratch::new();
        let mut model = [0u32; 256];
        let mut random = 12345u64;
        let mut next = |limit: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % limit
        };
        for _ in 0..3_000 {
            let (from, to) = (next(200), next(200));
            let size = next(256 - from.max(to)).min(next(100));
            match next(8) {
                0..4 => {
                    runtime.shadow.copy(AT + to, AT + from, size);
                    model.copy_within(from as usize..(from + size) as usize, to as usize);
                }
                4..6 => {
                    runtime.shadow.clear(AT + to, size);
                    model[to as usize..(to + size) as usize].fill(0);
                }
                _ => {
                    let label = 1 + next(1000) as u32;
                    let size = size.min(5);
                    runtime.shadow.fill(AT + to, size, label);
                    model[to as usize..(to + size) as usize].fill(label);
                }
            }
            for (offset, &word) in model.iter().enumerate() {
                assert_eq!(runtime.shadow.get(AT + offset as u64).0, word, "{offset}");
            }
            let first = model.iter().position(|&word| word != 0);
            assert_eq!(
                runtime.shadow.first_label(AT, 256),
                first.map(|offset| AT + offset as u64)
            );
        }
    }

    #[test]
    fn a_huge_range_is_cleared_by_pages() {
        let mut runtime = Scratch::new();
        let far = AT + (300 << 20);
        for address in [AT, AT + 40_000, AT + (100 << 20), far - 1, far] {
            runtime.shadow.fill(address, 1, 5);
        }
        runtime.shadow.clear(AT + 1, (300 << 20) - 1);
        assert_eq!(runtime.shadow.first_label(AT, 1), Some(AT));
        assert_eq!(runtime.shadow.first_label(AT + 1, 400 << 20), Some(far));
    }
}
