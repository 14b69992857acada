//! One other byte is often enough, and cheap to find: by evaluation.
//!
//! On long paths (a scanner's tables, a decompressor) a goal is a nest of reads over all bytes before it, which is too
//! much for bits. With every byte but one as recorded only what depends on that byte is computed again: at the end
//! of the nest that is little. An input found so takes the whole path, as every constraint on the byte was evaluated.

use nearmiss_expr::{InputByte, OneChanged, TermId, Terms};

use crate::nearest::by_preference;
use crate::query::{Answer, Layer, Model, Query, Reply, Solver};

/// Queries with fewer constraints are quick to solve, and exactly.
const LONG: usize = 48;
/// How many bytes of a goal are tried: those read last decide most often.
const MOST_BYTES: usize = 8;
/// The maximum of terms that are computed for one query.
const MOST_STEPS: usize = 50_000;

/// Tries the other values of single bytes in front of another solver. All queries are about one recorded input.
pub struct OneByte {
    evaluator: OneChanged,
    inner: Box<dyn Solver>,
}

impl OneByte {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> OneByte {
        OneByte {
            evaluator: OneChanged::new(),
            inner,
        }
    }

    /// An input that differs from the recorded one in one byte of the goal.
    fn find(&mut self, terms: &Terms, query: &Query<'_>) -> Option<Model> {
        let is_as_recorded = |(byte, value): &(InputByte, u8)| query.recorded.byte(*byte) == *value;
        if !query.fixed.iter().all(is_as_recorded) {
            return None;
        }
        let mut bytes = self.evaluator.bytes(terms, query.goal);
        bytes.retain(|byte| query.fixed.iter().all(|(fixed, _)| fixed != byte));
        bytes.sort_unstable();
        let end = self.evaluator.steps() + MOST_STEPS;
        let mut last = bytes.into_iter().rev().take(MOST_BYTES);
        last.find_map(|byte| self.try_byte(terms, query, byte, end))
    }

    /// The first value of a byte that makes goal and constraints true, if it is found in so many steps.
    fn try_byte(
        &mut self,
        terms: &Terms,
        query: &Query<'_>,
        byte: InputByte,
        end: usize,
    ) -> Option<Model> {
        let recorded = query.recorded.byte(byte);
        // Constraints on other bytes hold as they were recorded.
        let mut on_byte: Option<Vec<TermId>> = None;
        for value in by_preference(recorded) {
            self.evaluator.change(byte, value);
            if self.holds(terms, query, query.goal) {
                let on_byte = on_byte.get_or_insert_with(|| self.on_byte(terms, query));
                if on_byte.iter().all(|one| self.holds(terms, query, *one)) {
                    let mut model: Model = query.fixed.iter().copied().collect();
                    model.set(byte, value);
                    return Some(model);
                }
            }
            if self.evaluator.steps() > end {
                return None;
            }
        }
        None
    }

    /// The constraints that depend on the byte that is changed.
    fn on_byte(&mut self, terms: &Terms, query: &Query<'_>) -> Vec<TermId> {
        let constraints = query.constraints.iter().copied();
        constraints
            .filter(|one| self.evaluator.depends(terms, *one))
            .collect()
    }

    fn holds(&mut self, terms: &Terms, query: &Query<'_>, condition: TermId) -> bool {
        self.evaluator.evaluate(terms, query.recorded, condition) == 1
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
