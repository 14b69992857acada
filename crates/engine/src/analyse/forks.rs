//! Forks: branches and switches on input data, and the inputs that go another way there.

use nearmiss_abi::event::EventKind;
use nearmiss_expr::TermId;
use nearmiss_solve::{Answer, Model};
use nearmiss_trace::{Event, switch_targets};

use super::{Forks, Task, Walk};

/// What became of a fork that was asked about.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The number of its event.
    pub event: usize,
    /// The other ways that can be gone.
    pub flips: Vec<Flip>,
    /// Whether all other ways are known to be possible or not.
    pub known: bool,
    /// Whether it counts for distances: the program decides something there.
    pub counts: bool,
}

impl Settled {
    /// Whether execution can go another way here.
    pub fn is_feasible(&self) -> bool {
        !self.flips.is_empty()
    }
}

/// An input that goes another way.
#[derive(Clone, Debug)]
pub struct Flip {
    /// The way, as [`Event::choice`] has it.
    pub choice: u64,
    /// The bytes that differ from the recorded input.
    pub changes: Model,
}

/// Whether the other ways of an event are looked for as those of a fork. Those of an assertion that
/// holds are the business of its check; behind one that failed the program goes on for other input.
pub fn can_flip(event: &Event) -> bool {
    event.is_decision() && (event.kind != EventKind::Check || !event.truth)
}

/// Most other ways of one switch that are looked for.
const MOST_WAYS: usize = 16;

impl Walk<'_> {
    pub(super) fn is_wanted_fork(&self, number: usize, task: &Task) -> bool {
        match &task.forks {
            Forks::None => false,
            Forks::These(these) => these.contains(&number),
            Forks::First { from, feasible } => number >= *from && self.feasible < *feasible,
        }
    }

    /// Asks for inputs that go another way.
    pub(super) fn fork(&mut self, number: usize, event: &Event) {
        let mut settled = Settled {
            event: number,
            flips: std::mem::take(&mut self.shorter),
            known: true,
            counts: true,
        };
        if event.implied.is_some() {
            self.ask_shorter(event);
            settled.flips.append(&mut self.shorter);
            settled.counts = false;
            self.forks.push(settled);
            return;
        }
        for (choice, goal) in self.other_ways(event) {
            match self.ask_way(goal) {
                Answer::Sat(changes) => settled.flips.push(Flip { choice, changes }),
                Answer::Unsat => {}
                Answer::Unknown(_) => {
                    self.timed_out(event.site);
                    settled.known = false;
                }
            }
        }
        self.feasible += u32::from(settled.is_feasible());
        self.forks.push(settled);
    }

    /// The other ways of a fork, each with the condition of going there.
    fn other_ways(&mut self, event: &Event) -> Vec<(u64, TermId)> {
        let Some(condition) = event.condition else {
            return Vec::new();
        };
        match (event.kind, event.switched) {
            (EventKind::Switch, Some(term)) => {
                let mut ways = switch_targets(self.terms, self.sites, event.site, term);
                ways.retain(|(choice, _)| *choice != event.choice);
                ways.truncate(MOST_WAYS);
                ways
            }
            _ => vec![(u64::from(!event.truth), self.terms.not(condition))],
        }
    }

    pub(super) fn ask_way(&mut self, goal: TermId) -> Answer {
        let related = self.related_lengths(goal);
        let limits = self.limits();
        match self.session.query(self.terms, goal, &limits).answer {
            Answer::Sat(first) => Answer::Sat(self.nearest(goal, &related, first)),
            other => other,
        }
    }
}
