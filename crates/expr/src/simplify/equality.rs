//! Equal and not equal.
//!
//! Canonical form: a constant on the right is as narrow as can be and nothing invertible is
//! left around the term it is compared with; a comparison of a concatenation with a constant
//! is one of its parts, so that parts over other inputs fall into slices of their own.

use nearmiss_abi::op::{self, Op};

use super::arithmetic::plus_constant;
use super::{Draft, constant_choice, rules};
use crate::node::{Node, TermId};
use crate::terms::Terms;

rules! {
    equal_self: Eq | Ne;
    equal_bit: Eq | Ne;
    equal_extended_constant: Eq | Ne;
    equal_inverted: Eq | Ne;
    equal_concat: Eq | Ne;
    equal_ite: Eq | Ne;
    equal_zero: Eq | Ne;
    equal_extended: Eq | Ne;
    equal_addends: Eq | Ne;
}

/// match: x == x, x != x
/// result: true, false
fn equal_self(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    (draft.a == draft.b).then(|| terms.truth(draft.op == Op::Eq))
}

/// match: x == 1, x == 0, x != 1, x != 0, of one bit
/// result: x, !x, !x, x
fn equal_bit(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    let positive = (constant == 1) == (draft.op == Op::Eq);
    (terms.width(draft.a) == 1).then(|| terms.holds(draft.a, positive))
}

/// match: zext(x) == c, sext(x) == c, the same for !=
/// result: x == c, narrower; false where c is out of reach
fn equal_extended_constant(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    let width = terms.width(draft.a);
    let (a, reachable) = match terms.node(draft.a) {
        Node::ZExt { a, .. } => (a, op::truncate(constant, terms.width(a))),
        Node::SExt { a, .. } => {
            let extended = op::signed(constant, terms.width(a)) as u128;
            (a, op::truncate(extended, width))
        }
        _ => return None,
    };
    if reachable != constant {
        return Some(terms.truth(draft.op == Op::Ne));
    }
    let constant = terms.constant(terms.width(a), constant);
    Some(terms.binary(draft.op, a, constant))
}

/// match: x + c1 == c2, x ^ c1 == c2, ~x == c2, -x == c2, c1 - x == c2, the same for !=
/// result: x == c, with the operation undone on c2
fn equal_inverted(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    let (a, value) = match terms.node(draft.a) {
        Node::Unary { op: Op::Not, a } => (a, !constant),
        Node::Unary { op: Op::Neg, a } => (a, constant.wrapping_neg()),
        Node::Binary { op: Op::Add, a, b } => (a, constant.wrapping_sub(terms.as_constant(b)?)),
        Node::Binary { op: Op::Xor, a, b } => (a, constant ^ terms.as_constant(b)?),
        Node::Binary { op: Op::Sub, a, b } => (b, terms.as_constant(a)?.wrapping_sub(constant)),
        _ => return None,
    };
    let value = terms.constant(terms.width(a), value);
    Some(terms.binary(draft.op, a, value))
}

/// match: concat(x, y) == c, concat(x, y) != c
/// result: x == c's upper part & y == c's lower part; x != … | y != …
///
/// Not where c is 0: that a word is not zero often follows from its range, but no range of
/// its parts can say so.
fn equal_concat(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    let Node::Concat { high, low } = terms.node(draft.a) else {
        return None;
    };
    let parts_unknown = terms.as_constant(high).or(terms.as_constant(low)).is_none();
    if constant == 0 && parts_unknown {
        return None;
    }
    let upper = terms.constant(terms.width(high), constant >> terms.width(low));
    let lower = terms.constant(terms.width(low), constant);
    let (high, low) = (
        terms.binary(draft.op, high, upper),
        terms.binary(draft.op, low, lower),
    );
    Some(match draft.op {
        Op::Eq => terms.and(high, low),
        _ => terms.or(high, low),
    })
}

/// match: ite(c, k1, k2) == k, the same for !=, k1 and k2 different constants
/// result: c, !c, or false
fn equal_ite(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let constant = terms.as_constant(draft.b)?;
    let (condition, then, otherwise) = constant_choice(terms, draft.a)?;
    let then = terms.as_constant(then)? == constant;
    let otherwise = terms.as_constant(otherwise)? == constant;
    let equal = match (then, otherwise) {
        (true, true) => terms.truth(true),
        (true, false) => condition,
        (false, true) => terms.not(condition),
        (false, false) => terms.truth(false),
    };
    Some(terms.holds(equal, draft.op == Op::Eq))
}

/// match: x - y == 0, x ^ y == 0, the same for !=
/// result: x == y
fn equal_zero(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    if terms.as_constant(draft.b)? != 0 {
        return None;
    }
    match terms.node(draft.a) {
        Node::Binary {
            op: Op::Sub | Op::Xor,
            a,
            b,
        } => Some(terms.binary(draft.op, a, b)),
        _ => None,
    }
}

/// match: zext(x) == zext(y), sext(x) == sext(y), the same for !=
/// result: x == y, the narrower one extended to the other
fn equal_extended(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let (a, b) = narrowed(terms, draft.a, draft.b)?;
    Some(terms.binary(draft.op, a, b))
}

/// Two terms extended in the same way: what is extended, the narrower extended to the wider.
pub(super) fn narrowed(terms: &mut Terms, a: TermId, b: TermId) -> Option<(TermId, TermId)> {
    match (terms.node(a), terms.node(b)) {
        (Node::ZExt { a, .. }, Node::ZExt { a: b, .. }) => {
            let width = terms.width(a).max(terms.width(b));
            Some((terms.zext(a, width), terms.zext(b, width)))
        }
        (Node::SExt { a, .. }, Node::SExt { a: b, .. }) => {
            let width = terms.width(a).max(terms.width(b));
            Some((terms.sext(a, width), terms.sext(b, width)))
        }
        _ => None,
    }
}

/// match: x + c1 == y + c2, the same for !=
/// result: x == y + (c2 - c1)
fn equal_addends(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let (a, first) = plus_constant(terms, draft.a)?;
    let (b, second) = plus_constant(terms, draft.b)?;
    let difference = terms.constant(terms.width(a), second.wrapping_sub(first));
    let b = terms.binary(Op::Add, b, difference);
    Some(terms.binary(draft.op, a, b))
}
