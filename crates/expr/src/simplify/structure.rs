//! Extraction and concatenation.
//!
//! Canonical form: extract stands as near to the inputs as it gets for nothing; concatenations
//! lean to the right, with neighbouring parts of one term joined and zeros at the top written
//! as an extension.

use nearmiss_abi::op::Op;

use super::{Draft, constant_choice, rules};
use crate::node::{Node, TermId};
use crate::terms::Terms;

rules! {
    extract_all: Extract;
    extract_extract: Extract;
    extract_concat: Extract;
    extract_zext: Extract;
    extract_sext: Extract;
    extract_bits: Extract;
    extract_ite: Extract;
    truncate_arithmetic: Extract;
    concat_zero: Concat;
    concat_zext: Concat;
    concat_neighbours: Concat;
    concat_rightwards: Concat;
    concat_into_concat: Concat;
}

/// match: extract(x, 0, width of x)
/// result: x
fn extract_all(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    (terms.width(draft.a) == draft.width).then_some(draft.a)
}

/// match: extract(extract(x, i, _), j, n)
/// result: extract(x, i + j, n)
fn extract_extract(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    match terms.node(draft.a) {
        Node::Extract { a, low, .. } => Some(terms.extract(a, low + draft.number, draft.width)),
        _ => None,
    }
}

/// match: extract(concat(x, y), i, n)
/// result: extract(y, …), extract(x, …), or the concat of both
fn extract_concat(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let Node::Concat { high, low } = terms.node(draft.a) else {
        return None;
    };
    let (start, end) = (draft.number, draft.number + draft.width);
    let split = terms.width(low);
    if end <= split {
        return Some(terms.extract(low, start, draft.width));
    }
    if start >= split {
        return Some(terms.extract(high, start - split, draft.width));
    }
    let high = terms.extract(high, 0, end - split);
    let low = terms.extract(low, start, split - start);
    Some(terms.concat(high, low))
}

/// match: extract(zext(x), i, n)
/// result: extract(x, i, n), 0, or zext(extract(x, i, …))
fn extract_zext(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let Node::ZExt { a, .. } = terms.node(draft.a) else {
        return None;
    };
    let (start, inner) = (draft.number, terms.width(a));
    if start >= inner {
        return Some(terms.constant(draft.width, 0));
    }
    let kept = terms.extract(a, start, draft.width.min(inner - start));
    Some(terms.zext(kept, draft.width))
}

/// match: extract(sext(x), i, n)
/// result: extract(x, i, n), or sext(extract(x, i, …)), or sext(sign of x)
fn extract_sext(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let Node::SExt { a, .. } = terms.node(draft.a) else {
        return None;
    };
    let inner = terms.width(a);
    let start = draft.number.min(inner - 1);
    let kept = terms.extract(a, start, draft.width.min(inner - start));
    Some(terms.sext(kept, draft.width))
}

/// match: extract(x & c, i, n), the same for | and ^; extract(~x, i, n)
/// result: extract(x, i, n) & extract(c, i, n), …; ~extract(x, i, n)
fn extract_bits(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    match terms.node(draft.a) {
        Node::Binary {
            op: op @ (Op::And | Op::Or | Op::Xor),
            a,
            b,
        } if terms.as_constant(b).is_some() => {
            let a = terms.extract(a, draft.number, draft.width);
            let b = terms.extract(b, draft.number, draft.width);
            Some(terms.binary(op, a, b))
        }
        Node::Unary { op: Op::Not, a } => {
            let a = terms.extract(a, draft.number, draft.width);
            Some(terms.not(a))
        }
        _ => None,
    }
}

/// match: extract(ite(c, k1, k2), i, n)
/// result: ite(c, extract(k1, i, n), extract(k2, i, n))
fn extract_ite(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let (condition, then, otherwise) = constant_choice(terms, draft.a)?;
    let then = terms.extract(then, draft.number, draft.width);
    let otherwise = terms.extract(otherwise, draft.number, draft.width);
    Some(terms.ite(condition, then, otherwise))
}

/// match: extract(x + y, 0, n), the same for - and *, of extended terms and constants
/// result: extract(x, 0, n) + extract(y, 0, n)
fn truncate_arithmetic(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let Node::Binary {
        op: op @ (Op::Add | Op::Sub | Op::Mul),
        a,
        b,
    } = terms.node(draft.a)
    else {
        return None;
    };
    let gets_simpler = |id: TermId| {
        matches!(
            terms.node(id),
            Node::Const { .. } | Node::ZExt { .. } | Node::SExt { .. }
        )
    };
    if draft.number != 0 || !gets_simpler(a) || !gets_simpler(b) {
        return None;
    }
    let (a, b) = (
        terms.truncate(a, draft.width),
        terms.truncate(b, draft.width),
    );
    Some(terms.binary(op, a, b))
}

/// match: concat(0, x)
/// result: zext(x)
fn concat_zero(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    (terms.as_constant(draft.a)? == 0).then(|| terms.zext(draft.b, draft.width))
}

/// match: concat(zext(x), y)
/// result: zext(concat(x, y))
fn concat_zext(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let Node::ZExt { a, .. } = terms.node(draft.a) else {
        return None;
    };
    let narrow = terms.concat(a, draft.b);
    Some(terms.zext(narrow, draft.width))
}

/// Two terms as one, if they are neighbouring parts of one term.
fn join(terms: &mut Terms, high: TermId, low: TermId) -> Option<TermId> {
    let part = |id: TermId| match terms.node(id) {
        Node::Extract { a, low, width } => (a, low, width),
        _ => (id, 0, terms.width(id)),
    };
    let ((a, a_low, a_width), (b, b_low, b_width)) = (part(high), part(low));
    let neighbours = a == b && b_low + b_width == a_low;
    neighbours.then(|| terms.extract(a, b_low, a_width + b_width))
}

/// match: concat(extract(x, i + n, m), extract(x, i, n))
/// result: extract(x, i, n + m)
fn concat_neighbours(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    join(terms, draft.a, draft.b)
}

/// match: concat(concat(x, y), z)
/// result: concat(x, concat(y, z))
fn concat_rightwards(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let Node::Concat { high, low } = terms.node(draft.a) else {
        return None;
    };
    let low = terms.concat(low, draft.b);
    Some(terms.concat(high, low))
}

/// match: concat(x, concat(y, z)), x and y neighbouring parts of one term or constants
/// result: concat(x and y joined, z)
fn concat_into_concat(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let Node::Concat { high, low } = terms.node(draft.b) else {
        return None;
    };
    let constants = terms.as_constant(draft.a).is_some() && terms.as_constant(high).is_some();
    let joined = if constants {
        terms.concat(draft.a, high)
    } else {
        join(terms, draft.a, high)?
    };
    Some(terms.concat(joined, low))
}
