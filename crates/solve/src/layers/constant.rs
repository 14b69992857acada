//! Goals that are constants: rewriting has decided them when they were made.

use nearmiss_expr::Terms;

use crate::question::{Answer, Layer, Question, Reply, Solver};

/// Answers "no" where the goal is constantly false; a goal that is constantly true is what the
/// recorded input is tried for, one layer on.
pub struct ConstantGoals {
    inner: Box<dyn Solver>,
}

impl ConstantGoals {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> ConstantGoals {
        ConstantGoals { inner }
    }
}

impl Solver for ConstantGoals {
    fn solve(&mut self, terms: &mut Terms, question: &Question<'_>) -> Reply {
        if terms.as_constant(question.goal) == Some(0) {
            return Reply::new(Answer::Unsat, Layer::Constant);
        }
        self.inner.solve(terms, question)
    }
}
