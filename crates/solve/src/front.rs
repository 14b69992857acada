//! The front of a solver: a query in, a reply with answer, layer and time out.
//!
//! Whatever a session asks, and by whichever policy, goes through here:
//!
//! ```text
//!  constant goals ─► answers known from before ─► layers ─► back end
//!                                     every reply is timed and counted
//! ```

use std::sync::Arc;
use std::time::Instant;

use nearmiss_expr::{Evaluator, TermId, Terms};

use crate::answers::{Answers, Key};
use crate::layers::satisfies;
use crate::query::{Answer, Layer, Limits, Model, Policy, Query, Reply, Solver};
use crate::statistics::Statistics;

/// Known answers in front of the layers, and what all of them have done.
pub(crate) struct Front {
    solver: Box<dyn Solver>,
    answers: Option<Arc<Answers>>,
    evaluator: Evaluator,
    statistics: Statistics,
}

/// What is known of a query before a solver sees it.
pub(crate) struct Recalled {
    key: Option<Key>,
    answer: Option<Answer>,
}

impl Recalled {
    /// The answer, if it needs no check: an input is evaluated before it is believed.
    pub fn certain(&self) -> Option<Reply> {
        match &self.answer {
            Some(Answer::Sat(_)) | None => None,
            Some(answer) => Some(Reply::new(answer.clone(), Layer::Known)),
        }
    }
}

impl Front {
    pub fn new(solver: Box<dyn Solver>, answers: Option<Arc<Answers>>) -> Front {
        Front {
            solver,
            answers,
            evaluator: Evaluator::new(),
            statistics: Statistics::default(),
        }
    }

    /// Another solver that has seen no query yet; answers and statistics stay.
    pub fn replace_solver(&mut self, solver: Box<dyn Solver>) {
        self.solver = solver;
    }

    /// The answers that this front knows and adds to.
    pub fn answers(&self) -> Option<Arc<Answers>> {
        self.answers.clone()
    }

    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// What needs no constraints: a goal that is constantly true, as the recorded input takes
    /// the path, or constantly false.
    pub fn constant(terms: &Terms, goal: TermId) -> Option<Reply> {
        let answer = match terms.as_constant(goal)? {
            0 => Answer::Unsat,
            _ => Answer::Sat(Model::new()),
        };
        Some(Reply::new(answer, Layer::Constant))
    }

    /// Looks a query up; `key` names it, and is made only where there are answers to look in.
    pub fn recall(&self, limits: &Limits, key: impl FnOnce() -> Key) -> Recalled {
        let Some(answers) = &self.answers else {
            return Recalled {
                key: None,
                answer: None,
            };
        };
        let key = key();
        Recalled {
            key: Some(key),
            answer: answers.look_up(key, limits.time),
        }
    }

    /// Whether what is known of a query holds on this path, too.
    pub fn confirm(
        &mut self,
        terms: &Terms,
        query: &Query<'_>,
        recalled: &Recalled,
    ) -> Option<Reply> {
        let answer = recalled.answer.as_ref()?;
        if let Answer::Sat(model) = answer
            && !satisfies(&mut self.evaluator, terms, query, model)
        {
            return None;
        }
        Some(Reply::new(answer.clone(), Layer::Known))
    }

    /// Answers a query by what is known of it, or by the layers.
    pub fn answer(
        &mut self,
        terms: &mut Terms,
        query: &Query<'_>,
        recalled: &Recalled,
        limits: &Limits,
    ) -> Reply {
        if let Some(reply) = self.confirm(terms, query, recalled) {
            return reply;
        }
        let reply = self.solve(terms, query);
        let is_open = matches!(reply.answer, Answer::Unknown(_));
        // An instance that grows by assumptions may know more the next time.
        if !(is_open && matches!(query.policy, Policy::Assumptions { .. })) {
            self.remember(recalled, &reply.answer, limits);
        }
        reply
    }

    /// Answers a query by the layers alone.
    pub fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        self.solver.solve(terms, query)
    }

    /// Keeps an answer for the next time.
    pub fn remember(&self, recalled: &Recalled, answer: &Answer, limits: &Limits) {
        if let (Some(answers), Some(key)) = (&self.answers, recalled.key) {
            answers.remember(key, answer, limits.time);
        }
    }

    /// Times and counts a reply.
    pub fn count(&mut self, start: Instant, mut reply: Reply) -> Reply {
        reply.time = start.elapsed();
        self.statistics.record(&reply);
        reply
    }
}
