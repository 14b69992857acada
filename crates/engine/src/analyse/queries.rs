//! What checks and forks ask alike: how long, about which lengths, and the nearest answer.

use nearmiss_abi::site::SiteId;
use nearmiss_expr::{TermId, Terms};
use nearmiss_solve::{Answer, Limits, Model, Session};

use super::Walk;

/// After so many of them queries get half of their time, then a third, and so on.
const TIMEOUTS_PER_SHARE: u32 = 8;

impl Walk<'_> {
    /// The time for a query. Where many ran out of theirs the next ones get less, so that the
    /// rest of the path is looked at too.
    pub(super) fn limits(&self) -> Limits {
        let share = 1 + self.all_timeouts / TIMEOUTS_PER_SHARE;
        Limits::until(self.config.query_time / share, self.deadline)
    }

    /// The time for a query about a fork.
    pub(super) fn fork_limits(&self) -> Limits {
        Limits::until(self.fork_time, self.deadline)
    }

    pub(super) fn timed_out(&mut self, site: SiteId) {
        *self.timeouts.entry(site).or_default() += 1;
        self.all_timeouts += 1;
    }

    /// The lengths that a goal may depend on, after what is known of them was assumed.
    pub(super) fn related_lengths(&mut self, goal: TermId) -> Vec<usize> {
        let loose = &mut self.loose;
        let mut assume = |session: &mut Session, terms: &mut Terms, fact| {
            session.assume(terms, fact);
            if let Some(loose) = loose {
                loose.assume(terms, fact);
            }
        };
        self.lengths
            .related(&mut self.session, self.terms, goal, &mut assume)
    }

    /// The answer nearest to the recorded input, given that there is one.
    pub(super) fn nearest(
        &mut self,
        goal: TermId,
        related: &[usize],
        first: Model,
        limits: Limits,
    ) -> Model {
        if !related.is_empty() {
            let (session, terms) = (&mut self.session, &mut *self.terms);
            return self
                .lengths
                .nearest(session, terms, goal, related, first, limits);
        }
        let reply = self.session.query_nearest(self.terms, goal, &limits);
        match reply.answer {
            Answer::Sat(nearest) => nearest,
            _ => first,
        }
    }
}
