//! The value of an operation, quickly: the meaning is `abi::op::evaluate`, which works on 128
//! bits; most operations of a program fit into 64.

use nearmiss_abi::op::{self, Op};

/// The bits of a value of `width` bits (1 to 64).
#[inline(always)]
pub const fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

#[inline(always)]
fn signed(value: u64, width: u32) -> i64 {
    let unused = 64 - width;
    ((value << unused) as i64) >> unused
}

/// What [`op::evaluate`] says, for operands of `width` bits.
#[inline]
pub fn evaluate(operation: Op, width: u32, a: u128, b: u128) -> Option<u128> {
    if width <= 64
        && let Some(result) = evaluate_narrow(operation, width, a as u64, b as u64)
    {
        return Some(result as u128);
    }
    op::evaluate(operation, width, a, b)
}

/// The frequent operations on up to 64 bits; `None` for the others.
#[inline]
pub fn evaluate_narrow(operation: Op, width: u32, a: u64, b: u64) -> Option<u64> {
    let result = match operation {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl if b < width as u64 => a << b,
        Op::LShr if b < width as u64 => a >> b,
        Op::AShr if b < width as u64 => (signed(a, width) >> b) as u64,
        Op::Eq => (a == b) as u64,
        Op::Ne => (a != b) as u64,
        Op::Ult => (a < b) as u64,
        Op::Ule => (a <= b) as u64,
        Op::Slt => (signed(a, width) < signed(b, width)) as u64,
        Op::Sle => (signed(a, width) <= signed(b, width)) as u64,
        Op::SAddOverflow if width <= 32 => !fits(signed(a, width) + signed(b, width), width) as u64,
        Op::SSubOverflow if width <= 32 => !fits(signed(a, width) - signed(b, width), width) as u64,
        Op::SMulOverflow if width <= 32 => !fits(signed(a, width) * signed(b, width), width) as u64,
        _ => return None,
    };
    Some(result & mask(width))
}

#[inline(always)]
fn fits(exact: i64, width: u32) -> bool {
    signed(exact as u64, width) == exact
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_meaning() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for _ in 0..200_000 {
            let operation = Op::ALL[next() as usize % Op::ALL.len()];
            let width = [1, 7, 8, 16, 20, 32, 33, 63, 64][next() as usize % 9];
            let mut operand = || match next() % 4 {
                0 => next() & 3,
                1 => mask(width) - (next() & 3 & mask(width)),
                2 => (1 << (width - 1)) + (next() & 3),
                _ => next(),
            };
            let (a, b) = (operand() & mask(width), operand() & mask(width));
            if let Some(result) = evaluate_narrow(operation, width, a, b) {
                let meaning = op::evaluate(operation, width, a as u128, b as u128);
                assert_eq!(
                    Some(result as u128),
                    meaning,
                    "{} of {width} bits: {a:#x} {b:#x}",
                    operation.name()
                );
            }
        }
    }
}
