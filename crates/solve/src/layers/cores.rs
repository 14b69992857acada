//! What was unsatisfiable stays so when conditions are added.

use std::collections::HashMap;

use nearmiss_expr::{TermId, Terms};

use crate::question::{Answer, Layer, Question, Reply, Solver};

/// How many conditions are kept in all cores together.
const ROOM: usize = 4_000_000;

/// Remembers, for each goal, sets of conditions that it contradicts.
///
/// Back ends hold the conditions of a path for good and name no smaller core, so a core is the
/// whole slice of its question. Along one path a goal's slice only grows, and a goal that was
/// refuted is refuted again by looking it up.
pub struct UnsatCores {
    cores: HashMap<TermId, Vec<Box<[TermId]>>>,
    /// How many more conditions may be kept.
    room: usize,
    inner: Box<dyn Solver>,
}

impl UnsatCores {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> UnsatCores {
        UnsatCores {
            cores: HashMap::new(),
            room: ROOM,
            inner,
        }
    }

    fn remember(&mut self, question: &Question<'_>) {
        if let Some(room) = self.room.checked_sub(question.path.len()) {
            self.room = room;
            let cores = self.cores.entry(question.goal).or_default();
            cores.push(sorted(question.path));
        }
    }

    fn refutes(&self, question: &Question<'_>) -> bool {
        let Some(cores) = self.cores.get(&question.goal) else {
            return false;
        };
        let path = sorted(question.path);
        cores.iter().any(|core| is_subset(core, &path))
    }
}

impl Solver for UnsatCores {
    fn solve(&mut self, terms: &mut Terms, question: &Question<'_>) -> Reply {
        if self.refutes(question) {
            return Reply::new(Answer::Unsat, Layer::Cores);
        }
        let reply = self.inner.solve(terms, question);
        // With bytes fixed it may be these that contradict the goal.
        if reply.answer == Answer::Unsat && question.fixed.is_empty() {
            self.remember(question);
        }
        reply
    }
}

fn sorted(path: &[TermId]) -> Box<[TermId]> {
    let mut sorted: Box<[TermId]> = path.into();
    sorted.sort_unstable();
    sorted
}

/// Whether all of `part` is in `whole`; both are in ascending order.
fn is_subset(part: &[TermId], whole: &[TermId]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|wanted| rest.any(|found| found == wanted))
}
