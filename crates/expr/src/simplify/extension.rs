//! Zero and sign extension.
//!
//! Canonical form: at most one extension, and a sign extension only of what may be negative.

use super::{Draft, rules};
use crate::node::{Node, TermId};
use crate::terms::Terms;

rules! {
    extend_not_at_all: ZExt | SExt;
    zero_extend_twice: ZExt;
    sign_extend_extended: SExt;
}

/// match: zext(x), sext(x), to the width of x
/// result: x
fn extend_not_at_all(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    (terms.width(draft.a) == draft.width).then_some(draft.a)
}

/// match: zext(zext(x))
/// result: zext(x)
fn zero_extend_twice(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    match terms.node(draft.a) {
        Node::ZExt { a, .. } => Some(terms.zext(a, draft.width)),
        _ => None,
    }
}

/// match: sext(sext(x)), sext(zext(x))
/// result: sext(x), zext(x)
fn sign_extend_extended(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    match terms.node(draft.a) {
        Node::SExt { a, .. } => Some(terms.sext(a, draft.width)),
        Node::ZExt { a, .. } => Some(terms.zext(a, draft.width)),
        _ => None,
    }
}
