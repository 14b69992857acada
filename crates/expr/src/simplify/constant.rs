//! Operations on constants alone.

use nearmiss_abi::op::{self, Op};

use super::{Draft, Rule};
use crate::evaluate;
use crate::node::TermId;
use crate::terms::Terms;

pub(super) const RULES: &[Rule] = &[Rule {
    name: "fold",
    ops: Op::ALL,
    apply: fold,
}];

/// match: an operation whose operands are all constants
/// result: its value
fn fold(terms: &mut Terms, draft: &Draft) -> Option<TermId> {
    let a = terms.as_constant(draft.a)?;
    let value = match draft.op {
        Op::Const | Op::Input => return None,
        Op::Concat => {
            let low = terms.as_constant(draft.b)?;
            a << terms.width(draft.b) | low
        }
        Op::Extract => a >> draft.number,
        Op::ZExt => a,
        Op::SExt => op::signed(a, terms.width(draft.a)) as u128,
        Op::Ite => return Some(if a == 1 { draft.b } else { draft.c }),
        Op::Read => {
            let snapshot = crate::node::SnapshotId(draft.number);
            evaluate::read(terms.snapshot_bytes(snapshot), a, draft.width)
        }
        op if op.arity() == 1 => op::evaluate(op, draft.width, a, 0)?,
        op => op::evaluate(op, terms.width(draft.a), a, terms.as_constant(draft.b)?)?,
    };
    Some(terms.constant(draft.width, value))
}
