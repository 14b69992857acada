//! The operations of terms: one row each.
//!
//! A row gives the operation's code in the trace, its name, how many operands it has, how
//! wide its result is and which SMT-LIB function it is. The evaluator beneath is the meaning
//! of the operation; the solver and compiled C are compared with it by random tests.
//!
//! Values are held in a `u128`, zero above the width. Widths are 1 to 128.

/// The widest term.
pub const MAX_WIDTH: u32 = 128;

/// How wide the result of an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultWidth {
    /// As wide as the operands, which are all of one width.
    Operand,
    /// One bit.
    Bit,
    /// The term says so: leaves, casts, concatenation, table reads.
    Stated,
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal, $arity:literal, $width:ident, $smt:literal;)*) => {
        /// An operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $name = $code,)* }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];

            /// The operation with this code, if there is one.
            #[inline]
            pub const fn from_code(code: u8) -> Option<Op> {
                match code { $($code => Some(Op::$name),)* _ => None }
            }

            /// The name used in dumps.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$name => $text,)* }
            }

            /// How many of a term's operand fields are labels of terms.
            #[inline]
            pub const fn arity(self) -> usize {
                match self { $(Op::$name => $arity,)* }
            }

            /// How wide the result is.
            #[inline]
            pub const fn result_width(self) -> ResultWidth {
                match self { $(Op::$name => ResultWidth::$width,)* }
            }

            /// The SMT-LIB 2 function, or "" where there is none of this meaning.
            pub const fn smt_name(self) -> &'static str {
                match self { $(Op::$name => $smt,)* }
            }
        }
    };
}

operations! {
    // Leaves.
    /// A constant; a wide one has its upper half in the fields `b` (low) and `c` (high).
    Const = 1, "const", 0, Stated, "";
    /// One byte of input: field `a` is the channel, field `b` the offset.
    Input = 2, "input", 0, Stated, "";
    // Arithmetic, modulo 2^width.
    /// Sum.
    Add = 10, "add", 2, Operand, "bvadd";
    /// Difference.
    Sub = 11, "sub", 2, Operand, "bvsub";
    /// Product.
    Mul = 12, "mul", 2, Operand, "bvmul";
    /// Unsigned quotient; all ones when the divisor is zero.
    UDiv = 13, "udiv", 2, Operand, "bvudiv";
    /// Signed quotient, rounded to zero; as SMT-LIB has it when the divisor is zero.
    SDiv = 14, "sdiv", 2, Operand, "bvsdiv";
    /// Unsigned remainder; the dividend when the divisor is zero.
    URem = 15, "urem", 2, Operand, "bvurem";
    /// Signed remainder with the sign of the dividend; the dividend when the divisor is zero.
    SRem = 16, "srem", 2, Operand, "bvsrem";
    /// Two's complement negation.
    Neg = 17, "neg", 1, Operand, "bvneg";
    // Bits.
    /// Bitwise and.
    And = 20, "and", 2, Operand, "bvand";
    /// Bitwise or.
    Or = 21, "or", 2, Operand, "bvor";
    /// Bitwise exclusive or.
    Xor = 22, "xor", 2, Operand, "bvxor";
    /// Bitwise complement.
    Not = 23, "not", 1, Operand, "bvnot";
    /// Shift left; zero when the distance is at least the width.
    Shl = 24, "shl", 2, Operand, "bvshl";
    /// Logical shift right; zero when the distance is at least the width.
    LShr = 25, "lshr", 2, Operand, "bvlshr";
    /// Arithmetic shift right; all sign when the distance is at least the width.
    AShr = 26, "ashr", 2, Operand, "bvashr";
    /// Number of ones.
    CtPop = 27, "ctpop", 1, Operand, "";
    /// Number of leading zeros; the width for zero.
    CtLz = 28, "ctlz", 1, Operand, "";
    /// Number of trailing zeros; the width for zero.
    CtTz = 29, "cttz", 1, Operand, "";
    // Comparisons.
    /// Equal.
    Eq = 40, "eq", 2, Bit, "=";
    /// Not equal.
    Ne = 41, "ne", 2, Bit, "distinct";
    /// Unsigned less.
    Ult = 42, "ult", 2, Bit, "bvult";
    /// Unsigned less or equal.
    Ule = 43, "ule", 2, Bit, "bvule";
    /// Signed less.
    Slt = 44, "slt", 2, Bit, "bvslt";
    /// Signed less or equal.
    Sle = 45, "sle", 2, Bit, "bvsle";
    // Whether the exact result does not fit.
    /// Signed addition overflows.
    SAddOverflow = 50, "saddo", 2, Bit, "bvsaddo";
    /// Unsigned addition overflows.
    UAddOverflow = 51, "uaddo", 2, Bit, "bvuaddo";
    /// Signed subtraction overflows.
    SSubOverflow = 52, "ssubo", 2, Bit, "bvssubo";
    /// Unsigned subtraction overflows.
    USubOverflow = 53, "usubo", 2, Bit, "bvusubo";
    /// Signed multiplication overflows.
    SMulOverflow = 54, "smulo", 2, Bit, "bvsmulo";
    /// Unsigned multiplication overflows.
    UMulOverflow = 55, "umulo", 2, Bit, "bvumulo";
    // Structure.
    /// Operand `a` above operand `b`.
    Concat = 60, "concat", 2, Stated, "concat";
    /// `width` bits of operand `a` from bit `b` upwards (field `b` is a number, not a label).
    Extract = 61, "extract", 1, Stated, "extract";
    /// Zero extension of operand `a`.
    ZExt = 62, "zext", 1, Stated, "zero_extend";
    /// Sign extension of operand `a`.
    SExt = 63, "sext", 1, Stated, "sign_extend";
    /// Operand `b` if operand `a` (one bit) is one, else operand `c`.
    Ite = 64, "ite", 3, Stated, "ite";
    /// A little-endian read of `width / 8` bytes at byte offset `a` (a 64-bit term) of
    /// snapshot number `b` (a number, not a label). Bytes outside the snapshot read as zero.
    Read = 65, "read", 1, Stated, "";
}

/// A value of `width` bits: `value` without the bits above.
#[inline]
pub const fn truncate(value: u128, width: u32) -> u128 {
    if width >= 128 {
        value
    } else {
        value & ((1u128 << width) - 1)
    }
}

/// `value` of `width` bits as a signed number.
#[inline]
pub const fn signed(value: u128, width: u32) -> i128 {
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}

/// The meaning of a unary or binary operation on operands of `width` bits; `b` is ignored by
/// unary ones. `None` for leaves and structure, whose meaning needs more than two values.
#[inline]
pub const fn evaluate(op: Op, width: u32, a: u128, b: u128) -> Option<u128> {
    let result = match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::UDiv => match a.checked_div(b) {
            Some(quotient) => quotient,
            None => u128::MAX,
        },
        Op::URem => match a.checked_rem(b) {
            Some(remainder) => remainder,
            None => a,
        },
        Op::SDiv => signed_divide(signed(a, width), signed(b, width)) as u128,
        Op::SRem => signed_remainder(signed(a, width), signed(b, width)) as u128,
        Op::Neg => a.wrapping_neg(),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Not => !a,
        Op::Shl => {
            if b >= width as u128 {
                0
            } else {
                a << b as u32
            }
        }
        Op::LShr => {
            if b >= width as u128 {
                0
            } else {
                a >> b as u32
            }
        }
        Op::AShr => {
            let distance = if b >= width as u128 {
                width - 1
            } else {
                b as u32
            };
            (signed(a, width) >> distance) as u128
        }
        Op::CtPop => a.count_ones() as u128,
        Op::CtLz => (a.leading_zeros() - (128 - width)) as u128,
        Op::CtTz => {
            if a == 0 {
                width as u128
            } else {
                a.trailing_zeros() as u128
            }
        }
        _ => return evaluate_predicate(op, width, a, b),
    };
    Some(truncate(result, width))
}

/// The operations with a one-bit result.
#[inline]
const fn evaluate_predicate(op: Op, width: u32, a: u128, b: u128) -> Option<u128> {
    let (sa, sb) = (signed(a, width), signed(b, width));
    let truth = match op {
        Op::Eq => a == b,
        Op::Ne => a != b,
        Op::Ult => a < b,
        Op::Ule => a <= b,
        Op::Slt => sa < sb,
        Op::Sle => sa <= sb,
        Op::SAddOverflow => !fits_signed(sa.checked_add(sb), width),
        Op::SSubOverflow => !fits_signed(sa.checked_sub(sb), width),
        Op::SMulOverflow => !fits_signed(sa.checked_mul(sb), width),
        Op::UAddOverflow => !fits_unsigned(a.checked_add(b), width),
        Op::USubOverflow => a < b,
        Op::UMulOverflow => !fits_unsigned(a.checked_mul(b), width),
        _ => return None,
    };
    Some(truth as u128)
}

#[inline]
const fn fits_signed(exact: Option<i128>, width: u32) -> bool {
    match exact {
        Some(value) => signed(value as u128, width) == value,
        None => false,
    }
}

#[inline]
const fn fits_unsigned(exact: Option<u128>, width: u32) -> bool {
    match exact {
        Some(value) => truncate(value, width) == value,
        None => false,
    }
}

#[inline]
const fn signed_divide(a: i128, b: i128) -> i128 {
    if b == 0 {
        if a < 0 { 1 } else { -1 }
    } else {
        a.wrapping_div(b)
    }
}

#[inline]
const fn signed_remainder(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip() {
        for &op in Op::ALL {
            assert_eq!(Op::from_code(op as u8), Some(op));
        }
        assert_eq!(Op::from_code(0), None);
    }

    #[test]
    fn edge_cases() {
        let cases: &[(Op, u32, u128, u128, u128)] = &[
            (Op::SDiv, 8, 0x80, 0xff, 0x80),
            (Op::SDiv, 8, 0xfe, 0, 1),
            (Op::SDiv, 8, 2, 0, 0xff),
            (Op::SRem, 8, 0x80, 0xff, 0),
            (Op::AShr, 8, 0x80, 200, 0xff),
            (Op::Shl, 8, 1, 8, 0),
            (Op::CtLz, 8, 0, 0, 8),
            (Op::CtLz, 8, 1, 0, 7),
            (Op::CtTz, 16, 0, 0, 16),
            (Op::SAddOverflow, 8, 0x7f, 1, 1),
            (Op::SSubOverflow, 8, 0x80, 1, 1),
            (Op::SMulOverflow, 128, 1 << 127, u128::MAX, 1),
            (Op::UMulOverflow, 128, u128::MAX, 2, 1),
            (Op::UMulOverflow, 8, 15, 17, 0),
        ];
        for &(op, width, a, b, expected) in cases {
            assert_eq!(
                evaluate(op, width, a, b),
                Some(expected),
                "{} {a:#x} {b:#x}",
                op.name()
            );
        }
    }
}
