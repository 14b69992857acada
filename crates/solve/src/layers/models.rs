//! Inputs found earlier often answer the next question too.

use std::collections::VecDeque;

use nearmiss_expr::{Evaluator, InputByte, Terms};

use super::satisfies;
use crate::question::{Answer, Layer, Model, Question, Reply, Solver};

/// How many inputs are kept.
const KEPT: usize = 16;

/// Tries the recorded input and those found last, by evaluation.
pub struct RecentModels {
    models: VecDeque<Model>,
    evaluator: Evaluator,
    inner: Box<dyn Solver>,
}

impl RecentModels {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> RecentModels {
        RecentModels {
            // The recorded input is the one that decides nothing; it is never dropped.
            models: VecDeque::from([Model::new()]),
            evaluator: Evaluator::new(),
            inner,
        }
    }

    fn remember(&mut self, model: &Model) {
        if self.models.len() > KEPT {
            self.models.pop_back();
        }
        self.models.insert(1, model.clone());
    }
}

impl Solver for RecentModels {
    fn solve(&mut self, terms: &mut Terms, question: &Question<'_>) -> Reply {
        let evaluator = &mut self.evaluator;
        let found = self.models.iter().find(|model| {
            may_differ(question, model) && satisfies(evaluator, terms, question, model)
        });
        if let Some(model) = found {
            let decided = question.bytes.iter();
            let relevant = decided.filter_map(|&byte| Some((byte, model.get(byte)?)));
            return Reply::new(Answer::Sat(relevant.collect()), Layer::Models);
        }
        let reply = self.inner.solve(terms, question);
        if let Answer::Sat(model) = &reply.answer {
            self.remember(model);
        }
        reply
    }
}

/// Whether a model is the recorded input or another one as far as the question can see.
fn may_differ(question: &Question<'_>, model: &Model) -> bool {
    let is_asked_about = |byte: InputByte| question.bytes.binary_search(&byte).is_ok();
    model.is_empty() || model.iter().any(|(byte, _)| is_asked_about(byte))
}
