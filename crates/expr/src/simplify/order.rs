//! Less, less or equal.
//!
//! Canonical form: a comparison with a constant is strict, and as narrow as can be; between
//! zero-extended terms it is unsigned.

use nearmiss_abi::op::{self, Op};

use super::equality::narrowed;
use super::{Draft, rules};
use crate::node::{Node, TermId};
use crate::terms::Terms;

rules! {
    less_self: Ult | Ule | Slt | Sle;
    less_strictly: Ule | Sle;
    less_extreme: Ult | Slt;
    less_zext_constant: Ult | Slt;
    less_sext_constant: Ult | Slt;
    less_extended: Ult | Ule | Slt | Sle;
}

/// match: x < x, x <= x
/// result: false, true
fn less_self(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let strict = matches!(draft.op, Op::Ult | Op::Slt);
    (draft.a == draft.b).then(|| terms.truth(!strict))
}

/// The least and the greatest value in the order of a comparison.
fn extremes(op: Op, width: u32) -> (u128, u128) {
    let ones = op::truncate(u128::MAX, width);
    match op {
        Op::Ult | Op::Ule => (0, ones),
        _ => (1 << (width - 1), ones >> 1),
    }
}

/// match: x <= c, c <= x
/// result: x < c + 1, c - 1 < x; true where c is the greatest or least
fn less_strictly(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let width = terms.width(draft.a);
    let (least, greatest) = extremes(draft.op, width);
    let strict = match draft.op {
        Op::Ule => Op::Ult,
        _ => Op::Slt,
    };
    if let Some(constant) = terms.as_constant(draft.b) {
        if constant == greatest {
            return Some(terms.truth(true));
        }
        let bound = terms.constant(width, constant.wrapping_add(1));
        return Some(terms.binary(strict, draft.a, bound));
    }
    let constant = terms.as_constant(draft.a)?;
    if constant == least {
        return Some(terms.truth(true));
    }
    let bound = terms.constant(width, constant.wrapping_sub(1));
    Some(terms.binary(strict, bound, draft.b))
}

/// match: x < least, greatest < x, x < least + 1, greatest - 1 < x, least < x, x < greatest
/// result: false, false, x == least, x == greatest, x != least, x != greatest
fn less_extreme(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let width = terms.width(draft.a);
    let (least, greatest) = extremes(draft.op, width);
    // `worst` is the constant that nothing is below (or above), `next` the one beside it.
    let (term, constant, worst, next, best) = match terms.as_constant(draft.b) {
        Some(constant) => (draft.a, constant, least, least.wrapping_add(1), greatest),
        None => {
            let constant = terms.as_constant(draft.a)?;
            (draft.b, constant, greatest, greatest.wrapping_sub(1), least)
        }
    };
    if constant == worst {
        return Some(terms.truth(false));
    }
    let (op, value) = if constant == op::truncate(next, width) {
        (Op::Eq, worst)
    } else if constant == best {
        (Op::Ne, best)
    } else {
        return None;
    };
    let value = terms.constant(width, value);
    Some(terms.binary(op, term, value))
}

/// The sides of a comparison with a constant.
enum Side {
    /// term < constant
    Below,
    /// constant < term
    Above,
}

fn with_constant(terms: &Terms, draft: &Draft) -> Option<(TermId, u128, Side)> {
    if let Some(constant) = terms.as_constant(draft.b) {
        return Some((draft.a, constant, Side::Below));
    }
    Some((draft.b, terms.as_constant(draft.a)?, Side::Above))
}

fn compare(terms: &mut Terms, op: Op, term: TermId, constant: u128, side: &Side) -> TermId {
    let constant = terms.constant(terms.width(term), constant);
    match side {
        Side::Below => terms.binary(op, term, constant),
        Side::Above => terms.binary(op, constant, term),
    }
}

/// match: zext(x) < c, c < zext(x), signed or not
/// result: x < c or c < x, unsigned and narrower; true or false where c is out of reach
fn less_zext_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let (term, constant, side) = with_constant(terms, draft)?;
    let Node::ZExt { a, width } = terms.node(term) else {
        return None;
    };
    let greatest = op::truncate(u128::MAX, terms.width(a));
    let negative = draft.op == Op::Slt && op::signed(constant, width) < 0;
    if negative {
        return Some(terms.truth(matches!(side, Side::Above)));
    }
    if constant > greatest {
        return Some(terms.truth(matches!(side, Side::Below)));
    }
    Some(compare(terms, Op::Ult, a, constant, &side))
}

/// match: sext(x) < c, c < sext(x)
/// result: the same, narrower, where c keeps its place in the order; else true or false
fn less_sext_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let (term, constant, side) = with_constant(terms, draft)?;
    let Node::SExt { a, width } = terms.node(term) else {
        return None;
    };
    let inner = terms.width(a);
    let extended = op::truncate(op::signed(constant, inner) as u128, width);
    // Sign extension keeps both orders, so a bound that is an extension itself can be narrowed.
    if extended == constant {
        return Some(compare(terms, draft.op, a, constant, &side));
    }
    let below = matches!(side, Side::Below);
    if draft.op == Op::Slt {
        return Some(terms.truth((op::signed(constant, width) > 0) == below));
    }
    // Unsigned, the bound lies in the gap between the extensions of what is not negative and
    // of what is: the sign decides.
    let zero = terms.constant(inner, 0);
    let negative = terms.binary(Op::Slt, a, zero);
    Some(terms.holds(negative, !below))
}

/// match: zext(x) < zext(y), sext(x) < sext(y), the same for <=
/// result: x < y, the narrower one extended to the other; unsigned after zext
fn less_extended(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let zero_extended = matches!(terms.node(draft.a), Node::ZExt { .. });
    let (a, b) = narrowed(terms, draft.a, draft.b)?;
    let op = match draft.op {
        Op::Slt if zero_extended => Op::Ult,
        Op::Sle if zero_extended => Op::Ule,
        op => op,
    };
    Some(terms.binary(op, a, b))
}
