//! Two solvers that have to agree: for tests.

use nearmiss_expr::Terms;

use crate::query::{Answer, Query, Reason, Reply, Solver};

/// Asks both and compares; where only one knows the answer, that is the answer.
pub struct Differential {
    first: Box<dyn Solver>,
    second: Box<dyn Solver>,
}

impl Differential {
    /// Compares two solvers.
    pub fn new(first: Box<dyn Solver>, second: Box<dyn Solver>) -> Differential {
        Differential { first, second }
    }
}

impl Solver for Differential {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        let mut first = self.first.solve(terms, query);
        let second = self.second.solve(terms, query);
        match (&first.answer, &second.answer) {
            (Answer::Sat(_), Answer::Unsat) | (Answer::Unsat, Answer::Sat(_)) => {
                first.answer = Answer::Unknown(Reason::Disagreement);
                first
            }
            (Answer::Unknown(_), _) => second,
            _ => first,
        }
    }
}
