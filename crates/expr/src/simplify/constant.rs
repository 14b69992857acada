//! Operations on constants alone, and where constants stand.
//!
//! Canonical form: a commutative operation has its constant on the right, and otherwise the
//! older term on the left.

use nearmiss_abi::op::{self, Op};

use super::{Draft, rules};
use crate::evaluate;
use crate::node::{SnapshotId, TermId};
use crate::terms::Terms;

rules! {
    fold: Add | Sub | Mul | UDiv | SDiv | URem | SRem | Neg | And | Or | Xor | Not | Shl | LShr
        | AShr | CtPop | CtLz | CtTz | Eq | Ne | Ult | Ule | Slt | Sle | SAddOverflow
        | UAddOverflow | SSubOverflow | USubOverflow | SMulOverflow | UMulOverflow | Concat
        | Extract | ZExt | SExt | Ite | Read;
    order_operands: Add | Mul | And | Or | Xor | Eq | Ne | SAddOverflow | UAddOverflow
        | SMulOverflow | UMulOverflow;
}

/// match: an operation whose operands are all constants, or an ite whose condition is
/// result: its value
fn fold(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let a = terms.as_constant(draft.a)?;
    let value = match draft.op {
        Op::Concat => {
            let low = terms.as_constant(draft.b)?;
            a << terms.width(draft.b) | low
        }
        Op::Extract => a >> draft.number,
        Op::ZExt => a,
        Op::SExt => op::signed(a, terms.width(draft.a)) as u128,
        Op::Ite => return Some(if a == 1 { draft.b } else { draft.c }),
        Op::Read => {
            let bytes = terms.snapshot_bytes(SnapshotId(draft.number));
            evaluate::read(bytes, a, draft.width)
        }
        op if op.arity() == 1 => op::evaluate(op, draft.width, a, 0)?,
        op => op::evaluate(op, terms.width(draft.a), a, terms.as_constant(draft.b)?)?,
    };
    Some(terms.constant(draft.width, value))
}

/// match: a commutative operation with a constant or the younger term on the left
/// result: the operands swapped
fn order_operands(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let key = |id: TermId| (terms.as_constant(id).is_some(), id);
    (key(draft.a) > key(draft.b)).then(|| terms.binary(draft.op, draft.b, draft.a))
}
