//! Which values a part of a requirement may have: an interval that is never too small.

use super::Binary;
use super::types::CType;

/// The smallest and the largest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values {
    pub least: i128,
    pub greatest: i128,
}

impl Values {
    pub const TRUTHS: Values = Values::new(0, 1);

    pub const fn new(least: i128, greatest: i128) -> Values {
        Values { least, greatest }
    }

    pub fn of_type(ctype: CType) -> Values {
        Values::new(ctype.least(), ctype.greatest())
    }

    /// The value, if there is only one.
    pub fn only(self) -> Option<i128> {
        (self.least == self.greatest).then_some(self.least)
    }

    pub fn contains(self, value: i128) -> bool {
        (self.least..=self.greatest).contains(&value)
    }

    /// What a conversion leaves of them.
    pub fn converted(self, ctype: CType) -> Values {
        match self.only() {
            Some(value) => {
                let value = ctype.wrapped(value);
                Values::new(value, value)
            }
            None if ctype.holds(self.least) && ctype.holds(self.greatest) => self,
            None => Values::of_type(ctype),
        }
    }

    /// What an operation other than a comparison or a connective makes of two, both of them of a
    /// type already; the result is yet to be wrapped.
    pub fn computed(self, operation: Binary, other: Values, ctype: CType) -> Values {
        let anything = Values::of_type(ctype);
        let natural = self.least >= 0 && other.least >= 0;
        match operation {
            Binary::Add => Values::new(self.least + other.least, self.greatest + other.greatest),
            Binary::Subtract => {
                Values::new(self.least - other.greatest, self.greatest - other.least)
            }
            Binary::Multiply => self.multiplied(other),
            Binary::Divide if natural && other.least > 0 => {
                Values::new(self.least / other.greatest, self.greatest / other.least)
            }
            Binary::Remainder if natural && other.least > 0 => {
                Values::new(0, self.greatest.min(other.greatest - 1))
            }
            Binary::BitAnd if natural => Values::new(0, self.greatest.min(other.greatest)),
            Binary::BitOr | Binary::BitXor if natural => {
                let largest = self.greatest.max(other.greatest) as u128;
                Values::new(0, (largest + 1).next_power_of_two() as i128 - 1)
            }
            _ => anything,
        }
    }

    fn multiplied(self, other: Values) -> Values {
        if let (Some(left), Some(right)) = (self.only(), other.only()) {
            // The lower half is right however large it is, and nothing else is kept.
            let product = left.wrapping_mul(right);
            return Values::new(product, product);
        }
        let corners = [
            self.least.saturating_mul(other.least),
            self.least.saturating_mul(other.greatest),
            self.greatest.saturating_mul(other.least),
            self.greatest.saturating_mul(other.greatest),
        ];
        let least = corners.iter().min().copied().unwrap_or(0);
        let greatest = corners.iter().max().copied().unwrap_or(0);
        Values::new(least, greatest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals() {
        let few = Values::new(0, 5);
        let one = Values::new(1, 1);
        let computed = |operation| few.computed(operation, one, CType::INT);
        assert_eq!(computed(Binary::Subtract), Values::new(-1, 4));
        assert_eq!(computed(Binary::BitOr), Values::new(0, 7));
        assert_eq!(computed(Binary::Divide), few);
        assert_eq!(computed(Binary::ShiftLeft), Values::of_type(CType::INT));
        assert_eq!(
            Values::new(-1, 4).converted(CType::UNSIGNED),
            Values::of_type(CType::UNSIGNED)
        );
        assert_eq!(few.converted(CType::UNSIGNED), few);
        // The largest products do not fit, and do no harm.
        let long = Values::of_type(CType::UNSIGNED_LONG);
        let square = long.computed(Binary::Multiply, long, CType::UNSIGNED_LONG);
        assert_eq!(square.converted(CType::UNSIGNED_LONG), long);
        let largest = Values::new(long.greatest, long.greatest);
        let square = largest.computed(Binary::Multiply, largest, CType::UNSIGNED_LONG);
        assert_eq!(square.converted(CType::UNSIGNED_LONG), Values::new(1, 1));
    }
}
