//! Inputs found earlier may answer the next question too: where several things are asked about
//! one place. An input that leaves the path is dropped as soon as the path goes on without it.

use std::collections::VecDeque;

use nearmiss_expr::{Evaluator, InputByte, TermId, Terms};

use super::satisfies;
use crate::back::Told;
use crate::question::{Answer, Layer, Model, Question, Reply, Solver};

/// How many inputs are kept.
const KEPT: usize = 16;

/// Tries the recorded input and those found last, by evaluation.
pub struct RecentModels {
    models: VecDeque<Model>,
    told: Told,
    evaluator: Evaluator,
    inner: Box<dyn Solver>,
}

impl RecentModels {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> RecentModels {
        RecentModels {
            // The recorded input is the one that decides nothing; it is never dropped.
            models: VecDeque::from([Model::new()]),
            told: Told::default(),
            evaluator: Evaluator::new(),
            inner,
        }
    }

    /// Drops the models that do not make the new conditions of the path true.
    fn drop_strays(&mut self, terms: &Terms, question: &Question<'_>) {
        let is_new = |condition: &&TermId| !self.told.knows(**condition);
        let new: Vec<TermId> = question.path.iter().filter(is_new).copied().collect();
        for &condition in &new {
            self.told.mark(condition);
        }
        let evaluator = &mut self.evaluator;
        self.models.retain(|model| {
            let input = model.over(question.recorded);
            evaluator.reset();
            model.is_empty()
                || new
                    .iter()
                    .all(|&condition| evaluator.holds(terms, &input, condition))
        });
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
        self.drop_strays(terms, question);
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
