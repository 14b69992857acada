//! Queries about bytes that can have few values: search by evaluation.
//!
//! A permutation of eight numbers, a digit, a letter of a keyword: what the path says leaves few values to each
//! byte. Bits are a bad language for "all different"; here a byte has a set of values.
//!
//! ```text
//!  ranges narrowed by what lasts ─► conditions on one byte ─► on two: differences, orders, tables ─► search
//! ```
//!
//! The search (`search`) gives a value to the byte without which the next condition is not decided, so what
//! depends on a table is evaluated only where the index leads. Its work is bounded; what it does not finish goes to the
//! next solver. "No" is said when every value was tried or excluded, each by evaluation.

mod byte_set;
mod search;

use std::collections::HashMap;

use nearmiss_expr::{Evaluator, InputByte, Node, Ranges, TermId, Terms};

use super::satisfies;
use crate::back::Asserted;
use crate::query::{Answer, Layer, Model, Policy, Query, Reply, Solver};
use byte_set::ByteSet;
use search::{Outcome, Pair, Problem, Search};

/// Queries about more bytes are left to the next solver.
const MOST_BYTES: usize = 64;
/// Bytes with more than one value in a query that is tried, unless these have few.
const MOST_OPEN: usize = 2;
/// How many values are few.
const FEW_VALUES: usize = 24;
/// The most terms that a query's conditions may have together, each counted by itself.
const MOST_TERMS: usize = 1 << 14;
/// The most terms of a condition on one byte that is evaluated for each value.
const MOST_TERMS_OF_ONE: usize = 1 << 12;
/// The most values that each byte of a pair may have in all queries: which go together is kept.
const MOST_PARTNERS: usize = 64;
/// After so many queries in a row that were given up only every so manieth is tried.
const PATIENCE: u32 = 8;

/// What is known of a condition.
#[derive(Clone, Debug)]
struct Facts {
    /// The bytes it depends on, in ascending order.
    bytes: Box<[InputByte]>,
    /// How many terms it consists of.
    terms: usize,
}

/// Answers queries about small domains in front of another solver.
pub struct SmallDomains {
    ranges: Ranges,
    asserted: Asserted,
    facts: HashMap<TermId, Facts>,
    /// Which values of its one open byte make a condition true.
    unary: HashMap<(TermId, InputByte), ByteSet>,
    search: Search,
    evaluator: Evaluator,
    /// Queries given up since one was answered.
    given_up: u32,
    inner: Box<dyn Solver>,
}

impl SmallDomains {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> SmallDomains {
        SmallDomains {
            ranges: Ranges::new(),
            asserted: Asserted::default(),
            facts: HashMap::new(),
            unary: HashMap::new(),
            search: Search::default(),
            evaluator: Evaluator::new(),
            given_up: 0,
            inner,
        }
    }

    /// Narrows ranges by what holds in all queries to come. On one path that would be done twice: what is
    /// small there are single bytes, of which their conditions say enough.
    fn learn(&mut self, terms: &Terms, query: &Query<'_>) {
        let Policy::Assumptions { always } = query.policy else {
            return;
        };
        for &constraint in always {
            if !self.asserted.has(constraint) {
                self.asserted.mark(constraint);
                self.ranges.assume(terms, constraint, true);
            }
        }
    }

    /// The query as a search over domains; `Err` if that says the answer, or that it is not small.
    fn problem(&mut self, terms: &mut Terms, query: &Query<'_>) -> Result<Problem, Outcome> {
        let mut domains = Vec::with_capacity(query.bytes.len());
        for &byte in query.bytes {
            let input = terms.input(byte);
            let range = self.ranges.range(terms, input);
            domains.push(ByteSet::of(|value| range.contains(u128::from(*value))));
        }
        if self.ranges.is_contradictory() {
            return Err(Outcome::GivenUp);
        }
        let mut problem = Problem::new(query, domains);
        let mut all = 0;
        for &condition in query.constraints.iter().chain([&query.goal]) {
            let facts = facts(&mut self.facts, terms, condition);
            all += facts.terms;
            let Some(open) = problem.open_bytes(&facts.bytes) else {
                return Err(Outcome::GivenUp);
            };
            if all > MOST_TERMS {
                return Err(Outcome::GivenUp);
            }
            match open[..] {
                [only] if facts.terms <= MOST_TERMS_OF_ONE => {
                    let byte = query.bytes[only];
                    let allowed = self.unary.entry((condition, byte)).or_insert_with(|| {
                        problem.allowed(&mut self.evaluator, terms, condition, only)
                    });
                    problem.narrow(only, allowed);
                }
                [first, second] if problem.is_kept(first) && problem.is_kept(second) => {
                    problem.pairs.push(Pair {
                        condition,
                        bytes: [first, second],
                    });
                }
                // Without an open byte it is decided by evaluation, too.
                _ => problem.others.push(condition),
            }
        }
        problem.fix(query);
        if problem.is_contradictory() {
            return Err(Outcome::None);
        }
        let few = |set: &&ByteSet| set.len() <= FEW_VALUES;
        let open = problem.domains.iter().filter(|set| set.len() > 1);
        let is_small = open.clone().count() <= MOST_OPEN || open.clone().all(|set| few(&set));
        if !is_small {
            return Err(Outcome::GivenUp);
        }
        Ok(problem)
    }

    fn find(&mut self, terms: &mut Terms, query: &Query<'_>) -> Outcome {
        match self.problem(terms, query) {
            Ok(problem) => self.search.run(terms, query, problem),
            Err(outcome) => outcome,
        }
    }

    /// Whether a query is worth a try, by what came of those before.
    fn is_tried(&self) -> bool {
        let skipped = self.given_up / PATIENCE;
        self.given_up.is_multiple_of(skipped.min(64) + 1)
    }
}

impl Solver for SmallDomains {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        self.learn(terms, query);
        if query.bytes.len() > MOST_BYTES {
            return self.inner.solve(terms, query);
        }
        if !self.is_tried() {
            self.given_up = self.given_up.saturating_add(1);
            return self.inner.solve(terms, query);
        }
        let answer = match self.find(terms, query) {
            Outcome::Found(model) if satisfies(&mut self.evaluator, terms, query, &model) => {
                Answer::Sat(model)
            }
            Outcome::None => Answer::Unsat,
            Outcome::Found(_) | Outcome::GivenUp => {
                self.given_up = self.given_up.saturating_add(1);
                return self.inner.solve(terms, query);
            }
        };
        self.given_up = 0;
        Reply::new(answer, Layer::Domains)
    }
}

/// Looks up which bytes a condition depends on, and how large it is.
fn facts<'f>(known: &'f mut HashMap<TermId, Facts>, terms: &Terms, condition: TermId) -> &'f Facts {
    known.entry(condition).or_insert_with(|| {
        let mut seen = std::collections::HashSet::from([condition]);
        let mut stack = vec![condition];
        let mut bytes = Vec::new();
        while let Some(id) = stack.pop() {
            if let Node::Input(byte) = terms.node(id) {
                bytes.push(byte);
            }
            if seen.len() > MOST_TERMS {
                break;
            }
            stack.extend(terms.operands(id).filter(|&operand| seen.insert(operand)));
        }
        bytes.sort_unstable();
        Facts {
            bytes: bytes.into(),
            terms: seen.len(),
        }
    })
}

impl Problem {
    /// A problem without conditions.
    fn new(query: &Query<'_>, domains: Vec<ByteSet>) -> Problem {
        Problem {
            bytes: query.bytes.into(),
            lasting: domains.clone(),
            domains,
            pairs: Vec::new(),
            others: Vec::new(),
        }
    }

    /// The positions of those bytes that what lasts leaves more than one value; `None` if one is not in the query.
    fn open_bytes(&self, bytes: &[InputByte]) -> Option<Vec<usize>> {
        let mut open = Vec::new();
        for byte in bytes {
            let position = self.bytes.binary_search(byte).ok()?;
            if self.lasting[position].single().is_none() {
                open.push(position);
            }
        }
        Some(open)
    }

    /// Whether it is kept which values of other bytes go with those of this one.
    fn is_kept(&self, position: usize) -> bool {
        self.lasting[position].len() <= MOST_PARTNERS
    }

    /// The values of a byte that make a condition true, which depends on no other open byte.
    fn allowed(
        &self,
        evaluator: &mut Evaluator,
        terms: &Terms,
        condition: TermId,
        position: usize,
    ) -> ByteSet {
        ByteSet::of(|&value| {
            let input = |byte: InputByte| match self.bytes.binary_search(&byte) {
                Ok(found) if found == position => value,
                Ok(found) => self.lasting[found].first(),
                Err(_) => 0,
            };
            evaluator.reset();
            self.lasting[position].has(value) && evaluator.holds(terms, &input, condition)
        })
    }

    fn narrow(&mut self, position: usize, allowed: &ByteSet) {
        self.domains[position] = self.domains[position].meet(allowed);
    }

    /// Leaves the bytes that a query fixes one value.
    fn fix(&mut self, query: &Query<'_>) {
        for &(byte, value) in query.fixed {
            if let Ok(position) = self.bytes.binary_search(&byte) {
                self.narrow(position, &ByteSet::of(|other| *other == value));
            }
        }
    }

    fn is_contradictory(&self) -> bool {
        self.domains.iter().any(ByteSet::is_empty)
    }

    /// An input, where bytes that were not decided are as recorded if they may be.
    fn model(&self, query: &Query<'_>, value: impl Fn(usize) -> Option<u8>) -> Model {
        let bytes = self.bytes.iter().enumerate();
        let decided = bytes.map(|(position, &byte)| {
            let recorded = query.recorded.byte(byte);
            let domain = &self.domains[position];
            let preferred = if domain.has(recorded) {
                recorded
            } else {
                domain.first()
            };
            (byte, value(position).unwrap_or(preferred))
        });
        decided.collect()
    }
}
