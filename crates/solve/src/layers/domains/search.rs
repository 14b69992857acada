//! The search itself: one byte after another, by demand.

use std::collections::HashMap;

use nearmiss_expr::{InputByte, Partial, PartialEvaluator, TermId, Terms};

use super::byte_set::ByteSet;
use super::covers::Covers;
use crate::query::{Model, Query};

/// The most nodes that a search computes: what takes longer is a matter for a SAT solver, which learns.
const MOST_STEPS: usize = 10_000;
/// The most values that a search gives to bytes.
const MOST_VALUES: usize = 2_000;
/// A search for all inputs looks at its bounds and its deadline after so many values.
const VALUES_BETWEEN_LOOKS: usize = 64;

/// What a search came to.
pub(super) enum Outcome {
    /// This input.
    Found(Model),
    /// There is none.
    None,
    /// It would take too long.
    GivenUp,
}

/// A condition on two open bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub condition: TermId,
    pub bytes: [usize; 2],
    /// Names the values of its other bytes.
    pub others: u128,
}

/// A query over domains.
#[derive(Debug)]
pub(super) struct Problem {
    /// In ascending order.
    pub bytes: Box<[InputByte]>,
    /// Ranges leave each byte these values.
    pub ranged: Vec<ByteSet>,
    /// Conditions on it alone leave it these.
    pub domains: Vec<ByteSet>,
    pub pairs: Vec<Pair>,
    /// All other conditions, in the order of the path, the goal last.
    pub others: Vec<TermId>,
    /// What is known of some of these.
    pub covers: Covers,
}

/// Searches, and keeps which values of two bytes go together.
#[derive(Default)]
pub(super) struct Search {
    evaluator: PartialEvaluator,
    /// For a condition under the values of its other bytes, a byte of it and a value of that: the values that
    /// its second byte may have.
    partners: HashMap<(TermId, u128, InputByte, u8), ByteSet>,
    values: usize,
}

/// One search under way.
struct Attempt<'s, 'q> {
    search: &'s mut Search,
    terms: &'s Terms,
    query: &'s Query<'q>,
    problem: &'s Problem,
    /// For each byte the pairs that it is in.
    pairs_of: Vec<Vec<usize>>,
    /// Bytes that are all different from each other.
    different: Vec<usize>,
}

/// A byte that has a value, and what else there is to try.
struct Level {
    position: usize,
    left: ByteSet,
    /// Domains, and the first condition that was not decided, before it had one.
    domains: Vec<ByteSet>,
    decided: usize,
}

impl Search {
    pub fn run(&mut self, terms: &Terms, query: &Query<'_>, problem: Problem) -> Outcome {
        let mut attempt = self.attempt(terms, query, &problem);
        match attempt.begin() {
            Some(domains) => attempt.run(domains),
            None => Outcome::None,
        }
    }

    fn attempt<'s, 'q>(
        &'s mut self,
        terms: &'s Terms,
        query: &'s Query<'q>,
        problem: &'s Problem,
    ) -> Attempt<'s, 'q> {
        self.evaluator.begin(&problem.bytes);
        self.values = 0;
        let mut pairs_of = vec![Vec::new(); problem.bytes.len()];
        for (number, pair) in problem.pairs.iter().enumerate() {
            for position in pair.bytes {
                pairs_of[position].push(number);
            }
        }
        let mut attempt = Attempt {
            search: self,
            terms,
            query,
            problem,
            pairs_of,
            different: Vec::new(),
        };
        attempt.find_different();
        attempt
    }
}

/// Every input of a problem, byte after byte in the order of its bytes.
#[derive(Debug, Default)]
pub(in crate::layers) struct Rows {
    pub bytes: Vec<u8>,
    pub count: usize,
}

/// How much looking for all inputs of a problem may cost.
#[derive(Clone, Copy)]
pub(in crate::layers) struct Bounds {
    /// The most inputs.
    pub rows: usize,
    /// The most values that are given to bytes.
    pub values: usize,
}

impl Search {
    /// All inputs, if there are not too many and the query's time is enough to find them.
    pub fn run_for_all(
        &mut self,
        terms: &Terms,
        query: &Query<'_>,
        problem: &Problem,
        bounds: Bounds,
    ) -> Option<Rows> {
        let mut attempt = self.attempt(terms, query, problem);
        match attempt.begin() {
            Some(domains) => attempt.run_for_all(domains, bounds),
            None => Some(Rows::default()),
        }
    }
}

impl Attempt<'_, '_> {
    fn run_for_all(&mut self, mut domains: Vec<ByteSet>, bounds: Bounds) -> Option<Rows> {
        let deadline = self.query.effort.deadline;
        let mut next_look = 0;
        let mut rows = Rows::default();
        let mut decided = 0;
        let mut levels: Vec<Level> = Vec::new();
        loop {
            match self.next_undecided(&mut decided, &domains) {
                Some(Partial::Needs(position)) => levels.push(Level {
                    position,
                    left: domains[position],
                    domains: domains.clone(),
                    decided,
                }),
                None => self.add_rows(&domains, &mut rows, bounds.rows)?,
                Some(Partial::Value(_)) => {}
            }
            match self.go_on(&mut levels, bounds.values) {
                Some((next, from)) => (domains, decided) = (next, from),
                None => return Some(rows),
            }
            if self.search.values >= next_look {
                next_look = self.search.values + VALUES_BETWEEN_LOOKS;
                if self.search.values > bounds.values || deadline.is_over() {
                    return None;
                }
            }
        }
    }

    /// Adds what is decided, with each combination of values of the bytes that nothing depends on; `None` if
    /// that is too much.
    fn add_rows(&self, domains: &[ByteSet], rows: &mut Rows, most: usize) -> Option<()> {
        let of = |position: usize| match self.search.evaluator.assigned(position) {
            Some(value) => vec![value],
            None => domains[position].iter().collect(),
        };
        let values: Vec<Vec<u8>> = (0..domains.len()).map(of).collect();
        let product = values.iter().map(Vec::len);
        let product = product.fold(1usize, |product, len| product.saturating_mul(len));
        if rows.count.saturating_add(product) > most {
            return None;
        }
        let mut chosen = vec![0; values.len()];
        for _ in 0..product {
            let row = chosen.iter().zip(&values).map(|(&at, values)| values[at]);
            rows.bytes.extend(row);
            rows.count += 1;
            for (at, values) in chosen.iter_mut().zip(&values) {
                *at += 1;
                if *at < values.len() {
                    break;
                }
                *at = 0;
            }
        }
        Some(())
    }

    /// Gives bytes with one value that value; the domains behind that, if all have values left.
    fn begin(&mut self) -> Option<Vec<ByteSet>> {
        let mut domains = self.problem.domains.clone();
        for position in 0..domains.len() {
            if let Some(value) = self.problem.domains[position].single() {
                self.search.evaluator.assign(position, Some(value));
                if !self.propagate(position, value, &mut domains) {
                    return None;
                }
            }
        }
        let is_possible = self.problem.covers.narrow(&mut domains) && self.has_room(&domains);
        is_possible.then_some(domains)
    }

    fn run(&mut self, mut domains: Vec<ByteSet>) -> Outcome {
        let mut decided = 0;
        let mut levels: Vec<Level> = Vec::new();
        loop {
            if self.search.evaluator.steps() > MOST_STEPS || self.search.values > MOST_VALUES {
                return Outcome::GivenUp;
            }
            match self.next_undecided(&mut decided, &domains) {
                Some(Partial::Needs(position)) => levels.push(Level {
                    position,
                    left: domains[position],
                    domains: domains.clone(),
                    decided,
                }),
                None => return Outcome::Found(self.model(&domains)),
                // A condition is false.
                Some(Partial::Value(_)) => {}
            }
            match self.go_on(&mut levels, MOST_VALUES) {
                Some((next, from)) => (domains, decided) = (next, from),
                None => return Outcome::None,
            }
        }
    }

    /// The first condition that is not true: it needs a byte, or is false. Pairs come last: they are kept true
    /// by narrowing.
    fn next_undecided(&mut self, decided: &mut usize, domains: &[ByteSet]) -> Option<Partial> {
        while let Some(&condition) = self.problem.others.get(*decided) {
            match self.search.evaluator.evaluate(self.terms, condition) {
                Partial::Value(1) => *decided += 1,
                other => return Some(other),
            }
        }
        // Bytes in pairs need values that go together.
        let open = |position: &usize| self.search.evaluator.assigned(*position).is_none();
        let in_pairs = (0..domains.len()).filter(|&position| !self.pairs_of[position].is_empty());
        let next = in_pairs
            .filter(open)
            .min_by_key(|&position| domains[position].len());
        next.map(Partial::Needs)
    }

    /// The next value of the deepest byte that has one left; the domains behind it, and which conditions are
    /// decided.
    fn go_on(&mut self, levels: &mut Vec<Level>, most: usize) -> Option<(Vec<ByteSet>, usize)> {
        loop {
            let depth = levels.len() as u32;
            let level = levels.last_mut()?;
            let position = level.position;
            if level.left.is_empty() {
                self.search.evaluator.assign(position, None);
                levels.pop();
                continue;
            }
            let recorded = self.query.recorded.byte(self.problem.bytes[position]);
            let value = if level.left.has(recorded) {
                recorded
            } else {
                level.left.first()
            };
            level.left.remove(value);
            self.search.values += 1;
            if self.search.values > most {
                // The caller sees that it is too much.
                return Some((level.domains.clone(), level.decided));
            }
            self.search.evaluator.enter(depth);
            self.search.evaluator.assign(position, Some(value));
            let mut domains = level.domains.clone();
            let decided = level.decided;
            domains[position] = ByteSet::of(|other| *other == value);
            if self.propagate(position, value, &mut domains) {
                return Some((domains, decided));
            }
        }
    }

    /// Narrows the bytes that are in a pair with one that has a value now. Says whether all have values left.
    fn propagate(&mut self, position: usize, value: u8, domains: &mut [ByteSet]) -> bool {
        for index in 0..self.pairs_of[position].len() {
            let pair = self.problem.pairs[self.pairs_of[position][index]];
            let partner = pair.bytes[usize::from(pair.bytes[0] == position)];
            let allowed = self.partners(&pair, (position, value), partner);
            domains[partner] = domains[partner].meet(&allowed);
            if domains[partner].is_empty() {
                return false;
            }
        }
        self.problem.covers.narrow(domains) && self.has_room(domains)
    }

    /// The values of one byte of a pair that go with a value of the other.
    fn partners(&mut self, pair: &Pair, (position, value): (usize, u8), partner: usize) -> ByteSet {
        let byte = self.problem.bytes[position];
        let key = (pair.condition, pair.others, byte, value);
        if let Some(known) = self.search.partners.get(&key) {
            return *known;
        }
        let (terms, ranged) = (self.terms, &self.problem.ranged);
        let bytes = &self.problem.bytes;
        let mut evaluator = nearmiss_expr::Evaluator::new();
        let allowed = ByteSet::of(|&other| {
            let input = |byte: InputByte| match bytes.binary_search(&byte) {
                Ok(found) if found == position => value,
                Ok(found) if found == partner => other,
                Ok(found) => ranged[found].first(),
                Err(_) => 0,
            };
            evaluator.reset();
            evaluator.holds(terms, &input, pair.condition)
        });
        self.search.partners.insert(key, allowed);
        allowed
    }

    /// Bytes that must differ from each other have at least as many values together.
    fn has_room(&self, domains: &[ByteSet]) -> bool {
        let all = self.different.iter().map(|&position| domains[position]);
        let union = all.fold(ByteSet::EMPTY, |all, domain| all.join(&domain));
        union.len() >= self.different.len()
    }

    /// Collects bytes of which each two must differ: greedily, beginning with the byte in most pairs.
    fn find_different(&mut self) {
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        for number in 0..self.problem.pairs.len() {
            let pair = self.problem.pairs[number];
            if self.is_difference(pair) {
                pairs.push(pair.bytes);
            }
        }
        let differ = |a: usize, b: usize| pairs.contains(&[a, b]) || pairs.contains(&[b, a]);
        let mut bytes: Vec<usize> = pairs.iter().flatten().copied().collect();
        bytes.sort_unstable();
        bytes.dedup();
        let mut different: Vec<usize> = Vec::new();
        for byte in bytes {
            if different.iter().all(|&other| differ(byte, other)) {
                different.push(byte);
            }
        }
        self.different = different;
    }

    /// Whether a pair excludes equal values, by its values.
    fn is_difference(&mut self, pair: Pair) -> bool {
        let [first, second] = pair.bytes;
        let common = self.problem.domains[first].meet(&self.problem.domains[second]);
        let mut values = common.iter();
        values.all(|value| !self.partners(&pair, (first, value), second).has(value))
    }

    fn model(&self, domains: &[ByteSet]) -> Model {
        let value = |position: usize| {
            let assigned = self.search.evaluator.assigned(position);
            assigned.or(domains[position].single())
        };
        self.problem.model(self.query, value)
    }
}
