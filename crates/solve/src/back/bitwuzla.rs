//! Bitwuzla: slower to start than our bit-blaster, but it rewrites and solves a little more.

use std::collections::HashMap;

use nearmiss_bitwuzla::Deadline;
use nearmiss_bitwuzla::bitvector::{Bitwuzla, Kind, Term};
use nearmiss_expr::{InputByte, Lowering, Node, Op, Ranges, TermId, Terms};

use super::Asserted;
use crate::query::{Answer, Layer, Model, Policy, Query, Reason, Reply, Solver};

/// How many terms that Bitwuzla has not seen a query may have for each millisecond of its time.
/// It turns them into gates without a look at the clock.
const TERMS_PER_MILLISECOND: u64 = 16;

/// Bitwuzla as a solver of queries.
pub struct BitwuzlaSolver {
    bitwuzla: Bitwuzla,
    asserted: Asserted,
    /// Bitwuzla's terms for ours, by our index. All are bit vectors, truths too.
    known: Vec<Option<Term>>,
    inputs: HashMap<InputByte, Term>,
    lowering: Lowering,
    ranges: Ranges,
    /// How many terms may still be translated for the query in work.
    terms_left: u64,
}

impl Default for BitwuzlaSolver {
    fn default() -> BitwuzlaSolver {
        BitwuzlaSolver::new()
    }
}

impl BitwuzlaSolver {
    /// Knows of no constraint.
    pub fn new() -> BitwuzlaSolver {
        BitwuzlaSolver {
            bitwuzla: Bitwuzla::new(),
            asserted: Asserted::default(),
            known: Vec::new(),
            inputs: HashMap::new(),
            lowering: Lowering::new(),
            ranges: Ranges::new(),
            terms_left: 0,
        }
    }

    /// A one-bit term as a truth; `None` when it is too late, or too much.
    fn truth(&mut self, terms: &mut Terms, constraint: TermId, deadline: Deadline) -> Option<Term> {
        let lowered = self.lowering.lower(terms, &mut self.ranges, constraint);
        let bit = self.translate(terms, lowered, deadline)?;
        let one = self.bitwuzla.constant(1, 1);
        Some(self.bitwuzla.term(Kind::Equal, &[bit, one]))
    }

    fn translate(&mut self, terms: &Terms, id: TermId, deadline: Deadline) -> Option<Term> {
        self.known.resize(self.known.len().max(terms.len()), None);
        let mut stack = vec![id];
        let mut steps = 0u32;
        while let Some(&top) = stack.last() {
            let waiting = stack.len();
            let known = &self.known;
            stack.extend(
                terms
                    .operands(top)
                    .filter(|operand| known[operand.index()].is_none()),
            );
            if stack.len() > waiting {
                continue;
            }
            stack.pop();
            if self.known[top.index()].is_none() {
                self.terms_left = self.terms_left.checked_sub(1)?;
                self.known[top.index()] = Some(self.node(terms, top));
            }
            steps += 1;
            if steps.is_multiple_of(1024) && deadline.is_over() {
                return None;
            }
        }
        self.known[id.index()]
    }

    /// The term for one node whose operands have theirs.
    fn node(&mut self, terms: &Terms, id: TermId) -> Term {
        let of = |id: TermId| self.known[id.index()].expect("operands come first");
        let bitwuzla = &mut self.bitwuzla;
        let grown_by = |a: TermId, width: u32| u64::from(width - terms.width(a));
        match terms.node(id) {
            Node::Const { width, value } => bitwuzla.constant(width, value),
            Node::Input(byte) => *self
                .inputs
                .entry(byte)
                .or_insert_with(|| bitwuzla.unknown(8)),
            Node::Unary { op, a } => bitwuzla.term(kind(op), &[of(a)]),
            Node::Binary { op, a, b } => {
                let term = bitwuzla.term(kind(op), &[of(a), of(b)]);
                if op.result_width() == nearmiss_abi::op::ResultWidth::Bit {
                    bit(bitwuzla, term)
                } else {
                    term
                }
            }
            Node::Concat { high, low } => bitwuzla.term(Kind::Concat, &[of(high), of(low)]),
            Node::Extract { a, low, width } => {
                let bounds = [u64::from(low + width - 1), u64::from(low)];
                bitwuzla.indexed_term(Kind::Extract, &[of(a)], &bounds)
            }
            Node::ZExt { a, width } => {
                bitwuzla.indexed_term(Kind::ZeroExtend, &[of(a)], &[grown_by(a, width)])
            }
            Node::SExt { a, width } => {
                bitwuzla.indexed_term(Kind::SignExtend, &[of(a)], &[grown_by(a, width)])
            }
            Node::Ite {
                condition,
                then,
                otherwise,
            } => {
                let one = bitwuzla.constant(1, 1);
                let truth = bitwuzla.term(Kind::Equal, &[of(condition), one]);
                bitwuzla.term(Kind::Ite, &[truth, of(then), of(otherwise)])
            }
            Node::Read { .. } => unreachable!("reads are lowered"),
        }
    }

    /// `None` when it is too late, or too much.
    fn answer(&mut self, terms: &mut Terms, query: &Query<'_>) -> Option<Answer> {
        let deadline = query.effort.deadline;
        let time = deadline.left();
        self.terms_left = TERMS_PER_MILLISECOND * time.as_millis() as u64;
        for &constraint in query.constraints {
            if self.asserted.has(constraint) {
                continue;
            }
            let truth = self.truth(terms, constraint, deadline)?;
            self.bitwuzla.assert(truth);
            self.asserted.mark(constraint);
        }
        let mut assumptions = vec![self.truth(terms, query.goal, deadline)?];
        for &(byte, value) in query.fixed {
            if let Some(&input) = self.inputs.get(&byte) {
                let value = self.bitwuzla.constant(8, value.into());
                assumptions.push(self.bitwuzla.term(Kind::Equal, &[input, value]));
            }
        }
        let is_sat = self.bitwuzla.check(&assumptions, deadline)?;
        Some(if is_sat {
            Answer::Sat(self.model(query))
        } else {
            Answer::Unsat
        })
    }

    fn model(&mut self, query: &Query<'_>) -> Model {
        let (bitwuzla, inputs) = (&mut self.bitwuzla, &self.inputs);
        query
            .bytes
            .iter()
            .filter_map(|byte| Some((*byte, bitwuzla.value(*inputs.get(byte)?) as u8)))
            .collect()
    }
}

impl Solver for BitwuzlaSolver {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        // Asserted constraints are rewritten, which assumptions are not: worth a new start.
        if matches!(query.policy, Policy::Assumptions { .. }) {
            *self = BitwuzlaSolver::new();
        }
        let answer = self.answer(terms, query);
        let answer = answer.unwrap_or(Answer::Unknown(Reason::Timeout));
        Reply::new(answer, Layer::Bitwuzla)
    }
}

/// A truth as one bit.
fn bit(bitwuzla: &mut Bitwuzla, truth: Term) -> Term {
    let (one, zero) = (bitwuzla.constant(1, 1), bitwuzla.constant(1, 0));
    bitwuzla.term(Kind::Ite, &[truth, one, zero])
}

fn kind(op: Op) -> Kind {
    match op {
        Op::Add => Kind::Add,
        Op::Sub => Kind::Sub,
        Op::Mul => Kind::Mul,
        Op::UDiv => Kind::UDiv,
        Op::SDiv => Kind::SDiv,
        Op::URem => Kind::URem,
        Op::SRem => Kind::SRem,
        Op::Neg => Kind::Neg,
        Op::And => Kind::And,
        Op::Or => Kind::Or,
        Op::Xor => Kind::Xor,
        Op::Not => Kind::BitNot,
        Op::Shl => Kind::Shl,
        Op::LShr => Kind::LShr,
        Op::AShr => Kind::AShr,
        Op::Eq => Kind::Equal,
        Op::Ne => Kind::Distinct,
        Op::Ult => Kind::Ult,
        Op::Ule => Kind::Ule,
        Op::Slt => Kind::Slt,
        Op::Sle => Kind::Sle,
        Op::SAddOverflow => Kind::SAddOverflow,
        Op::UAddOverflow => Kind::UAddOverflow,
        Op::SSubOverflow => Kind::SSubOverflow,
        Op::USubOverflow => Kind::USubOverflow,
        Op::SMulOverflow => Kind::SMulOverflow,
        Op::UMulOverflow => Kind::UMulOverflow,
        Op::CtPop | Op::CtLz | Op::CtTz => unreachable!("{} is lowered", op.name()),
        _ => unreachable!("{} has a node of its own", op.name()),
    }
}
