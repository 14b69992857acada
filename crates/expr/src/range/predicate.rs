//! Comparisons and overflow tests decided by the ranges of their operands.

use nearmiss_abi::op::Op;

use super::value::Range;

/// The truth of a predicate, if it is the same for all values of its operands.
pub(super) fn decide(op: Op, a: &Range, b: &Range) -> Option<bool> {
    match op {
        Op::Eq => equal(a, b),
        Op::Ne => equal(a, b).map(|truth| !truth),
        Op::Ult => less((a.low, a.high), (b.low, b.high)),
        Op::Ule => less((b.low, b.high), (a.low, a.high)).map(|truth| !truth),
        Op::Slt => less(signed_bounds(a), signed_bounds(b)),
        Op::Sle => less(signed_bounds(b), signed_bounds(a)).map(|truth| !truth),
        Op::USubOverflow => less((a.low, a.high), (b.low, b.high)),
        Op::UAddOverflow => overflows_unsigned(a, u128::checked_add, b),
        Op::UMulOverflow => overflows_unsigned(a, u128::checked_mul, b),
        Op::SAddOverflow => {
            let low = a.signed_low.checked_add(b.signed_low)?;
            let high = a.signed_high.checked_add(b.signed_high)?;
            overflows_signed(a, low, high)
        }
        Op::SSubOverflow => {
            let low = a.signed_low.checked_sub(b.signed_high)?;
            let high = a.signed_high.checked_sub(b.signed_low)?;
            overflows_signed(a, low, high)
        }
        Op::SMulOverflow => {
            let (low, high) = signed_products(a, b)?;
            overflows_signed(a, low, high)
        }
        _ => None,
    }
}

fn signed_bounds(range: &Range) -> (i128, i128) {
    (range.signed_low, range.signed_high)
}

fn equal(a: &Range, b: &Range) -> Option<bool> {
    if a.meet(b).is_none() {
        return Some(false);
    }
    (a.value().is_some() && a.value() == b.value()).then_some(true)
}

fn less<T: Ord>(a: (T, T), b: (T, T)) -> Option<bool> {
    if a.1 < b.0 {
        return Some(true);
    }
    (a.0 >= b.1).then_some(false)
}

fn overflows_unsigned(a: &Range, exact: fn(u128, u128) -> Option<u128>, b: &Range) -> Option<bool> {
    let fits = |x: u128, y: u128| exact(x, y).is_some_and(|result| result <= a.mask());
    if fits(a.high, b.high) {
        return Some(false);
    }
    (!fits(a.low, b.low)).then_some(true)
}

/// Whether all exact results, which lie between `low` and `high`, fit, or none does.
fn overflows_signed(a: &Range, low: i128, high: i128) -> Option<bool> {
    let full = Range::full(a.width);
    if low >= full.signed_low && high <= full.signed_high {
        return Some(false);
    }
    (high < full.signed_low || low > full.signed_high).then_some(true)
}

/// The least and the greatest exact signed product, if 128 bits hold them.
pub(super) fn signed_products(a: &Range, b: &Range) -> Option<(i128, i128)> {
    Some(extremes([
        a.signed_low.checked_mul(b.signed_low)?,
        a.signed_low.checked_mul(b.signed_high)?,
        a.signed_high.checked_mul(b.signed_low)?,
        a.signed_high.checked_mul(b.signed_high)?,
    ]))
}

/// The least and the greatest of four.
pub(super) fn extremes(values: [i128; 4]) -> (i128, i128) {
    let low = values.into_iter().fold(i128::MAX, i128::min);
    (low, values.into_iter().fold(i128::MIN, i128::max))
}
