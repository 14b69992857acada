//! Checks: which can fail, and for which input.
//!
//! Where the recording had to fix a value (a symbolic address of a store, say), a path that is
//! true to it may be too narrow to fail. Then a *guess* is made on a path without what was
//! fixed: it may leave the predicted path, so it counts only if the replay confirms it.
//!
//! A probe asks for an input that leaves the path at a place where programs are seldom tested.
//! What happens then nobody predicts: the replay is all.

use std::collections::HashSet;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::check::Kind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_expr::{TermId, Terms};
use nearmiss_judge::spot::{self, Check, Spot};
use nearmiss_solve::{Answer, Layer, Model};
use nearmiss_trace::{Channel, Event};

use super::{Candidate, Walk};

/// Different conditions at one place that are tried for a nearer input, or one that can be
/// confirmed.
const CANDIDATES_PER_PLACE: usize = 4;
/// After so many questions without an answer, a place is not asked about any more.
const TIMEOUTS_PER_SITE: u32 = 3;
/// Most probes of a run; one at each place.
const PROBES: usize = 32;
/// Bits of a pointer.
const POINTER_BITS: u32 = 64;
/// Where the addresses of the kernel begin.
const END_OF_PROGRAMS: u128 = 1 << 47;
/// Terms of a condition among which a pointer out of memory is looked for.
const MOST_LOOKED_AT: usize = 1000;
/// How the count of checks is called that were asked before, word for word.
const REPEATED: &str = "repeated";

impl Walk<'_> {
    pub(super) fn check(&mut self, number: usize, event: &Event) {
        let check = spot::check(self.sites, event.site, event.failure);
        let wanted = check.as_ref().is_some_and(|check| self.is_wanted(check));
        let Some(check) = check.filter(|_| wanted) else {
            self.checks.met += 1;
            self.checks.skipped += 1;
            return;
        };
        self.checked.insert(event.site);
        if event.is_failure() {
            return self.failed(number, event, check);
        }
        self.checks.met += 1;
        let Some(condition) = event.condition else {
            // Its condition made no sense and was dropped.
            self.checks.undecided += 1;
            return;
        };
        let known = self.places.get(&check.spot).map_or(0, Vec::len);
        if !self.decided.insert((event.site, condition)) {
            // It was assumed when it was met first, so it holds.
            *self
                .checks
                .without_solver
                .entry(REPEATED.into())
                .or_default() += 1;
        } else if known >= CANDIDATES_PER_PLACE || self.recorded_fails(&check.spot) {
            self.checks.skipped += 1;
        } else if self.timeouts.get(&event.site) >= Some(&TIMEOUTS_PER_SITE) {
            self.checks.undecided += 1;
        } else {
            self.ask(number, event.site, check, condition);
        }
    }

    fn is_wanted(&self, check: &Check) -> bool {
        let wanted = self.config.checks.as_ref();
        wanted.is_none_or(|kinds| kinds.contains(&check.spot.kind))
    }

    /// Whether the recorded input itself fails at a place: no other input is nearer.
    fn recorded_fails(&self, spot: &Spot) -> bool {
        let candidates = self.places.get(spot);
        candidates.is_some_and(|known| known.iter().any(|one| one.changes.is_empty()))
    }

    /// The check failed in the recorded run. A failure on concrete data follows one on input
    /// data at the same place: that is one failure.
    fn failed(&mut self, number: usize, event: &Event, check: Check) {
        if self.recorded_fails(&check.spot) {
            if event.kind == EventKind::Check {
                self.checks.met += 1;
                self.checks.skipped += 1;
            }
            return;
        }
        self.checks.met += 1;
        self.checks.failing += 1;
        self.add(Candidate {
            event: number,
            site: event.site,
            check,
            changes: Model::new(),
            guess: false,
        });
    }

    fn add(&mut self, candidate: Candidate) {
        let spot = candidate.check.spot.clone();
        self.places.entry(spot).or_default().push(candidate);
    }

    fn ask(&mut self, number: usize, site: SiteId, check: Check, condition: TermId) {
        let goal = self.terms.not(condition);
        let related = self.related_lengths(goal);
        let limits = self.limits();
        let mut candidate = Candidate {
            event: number,
            site,
            check,
            changes: Model::new(),
            guess: false,
        };
        let reply = self.session.query(self.terms, goal, &limits);
        match reply.answer {
            Answer::Unsat if !self.may_guess(site) => self.checks.undecided += 1,
            Answer::Unsat => match self.guess(goal, site) {
                Some(changes) => {
                    // It holds only because something was concretized: it is not decided yet.
                    self.checks.undecided += 1;
                    candidate.changes = changes;
                    candidate.guess = true;
                    self.add(candidate);
                }
                None => self.holds(reply.layer),
            },
            Answer::Unknown(_) => {
                self.checks.undecided += 1;
                self.timed_out(site);
            }
            Answer::Sat(model) => {
                candidate.changes = self.nearest(goal, &related, model, limits);
                candidate.guess = self.reads_elsewhere(&candidate.changes)
                    || self.picks_pointer(condition, candidate.check.spot.kind);
                match candidate.guess {
                    true => self.checks.undecided += 1,
                    false => self.checks.failing += 1,
                }
                self.add(candidate);
            }
        }
    }

    /// Whether an input has another length, and something before was read at an address that moves with lengths: what it
    /// would find there is not known.
    fn reads_elsewhere(&self, changes: &Model) -> bool {
        let mut bytes = changes.iter().map(|(byte, _)| byte);
        let has_other_length = bytes.any(|byte| {
            let channel = self.channels.get(byte.channel as usize);
            channel.is_some_and(|channel| channel.piece.is_some())
        });
        self.has_moved && has_other_length
    }

    /// Whether an access is to what a pointer leads to that an index in the input picks out of memory: of the others there
    /// is known where they led in this run, and not what became of that since. Tests of libraries build such tables by the
    /// hundred between their calls; a program's own input is not taken for a guess.
    fn picks_pointer(&self, condition: TermId, kind: Kind) -> bool {
        let is_access = matches!(
            kind,
            Kind::OutOfBoundsRead | Kind::OutOfBoundsWrite | Kind::UseAfterFree
        );
        let is_of_calls = |channel: &Channel| channel.kind == ChannelKind::Call;
        is_access && self.channels.iter().any(is_of_calls) && picks_pointer(self.terms, condition)
    }

    /// Looks for an input that leaves the path here; the first time that a place is met decides.
    pub(super) fn probe(&mut self, number: usize, event: &Event) {
        let Some(condition) = event.condition.filter(|_| event.truth) else {
            return;
        };
        let tried = self.probes.get(&event.site);
        if matches!(tried, Some(Some(_))) || tried.is_none() && self.probes.len() >= PROBES {
            return;
        }
        let feared = event.failure.unwrap_or(Kind::NullDereference);
        let Some(check) = spot::check(self.sites, event.site, Some(feared)) else {
            return;
        };
        let goal = self.terms.not(condition);
        let related = self.related_lengths(goal);
        let limits = self.limits();
        let found = match self.session.query(self.terms, goal, &limits).answer {
            Answer::Sat(model) => Some(Candidate {
                event: number,
                site: event.site,
                check,
                changes: self.nearest(goal, &related, model, limits),
                guess: true,
            }),
            _ => None,
        };
        self.probes.insert(event.site, found);
    }

    /// Whether a check that holds is asked about once more without what was concretized. On derived paths few are, of
    /// each place: every check behind a symbolic address would be asked about twice otherwise.
    fn may_guess(&mut self, site: SiteId) -> bool {
        if self.loose.is_none() {
            return true;
        }
        let made = self.guesses.entry(site).or_default();
        *made += 1;
        *made <= self.guesses_per_site
    }

    /// Asks again without what was concretized: on a test's own path for the nearest answer, on a derived one as
    /// forks do, since there it is one more run.
    fn guess(&mut self, goal: TermId, site: SiteId) -> Option<Model> {
        let is_own = self.guesses_per_site == u32::MAX;
        let limits = if is_own {
            self.limits()
        } else {
            self.fork_limits()
        };
        let loose = self.loose.as_mut()?;
        let reply = if is_own {
            loose.query_nearest(self.terms, goal, &limits)
        } else {
            loose.query_near(self.terms, goal, &limits)
        };
        match reply.answer {
            Answer::Sat(changes) => Some(changes),
            Answer::Unsat => None,
            Answer::Unknown(_) => {
                self.timed_out(site);
                None
            }
        }
    }

    /// Counts a check that holds for the layer that said so.
    fn holds(&mut self, layer: Layer) {
        if layer.is_back_end() {
            self.checks.by_solver += 1;
        } else {
            let name = layer.name().to_string();
            *self.checks.without_solver.entry(name).or_default() += 1;
        }
    }
}

/// Whether a constant leads to an object: no size is so large, and the kernel's addresses are beyond.
fn is_pointer(terms: &Terms, term: TermId) -> bool {
    let value = terms.as_constant(term).unwrap_or(0);
    value > u128::from(u32::MAX) && value < END_OF_PROGRAMS
}

/// Whether a condition is about a pointer that was read at an index, or chosen.
fn picks_pointer(terms: &Terms, condition: TermId) -> bool {
    let (mut known, mut waiting) = (HashSet::from([condition]), vec![condition]);
    while let Some(term) = waiting.pop() {
        let is_picked = match terms.op(term) {
            Op::Read => true,
            Op::Ite => terms.operands(term).any(|it| is_pointer(terms, it)),
            _ => false,
        };
        if is_picked && terms.width(term) == POINTER_BITS {
            return true;
        }
        if known.len() > MOST_LOOKED_AT {
            break;
        }
        let operands = terms.operands(term);
        waiting.extend(operands.filter(|operand| known.insert(*operand)));
    }
    false
}
