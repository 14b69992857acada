//! Which checks of a path can fail, and for which input.
//!
//! The path is walked once, in order. At each check the session knows the conditions of the
//! path so far and is asked for an input that follows them and makes the check fail; then the
//! check is assumed to have gone as it went, and the walk goes on.
//!
//! Where the recording had to fix a value (a symbolic address of a store, say), a path that is
//! true to it may be too narrow to fail. Then a *guess* is made on a path without what was
//! fixed: it may leave the predicted path, so it counts only if the replay confirms it.
//!
//! A probe asks for an input that leaves the path at a place where programs are seldom tested.
//! What happens then nobody predicts: the replay is all.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::site::SiteId;
use nearmiss_expr::support::Part;
use nearmiss_expr::{Inputs, TermId, Terms};
use nearmiss_results::Checks;
use nearmiss_sites::Sites;
use nearmiss_solve::{Answer, Backend, Layer, Limits, Model, Session, Stack, Statistics};
use nearmiss_trace::{Channel, Event, Path, Recorded};

use crate::alphabet::Alphabet;
use crate::lengths::{self, Lengths};
use crate::spot::{self, Check, Spot};
use crate::{Config, Progress};

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
    /// How the checks were decided.
    pub checks: Checks,
    /// What the solver's layers did.
    pub statistics: Statistics,
    /// Whether it was stopped before the end of the path.
    pub stopped: bool,
}

/// Different conditions at one place that are tried for a nearer input, or one that can be
/// confirmed.
const CANDIDATES_PER_PLACE: usize = 4;
/// After so many questions without an answer, a place is not asked about any more.
const TIMEOUTS_PER_SITE: u32 = 3;
/// Most probes of a run; one at each place.
const PROBES: usize = 32;
/// After so many of them questions get half of their time, then a third, and so on.
const TIMEOUTS_PER_SHARE: u32 = 8;
/// How the count of checks is called that were asked before, word for word.
const REPEATED: &str = "repeated";
/// Events between two words about progress.
const PROGRESS_STEP: usize = 256;

/// Walks a path.
pub fn analyse(
    path: &mut Path,
    sites: &Sites,
    config: &Config,
    deadline: Instant,
    progress: &mut dyn FnMut(Progress),
) -> Analysis {
    let Path {
        terms,
        channels,
        events,
        ..
    } = path;
    let recorded = Recorded(channels);
    let stack = Stack::new(backend(config));
    let mut walk = Walk {
        session: stack.session(&recorded),
        loose: stack.session(&recorded),
        fixed: false,
        lengths: Lengths::new(terms, channels, config.options.length),
        alphabet: Alphabet::new(channels),
        mentioned: Default::default(),
        channels,
        recorded: &recorded,
        terms,
        sites,
        config,
        deadline,
        checks: Checks::default(),
        places: BTreeMap::new(),
        decided: HashSet::new(),
        timeouts: HashMap::new(),
        all_timeouts: 0,
        probes: BTreeMap::new(),
    };
    let mut stopped = false;
    for (number, event) in events.iter().enumerate() {
        if number % PROGRESS_STEP == 0 {
            progress(Progress::Deciding {
                done: number,
                total: events.len(),
                failing: walk.checks.failing,
            });
        }
        if !stopped && (Instant::now() >= deadline || config.is_stopped()) {
            stopped = true;
        }
        if stopped {
            walk.pass_by(event);
        } else {
            walk.step(number, event);
        }
    }
    walk.finish(stopped)
}

fn backend(config: &Config) -> Backend {
    match &config.solver {
        Some(command) => Backend::External {
            command: command.clone(),
        },
        None => Backend::default(),
    }
}

struct Walk<'a> {
    session: Session<'a>,
    /// Knows all conditions but those that only say that something was fixed.
    loose: Session<'a>,
    /// Whether anything was fixed so far, so that the two sessions differ.
    fixed: bool,
    lengths: Lengths,
    alphabet: Alphabet,
    /// Sets of bytes that lengths and alphabet were told of: those that do not bind lengths, and
    /// those that do.
    mentioned: [HashSet<Part>; 2],
    channels: &'a [Channel],
    recorded: &'a Recorded<'a>,
    terms: &'a mut Terms,
    sites: &'a Sites,
    config: &'a Config,
    deadline: Instant,
    checks: Checks,
    places: BTreeMap<Spot, Vec<Candidate>>,
    /// Checks that were asked about, by site and condition.
    decided: HashSet<(SiteId, TermId)>,
    timeouts: HashMap<SiteId, u32>,
    all_timeouts: u32,
    /// By site.
    probes: BTreeMap<SiteId, Option<Candidate>>,
}

impl Walk<'_> {
    fn step(&mut self, number: usize, event: &Event) {
        if let Some(condition) = event.condition {
            // What the harness or a model assumes says nothing of how long the input is.
            self.mention(condition, event.kind != EventKind::Assume);
        }
        match event.kind {
            EventKind::Check | EventKind::CheckFailed => self.check(number, event),
            EventKind::Probe => self.probe(number, event),
            _ => {}
        }
        let Some(condition) = event.condition else {
            return;
        };
        self.session.assume(self.terms, condition);
        if event.kind == EventKind::Fixed {
            self.fixed = true;
        } else {
            self.loose.assume(self.terms, condition);
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
                self.session.assume(self.terms, fact);
                self.loose.assume(self.terms, fact);
            }
        }
    }

    /// An event after the end of our time.
    fn pass_by(&mut self, event: &Event) {
        if event.kind == EventKind::Check {
            self.checks.met += 1;
            self.checks.undecided += 1;
        }
    }

    fn check(&mut self, number: usize, event: &Event) {
        let check = spot::check(self.sites, event.site, event.failure);
        let wanted = check.as_ref().is_some_and(|check| self.is_wanted(check));
        let Some(check) = check.filter(|_| wanted) else {
            self.checks.met += 1;
            self.checks.skipped += 1;
            return;
        };
        if event.is_failure() {
            return self.failed(number, event, check);
        }
        self.checks.met += 1;
        let Some(condition) = event.condition else {
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

    /// The time for a question. Where many ran out of theirs the next ones get less, so that the
    /// rest of the path is looked at too.
    fn limits(&self) -> Limits {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let share = 1 + self.all_timeouts / TIMEOUTS_PER_SHARE;
        Limits::time((self.config.question_time / share).min(left))
    }

    fn timed_out(&mut self, site: SiteId) {
        *self.timeouts.entry(site).or_default() += 1;
        self.all_timeouts += 1;
    }

    fn ask(&mut self, number: usize, site: SiteId, check: Check, condition: TermId) {
        let goal = self.terms.not(condition);
        let related = self.related_lengths(goal);
        let limits = self.limits();
        let before = self.session.statistics().clone();
        let mut candidate = Candidate {
            event: number,
            site,
            check,
            changes: Model::new(),
            guess: false,
        };
        match self.session.ask(self.terms, goal, &limits) {
            Answer::Unsat => match self.guess(goal, site) {
                Some(changes) => {
                    // It holds only because something was fixed: nobody knows yet.
                    self.checks.undecided += 1;
                    candidate.changes = changes;
                    candidate.guess = true;
                    self.add(candidate);
                }
                None => self.holds(&before),
            },
            Answer::Unknown(_) => {
                self.checks.undecided += 1;
                self.timed_out(site);
            }
            Answer::Sat(model) => {
                self.checks.failing += 1;
                candidate.changes = self.nearest(goal, &related, model);
                self.add(candidate);
            }
        }
    }

    /// The lengths that a goal may depend on, after what is known of them was assumed.
    fn related_lengths(&mut self, goal: TermId) -> Vec<usize> {
        let loose = &mut self.loose;
        let mut assume = |session: &mut Session, terms: &mut Terms, fact| {
            session.assume(terms, fact);
            loose.assume(terms, fact);
        };
        self.lengths
            .related(&mut self.session, self.terms, goal, &mut assume)
    }

    /// The answer nearest to the recorded input, given that there is one.
    fn nearest(&mut self, goal: TermId, related: &[usize], first: Model) -> Model {
        let limits = self.limits();
        if !related.is_empty() {
            let (session, terms, time) = (&mut self.session, &mut *self.terms, limits.time);
            return self
                .lengths
                .nearest(session, terms, goal, related, first, time);
        }
        match self.session.ask_nearest(self.terms, goal, &limits) {
            Answer::Sat(nearest) => nearest,
            _ => first,
        }
    }

    /// Looks for an input that leaves the path here; the first time that a place is met decides.
    fn probe(&mut self, number: usize, event: &Event) {
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
        let found = match self.session.ask(self.terms, goal, &limits) {
            Answer::Sat(model) => Some(Candidate {
                event: number,
                site: event.site,
                check,
                changes: self.nearest(goal, &related, model),
                guess: true,
            }),
            _ => None,
        };
        self.probes.insert(event.site, found);
    }

    /// Asks again without what was fixed.
    fn guess(&mut self, goal: TermId, site: SiteId) -> Option<Model> {
        if !self.fixed {
            return None;
        }
        let limits = self.limits();
        match self.loose.ask_nearest(self.terms, goal, &limits) {
            Answer::Sat(changes) => Some(changes),
            Answer::Unsat => None,
            Answer::Unknown(_) => {
                self.timed_out(site);
                None
            }
        }
    }

    /// Counts a check that holds for the layer that said so.
    fn holds(&mut self, before: &Statistics) {
        let after = self.session.statistics();
        let decided_by = |layer: &&Layer| after.layer(**layer).unsat > before.layer(**layer).unsat;
        match Layer::ALL.iter().find(decided_by) {
            Some(Layer::BitBlaster | Layer::Bitwuzla | Layer::External) | None => {
                self.checks.by_solver += 1;
            }
            Some(layer) => {
                let name = layer.name().to_string();
                *self.checks.without_solver.entry(name).or_default() += 1;
            }
        }
    }

    fn finish(self, stopped: bool) -> Analysis {
        let mut places: Vec<Vec<Candidate>> = self.places.into_values().collect();
        places.sort_by_key(|candidates| candidates.iter().map(|one| one.event).min());
        for candidates in &mut places {
            candidates.sort_by_key(|one| {
                let distance = lengths::distance(self.channels, &one.changes);
                (one.guess, distance, one.event)
            });
        }
        let mut probes: Vec<Candidate> = self.probes.into_values().flatten().collect();
        probes.sort_by_key(|one| one.event);
        let mut statistics = self.session.statistics().clone();
        statistics.merge(self.loose.statistics());
        Analysis {
            places,
            probes,
            checks: self.checks,
            statistics,
            stopped,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;
    use crate::Output;
    use nearmiss_abi::channel::{ChannelKind, PIECE_WHOLE};
    use nearmiss_abi::op::Op;
    use nearmiss_abi::term::Label;
    use nearmiss_sandbox::Sandbox;
    use nearmiss_sites::{Site, SiteKind, Unit};
    use nearmiss_trace::RawTrace;
    use nearmiss_trace::build::TraceBuilder;

    static STOP: AtomicBool = AtomicBool::new(false);
    const STRCPY: SiteId = SiteId::new(1, 0);
    const BRANCH: SiteId = SiteId::new(1, 1);
    const MALLOC: SiteId = SiteId::new(1, 2);

    fn config() -> Config {
        Config {
            directory: "/nowhere".into(),
            time: Duration::from_secs(60),
            question_time: Duration::from_secs(10),
            run_time: None,
            distance: Some(0),
            runs: None,
            jobs: 1,
            checks: None,
            sandbox: Sandbox::none(),
            solver: None,
            channels: "a".into(),
            options: Default::default(),
            output: Output::Through,
            clang: "/nowhere".into(),
            library_directory: "/nowhere".into(),
            stop: &STOP,
        }
    }

    fn sites() -> Sites {
        let kinds = [
            SiteKind::Call("strcpy".into()),
            SiteKind::Branch,
            SiteKind::Call("malloc".into()),
        ];
        let sites = kinds.into_iter().zip(1..).map(|(kind, line)| Site {
            kind,
            file: 0,
            function: 0,
            line,
            column: 1,
        });
        let mut all = Sites::default();
        all.add(Unit {
            hash: 1,
            files: vec!["a.c".into()],
            functions: vec!["main".into()],
            sites: sites.collect(),
            ..Unit::default()
        });
        all
    }

    /// A program with the argument `hello`; the second number is its length.
    fn program() -> (TraceBuilder, Label) {
        let mut trace = TraceBuilder::new("/bin/prog");
        let argument = trace.channel(ChannelKind::Argument, 1, "", b"hello");
        let length = trace.length(argument, PIECE_WHOLE, 0, 5);
        (trace, length)
    }

    /// `length < most`.
    fn below(trace: &mut TraceBuilder, length: Label, most: u128) -> Label {
        let most = trace.constant(32, most);
        trace.operation(Op::Ult, length, most)
    }

    fn look_at(trace: TraceBuilder) -> (Analysis, Vec<Channel>) {
        let sites = sites();
        let raw = RawTrace::from_bytes(&trace.finish()).unwrap();
        let mut path = Path::read(&raw, &sites, None);
        assert_eq!(path.inconsistent, 0);
        let deadline = Instant::now() + Duration::from_secs(60);
        let analysis = analyse(&mut path, &sites, &config(), deadline, &mut |_| {});
        (analysis, path.channels)
    }

    /// The new length of the first candidate at the first place.
    fn new_length(analysis: &Analysis, channels: &[Channel]) -> u32 {
        let resizes = lengths::resizes(channels, &analysis.places[0][0].changes);
        assert_eq!(resizes.len(), 1);
        resizes[0].to
    }

    #[test]
    fn a_longer_argument_leaves_its_destination() {
        let (mut trace, length) = program();
        let fits = below(&mut trace, length, 16);
        trace.kind_event(EventKind::Check, Kind::OutOfBoundsWrite, fits, STRCPY);
        let (analysis, channels) = look_at(trace);
        assert_eq!(new_length(&analysis, &channels), 16);
        let candidate = &analysis.places[0][0];
        assert_eq!(candidate.check.spot.kind, Kind::OutOfBoundsWrite);
        assert_eq!(
            candidate.check.message,
            "strcpy writes outside its destination"
        );
        assert_eq!(candidate.changes.len(), 1);
    }

    #[test]
    fn a_checked_length_fits() {
        let (mut trace, length) = program();
        let fits = below(&mut trace, length, 16);
        trace.event(EventKind::Branch, fits, BRANCH);
        trace.kind_event(EventKind::Check, Kind::OutOfBoundsWrite, fits, STRCPY);
        let (analysis, _) = look_at(trace);
        assert!(analysis.places.is_empty());
        assert_eq!(analysis.checks.met, 1);
    }

    #[test]
    fn what_was_read_stays_and_open_ends_bind() {
        let (mut trace, length) = program();
        let last = trace.input(0, 4);
        let letter = trace.constant(8, b'o'.into());
        let is_letter = trace.operation(Op::Eq, last, letter);
        trace.event(EventKind::Branch, is_letter, BRANCH);
        let four = below(&mut trace, length, 5);
        let at_least_five = trace.operation(Op::Xor, four, four);
        let not_shorter = trace.operation(Op::Eq, four, at_least_five);
        trace.kind_event(EventKind::Check, Kind::OutOfBoundsRead, not_shorter, STRCPY);
        // `*s == 0` at the open end.
        let end = trace.constant(32, 5);
        let is_longer = trace.operation(Op::Ult, end, length);
        let (next, zero) = (trace.input(0, 5), trace.constant(8, 0));
        let open_end = trace.ite(is_longer, next, zero);
        let is_end = trace.operation(Op::Eq, open_end, zero);
        trace.event(EventKind::Branch, is_end, BRANCH);
        let fits = below(&mut trace, length, 16);
        trace.kind_event(EventKind::Check, Kind::OutOfBoundsWrite, fits, MALLOC);
        let (analysis, _) = look_at(trace);
        assert!(analysis.places.is_empty(), "{:?}", analysis.places);
        assert_eq!(analysis.checks.met, 2);
    }

    #[test]
    fn probes_leave_the_path() {
        let (mut trace, length) = program();
        let is_small = below(&mut trace, length, 100);
        trace.kind_event(EventKind::Probe, Kind::NullDereference, is_small, MALLOC);
        trace.kind_event(EventKind::Probe, Kind::NullDereference, is_small, MALLOC);
        let fits = below(&mut trace, length, 200);
        trace.kind_event(EventKind::Check, Kind::OutOfBoundsWrite, fits, STRCPY);
        let (analysis, channels) = look_at(trace);
        assert_eq!(analysis.probes.len(), 1);
        let resizes = lengths::resizes(&channels, &analysis.probes[0].changes);
        assert_eq!(resizes[0].to, 100);
        assert!(analysis.places.is_empty(), "the path stays as it was");
        assert_eq!(analysis.checks.met, 1, "a probe is no check");
    }
}
