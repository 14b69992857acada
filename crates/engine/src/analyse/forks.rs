//! Forks: branches and switches on input data, and the inputs that go another way there.

use nearmiss_abi::event::EventKind;
use nearmiss_abi::site::SiteId;
use nearmiss_expr::{TermId, excerpt};
use nearmiss_search::Feasibility;
use nearmiss_search::strategy::Outcome;
use nearmiss_solve::{Answer, Model};
use nearmiss_trace::{Alternative, Event, Hint, Word, alternatives};

use super::shorter::SHORTER;
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
    /// Whether more time for its queries may tell more.
    pub is_hard: bool,
    /// Whether it counts for distances: the program decides something there.
    pub counts: bool,
}

impl Settled {
    /// Whether execution can go another way here.
    pub fn is_feasible(&self) -> bool {
        self.flips.iter().any(|flip| !flip.is_guess())
    }

    /// What is known of its alternatives.
    pub fn feasibility(&self) -> Feasibility {
        match (self.is_feasible(), self.known) {
            (true, _) => Feasibility::Feasible,
            (false, true) => Feasibility::Infeasible,
            (false, false) => Feasibility::Unknown,
        }
    }
}

/// An input that goes another way.
#[derive(Clone, Debug)]
pub struct Flip {
    /// The way, as [`Event::choice`] has it.
    pub choice: u64,
    /// The bytes that differ from the recorded input.
    pub changes: Model,
    /// Where a hint was given, if that is what it follows: the call, not the place in the model.
    pub hinted_at: Option<SiteId>,
    /// The word that a text of another length takes the place of; then no bytes are changed besides.
    pub word: Option<Word>,
}

/// A [`Flip::choice`] that is none of the event's own: by its hint.
const BY_HINT: u64 = 1 << 62;
/// A [`Flip::choice`] that is none of the event's own: by a text in the place of a word.
const BY_WORD: u64 = 1 << 59;
/// A [`Flip::choice`] that is none of the event's own: by the conditions nearest to it, not by all of its path.
const OPTIMISTIC: u64 = 1 << 60;
/// How many conditions an optimistic query has: those that were decided last.
const NEAREST_CONDITIONS: usize = 8;
/// How often an outcome is asked for on one path without what was concretized: in loops it is closed in each turn alike.
const RELAXED_PER_OUTCOME: u32 = 2;

impl Flip {
    /// A way, and the bytes that take it.
    pub fn new(choice: u64, changes: Model) -> Flip {
        Flip {
            choice,
            changes,
            hinted_at: None,
            word: None,
        }
    }

    /// A text in the place of a word. It may have another length, so all that lies behind moves: a guess.
    fn by_word(word: &Word) -> Flip {
        Flip {
            hinted_at: Some(word.site),
            word: Some(word.clone()),
            ..Flip::new(OPTIMISTIC | BY_WORD, Model::new())
        }
    }

    /// What a run for it counts as among outcomes; `site` is the fork's.
    pub fn outcome(&self, site: SiteId) -> Outcome {
        let choice = match (self.choice & SHORTER, self.hinted_at) {
            // However short.
            (SHORTER, _) => SHORTER,
            (_, Some(_)) => self.choice,
            // If a guess comes there, that is the outcome.
            (_, None) => self.choice & !OPTIMISTIC,
        };
        (self.hinted_at.unwrap_or(site).0, choice)
    }

    /// Whether nothing at all is predicted: the input is worth a run.
    pub fn is_guess(&self) -> bool {
        self.choice & OPTIMISTIC != 0
    }

    /// Whether no more is predicted than that execution comes to the fork: the input is too short for what
    /// decided it, or decides several at once.
    pub fn is_unpredicted(&self) -> bool {
        self.choice & (SHORTER | BY_HINT) != 0
    }
}

/// Whether the other ways of an event are looked for as those of a fork. Those of an assertion that
/// holds are the business of its check; behind one that failed the program goes on for other input.
pub fn can_flip(event: &Event) -> bool {
    event.is_decision() && (event.kind != EventKind::Check || !event.truth)
}

/// The maximum of alternatives of one switch that are queried.
const MOST_WAYS: usize = 16;

impl Walk<'_> {
    pub(super) fn is_wanted_fork(&self, number: usize, task: &Task) -> bool {
        match &task.forks {
            Forks::None => false,
            Forks::These(these) => these.contains(&number),
            Forks::First { from, feasible, .. } => number >= *from && self.feasible < *feasible,
        }
    }

    /// Asks about a fork if that is wanted.
    pub(super) fn wanted_fork(&mut self, number: usize, event: &Event, task: &Task) {
        if self.is_wanted_fork(number, task) {
            let settled = self.fork(number, event);
            self.feasible += u32::from(settled.counts && settled.is_feasible());
            self.forks.push(settled);
        } else if task.forks.has_besides(number) {
            let settled = self.fork(number, event);
            self.besides.push(settled);
        }
    }

    /// Asks for inputs that go another way.
    fn fork(&mut self, number: usize, event: &Event) -> Settled {
        let mut shorter = std::mem::take(&mut self.shorter);
        let mut settled = Settled {
            event: number,
            flips: Vec::new(),
            known: true,
            is_hard: false,
            counts: true,
        };
        if event.implied.is_some() {
            self.ask_shorter(event);
            settled.flips.append(&mut shorter);
            settled.flips.append(&mut self.shorter);
            settled.is_hard = std::mem::take(&mut self.shorter_is_unknown);
            settled.known = !settled.is_hard;
            settled.counts = false;
            return settled;
        }
        let alternatives = alternatives(self.terms, self.sites, event);
        settled.is_hard = std::mem::take(&mut self.shorter_is_unknown);
        let has_too_many = alternatives.len() > MOST_WAYS;
        for Alternative { choice, goal, .. } in alternatives.into_iter().take(MOST_WAYS) {
            match self.ask_way(goal) {
                Answer::Sat(changes) => settled.flips.push(Flip::new(choice, changes)),
                Answer::Unsat => settled.flips.extend(self.relaxed(event.site, choice, goal)),
                Answer::Unknown(_) => {
                    settled.is_hard = true;
                    settled.flips.extend(self.optimistic(choice, goal));
                }
            }
        }
        settled.known = !settled.is_hard && !has_too_many;
        // Behind the fork's own alternatives, which are nearer to the recorded input.
        settled.flips.extend(self.by_hint(event));
        let word = event
            .word
            .and_then(|number| self.words.get(number as usize));
        settled.flips.extend(word.map(Flip::by_word));
        // An input that is cut off may take the same way, and the data behind would never be seen on it.
        settled.flips.append(&mut shorter);
        settled
    }

    /// An input that takes the other way here and at several forks behind it at once. Where there is none on this
    /// path, or none is known, the fork's own alternatives say so; one that leaves the path is a guess.
    fn by_hint(&mut self, event: &Event) -> Option<Flip> {
        let Hint { goal, site } = event.hint?;
        let choice = BY_HINT | u64::from(!event.truth);
        let (choice, changes) = match self.ask_way(goal) {
            Answer::Sat(changes) => (choice, changes),
            Answer::Unsat | Answer::Unknown(_) => (OPTIMISTIC | choice, self.off_the_path(goal)?),
        };
        Some(Flip {
            hinted_at: Some(site),
            ..Flip::new(choice, changes)
        })
    }

    /// An input that makes a goal true whatever the path decided: what the same bytes were before may not matter
    /// where they are compared.
    fn off_the_path(&mut self, goal: TermId) -> Option<Model> {
        let (mut terms, goals) = excerpt(self.terms, &[goal]);
        let mut session = self.stack.session(self.recorded);
        let limits = self.fork_limits();
        match session.query_nearest(&mut terms, goals[0], &limits).answer {
            Answer::Sat(changes) => Some(changes),
            Answer::Unsat | Answer::Unknown(_) => None,
        }
    }

    /// An input that goes a way which is closed only because values were concretized before: on the path of a
    /// compressor the hash of three bytes, say, which decides where they are kept. It may leave the path before it comes here.
    fn relaxed(&mut self, site: SiteId, choice: u64, goal: TermId) -> Option<Flip> {
        let limits = self.fork_limits();
        let loose = self.loose.as_mut()?;
        let tried = self.relaxed.entry((site, choice)).or_default();
        if *tried >= RELAXED_PER_OUTCOME {
            return None;
        }
        *tried += 1;
        match loose.query_near(self.terms, goal, &limits).answer {
            Answer::Sat(changes) => Some(Flip::new(OPTIMISTIC | choice, changes)),
            Answer::Unsat | Answer::Unknown(_) => None,
        }
    }

    /// An input that goes a way for which the whole path is too much: it keeps to the conditions that were decided
    /// last. It may leave the path before it comes here, so it is a run and no answer.
    fn optimistic(&mut self, choice: u64, goal: TermId) -> Option<Flip> {
        let slice = self.session.slice(self.terms, goal);
        let nearest = slice.constraints.iter().rev().take(NEAREST_CONDITIONS);
        let wanted: Vec<TermId> = [goal].into_iter().chain(nearest.copied()).collect();
        let (mut terms, wanted) = excerpt(self.terms, &wanted);
        let mut session = self.stack.session(self.recorded);
        for &condition in &wanted[1..] {
            session.assume(&terms, condition);
        }
        let limits = self.fork_limits();
        match session.query(&mut terms, wanted[0], &limits).answer {
            Answer::Sat(model) => {
                let changes = model.changes(self.recorded);
                Some(Flip::new(OPTIMISTIC | choice, changes))
            }
            Answer::Unsat | Answer::Unknown(_) => None,
        }
    }

    pub(super) fn ask_way(&mut self, goal: TermId) -> Answer {
        let related = self.related_lengths(goal);
        let limits = self.fork_limits();
        match self.session.query(self.terms, goal, &limits).answer {
            Answer::Sat(first) => Answer::Sat(self.nearest(goal, &related, first, limits)),
            other => other,
        }
    }
}
