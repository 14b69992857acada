//! Goals that no value within the ranges of their operands can make true.

use nearmiss_expr::{Ranges, Terms};

use crate::back::Asserted;
use crate::query::{Answer, Layer, Policy, Query, Reply, Solver};

/// Answers "no" where the ranges say so, narrowed by what lasts: the path, or what always holds.
pub struct RangeBounds {
    ranges: Ranges,
    asserted: Asserted,
    inner: Box<dyn Solver>,
}

impl RangeBounds {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> RangeBounds {
        RangeBounds {
            ranges: Ranges::new(),
            asserted: Asserted::default(),
            inner,
        }
    }
}

impl Solver for RangeBounds {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        let lasting = match query.policy {
            Policy::Prefix { seen } => &query.constraints[seen..],
            Policy::Assumptions { always } => always,
        };
        for &constraint in lasting {
            if !self.asserted.has(constraint) {
                self.asserted.mark(constraint);
                self.ranges.assume(terms, constraint, true);
            }
        }
        if self.ranges.truth(terms, query.goal) == Some(false) {
            return Reply::new(Answer::Unsat, Layer::Ranges);
        }
        self.inner.solve(terms, query)
    }
}
