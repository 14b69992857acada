//! No model is believed before it was evaluated.

use nearmiss_expr::{Evaluator, Terms};

use super::satisfies;
use crate::query::{Answer, Query, Reason, Reply, Solver};

/// Evaluates every model; one that is wrong is no answer, and is counted.
pub struct Checked {
    evaluator: Evaluator,
    inner: Box<dyn Solver>,
}

impl Checked {
    /// Around another solver.
    pub fn new(inner: Box<dyn Solver>) -> Checked {
        Checked {
            evaluator: Evaluator::new(),
            inner,
        }
    }
}

impl Solver for Checked {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        let mut reply = self.inner.solve(terms, query);
        if let Answer::Sat(model) = &reply.answer
            && !satisfies(&mut self.evaluator, terms, query, model)
        {
            reply.answer = Answer::Unknown(Reason::WrongModel);
        }
        reply
    }
}
