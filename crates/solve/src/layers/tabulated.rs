//! All inputs in a table, where what holds in every query leaves few of them.
//!
//! There are 40,320 permutations of eight numbers, and ten thousands of queries about them: whether one
//! goes on along a path. A SAT solver learns that they are permutations again and again. Here all of them
//! are found once, and a query is a few operations on sets of rows:
//!
//! ```text
//!  what always holds ─► domains::search, all inputs ─► rows
//!  condition ─► expr::columns: a value for each row ─► in which rows it is true
//!  query ─► rows of all constraints and the goal: none ─► no input; else the first one
//! ```
//!
//! Both answers come from evaluation of every condition under every input.

use std::collections::{HashMap, HashSet};

use nearmiss_expr::{Columns, Evaluator, InputByte, TermId, Terms};

use super::domains::{Bounds, Rows};
use super::{SmallDomains, satisfies};
use crate::query::{Answer, Layer, Model, Policy, Query, Reply, Solver};

/// The most rows of a table, and how much looking for them may cost.
const BOUNDS: Bounds = Bounds {
    rows: 1 << 16,
    values: 1 << 20,
};
/// So many queries there are before a table is made: few need none. Each that the solver behind has to answer counts for
/// several: one about permutations may take it a second.
const FIRST: u32 = 64;
const SOLVED: u32 = 7;
/// So many tables are tried to be made.
const MOST_TRIALS: u32 = 4;
/// Queries about fewer bytes are left to the next layer.
const FEWEST_BYTES: usize = 3;
/// Conditions whose rows are kept.
const MOST_KNOWN: usize = 1 << 12;

/// Answers queries by tables in front of another solver.
pub struct Tabulated {
    table: Option<Table>,
    /// What always held when the table was made, or last tried to be.
    always: usize,
    queries: u32,
    trials: u32,
    evaluator: Evaluator,
    inner: Box<dyn Solver>,
}

/// All inputs.
struct Table {
    /// The bytes that it has, in ascending order.
    bytes: Vec<InputByte>,
    columns: Columns,
    /// In which rows conditions are true.
    known: HashMap<TermId, Option<Box<[u64]>>>,
    /// True in every row.
    always: HashSet<TermId>,
}

impl Tabulated {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> Tabulated {
        Tabulated {
            table: None,
            always: 0,
            queries: 0,
            trials: 0,
            evaluator: Evaluator::new(),
            inner,
        }
    }

    /// Looks for a table where it may be of use.
    fn prepare(&mut self, terms: &mut Terms, query: &Query<'_>, always: &[TermId]) {
        if always.len() != self.always {
            // More is known than was.
            self.table = None;
            (self.always, self.queries, self.trials) = (always.len(), 0, 0);
        }
        let has = |table: &Table| table.has(query.bytes);
        if self.table.as_ref().is_some_and(has) || self.trials == MOST_TRIALS {
            return;
        }
        self.queries += 1;
        if self.queries >= FIRST {
            self.queries = 0;
            self.trials += 1;
            let made = Table::make(terms, query, always);
            self.table = made.or(self.table.take());
        }
    }

    fn answer(&mut self, terms: &Terms, query: &Query<'_>) -> Option<Answer> {
        let table = self.table.as_mut().filter(|table| table.has(query.bytes))?;
        let Some(model) = table.find(terms, query)? else {
            return Some(Answer::Unsat);
        };
        satisfies(&mut self.evaluator, terms, query, &model).then_some(Answer::Sat(model))
    }
}

impl Solver for Tabulated {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        if let Policy::Assumptions { always } = query.policy
            && query.bytes.len() >= FEWEST_BYTES
            && query.fixed.is_empty()
        {
            self.prepare(terms, query, always);
            if let Some(answer) = self.answer(terms, query) {
                return Reply::new(answer, Layer::Domains);
            }
            let reply = self.inner.solve(terms, query);
            if matches!(reply.layer, Layer::BitBlaster | Layer::Bitwuzla) {
                self.queries += SOLVED;
            }
            return reply;
        }
        self.inner.solve(terms, query)
    }
}

impl Table {
    /// All inputs for the bytes of a query that always may be.
    fn make(terms: &mut Terms, query: &Query<'_>, always: &[TermId]) -> Option<Table> {
        let always: HashSet<TermId> = always.iter().copied().collect();
        let constraints = query.constraints.iter().copied();
        let constraints: Vec<TermId> = constraints.filter(|id| always.contains(id)).collect();
        let everything = Query {
            constraints: &constraints,
            goal: terms.truth(true),
            ..*query
        };
        let domains = &mut SmallDomains::new(Box::new(Nothing));
        let Rows { bytes, count } = domains.all(terms, &everything, BOUNDS)?;
        let width = query.bytes.len();
        if count == 0 {
            return None;
        }
        let column = |position: usize| -> Vec<u8> {
            bytes
                .iter()
                .skip(position)
                .step_by(width)
                .copied()
                .collect()
        };
        let inputs = query.bytes.iter().enumerate();
        let inputs = inputs.map(|(position, &byte)| (byte, column(position)));
        Some(Table {
            bytes: query.bytes.to_vec(),
            columns: Columns::new(count, inputs),
            known: HashMap::new(),
            always: constraints.into_iter().collect(),
        })
    }

    /// Whether a query is about bytes of this table only.
    fn has(&self, bytes: &[InputByte]) -> bool {
        bytes
            .iter()
            .all(|byte| self.bytes.binary_search(byte).is_ok())
    }

    /// An input, if there is one; `None` if a condition cannot be evaluated.
    fn find(&mut self, terms: &Terms, query: &Query<'_>) -> Option<Option<Model>> {
        let rows = self.columns.rows();
        let mut left = vec![u64::MAX; rows.div_ceil(64)];
        if let (Some(last), 1..) = (left.last_mut(), rows % 64) {
            *last = (1 << (rows % 64)) - 1;
        }
        for &condition in query.constraints.iter().chain([&query.goal]) {
            if self.always.contains(&condition) {
                continue;
            }
            let truth = self.truth(terms, condition)?;
            for (left, truth) in left.iter_mut().zip(truth) {
                *left &= truth;
            }
        }
        let Some(word) = left.iter().position(|word| *word != 0) else {
            return Some(None);
        };
        let row = word * 64 + left[word].trailing_zeros() as usize;
        let value = |&byte: &InputByte| Some((byte, self.columns.input(byte, row)?));
        // Other bytes have conditions that are not asked about.
        Some(Some(query.bytes.iter().filter_map(value).collect()))
    }

    fn truth(&mut self, terms: &Terms, condition: TermId) -> Option<&[u64]> {
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
        }
        let columns = &mut self.columns;
        let known = self.known.entry(condition);
        let truth = known.or_insert_with(|| columns.truth(terms, condition));
        truth.as_deref()
    }
}

/// Answers nothing: all inputs are looked for, not one.
struct Nothing;

impl Solver for Nothing {
    fn solve(&mut self, _: &mut Terms, _: &Query<'_>) -> Reply {
        Reply::new(Answer::Unsat, Layer::Domains)
    }
}
