//! The range of a term from the ranges of its operands.
//!
//! Every function returns a range that contains the result for all operands within theirs.
//! Where a bound cannot be had cheaply it is left open: wide is sound.

use nearmiss_abi::op::{Op, truncate};

use super::predicate;
use super::value::Range;

/// The range of a unary operation.
pub(super) fn unary(op: Op, a: &Range) -> Range {
    let width = a.width as u128;
    match op {
        Op::Neg => sub(&Range::constant(a.width, 0), a),
        Op::Not => not(a),
        Op::CtPop => count(a, a.ones.count_ones(), (a.mask() & !a.zeros).count_ones()),
        Op::CtLz => {
            let zeros = |value: u128| value.leading_zeros() - (128 - a.width);
            count(a, zeros(a.high), zeros(a.low))
        }
        Op::CtTz => {
            let least = a.zeros.trailing_ones();
            count(a, least, a.ones.trailing_zeros().min(width as u32))
        }
        _ => Range::full(a.width),
    }
}

fn count(a: &Range, low: u32, high: u32) -> Range {
    let high = high.min(a.width);
    Range::unsigned(a.width, low.min(high) as u128, high as u128)
}

fn not(a: &Range) -> Range {
    both(
        Range::wrapped(a.width, !a.high, !a.low),
        Range::bits(a.width, a.ones, a.zeros),
    )
}

/// The range of a binary operation.
pub(super) fn binary(op: Op, a: &Range, b: &Range) -> Range {
    match op {
        Op::Add => add(a, b),
        Op::Sub => sub(a, b),
        Op::Mul => mul(a, b),
        Op::UDiv => udiv(a, b),
        Op::SDiv => sdiv(a, b),
        Op::URem => urem(a, b),
        Op::SRem => srem(a, b),
        Op::And => {
            let bits = Range::bits(a.width, a.zeros | b.zeros, a.ones & b.ones);
            both(bits, Range::unsigned(a.width, 0, a.high.min(b.high)))
        }
        Op::Or => {
            let bits = Range::bits(a.width, a.zeros & b.zeros, a.ones | b.ones);
            let low = a.low.max(b.low);
            both(bits, Range::unsigned(a.width, low, a.mask()))
        }
        Op::Xor => {
            let zeros = a.zeros & b.zeros | a.ones & b.ones;
            Range::bits(a.width, zeros, a.zeros & b.ones | a.ones & b.zeros)
        }
        Op::Shl => shl(a, b),
        Op::LShr => lshr(a, b),
        Op::AShr => ashr(a, b),
        _ => match predicate::decide(op, a, b) {
            Some(truth) => Range::constant(1, truth as u128),
            None => Range::full(1),
        },
    }
}

/// What is in both; they describe one set, so something is.
fn both(a: Range, b: Range) -> Range {
    a.meet(&b).unwrap_or(a)
}

/// The values `low` to `high` modulo the width, where they are fewer than all of them.
/// `span` is how many there are but one; `None` if that is more than can be counted.
fn modular(width: u32, low: u128, high: u128, span: Option<u128>) -> Range {
    match span {
        Some(span) if span < truncate(u128::MAX, width) => Range::wrapped(width, low, high),
        _ => Range::full(width),
    }
}

/// How many values there are between the bounds of two terms, together.
fn spans(a: &Range, b: &Range) -> (Option<u128>, Option<u128>) {
    let signed_span = |range: &Range| range.signed_high.wrapping_sub(range.signed_low) as u128;
    let unsigned = (a.high - a.low).checked_add(b.high - b.low);
    (unsigned, signed_span(a).checked_add(signed_span(b)))
}

pub(super) fn add(a: &Range, b: &Range) -> Range {
    let (span, signed_span) = spans(a, b);
    let unsigned = modular(
        a.width,
        a.low.wrapping_add(b.low),
        a.high.wrapping_add(b.high),
        span,
    );
    let signed = modular(
        a.width,
        a.signed_low.wrapping_add(b.signed_low) as u128,
        a.signed_high.wrapping_add(b.signed_high) as u128,
        signed_span,
    );
    both(both(unsigned, signed), add_bits(a, b, 0))
}

pub(super) fn sub(a: &Range, b: &Range) -> Range {
    let (span, signed_span) = spans(a, b);
    let unsigned = modular(
        a.width,
        a.low.wrapping_sub(b.high),
        a.high.wrapping_sub(b.low),
        span,
    );
    let signed = modular(
        a.width,
        a.signed_low.wrapping_sub(b.signed_high) as u128,
        a.signed_high.wrapping_sub(b.signed_low) as u128,
        signed_span,
    );
    let complement = Range {
        zeros: b.ones,
        ones: b.zeros,
        ..*b
    };
    both(both(unsigned, signed), add_bits(a, &complement, 1))
}

/// Known bits of a sum: a bit is known where both summands' bits and the carry into it are.
/// The carries of the least and the greatest sum tell which are.
fn add_bits(a: &Range, b: &Range, carry: u128) -> Range {
    let (a_most, b_most) = (a.mask() & !a.zeros, b.mask() & !b.zeros);
    let most = a_most.wrapping_add(b_most).wrapping_add(carry);
    let least = a.ones.wrapping_add(b.ones).wrapping_add(carry);
    let carry_zero = !(most ^ a_most ^ b_most);
    let carry_one = least ^ a.ones ^ b.ones;
    let known = (a.zeros | a.ones) & (b.zeros | b.ones) & (carry_zero | carry_one);
    Range::bits(a.width, !most & known, least & known)
}

fn mul(a: &Range, b: &Range) -> Range {
    let zeros = a.zeros.trailing_ones() + b.zeros.trailing_ones();
    let aligned = match zeros.min(a.width) {
        0 => Range::full(a.width),
        zeros => Range::bits(a.width, truncate(u128::MAX, zeros), 0),
    };
    let unsigned = match a.high.checked_mul(b.high) {
        Some(high) if high <= a.mask() => Range::unsigned(a.width, a.low * b.low, high),
        _ => Range::full(a.width),
    };
    both(both(unsigned, signed_mul(a, b)), aligned)
}

fn signed_mul(a: &Range, b: &Range) -> Range {
    let full = Range::full(a.width);
    match predicate::signed_products(a, b) {
        Some((low, high)) if low >= full.signed_low && high <= full.signed_high => {
            Range::signed(a.width, low, high)
        }
        _ => full,
    }
}

fn udiv(a: &Range, b: &Range) -> Range {
    let low = a.low.checked_div(b.high).unwrap_or(a.mask());
    // A divisor of zero gives the greatest value.
    let high = a.high.checked_div(b.low).unwrap_or(a.mask());
    Range::unsigned(a.width, low, high)
}

fn urem(a: &Range, b: &Range) -> Range {
    if a.high < b.low {
        return *a;
    }
    // A divisor of zero gives the dividend.
    let high = match b.low {
        0 => a.high,
        _ => a.high.min(b.high - 1),
    };
    Range::unsigned(a.width, 0, high)
}

fn sdiv(a: &Range, b: &Range) -> Range {
    if b.signed_low <= 0 {
        return Range::full(a.width);
    }
    let quotients = [
        a.signed_low / b.signed_low,
        a.signed_low / b.signed_high,
        a.signed_high / b.signed_low,
        a.signed_high / b.signed_high,
    ];
    let (low, high) = predicate::extremes(quotients);
    Range::signed(a.width, low, high)
}

fn srem(a: &Range, b: &Range) -> Range {
    let excludes_zero = b.signed_low > 0 || b.signed_high < 0 || b.low > 0;
    let most = if excludes_zero {
        let magnitude = b
            .signed_low
            .unsigned_abs()
            .max(b.signed_high.unsigned_abs());
        i128::try_from(magnitude - 1).unwrap_or(i128::MAX)
    } else {
        i128::MAX
    };
    let low = a.signed_low.min(0).max(-most);
    let high = a.signed_high.max(0).min(most);
    Range::signed(a.width, low, high)
}

fn shl(a: &Range, b: &Range) -> Range {
    let distance = b.low.min(a.width as u128) as u32;
    let zeros = (a.zeros.trailing_ones() + distance).min(a.width);
    let aligned = match zeros {
        0 => Range::full(a.width),
        zeros => Range::bits(a.width, truncate(u128::MAX, zeros), 0),
    };
    // No bit is lost where the greatest shift of the greatest value keeps all of them.
    let room = a.high.leading_zeros() - a.mask().leading_zeros();
    if b.high > room as u128 || b.high >= a.width as u128 {
        return aligned;
    }
    let moved = Range::unsigned(a.width, a.low << b.low as u32, a.high << b.high as u32);
    both(moved, aligned)
}

fn lshr(a: &Range, b: &Range) -> Range {
    let shift = |value: u128, distance: u128| match distance < a.width as u128 {
        true => value >> distance as u32,
        false => 0,
    };
    Range::unsigned(a.width, shift(a.low, b.high), shift(a.high, b.low))
}

fn ashr(a: &Range, b: &Range) -> Range {
    let most = a.width as u128 - 1;
    let (least, most) = (b.low.min(most) as u32, b.high.min(most) as u32);
    let low = (a.signed_low >> least).min(a.signed_low >> most);
    let high = (a.signed_high >> least).max(a.signed_high >> most);
    Range::signed(a.width, low, high)
}

/// The range of `high` above `low`.
pub(super) fn concat(high: &Range, low: &Range) -> Range {
    let (width, shift) = (high.width + low.width, low.width);
    let unsigned = Range::unsigned(
        width,
        high.low << shift | low.low,
        high.high << shift | low.high,
    );
    let signed = Range::signed(
        width,
        high.signed_low << shift | low.low as i128,
        high.signed_high << shift | low.high as i128,
    );
    let bits = Range::bits(
        width,
        high.zeros << shift | low.zeros,
        high.ones << shift | low.ones,
    );
    both(both(unsigned, signed), bits)
}

/// The range of `width` bits of `a` from bit `low` upwards.
pub(super) fn extract(a: &Range, low: u32, width: u32) -> Range {
    let bits = Range::bits(width, a.zeros >> low, a.ones >> low);
    let (from, to) = (a.low >> low, a.high >> low);
    let unsigned = modular(width, from, to, Some(to - from));
    let (from, to) = (a.signed_low >> low, a.signed_high >> low);
    let signed = modular(
        width,
        from as u128,
        to as u128,
        Some(to.wrapping_sub(from) as u128),
    );
    both(both(unsigned, signed), bits)
}

/// The range of `a` with zeros above it.
pub(super) fn zext(a: &Range, width: u32) -> Range {
    let above = truncate(u128::MAX, width) & !a.mask();
    let bits = Range::bits(width, a.zeros | above, a.ones);
    both(Range::unsigned(width, a.low, a.high), bits)
}

/// The range of `a` with copies of its sign above it.
pub(super) fn sext(a: &Range, width: u32) -> Range {
    let own = a.mask() >> 1;
    let bits = Range::bits(width, a.zeros & own, a.ones & own);
    both(Range::signed(width, a.signed_low, a.signed_high), bits)
}
