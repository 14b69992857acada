//! One other byte is often enough, and cheap to find: by evaluation.
//!
//! On long paths (a scanner's tables, a decompressor) a goal is a nest of reads over all bytes before it, which is too
//! much for bits. With every byte but one as recorded only what depends on that byte is computed again: at the end
//! of the nest that is little. An input found so takes the whole path, as every constraint was evaluated.

use nearmiss_expr::{Partial, PartialEvaluator, TermId, Terms};

use crate::query::{Answer, Layer, Model, Query, Reply, Solver};

/// Queries with fewer constraints are quick to solve, and exactly.
const LONG: usize = 48;
/// How many bytes of a query are tried: those read last decide most often.
const MOST_BYTES: usize = 4;
/// The most nodes that are computed for one query.
const MOST_STEPS: usize = 50_000;

/// Tries the other values of single bytes in front of another solver.
pub struct OneByte {
    evaluator: PartialEvaluator,
    inner: Box<dyn Solver>,
}

impl OneByte {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> OneByte {
        OneByte {
            evaluator: PartialEvaluator::new(),
            inner,
        }
    }

    /// An input that differs from the recorded one in one byte.
    fn find(&mut self, terms: &Terms, query: &Query<'_>) -> Option<Model> {
        let is_fixed = |position: &usize| {
            let byte = query.bytes[*position];
            query.fixed.iter().any(|(fixed, _)| *fixed == byte)
        };
        let mut spent = 0;
        let open = (0..query.bytes.len()).rev().filter(|at| !is_fixed(at));
        for position in open.take(MOST_BYTES) {
            let found = self.try_byte(terms, query, position, MOST_STEPS - spent);
            if found.is_some() {
                return found;
            }
            spent += self.evaluator.steps();
            if spent >= MOST_STEPS {
                return None;
            }
        }
        None
    }

    /// The first value of a byte that makes goal and constraints true.
    fn try_byte(
        &mut self,
        terms: &Terms,
        query: &Query<'_>,
        position: usize,
        most: usize,
    ) -> Option<Model> {
        self.evaluator.begin(query.bytes);
        for (other, &byte) in query.bytes.iter().enumerate() {
            let fixed = query.fixed.iter().find(|(fixed, _)| *fixed == byte);
            let value = fixed.map_or_else(|| query.recorded.byte(byte), |(_, value)| *value);
            if other != position {
                self.evaluator.assign(other, Some(value));
            }
        }
        let byte = query.bytes[position];
        let recorded = query.recorded.byte(byte);
        for value in (0..=u8::MAX).filter(|value| *value != recorded) {
            self.evaluator.enter(1);
            self.evaluator.assign(position, Some(value));
            let is_true = |evaluator: &mut PartialEvaluator, condition: &TermId| {
                evaluator.evaluate(terms, *condition) == Partial::Value(1)
            };
            if is_true(&mut self.evaluator, &query.goal)
                && (query.constraints.iter()).all(|one| is_true(&mut self.evaluator, one))
            {
                let mut model: Model = query.fixed.iter().copied().collect();
                model.set(byte, value);
                return Some(model);
            }
            if self.evaluator.steps() > most {
                return None;
            }
        }
        None
    }
}

impl Solver for OneByte {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        let is_long = query.constraints.len() >= LONG;
        let found = is_long.then(|| self.find(terms, query)).flatten();
        match found {
            Some(model) => Reply::new(Answer::Sat(model), Layer::OneByte),
            None => self.inner.solve(terms, query),
        }
    }
}
