//! Choices.
//!
//! Canonical form: the condition is not negated; a choice between 0 and 1 is the condition
//! itself, extended.

use nearmiss_abi::op::{self, Op};

use super::{Draft, rules};
use crate::node::{Node, TermId};
use crate::terms::Terms;

rules! {
    ite_same_arms: Ite;
    ite_negated: Ite;
    ite_of_bits: Ite;
    ite_truth: Ite;
    ite_same_condition: Ite;
}

/// match: ite(c, x, x)
/// result: x
fn ite_same_arms(_: &mut Terms, draft: &Draft) -> Option<TermId> {
    (draft.b == draft.c).then_some(draft.b)
}

/// match: ite(!c, x, y)
/// result: ite(c, y, x)
fn ite_negated(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    match terms.node(draft.a) {
        Node::Unary { op: Op::Not, a } => Some(terms.ite(a, draft.c, draft.b)),
        _ => None,
    }
}

/// match: ite(c, 1, 0), ite(c, 0, 1), ite(c, ones, 0), ite(c, 0, ones)
/// result: zext(c), zext(!c), sext(c), sext(!c)
fn ite_of_bits(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let (then, otherwise) = (terms.as_constant(draft.b)?, terms.as_constant(draft.c)?);
    let (value, truth) = match (then, otherwise) {
        (value, 0) => (value, true),
        (0, value) => (value, false),
        _ => return None,
    };
    let ones = op::truncate(u128::MAX, draft.width);
    if value != 1 && value != ones {
        return None;
    }
    let condition = terms.holds(draft.a, truth);
    Some(match value {
        1 => terms.zext(condition, draft.width),
        _ => terms.sext(condition, draft.width),
    })
}

/// match: ite(c, 1, x), ite(c, 0, x), ite(c, x, 1), ite(c, x, 0), of one bit
/// result: c | x, !c & x, !c | x, c & x
fn ite_truth(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    if draft.width != 1 {
        return None;
    }
    let (truth, other, in_then) = match terms.as_constant(draft.b) {
        Some(value) => (value == 1, draft.c, true),
        None => (terms.as_constant(draft.c)? == 1, draft.b, false),
    };
    // The constant is taken where the condition is `in_then`.
    let condition = terms.holds(draft.a, in_then == truth);
    Some(if truth {
        terms.or(condition, other)
    } else {
        terms.and(condition, other)
    })
}

/// match: ite(c, ite(c, x, y), z), ite(c, x, ite(c, y, z))
/// result: ite(c, x, z)
fn ite_same_condition(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let decided = |arm: TermId, truth: bool| match terms.node(arm) {
        Node::Ite {
            condition,
            then,
            otherwise,
        } if condition == draft.a => Some(if truth { then } else { otherwise }),
        _ => None,
    };
    let (then, otherwise) = (decided(draft.b, true), decided(draft.c, false));
    if then.is_none() && otherwise.is_none() {
        return None;
    }
    Some(terms.ite(
        draft.a,
        then.unwrap_or(draft.b),
        otherwise.unwrap_or(draft.c),
    ))
}
