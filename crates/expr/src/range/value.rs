//! A set of values as bounds: unsigned, signed, and bit by bit.

use nearmiss_abi::op::{signed, truncate};

/// A set of values that contains every value a term can have: those within all its bounds.
/// Never empty; the bounds agree with each other ([`Range::tighten`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Bits of the term.
    pub width: u32,
    /// Least value, unsigned.
    pub low: u128,
    /// Greatest value, unsigned.
    pub high: u128,
    /// Least value, signed.
    pub signed_low: i128,
    /// Greatest value, signed.
    pub signed_high: i128,
    /// Bits that are 0 in every value.
    pub zeros: u128,
    /// Bits that are 1 in every value.
    pub ones: u128,
}

impl Range {
    /// Every value.
    pub fn full(width: u32) -> Range {
        Range {
            width,
            low: 0,
            high: truncate(u128::MAX, width),
            signed_low: i128::MIN >> (128 - width),
            signed_high: i128::MAX >> (128 - width),
            zeros: 0,
            ones: 0,
        }
    }

    /// One value.
    pub fn constant(width: u32, value: u128) -> Range {
        let value = truncate(value, width);
        let number = signed(value, width);
        Range {
            width,
            low: value,
            high: value,
            signed_low: number,
            signed_high: number,
            zeros: truncate(!value, width),
            ones: value,
        }
    }

    /// Values from `low` to `high`, unsigned.
    pub fn unsigned(width: u32, low: u128, high: u128) -> Range {
        debug_assert!(low <= high);
        Range::wrapped(width, low, high)
    }

    /// Values from `low` to `high`, signed.
    pub fn signed(width: u32, low: i128, high: i128) -> Range {
        debug_assert!(low <= high);
        Range::wrapped(width, low as u128, high as u128)
    }

    /// Values met when counting up from `from` to `to`, past the greatest to 0 if need be.
    pub fn wrapped(width: u32, from: u128, to: u128) -> Range {
        let full = Range::full(width);
        full.meet_wrapped(from, to).unwrap_or(full)
    }

    /// Values with these bits.
    pub fn bits(width: u32, zeros: u128, ones: u128) -> Range {
        let range = Range {
            zeros: truncate(zeros, width),
            ones: truncate(ones, width),
            ..Range::full(width)
        };
        range.tighten().unwrap_or(Range::full(width))
    }

    /// The only value, if there is but one.
    pub fn value(&self) -> Option<u128> {
        (self.low == self.high).then_some(self.low)
    }

    /// The truth of a one-bit range, if it is known.
    pub fn truth(&self) -> Option<bool> {
        self.value().map(|value| value == 1)
    }

    /// Whether a value is within all bounds.
    pub fn contains(&self, value: u128) -> bool {
        let number = signed(value, self.width);
        (self.low..=self.high).contains(&value)
            && (self.signed_low..=self.signed_high).contains(&number)
            && value & self.zeros == 0
            && value & self.ones == self.ones
    }

    /// The greatest value of this width, unsigned.
    pub(crate) fn mask(&self) -> u128 {
        truncate(u128::MAX, self.width)
    }

    /// The values in both; `None` if there is none.
    pub fn meet(&self, other: &Range) -> Option<Range> {
        debug_assert_eq!(self.width, other.width);
        let met = Range {
            width: self.width,
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            signed_low: self.signed_low.max(other.signed_low),
            signed_high: self.signed_high.min(other.signed_high),
            zeros: self.zeros | other.zeros,
            ones: self.ones | other.ones,
        };
        if met == *self || met == *other {
            return Some(met);
        }
        met.tighten()
    }

    /// A range with the values of both, and as few others as bounds can say.
    pub fn join(&self, other: &Range) -> Range {
        Range {
            width: self.width,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            signed_low: self.signed_low.min(other.signed_low),
            signed_high: self.signed_high.max(other.signed_high),
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
        }
    }

    /// The values met when counting up from `from` to `to`, modulo the width.
    ///
    /// Such a set is one interval or two in either order; of two, one may be out of reach.
    pub fn meet_wrapped(&self, from: u128, to: u128) -> Option<Range> {
        let (from, to) = (truncate(from, self.width), truncate(to, self.width));
        let mut range = *self;
        (range.low, range.high) = trim((self.low, self.high), from, to);
        let signed_bounds = (self.signed_low, self.signed_high);
        (range.signed_low, range.signed_high) = trim(
            signed_bounds,
            signed(from, self.width),
            signed(to, self.width),
        );
        range.tighten()
    }

    /// Lets each kind of bound narrow the others; `None` if nothing is left.
    fn tighten(mut self) -> Option<Range> {
        // Twice: what the bits learn from the bounds may round the bounds again.
        for _ in 0..2 {
            self.bounds_from_bits()?;
            self.signed_from_unsigned();
            self.unsigned_from_signed();
            if self.low > self.high || self.signed_low > self.signed_high {
                return None;
            }
            self.bits_from_bounds();
            if self.zeros & self.ones != 0 {
                return None;
            }
        }
        self.bounds_from_bits()?;
        self.signed_from_unsigned();
        (self.low <= self.high && self.signed_low <= self.signed_high).then_some(self)
    }

    /// Known bits bound the value; a run of known low bits (an alignment) rounds the bounds.
    fn bounds_from_bits(&mut self) -> Option<()> {
        self.low = self.low.max(self.ones);
        self.high = self.high.min(self.mask() & !self.zeros);
        let run = (self.zeros | self.ones).trailing_ones().min(self.width);
        if run == 0 {
            return Some(());
        }
        let part = truncate(u128::MAX, run);
        let rest = self.ones & part;
        // Up to the next value with these low bits, down to the last one.
        self.low = self.low.checked_add(rest.wrapping_sub(self.low) & part)?;
        self.high = self.high.checked_sub(self.high.wrapping_sub(rest) & part)?;
        Some(())
    }

    fn signed_from_unsigned(&mut self) {
        let (low, high) = (signed(self.low, self.width), signed(self.high, self.width));
        if (low < 0) == (high < 0) {
            self.signed_low = self.signed_low.max(low);
            self.signed_high = self.signed_high.min(high);
        }
    }

    fn unsigned_from_signed(&mut self) {
        if (self.signed_low < 0) == (self.signed_high < 0) {
            self.low = self.low.max(truncate(self.signed_low as u128, self.width));
            self.high = self
                .high
                .min(truncate(self.signed_high as u128, self.width));
        }
    }

    /// The bits above the highest in which the bounds differ are known.
    fn bits_from_bounds(&mut self) {
        let differing = 128 - (self.low ^ self.high).leading_zeros();
        let known = self.mask() & !truncate_or_zero(differing);
        self.ones |= self.low & known;
        self.zeros |= !self.low & known;
    }
}

/// Ones below bit `count`, which may be 0.
fn truncate_or_zero(count: u32) -> u128 {
    match count {
        0 => 0,
        count => truncate(u128::MAX, count),
    }
}

/// `bounds` without what lies outside of `from` to `to`; where `from` is above `to`, the set
/// has a gap between them, which counts only if it covers an end.
fn trim<T: Ord + Copy>(bounds: (T, T), from: T, to: T) -> (T, T) {
    let (low, high) = bounds;
    if from <= to {
        return (low.max(from), high.min(to));
    }
    let low = if low > to { low.max(from) } else { low };
    let high = if high < from { high.min(to) } else { high };
    (low, high)
}
