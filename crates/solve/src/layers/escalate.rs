//! A quick solver first, a strong one with the rest of the time.

use std::time::Duration;

use nearmiss_expr::Terms;

use crate::query::{Answer, Effort, Query, Reply, Solver};

/// How long the quick solver may try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Conflicts of its SAT solver: what decides, as it does not depend on the machine.
    pub conflicts: u32,
    /// Of the query's time, no more than one part in this many.
    pub part: u32,
}

/// A query with less time is the quick solver's alone: to start the strong one, and to give its memory back, takes
/// tens of milliseconds in which it does not look at the clock.
const LEAST_FOR_STRONG: Duration = Duration::from_millis(100);

/// Asks a quick solver and, if it does not finish, a strong one.
pub struct Escalate {
    quick: Box<dyn Solver>,
    share: Share,
    make_strong: fn() -> Box<dyn Solver>,
    /// Made when it is first needed, which is seldom.
    strong: Option<Box<dyn Solver>>,
}

impl Escalate {
    /// `quick` with its share, then the one that `make_strong` makes.
    pub fn new(
        quick: Box<dyn Solver>,
        share: Share,
        make_strong: fn() -> Box<dyn Solver>,
    ) -> Escalate {
        Escalate {
            quick,
            share,
            make_strong,
            strong: None,
        }
    }

    fn quick_effort(&self, effort: Effort) -> Effort {
        Effort {
            deadline: effort.deadline.part(self.share.part),
            conflicts: Some(self.share.conflicts),
        }
    }
}

impl Solver for Escalate {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        if query.effort.deadline.left() < LEAST_FOR_STRONG {
            return self.quick.solve(terms, query);
        }
        let quick_query = Query {
            effort: self.quick_effort(query.effort),
            ..*query
        };
        let reply = self.quick.solve(terms, &quick_query);
        match reply.answer {
            Answer::Unknown(_) => {
                let strong = self.strong.get_or_insert_with(self.make_strong);
                strong.solve(terms, query)
            }
            _ => reply,
        }
    }
}
