//! Queries about bytes that can have few values: search by evaluation.
//!
//! A permutation of eight numbers, a digit, a letter of a keyword: what the path says leaves few values to each
//! byte. Bits are a bad language for "all different"; here a byte has a set of values.
//!
//! ```text
//!  ranges of simple conditions ─► conditions on one byte ─► on two: differences, orders, tables ─► search
//! ```
//!
//! The search (`search`) gives a value to the byte without which the next condition is not decided, so what
//! depends on a table is evaluated only where the index leads. Its work is bounded; what it does not finish goes to the
//! next solver. "No" is said when every value was tried or excluded, each by evaluation.

mod byte_set;
mod covers;
mod search;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use nearmiss_expr::{Evaluator, InputByte, Node, Op, Ranges, TermId, Terms, digest};

use super::satisfies;
use crate::back::Asserted;
use crate::query::{Answer, Layer, Model, Policy, Query, Reply, Solver};
use byte_set::ByteSet;
use covers::{Cover, Covers};
pub(super) use search::{Bounds, Rows};
use search::{Outcome, Pair, Problem, Search};

/// Queries about more bytes are left to the next solver, where all paths have one: what was evaluated serves them all.
const MOST_BYTES: usize = 64;
/// Likewise where each path has a solver of its own.
const MOST_BYTES_OF_PATH: usize = 4;
/// Bytes with more than one value in a query that is tried, unless these have few.
const MOST_OPEN: usize = 2;
/// How many values are few.
const FEW_VALUES: usize = 24;
/// The most terms that a query's conditions may have together, each counted by itself.
const MOST_TERMS: usize = 1 << 14;
/// The most terms of a condition on one byte that is evaluated for each value.
const MOST_TERMS_OF_ONE: usize = 1 << 12;
/// The most values that ranges may leave to each byte of a pair: which go together is kept.
const MOST_PARTNERS: usize = 64;
/// So many queries are tried in any case; after them, if fewer than one in [`WORTH`] was answered, one in so many.
const TRIALS: u32 = 32;
/// See [`TRIALS`].
const WORTH: u32 = 4;

/// A condition of so few terms and bytes narrows ranges.
const SIMPLE: (usize, usize) = (24, 8);
/// In larger arenas ranges of one query are not looked for: they have a row for each term.
const MOST_RANGED: usize = 1 << 16;
/// Likewise where it is done once for many queries.
const MOST_RANGED_ONCE: usize = 1 << 20;

/// What is known of a condition.
#[derive(Clone, Debug)]
struct Facts {
    condition: TermId,
    /// The bytes it depends on, in ascending order.
    bytes: Box<[InputByte]>,
    /// How many terms it consists of.
    terms: usize,
}

impl Facts {
    fn is_simple(&self) -> bool {
        self.terms <= SIMPLE.0 && self.bytes.len() <= SIMPLE.1
    }
}

/// Answers queries about small domains in front of another solver.
pub struct SmallDomains {
    /// What each constraint is a conjunction of.
    parts: HashMap<TermId, Rc<[Facts]>>,
    /// The conditions of which a condition needs one.
    alternatives: HashMap<TermId, Rc<[Facts]>>,
    /// Which values of its one open byte make a condition true; the other bytes have one value, and their
    /// digest is part of the key.
    unary: HashMap<(TermId, InputByte, u128), ByteSet>,
    /// What simple conditions of a path leave, and of which constraints they are: on a path these only get more.
    path: Ranges,
    asserted: Asserted,
    search: Search,
    evaluator: Evaluator,
    /// Queries that came, were tried, and were answered.
    queries: u32,
    tried: u32,
    answered: u32,
    /// How much was known to hold always when the last one came.
    always: usize,
    inner: Box<dyn Solver>,
}

impl SmallDomains {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> SmallDomains {
        SmallDomains {
            parts: HashMap::new(),
            alternatives: HashMap::new(),
            unary: HashMap::new(),
            path: Ranges::new(),
            asserted: Asserted::default(),
            search: Search::default(),
            evaluator: Evaluator::new(),
            queries: 0,
            tried: 0,
            answered: 0,
            always: 0,
            inner,
        }
    }

    /// The query as a search over domains; `Err` if that says the answer, or that it is not small.
    fn problem(
        &mut self,
        terms: &mut Terms,
        query: &Query<'_>,
        most_ranged: usize,
    ) -> Result<Problem, Outcome> {
        let mut conditions: Vec<Rc<[Facts]>> = Vec::with_capacity(query.constraints.len() + 1);
        let mut all = 0;
        for &constraint in query.constraints.iter().chain([&query.goal]) {
            let parts = self.parts.entry(constraint);
            let parts = parts.or_insert_with(|| parts_of(terms, constraint)).clone();
            all += parts.iter().map(|part| part.terms).sum::<usize>();
            if all > MOST_TERMS {
                return Err(Outcome::GivenUp);
            }
            conditions.push(parts);
        }
        let parts = || conditions.iter().flat_map(|parts| parts.iter());
        let ranged = match query.policy {
            Policy::Prefix { .. } => self.ranged_on_path(terms, query, &conditions),
            Policy::Assumptions { .. } => ranged(terms, query, parts(), most_ranged),
        };
        let Some(ranged) = ranged else {
            return Err(Outcome::GivenUp);
        };
        let mut problem = Problem::new(query, ranged);
        for part in parts() {
            let Some(open) = problem.open_bytes(&part.bytes) else {
                return Err(Outcome::GivenUp);
            };
            let condition = part.condition;
            match open[..] {
                [only] if part.terms <= MOST_TERMS_OF_ONE => {
                    let key = (condition, query.bytes[only], problem.digest(&part.bytes));
                    let allowed = self.unary.entry(key).or_insert_with(|| {
                        problem.allowed(&mut self.evaluator, terms, condition, only)
                    });
                    problem.narrow(only, allowed);
                }
                [first, second] if problem.is_kept(first) && problem.is_kept(second) => {
                    problem.pairs.push(Pair {
                        condition,
                        bytes: [first, second],
                        others: problem.digest(&part.bytes),
                    });
                }
                // Without an open byte it is decided by evaluation, too.
                _ => {
                    problem.others.push(condition);
                    if let Some(cover) = self.cover(terms, &problem, condition) {
                        problem.covers.add(cover);
                    }
                }
            }
        }
        problem.fix(query);
        if problem.is_contradictory() {
            return Err(Outcome::None);
        }
        let open = problem.domains.iter().filter(|set| set.len() > 1);
        let is_few = |set: &ByteSet| set.len() <= FEW_VALUES;
        if open.clone().count() > MOST_OPEN && !open.clone().all(is_few) {
            return Err(Outcome::GivenUp);
        }
        Ok(problem)
    }

    /// The values that simple conditions leave to each byte, of which those of the path are looked at once; `None`
    /// if they contradict each other. The last of `conditions` is the goal.
    fn ranged_on_path(
        &mut self,
        terms: &mut Terms,
        query: &Query<'_>,
        conditions: &[Rc<[Facts]>],
    ) -> Option<Vec<ByteSet>> {
        let simple = |parts: &Rc<[Facts]>| -> Vec<TermId> {
            let simple = parts.iter().filter(|part| part.is_simple());
            simple.map(|part| part.condition).collect()
        };
        for (&constraint, parts) in query.constraints.iter().zip(conditions) {
            if !self.asserted.has(constraint) {
                self.asserted.mark(constraint);
                for part in simple(parts) {
                    self.path.assume(terms, part, true);
                }
            }
        }
        let inputs: Vec<TermId> = query.bytes.iter().map(|&it| terms.input(it)).collect();
        let goal = conditions.last().map(simple).unwrap_or_default();
        let ranges = self.path.supposing(terms, &goal, &inputs)?;
        Some(ranges.iter().map(ByteSet::within).collect())
    }

    /// The condition as one that needs one of several bytes to have a value of its own.
    fn cover(&mut self, terms: &mut Terms, problem: &Problem, condition: TermId) -> Option<Cover> {
        let known = self.alternatives.entry(condition);
        let alternatives = known.or_insert_with(|| {
            let found = covers::alternatives(terms, condition);
            let found = found.iter().filter(|_| found.len() > 1);
            found.map(|&id| facts(terms, id)).collect()
        });
        let mut cover = None;
        for one in alternatives.iter() {
            let [position] = problem.open_bytes(&one.bytes)?[..] else {
                return None;
            };
            if one.terms > MOST_TERMS_OF_ONE {
                return None;
            }
            let byte = problem.bytes[position];
            let key = (one.condition, byte, problem.digest(&one.bytes));
            let allowed = self.unary.entry(key).or_insert_with(|| {
                problem.allowed(&mut self.evaluator, terms, one.condition, position)
            });
            cover.get_or_insert(Cover::default()).add(position, allowed);
        }
        cover
    }

    fn find(&mut self, terms: &mut Terms, query: &Query<'_>) -> Outcome {
        match self.problem(terms, query, MOST_RANGED) {
            Ok(problem) => self.search.run(terms, query, problem),
            Err(outcome) => outcome,
        }
    }

    /// Every input that fulfils a query, if there are not too many; `None` as well where each byte has its values by
    /// itself: then a table says no more than its domains do.
    pub(super) fn all(
        &mut self,
        terms: &mut Terms,
        query: &Query<'_>,
        bounds: Bounds,
    ) -> Option<Rows> {
        match self.problem(terms, query, MOST_RANGED_ONCE) {
            Ok(problem) if problem.pairs.is_empty() && problem.others.is_empty() => None,
            Ok(problem) => self.search.run_for_all(terms, query, &problem, bounds),
            Err(_) => None,
        }
    }

    /// Whether a query is worth a try, by what came of those before.
    fn is_tried(&mut self, policy: Policy<'_>) -> bool {
        if let Policy::Assumptions { always } = policy
            && always.len() != self.always
        {
            // What is known now may leave fewer values than before.
            (self.always, self.tried, self.answered) = (always.len(), 0, 0);
        }
        self.queries = self.queries.wrapping_add(1);
        let is_worth = self.answered.saturating_mul(WORTH) >= self.tried;
        self.tried < TRIALS || is_worth || self.queries.is_multiple_of(TRIALS)
    }
}

impl Solver for SmallDomains {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        let most = match query.policy {
            Policy::Prefix { .. } => MOST_BYTES_OF_PATH,
            Policy::Assumptions { .. } => MOST_BYTES,
        };
        if query.bytes.len() > most {
            return self.inner.solve(terms, query);
        }
        if !self.is_tried(query.policy) {
            return self.inner.solve(terms, query);
        }
        self.tried = self.tried.saturating_add(1);
        let answer = match self.find(terms, query) {
            Outcome::Found(model) if satisfies(&mut self.evaluator, terms, query, &model) => {
                Answer::Sat(model)
            }
            Outcome::None => Answer::Unsat,
            Outcome::Found(_) | Outcome::GivenUp => return self.inner.solve(terms, query),
        };
        self.answered = self.answered.saturating_add(1);
        Reply::new(answer, Layer::Domains)
    }
}

/// The conditions that a constraint is a conjunction of.
fn parts_of(terms: &mut Terms, constraint: TermId) -> Rc<[Facts]> {
    let mut parts = Vec::new();
    let mut whole = vec![constraint];
    let mut seen = HashSet::new();
    while let Some(id) = whole.pop() {
        if !seen.insert(id) {
            continue;
        }
        match terms.node(id) {
            Node::Binary { op: Op::And, a, b } => whole.extend([b, a]),
            Node::Unary { op: Op::Not, a } => match terms.node(a) {
                Node::Binary { op: Op::Or, a, b } => {
                    let sides = [terms.not(b), terms.not(a)];
                    whole.extend(sides);
                }
                _ => parts.push(facts(terms, id)),
            },
            _ => parts.push(facts(terms, id)),
        }
    }
    parts.into()
}

/// Which bytes a condition depends on, and how large it is.
fn facts(terms: &Terms, condition: TermId) -> Facts {
    let mut seen = HashSet::from([condition]);
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
        condition,
        bytes: bytes.into(),
        terms: seen.len(),
    }
}

/// The values that simple conditions leave to each byte; `None` if they contradict each other.
fn ranged<'f>(
    terms: &mut Terms,
    query: &Query<'_>,
    parts: impl Iterator<Item = &'f Facts>,
    most_ranged: usize,
) -> Option<Vec<ByteSet>> {
    if terms.len() > most_ranged {
        return Some(vec![ByteSet::of(|_| true); query.bytes.len()]);
    }
    let mut ranges = Ranges::new();
    for part in parts.filter(|part| part.is_simple()) {
        ranges.assume(terms, part.condition, true);
    }
    let mut domains = Vec::with_capacity(query.bytes.len());
    for &byte in query.bytes {
        let input = terms.input(byte);
        domains.push(ByteSet::within(&ranges.range(terms, input)));
    }
    (!ranges.is_contradictory()).then_some(domains)
}

impl Problem {
    /// A problem without conditions.
    fn new(query: &Query<'_>, domains: Vec<ByteSet>) -> Problem {
        Problem {
            bytes: query.bytes.into(),
            ranged: domains.clone(),
            domains,
            pairs: Vec::new(),
            others: Vec::new(),
            covers: Covers::default(),
        }
    }

    /// The positions of those bytes that ranges leave more than one value; `None` if one is not in the query.
    fn open_bytes(&self, bytes: &[InputByte]) -> Option<Vec<usize>> {
        let mut open = Vec::new();
        for byte in bytes {
            let position = self.bytes.binary_search(byte).ok()?;
            if self.ranged[position].single().is_none() {
                open.push(position);
            }
        }
        Some(open)
    }

    /// Names the values of those bytes that have but one.
    fn digest(&self, bytes: &[InputByte]) -> u128 {
        let positions = bytes
            .iter()
            .filter_map(|byte| self.bytes.binary_search(byte).ok());
        let values = positions.map(|position| match self.ranged[position].single() {
            Some(value) => u128::from(value),
            None => 1 << 8,
        });
        digest::of_numbers(&values.collect::<Vec<u128>>())
    }

    /// Whether it is kept which values of other bytes go with those of this one.
    fn is_kept(&self, position: usize) -> bool {
        self.ranged[position].len() <= MOST_PARTNERS
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
                Ok(found) => self.ranged[found].first(),
                Err(_) => 0,
            };
            evaluator.reset();
            evaluator.holds(terms, &input, condition)
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
