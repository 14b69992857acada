//! Recorded terms become terms of `expr`: those that events are about, and what they are
//! made of. The rest of the table is never touched.

use nearmiss_abi::op::{Op, ResultWidth};
use nearmiss_abi::term::{Label, Term};
use nearmiss_expr::{InputByte, SnapshotId, TermId, Terms};

use crate::raw::RawTrace;
use crate::verify::snapshot;

/// The imported terms by label.
pub(crate) struct Imported(Vec<Option<TermId>>);

impl Imported {
    /// The term with this label; `None` if it was not among the wanted ones.
    pub fn get(&self, label: Label) -> Option<TermId> {
        self.0.get(label as usize).copied().flatten()
    }
}

/// Imports the terms with the `wanted` labels, all of which are usable. `numbers` says what the
/// terms are to call each channel.
pub(crate) fn import(
    raw: &RawTrace,
    terms: &mut Terms,
    numbers: &[u32],
    wanted: impl Iterator<Item = Label>,
) -> Imported {
    let needed = needed(raw, wanted);
    let mut ids: Vec<Option<TermId>> = vec![None; needed.len()];
    let mut snapshots: Vec<Option<SnapshotId>> = vec![None; raw.snapshots.len()];
    for label in (1..needed.len()).filter(|label| needed[*label]) {
        let term = &raw.terms[label];
        let operand = |field: u32| ids[field as usize].expect("operands come first");
        ids[label] = Some(make((raw, numbers), terms, &mut snapshots, term, &operand));
    }
    Imported(ids)
}

/// Which labels are wanted or part of what is wanted: operands are smaller, so one pass from
/// the top finds them.
fn needed(raw: &RawTrace, wanted: impl Iterator<Item = Label>) -> Vec<bool> {
    let mut needed = Vec::new();
    for label in wanted {
        let label = label as usize;
        if needed.len() <= label {
            needed.resize(label + 1, false);
        }
        needed[label] = true;
    }
    for label in (1..needed.len()).rev() {
        if needed[label] {
            let term = &raw.terms[label];
            let arity = Op::from_code(term.op).map_or(0, Op::arity);
            for operand in &[term.a, term.b, term.c][..arity] {
                needed[*operand as usize] = true;
            }
        }
    }
    needed
}

fn make(
    (raw, numbers): (&RawTrace, &[u32]),
    terms: &mut Terms,
    snapshots: &mut [Option<SnapshotId>],
    term: &Term,
    operand: &dyn Fn(u32) -> TermId,
) -> TermId {
    let width = term.width as u32;
    let op = Op::from_code(term.op).expect("a verified term");
    match op {
        Op::Const => terms.constant(width, term.constant_value()),
        Op::Input => terms.input(InputByte {
            channel: numbers[term.a as usize],
            offset: term.b,
        }),
        Op::Concat => terms.concat(operand(term.a), operand(term.b)),
        Op::Extract => terms.extract(operand(term.a), term.b, width),
        Op::ZExt => terms.zext(operand(term.a), width),
        Op::SExt => terms.sext(operand(term.a), width),
        Op::Ite => terms.ite(operand(term.a), operand(term.b), operand(term.c)),
        Op::Read => {
            let slot = &mut snapshots[term.b as usize];
            let bytes = snapshot(raw, term.b).expect("a verified term");
            let id = *slot.get_or_insert_with(|| terms.snapshot(bytes));
            terms.read(operand(term.a), id, width)
        }
        _ if op.arity() == 1 && op.result_width() == ResultWidth::Operand => {
            terms.unary(op, operand(term.a))
        }
        _ => terms.binary(op, operand(term.a), operand(term.b)),
    }
}
