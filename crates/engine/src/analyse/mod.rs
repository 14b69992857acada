//! One walk over a path: which checks can fail, which forks can go another way, and for which
//! input.
//!
//! The path is walked in order. At each check and fork the session knows the conditions of the
//! path so far and is asked for an input that follows them and then does not; then what the
//! event says is assumed, and the walk goes on. A [`Task`] says what is asked.

mod checks;
mod forks;
mod queries;
mod shorter;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::site::SiteId;
use nearmiss_expr::support::Part;
use nearmiss_expr::{Inputs, TermId, Terms};
use nearmiss_judge::spot::{Check, Spot};
use nearmiss_results::Checks;
use nearmiss_search::Tally;
use nearmiss_sites::Sites;
use nearmiss_solve::{Model, Session, Stack, Statistics};
use nearmiss_trace::{Bindings, Channel, Event, Recorded, RecordedPath, Word};

use crate::Config;
use crate::alphabet::Alphabet;
use crate::lengths::{self, Lengths};

pub use forks::{Flip, Settled, can_flip};

/// What is asked on the way.
#[derive(Clone, Debug)]
pub struct Task {
    /// Checks of this event and all behind it; `None`: of none.
    pub checks_from: Option<usize>,
    /// Which forks.
    pub forks: Forks,
    /// The CPU time of one query about a fork.
    pub fork_time: Duration,
}

/// How many checks of a place that hold are asked about once more without what was concretized, on paths that are
/// looked at behind a fork only. On whole paths all are.
const FEW_GUESSES: u32 = 4;

/// Which forks are asked whether they can go another way.
#[derive(Clone, Debug)]
pub enum Forks {
    /// None.
    None,
    /// Those of these events.
    These(BTreeSet<usize>),
    /// From this event on, until so many can; besides, those of some events behind it.
    First {
        /// The first event.
        from: usize,
        /// How many.
        feasible: u32,
        /// Those besides.
        besides: BTreeSet<usize>,
    },
}

impl Forks {
    /// Whether the fork of this event is asked about wherever it lies.
    fn has_besides(&self, number: usize) -> bool {
        matches!(self, Forks::First { besides, .. } if besides.contains(&number))
    }
}

impl Task {
    /// All checks of a path, and nothing else.
    pub const CHECKS: Task = Task {
        checks_from: Some(0),
        forks: Forks::None,
        fork_time: Duration::ZERO,
    };

    fn guesses_per_site(&self) -> u32 {
        match self.checks_from {
            Some(0) => u32::MAX,
            _ => FEW_GUESSES,
        }
    }

    /// Whether nothing is asked from this event on, given how many forks were found to go
    /// another way.
    fn is_done(&self, number: usize, feasible: u32) -> bool {
        let forks_done = match &self.forks {
            Forks::None => true,
            Forks::These(these) => these.last().is_none_or(|last| *last < number),
            Forks::First {
                feasible: most,
                besides,
                ..
            } => feasible >= *most && besides.last().is_none_or(|last| *last < number),
        };
        forks_done && self.checks_from.is_none()
    }
}

/// An input that is predicted to make a check fail.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The number of the check among the path's events.
    pub event: usize,
    /// Its site.
    pub site: SiteId,
    /// The check.
    pub check: Check,
    /// The bytes that differ from the recorded input; none if that fails by itself.
    pub changes: Model,
    /// Not a prediction: what was fixed on the path was left out.
    pub guess: bool,
}

/// What the walk found out.
#[derive(Debug, Default)]
pub struct Analysis {
    /// For each place that can fail, inputs that show it: the nearest first. In the order of
    /// the path.
    pub places: Vec<Vec<Candidate>>,
    /// Inputs that lead off the path to where failures are feared.
    pub probes: Vec<Candidate>,
    /// What became of the forks that were asked about, in the order of the path.
    pub forks: Vec<Settled>,
    /// The same of those that were asked about besides.
    pub besides: Vec<Settled>,
    /// Events of forks at which inputs that are too short for what decided them may go the same
    /// way: the checks behind were not asked for these.
    pub too_short: Vec<usize>,
    /// Accesses that move with lengths and were looked at only where they were or beyond.
    pub unchosen: u64,
    /// How the checks were decided.
    pub checks: Checks,
    /// Where checks were met.
    pub sites: BTreeSet<SiteId>,
    /// What the solver's layers did.
    pub statistics: Statistics,
    /// Whether it was stopped before the end of the path.
    pub stopped: bool,
}

/// Events between two words about progress.
const PROGRESS_STEP: usize = 256;

/// What a walk is made with.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The sites of the program.
    pub sites: &'a Sites,
    /// What is wanted.
    pub config: &'a Config,
    /// The solver.
    pub stack: &'a Stack,
    /// What is counted.
    pub tally: &'a Tally,
    /// When the walk has to end.
    pub deadline: Instant,
}

/// Walks a path.
pub fn analyse(terms: &mut Terms, path: &RecordedPath, task: &Task, context: &Context) -> Analysis {
    let RecordedPath {
        channels,
        events,
        bindings,
        words,
        ..
    } = path;
    let Context {
        sites,
        config,
        stack,
        tally,
        deadline,
    } = *context;
    let recorded = Recorded(channels);
    let mut walk = Walk {
        session: stack.session(&recorded),
        loose: None,
        stack,
        lengths: Lengths::new(terms, channels, config.options.length),
        alphabet: Alphabet::new(channels),
        mentioned: Default::default(),
        bindings,
        words,
        channels,
        recorded: &recorded,
        terms,
        sites,
        config,
        fork_time: task.fork_time,
        guesses_per_site: task.guesses_per_site(),
        guesses: HashMap::new(),
        deadline,
        checks: Checks::default(),
        checked: BTreeSet::new(),
        places: BTreeMap::new(),
        decided: HashSet::new(),
        timeouts: HashMap::new(),
        all_timeouts: 0,
        probes: BTreeMap::new(),
        forks: Vec::new(),
        besides: Vec::new(),
        relaxed: HashMap::new(),
        shorter: Vec::new(),
        shorter_is_unknown: false,
        same_way: BTreeSet::new(),
        unchosen: 0,
        has_moved: false,
        feasible: 0,
    };
    let mut told = Told::default();
    let mut stopped = false;
    for (number, event) in events.iter().enumerate() {
        if number % PROGRESS_STEP == 0 {
            told.tell(&walk, tally);
            if task.is_done(number, walk.feasible) {
                break;
            }
        }
        if !stopped && (Instant::now() >= deadline || config.is_stopped()) {
            stopped = true;
        }
        if stopped {
            walk.pass_by(number, event, task);
        } else {
            if event.implied.is_some() {
                walk.long_enough(number, events, task);
            }
            walk.step(number, event, task);
        }
    }
    told.tell(&walk, tally);
    walk.finish(stopped)
}

/// What the tally knows of a walk already.
#[derive(Default)]
struct Told {
    checks: u64,
    decided: u64,
    questions: u64,
}

impl Told {
    fn tell(&mut self, walk: &Walk, tally: &Tally) {
        let (met, undecided) = (walk.checks.met, walk.checks.undecided);
        let questions = walk.session.statistics().queries();
        tally.checks.add(met - self.checks);
        tally
            .decided
            .add((met - undecided).saturating_sub(self.decided));
        tally.queries.add(questions - self.questions);
        *self = Told {
            checks: met,
            decided: (met - undecided).max(self.decided),
            questions,
        };
    }
}

struct Walk<'a> {
    session: Session<'a>,
    /// Knows all conditions but those that only say that something was fixed; there is none
    /// until something is.
    loose: Option<Session<'a>>,
    stack: &'a Stack,
    lengths: Lengths,
    alphabet: Alphabet,
    /// Sets of bytes that lengths and alphabet were told of: those that do not bind lengths, and
    /// those that do.
    mentioned: [HashSet<Part>; 2],
    /// Which bytes events bind, where these are not all of their conditions.
    bindings: &'a Bindings,
    /// What events compare, where no change of bytes makes it equal.
    words: &'a [Word],
    channels: &'a [Channel],
    recorded: &'a Recorded<'a>,
    terms: &'a mut Terms,
    sites: &'a Sites,
    config: &'a Config,
    fork_time: Duration,
    guesses_per_site: u32,
    /// How many were made, by site.
    guesses: HashMap<SiteId, u32>,
    deadline: Instant,
    checks: Checks,
    /// Where checks were met.
    checked: BTreeSet<SiteId>,
    places: BTreeMap<Spot, Vec<Candidate>>,
    /// Checks that were asked about, by site and condition.
    decided: HashSet<(SiteId, TermId)>,
    timeouts: HashMap<SiteId, u32>,
    all_timeouts: u32,
    /// By site.
    probes: BTreeMap<SiteId, Option<Candidate>>,
    forks: Vec<Settled>,
    besides: Vec<Settled>,
    /// How often an outcome was asked for without what was concretized.
    relaxed: HashMap<(SiteId, u64), u32>,
    /// Inputs that are too short for the next fork.
    shorter: Vec<Flip>,
    /// Whether there may be more of them.
    shorter_is_unknown: bool,
    /// Forks before which an input that is too short may go the same way.
    same_way: BTreeSet<usize>,
    /// Accesses at addresses that move with lengths where no place could be chosen.
    unchosen: u64,
    /// Whether there was any access at an address that moves with lengths, of which only the lowest place is known.
    has_moved: bool,
    /// How many forks can go another way.
    feasible: u32,
}

impl Walk<'_> {
    fn step(&mut self, number: usize, event: &Event, task: &Task) {
        let bound = event.implied.as_ref();
        self.has_moved |= bound.is_some_and(|bound| bound.channel.is_none());
        if let Some(condition) = event.condition {
            // What the harness or a model assumes says nothing of how long the input is.
            let binds = event.kind != EventKind::Assume;
            match self.bindings.get(event.binding) {
                Some(bytes) if binds => {
                    self.mention(condition, false);
                    for byte in bytes {
                        self.lengths.mention(*byte, true);
                    }
                }
                _ => self.mention(condition, binds),
            }
        }
        let asks_checks = task.checks_from.is_some_and(|first| number >= first);
        match event.kind {
            EventKind::Check | EventKind::CheckFailed if asks_checks => self.check(number, event),
            EventKind::Probe if asks_checks => self.probe(number, event),
            _ => {}
        }
        if can_flip(event) {
            self.wanted_fork(number, event, task);
        }
        // A call that its contract excludes is made all the same: what it does is looked at, too.
        let is_contract = event.failure == Some(Kind::Precondition);
        let Some(condition) = event.condition.filter(|_| !is_contract) else {
            return;
        };
        if event.kind == EventKind::Concretized {
            let (stack, session) = (self.stack, &self.session);
            self.loose.get_or_insert_with(|| stack.fork(session));
            self.session.assume(self.terms, condition);
        } else {
            self.assume(condition);
        }
    }

    /// Tells both sessions what holds.
    fn assume(&mut self, fact: TermId) {
        self.session.assume(self.terms, fact);
        if let Some(loose) = &mut self.loose {
            loose.assume(self.terms, fact);
        }
    }

    /// Adds what a condition says about its input without saying so.
    fn mention(&mut self, condition: TermId, binds: bool) {
        let seen = &mut self.mentioned[usize::from(binds)];
        let mut bytes = self.session.new_bytes(self.terms, condition, seen);
        bytes.sort_unstable();
        for byte in bytes {
            self.lengths.mention(byte, binds);
            let recorded = self.recorded.byte(byte);
            if let Some(fact) = self.alphabet.learn(self.terms, byte, recorded) {
                self.assume(fact);
            }
        }
    }

    /// An event after the end of our time.
    fn pass_by(&mut self, number: usize, event: &Event, task: &Task) {
        let asks_checks = task.checks_from.is_some_and(|first| number >= first);
        if event.kind == EventKind::Check && asks_checks {
            self.checks.met += 1;
            self.checks.undecided += 1;
        }
    }

    fn finish(self, stopped: bool) -> Analysis {
        let mut places: Vec<Vec<Candidate>> = self.places.into_values().collect();
        places.sort_by_key(|candidates| candidates.iter().map(|one| one.event).min());
        for candidates in &mut places {
            candidates.sort_by_key(|one| {
                let cost = lengths::model_cost(self.channels, &one.changes);
                (one.guess, cost, one.event)
            });
        }
        let mut probes: Vec<Candidate> = self.probes.into_values().flatten().collect();
        probes.sort_by_key(|one| one.event);
        let mut statistics = self.session.statistics().clone();
        if let Some(loose) = &self.loose {
            statistics.merge(loose.statistics());
        }
        Analysis {
            places,
            probes,
            forks: self.forks,
            besides: self.besides,
            too_short: self.same_way.into_iter().collect(),
            unchosen: self.unchosen,
            checks: self.checks,
            sites: self.checked,
            statistics,
            stopped,
        }
    }
}
