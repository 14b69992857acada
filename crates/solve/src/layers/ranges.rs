//! Goals that no value within the ranges of their operands can make true.

use nearmiss_expr::{Ranges, Terms};

use crate::back::Told;
use crate::question::{Answer, Layer, Question, Reply, Solver};

/// Answers "no" where the ranges, narrowed by the path, say so.
pub struct RangeBounds {
    ranges: Ranges,
    told: Told,
    inner: Box<dyn Solver>,
}

impl RangeBounds {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> RangeBounds {
        RangeBounds {
            ranges: Ranges::new(),
            told: Told::default(),
            inner,
        }
    }
}

impl Solver for RangeBounds {
    fn solve(&mut self, terms: &mut Terms, question: &Question<'_>) -> Reply {
        for &condition in &question.path[question.asked..] {
            if !self.told.knows(condition) {
                self.told.mark(condition);
                self.ranges.assume(terms, condition, true);
            }
        }
        if self.ranges.truth(terms, question.goal) == Some(false) {
            return Reply::new(Answer::Unsat, Layer::Ranges);
        }
        self.inner.solve(terms, question)
    }
}
