//! The types that C computes in, of those that a requirement can have.

/// int, unsigned, long or unsigned long. Smaller ones are promoted before anything is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CType {
    pub signed: bool,
    /// 64 bits, not 32.
    pub wide: bool,
}

impl CType {
    pub const INT: CType = CType::new(true, false);
    pub const UNSIGNED: CType = CType::new(false, false);
    pub const LONG: CType = CType::new(true, true);
    pub const UNSIGNED_LONG: CType = CType::new(false, true);

    /// In the order in which C tries them for a number.
    pub const ALL: [CType; 4] = [
        CType::INT,
        CType::UNSIGNED,
        CType::LONG,
        CType::UNSIGNED_LONG,
    ];

    const fn new(signed: bool, wide: bool) -> CType {
        CType { signed, wide }
    }

    /// What a value of so many bits is promoted to.
    pub fn promoted(signed: bool, bits: u32) -> CType {
        match bits {
            0..32 => CType::INT,
            32 => CType::new(signed, false),
            _ => CType::new(signed, true),
        }
    }

    /// What both operands of an operation are converted to.
    pub fn common(self, other: CType) -> CType {
        let wide = self.wide | other.wide;
        // A long holds every unsigned; otherwise one that is as wide and unsigned wins.
        let forces = |ctype: CType| !ctype.signed && ctype.wide == wide;
        CType::new(!(forces(self) | forces(other)), wide)
    }

    pub fn unsigned(self) -> CType {
        CType::new(false, self.wide)
    }

    pub fn bits(self) -> u32 {
        if self.wide { 64 } else { 32 }
    }

    pub fn least(self) -> i128 {
        if self.signed {
            -(1 << (self.bits() - 1))
        } else {
            0
        }
    }

    pub fn greatest(self) -> i128 {
        self.least() + (1 << self.bits()) - 1
    }

    pub fn holds(self, value: i128) -> bool {
        (self.least()..=self.greatest()).contains(&value)
    }

    /// The value that a conversion makes of another.
    pub fn wrapped(self, value: i128) -> i128 {
        let above_least = value.wrapping_sub(self.least());
        above_least.rem_euclid(1 << self.bits()) + self.least()
    }

    pub fn name(self) -> &'static str {
        match (self.signed, self.wide) {
            (true, false) => "int",
            (false, false) => "unsigned",
            (true, true) => "long",
            (false, true) => "unsigned long",
        }
    }

    /// A constant of this type.
    pub fn literal(self, value: i128) -> String {
        let suffix = match (self.signed, self.wide) {
            (true, false) => "",
            (false, false) => "u",
            (true, true) => "l",
            (false, true) => "ul",
        };
        match value {
            // C has no negative constants, and the smallest is beyond the largest.
            _ if value < 0 && value == self.least() => {
                format!("(-{}{suffix} - 1)", self.greatest())
            }
            ..0 => format!("(-{}{suffix})", -value),
            _ => format!("{value}{suffix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_those_of_c() {
        let [int, unsigned, long, unsigned_long] = CType::ALL;
        assert_eq!(int.common(int), int);
        assert_eq!(int.common(unsigned), unsigned);
        assert_eq!(unsigned.common(long), long);
        assert_eq!(long.common(unsigned_long), unsigned_long);
        assert_eq!(int.common(unsigned_long), unsigned_long);
        assert_eq!(CType::promoted(false, 8), int);
        assert_eq!(CType::promoted(false, 32), unsigned);
        assert_eq!(CType::promoted(true, 64), long);
    }

    #[test]
    fn values_wrap() {
        assert_eq!(CType::INT.wrapped(1 << 31), -(1 << 31));
        assert_eq!(CType::UNSIGNED.wrapped(-1), 0xffff_ffff);
        assert_eq!(CType::UNSIGNED_LONG.greatest(), i128::from(u64::MAX));
        assert_eq!(CType::INT.literal(-(1 << 31)), "(-2147483647 - 1)");
        assert_eq!(CType::LONG.literal(-3), "(-3l)");
        assert_eq!(CType::UNSIGNED.literal(3), "3u");
    }
}
