//! Inputs found earlier may answer the next query too: where there are several about one place.
//! An input that leaves the path is dropped as soon as the path goes on without it.

use std::collections::VecDeque;

use nearmiss_expr::{Evaluator, InputByte, TermId, Terms};

use super::satisfies;
use crate::back::Asserted;
use crate::query::{Answer, Layer, Model, Policy, Query, Reply, Solver};

/// How many inputs are kept.
const KEPT: usize = 16;

/// Tries the recorded input and those found last, by evaluation.
pub struct RecentModels {
    models: VecDeque<Model>,
    asserted: Asserted,
    evaluator: Evaluator,
    inner: Box<dyn Solver>,
}

impl RecentModels {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> RecentModels {
        RecentModels {
            // The recorded input is the one that decides nothing; it is never dropped.
            models: VecDeque::from([Model::new()]),
            asserted: Asserted::default(),
            evaluator: Evaluator::new(),
            inner,
        }
    }

    /// Drops the models that do not make the new constraints of the path true.
    fn drop_strays(&mut self, terms: &Terms, query: &Query<'_>) {
        let is_new = |constraint: &&TermId| !self.asserted.has(**constraint);
        let new: Vec<TermId> = query.constraints.iter().filter(is_new).copied().collect();
        for &constraint in &new {
            self.asserted.mark(constraint);
        }
        let evaluator = &mut self.evaluator;
        self.models.retain(|model| {
            let input = model.over(query.recorded);
            evaluator.reset();
            model.is_empty()
                || new
                    .iter()
                    .all(|&constraint| evaluator.holds(terms, &input, constraint))
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
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        if matches!(query.policy, Policy::Prefix { .. }) {
            self.drop_strays(terms, query);
        }
        let evaluator = &mut self.evaluator;
        let found = self
            .models
            .iter()
            .find(|model| may_differ(query, model) && satisfies(evaluator, terms, query, model));
        if let Some(model) = found {
            let decided = query.bytes.iter();
            let relevant = decided.filter_map(|&byte| Some((byte, model.get(byte)?)));
            return Reply::new(Answer::Sat(relevant.collect()), Layer::Models);
        }
        let reply = self.inner.solve(terms, query);
        if let Answer::Sat(model) = &reply.answer {
            self.remember(model);
        }
        reply
    }
}

/// Whether a model is the recorded input or another one as far as the query can see.
fn may_differ(query: &Query<'_>, model: &Model) -> bool {
    let is_in_query = |byte: InputByte| query.bytes.binary_search(&byte).is_ok();
    model.is_empty() || model.iter().any(|(byte, _)| is_in_query(byte))
}
