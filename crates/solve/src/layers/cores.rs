//! What was unsatisfiable stays so when constraints are added.

use std::collections::HashMap;

use nearmiss_expr::{TermId, Terms};

use crate::query::{Answer, Layer, Query, Reply, Solver};

/// How many constraints are kept in all cores together.
const ROOM: usize = 4_000_000;

/// Remembers, for each goal, sets of constraints that it contradicts.
///
/// Back ends name no smaller core, so a core is the whole slice of its query. Along one path a goal's slice only grows, and a goal that was
/// refuted is refuted again by looking it up.
pub struct UnsatCores {
    cores: HashMap<TermId, Vec<Box<[TermId]>>>,
    /// How many more constraints may be kept.
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

    fn remember(&mut self, query: &Query<'_>) {
        if let Some(room) = self.room.checked_sub(query.constraints.len()) {
            self.room = room;
            let cores = self.cores.entry(query.goal).or_default();
            cores.push(sorted(query.constraints));
        }
    }

    fn refutes(&self, query: &Query<'_>) -> bool {
        let Some(cores) = self.cores.get(&query.goal) else {
            return false;
        };
        let path = sorted(query.constraints);
        cores.iter().any(|core| is_subset(core, &path))
    }
}

impl Solver for UnsatCores {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        if self.refutes(query) {
            return Reply::new(Answer::Unsat, Layer::Cores);
        }
        let reply = self.inner.solve(terms, query);
        // With bytes fixed it may be these that contradict the goal.
        if reply.answer == Answer::Unsat && query.fixed.is_empty() {
            self.remember(query);
        }
        reply
    }
}

fn sorted(constraints: &[TermId]) -> Box<[TermId]> {
    let mut sorted: Box<[TermId]> = constraints.into();
    sorted.sort_unstable();
    sorted
}

/// Whether all of `part` is in `whole`; both are in ascending order.
fn is_subset(part: &[TermId], whole: &[TermId]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|wanted| rest.any(|found| found == wanted))
}
