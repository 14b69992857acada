//! Terms as an SMT-LIB 2 script (logic `QF_BV`).
//!
//! Every term that is not a leaf has a definition of its own, in the order of their ids:
//! nothing is written twice and nothing is nested, however deep the term. One-bit terms are
//! bit-vectors, too; predicates are turned into them where they are defined. Composite
//! operations are lowered first, so that any solver of `QF_BV` takes the script.

use std::collections::BTreeSet;
use std::fmt::Write;

use nearmiss_abi::op::{Op, ResultWidth};

use crate::lower::Lowering;
use crate::node::{InputByte, Node, TermId};
use crate::range::Ranges;
use crate::terms::Terms;

/// A script that asserts one-bit terms and asks whether they can hold together. The constant
/// of an input byte is called `i<channel>_<offset>`.
///
/// The script says the same as the terms only where the assumptions in `ranges` hold (they
/// bound the indices of reads): pass fresh ranges, or assert the path as well.
pub fn smt(terms: &mut Terms, ranges: &mut Ranges, assertions: &[TermId]) -> String {
    let mut lowering = Lowering::new();
    let roots: Vec<TermId> = assertions
        .iter()
        .map(|&assertion| lowering.lower(terms, ranges, assertion))
        .collect();
    let mut script = String::from("(set-logic QF_BV)\n");
    let cone = cone(terms, &roots);
    for byte in inputs(terms, &cone) {
        let _ = writeln!(script, "(declare-const {} (_ BitVec 8))", Name::input(byte));
    }
    for &id in &cone {
        write_definition(terms, id, &mut script);
    }
    for root in roots {
        let _ = writeln!(script, "(assert (= {} #b1))", Name::of(terms, root));
    }
    script.push_str("(check-sat)\n");
    script
}

/// All terms that the roots are made of, operands first.
fn cone(terms: &Terms, roots: &[TermId]) -> Vec<TermId> {
    let mut seen = vec![false; terms.len()];
    let mut stack = roots.to_vec();
    while let Some(id) = stack.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            stack.extend(terms.operands(id));
        }
    }
    (0..terms.len())
        .filter(|&index| seen[index])
        .map(TermId::from_index)
        .collect()
}

fn inputs(terms: &Terms, cone: &[TermId]) -> BTreeSet<InputByte> {
    cone.iter()
        .filter_map(|&id| match terms.node(id) {
            Node::Input(byte) => Some(byte),
            _ => None,
        })
        .collect()
}

/// How a term is written where it is an operand.
struct Name(Node, TermId);

impl Name {
    fn of(terms: &Terms, id: TermId) -> Name {
        Name(terms.node(id), id)
    }

    fn input(byte: InputByte) -> Name {
        Name(Node::Input(byte), TermId(0))
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Node::Const { width, value } => write!(f, "(_ bv{value} {width})"),
            Node::Input(byte) => write!(f, "i{}_{}", byte.channel, byte.offset),
            _ => write!(f, "t{}", self.1.0),
        }
    }
}

fn write_definition(terms: &Terms, id: TermId, script: &mut String) {
    let name = |id: TermId| Name::of(terms, id);
    let op = terms.op(id).smt_name();
    let body = match terms.node(id) {
        Node::Const { .. } | Node::Input(_) => return,
        Node::Read { .. } => unreachable!("reads are lowered"),
        Node::Unary { a, .. } => format!("({op} {})", name(a)),
        Node::Binary { op: which, a, b } => binary(which, &name(a), &name(b)),
        Node::Concat { high, low } => format!("({op} {} {})", name(high), name(low)),
        Node::Extract { a, low, width } => {
            format!("((_ {op} {} {low}) {})", low + width - 1, name(a))
        }
        Node::ZExt { a, width } | Node::SExt { a, width } => {
            format!("((_ {op} {}) {})", width - terms.width(a), name(a))
        }
        Node::Ite {
            condition,
            then,
            otherwise,
        } => format!(
            "({op} (= {} #b1) {} {})",
            name(condition),
            name(then),
            name(otherwise)
        ),
    };
    let width = terms.width(id);
    let _ = writeln!(
        script,
        "(define-fun {} () (_ BitVec {width}) {body})",
        name(id)
    );
}

fn binary(op: Op, a: &Name, b: &Name) -> String {
    let plain = format!("({} {a} {b})", op.smt_name());
    match op.result_width() {
        ResultWidth::Bit => format!("(ite {plain} #b1 #b0)"),
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(terms: &mut Terms, offset: u32, width: u32) -> TermId {
        let input = terms.input(InputByte { channel: 2, offset });
        terms.zext(input, width)
    }

    #[test]
    fn a_script() {
        let mut terms = Terms::new();
        let (x, y) = (byte(&mut terms, 0, 16), byte(&mut terms, 1, 16));
        let sum = terms.binary(Op::Add, x, y);
        let limit = terms.constant(16, 300);
        let less = terms.binary(Op::Slt, limit, sum);
        let script = smt(&mut terms, &mut Ranges::new(), &[less]);
        let expected = "\
(set-logic QF_BV)
(declare-const i2_0 (_ BitVec 8))
(declare-const i2_1 (_ BitVec 8))
(define-fun t1 () (_ BitVec 16) ((_ zero_extend 8) i2_0))
(define-fun t3 () (_ BitVec 16) ((_ zero_extend 8) i2_1))
(define-fun t4 () (_ BitVec 16) (bvadd t1 t3))
(define-fun t6 () (_ BitVec 1) (ite (bvslt (_ bv300 16) t4) #b1 #b0))
(assert (= t6 #b1))
(check-sat)
";
        assert_eq!(script, expected);
    }

    #[test]
    fn composite_operations_are_expanded() {
        let mut terms = Terms::new();
        let (x, y) = (byte(&mut terms, 0, 64), byte(&mut terms, 1, 64));
        let product = terms.binary(Op::Mul, x, y);
        let overflow = terms.binary(Op::SMulOverflow, product, y);
        let count = terms.unary(Op::CtPop, product);
        let snapshot = terms.snapshot(vec![9, 9, 9, 4]);
        let read = terms.read(count, snapshot, 64);
        let equal = terms.eq(read, x);
        let script = smt(&mut terms, &mut Ranges::new(), &[overflow, equal]);
        assert!(script.contains("bvmul") && script.contains("ite"));
        for absent in ["smulo", "ctpop", "read"] {
            assert!(!script.contains(absent), "{absent}");
        }
    }

    #[test]
    fn a_deep_chain() {
        let mut terms = Terms::new();
        let mut sum = byte(&mut terms, 0, 32);
        for k in 0..1_000_000 {
            let other = byte(&mut terms, k % 7, 32);
            let op = if k % 2 == 0 { Op::Xor } else { Op::Add };
            sum = terms.binary(op, sum, other);
        }
        let zero = terms.constant(32, 0);
        let check = terms.eq(sum, zero);
        let script = smt(&mut terms, &mut Ranges::new(), &[check]);
        assert!(script.lines().count() > 1_000_000);
        assert!(crate::print::expression(&terms, check, usize::MAX).len() > 100);
    }
}
