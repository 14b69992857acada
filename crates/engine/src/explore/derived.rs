//! One derived path: an input that goes another way at a fork, run, recorded and looked at.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nearmiss_abi::site::SiteId;
use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_expr::{InputByte, Terms};
use nearmiss_search::strategy::Outcome;
use nearmiss_search::{Executor, Node, Trail};
use nearmiss_solve::Model;
use nearmiss_trace::{Channel, Event, RecordedPath};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use super::seed::Seed;
use super::tree::{is_fork, nodes, outcomes_of, way};
use super::{Work, locked, refused};
use crate::analyse::{Analysis, Flip, Forks, Settled, Task};
use crate::confirmer::{Case, Confirmer, Known};
use crate::defects;
use crate::error::EngineError;
use crate::executor::Traced;
use crate::invent::Alteration;
use crate::subject::Subject;
use crate::summary::is_whole;
use crate::worker::tight_limits;

/// A run that is to be made: an input that is predicted to go another way at a fork.
#[derive(Clone, Debug)]
pub struct PendingFlip {
    /// What took the path that it leaves.
    pub capsule: Arc<Capsule>,
    /// The input of that.
    pub channels: Arc<Vec<Channel>>,
    /// How its input differs from that.
    pub alteration: Alteration,
    /// The outcome that it is to have at the fork.
    pub outcome: Outcome,
    /// Where in the execution tree it is predicted to go.
    pub node: Node,
    /// What is predicted of the run.
    pub prediction: Prediction,
    /// The event of the divergence point on the test's own path.
    pub point: usize,
    /// How many forks it is from the divergence point, itself included.
    pub depth: u32,
    /// The derived path that it leaves, and at which of its forks; `None`: the test's own path.
    pub leaves: Option<(usize, usize)>,
    /// How many paths in a row, up to the one that it leaves, brought nothing new.
    pub staleness: u32,
    /// Whether another length of an input moves the ends of lines that were read before.
    pub moves_lines: bool,
    /// Whether it is about the byte at which the path that it leaves was refused.
    pub is_about_refused: bool,
}

/// What is predicted of the run of a flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prediction {
    /// Nothing: it is worth a run.
    Nothing,
    /// That it comes to its node.
    Outcome,
    /// No more than that it comes to this node, before its fork.
    Before(Node),
    /// That it comes to its node, or else leaves the path between these two: behind the last fork on the way that
    /// contents decide, and before the outcome that the path has. A model that sees another length has other events, or
    /// none.
    Between(Node, Node),
}

/// A derived path, as far as exploring on from it needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DerivedPath {
    /// Where its capsule lies.
    #[serde(with = "nearmiss_sandbox::words::path")]
    pub directory: PathBuf,
    /// The event of the divergence point on the test's own path.
    pub point: usize,
    /// The outcome by which it was derived.
    pub outcome: Outcome,
    /// How many forks it is from the divergence point, itself included.
    pub depth: u32,
    /// How many forks it has.
    pub forks: usize,
    /// Forks that were asked about, from the beginning of the path.
    pub asked: usize,
    /// How many of those behind its own could go another way.
    pub feasible: u32,
    /// The first fork that waits for more time for its queries.
    #[serde(default)]
    pub hard: Option<usize>,
    /// How many paths in a row, up to itself, brought nothing new.
    #[serde(default)]
    pub staleness: u32,
}

/// A run of a flip that took a new path.
pub struct NewPath {
    /// Its number among the derived paths.
    pub number: usize,
    /// The outcomes at its forks.
    pub outcomes: Vec<Outcome>,
    /// The flips that leave it.
    pub flips: Vec<PendingFlip>,
    /// Those that leave it at the byte at which it was refused, behind the others.
    pub refused: Vec<PendingFlip>,
}

/// A recorded path that flips can leave.
pub struct ParentPath<'p> {
    pub capsule: Arc<Capsule>,
    pub path: &'p RecordedPath,
    pub terms: &'p Terms,
    pub nodes: &'p [Node],
    /// The event of the divergence point on the test's own path; the path itself if there is none yet.
    pub point: Option<usize>,
    /// Its number among the derived paths.
    pub number: Option<usize>,
    /// How many paths in a row, up to itself, brought nothing new.
    pub staleness: u32,
}

/// What a unit knows of its test while it explores.
pub struct Context<'c> {
    /// The program.
    pub subject: &'c Subject,
    /// The test's own input.
    pub own: &'c [Channel],
    /// How far forks of a derived path are asked about.
    pub extent: Extent,
}

/// How far forks of a derived path are asked about at once.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// At a distance, up to so many forks from the divergence point.
    Bound { distance: u32, bound: u32 },
    /// Until so many can go another way.
    Feasible(u32),
}

impl PendingFlip {
    /// Whether the path that it takes is known up to a fork.
    pub fn is_predicted(&self) -> bool {
        self.prediction != Prediction::Nothing
    }

    /// Behind how many forks a run with these nodes has gone where it was predicted to go, if it has.
    fn reached(&self, nodes: &[Node]) -> Option<usize> {
        let last = |wanted: Node| nodes.iter().rposition(|node| *node == wanted);
        match self.prediction {
            Prediction::Nothing | Prediction::Outcome => last(self.node),
            Prediction::Before(fork) => last(fork),
            Prediction::Between(before, outcome) => {
                let leaves = || last(before).filter(|_| !nodes.contains(&outcome));
                last(self.node).or_else(leaves)
            }
        }
    }
}

/// Whether an answer changes nothing but how long inputs are, and what lies behind their recorded ends.
fn is_length_alone(changes: &Model, channels: &[Channel]) -> bool {
    let is_length = |byte: InputByte| {
        let channel = channels.get(byte.channel as usize);
        channel.is_some_and(|it| it.piece.is_some() || byte.offset as usize >= it.content.len())
    };
    changes.iter().all(|(byte, _)| is_length(byte))
}

/// Whether an answer changes how long a whole input is.
fn changes_whole(changes: &Model, channels: &[Channel]) -> bool {
    let is_whole = |byte: InputByte| {
        let channel = channels.get(byte.channel as usize);
        channel.is_some_and(|it| it.piece.is_some_and(|piece| !piece.is_line))
    };
    changes.iter().any(|(byte, _)| is_whole(byte))
}

impl Extent {
    /// How many feasible forks are asked for on a path of this depth.
    fn feasible(self, depth: u32) -> u32 {
        match self {
            Extent::Bound { bound, .. } => bound.saturating_sub(depth),
            Extent::Feasible(feasible) => feasible,
        }
    }

    /// How far a failure on a path of this depth is from the test.
    pub(super) fn distance(self, depth: u32) -> u32 {
        match self {
            Extent::Bound { distance, .. } => distance,
            Extent::Feasible(_) => depth,
        }
    }
}

impl ParentPath<'_> {
    /// The flips of a fork that was asked about.
    pub fn flips(&self, settled: &Settled, depth: u32) -> Vec<PendingFlip> {
        let channels = Arc::new(self.path.channels.clone());
        self.flips_of(settled.event, &settled.flips, depth, &channels)
    }

    /// The same, of flips that were found before.
    pub fn flips_of(
        &self,
        event: usize,
        flips: &[Flip],
        depth: u32,
        channels: &Arc<Vec<Channel>>,
    ) -> Vec<PendingFlip> {
        let before = self.path.events[..event].iter();
        let fork = before.filter(|event| is_fork(event)).count();
        let recorded = &self.path.events[event];
        let site = recorded.site.0;
        let trail = Trail::at(self.nodes[fork]);
        let before = self.nodes[fork - self.forks_on_lengths(event)];
        let between = Prediction::Between(before, trail.way(site, way(recorded)));
        let is_by_length = recorded.by_length.is_some();
        let before_it = self.path.events[..event].iter();
        let has_lines = before_it.rev().any(|event| event.by_length.is_some());
        let prediction = |flip: &Flip| {
            if flip.is_guess() {
                Prediction::Nothing
            } else if flip.is_unpredicted() {
                Prediction::Before(before)
            } else if is_by_length || is_length_alone(&flip.changes, channels) {
                between
            } else {
                Prediction::Outcome
            }
        };
        let pending = |flip: &Flip| PendingFlip {
            capsule: self.capsule.clone(),
            channels: channels.clone(),
            alteration: Alteration::of(flip, channels),
            outcome: flip.outcome(SiteId(site)),
            node: guessed(flip).unwrap_or_else(|| trail.way(site, flip.choice)),
            prediction: prediction(flip),
            point: self.point.unwrap_or(event),
            depth,
            leaves: self.number.map(|number| (number, fork)),
            staleness: self.staleness,
            moves_lines: has_lines && changes_whole(&flip.changes, channels),
            is_about_refused: false,
        };
        flips.iter().map(pending).collect()
    }

    /// How many forks right before an event contents do not decide: by a length alone, or in one way whatever a byte is,
    /// as long as it is there (`c != EOF`).
    fn forks_on_lengths(&self, event: usize) -> usize {
        let is_on_length = |fork: &&Event| {
            let constant = fork.condition.and_then(|it| self.terms.as_constant(it));
            fork.by_length.is_some() || fork.implied.is_some() || constant.is_some()
        };
        let before = self.path.events[..event].iter().rev();
        let forks = before.filter(|event| is_fork(event));
        forks.take_while(is_on_length).count()
    }
}

/// The name of a hint that is followed off the path. Nothing of the path is predicted, so it is tried once wherever
/// it is met.
fn guessed(flip: &Flip) -> Option<Node> {
    let site = flip.hinted_at.filter(|_| flip.is_guess())?;
    let mut hasher = SipHasher13::new();
    site.0.hash(&mut hasher);
    flip.word.hash(&mut hasher);
    flip.changes
        .iter()
        .for_each(|change| change.hash(&mut hasher));
    Some(Node(hasher.finish()))
}

impl NewPath {
    /// The path brought something new: what leaves it comes before what leaves others.
    pub fn mark_fresh(&mut self, derived: &mut [DerivedPath]) {
        derived[self.number].staleness = 0;
        let flips = self.flips.iter_mut().chain(&mut self.refused);
        flips.for_each(|flip| flip.staleness = 0);
    }
}

impl DerivedPath {
    /// Whether all its forks were asked about.
    pub fn is_done(&self) -> bool {
        self.asked >= self.forks
    }

    /// Takes in what became of forks behind those that were asked; gives the flips that leave the
    /// path there. `wanted` is how many feasible ones were asked for.
    pub fn record_flips(
        &mut self,
        parent: &ParentPath,
        analysis: &Analysis,
        wanted: u32,
    ) -> Vec<PendingFlip> {
        let mut flips = Vec::new();
        let before = self.feasible;
        if let Some(last) = analysis.forks.last() {
            let passed = parent.path.events[..=last.event].iter();
            self.asked = passed.filter(|event| is_fork(event)).count();
        }
        if let Some(first) = analysis.forks.iter().find(|fork| fork.is_hard) {
            let before = parent.path.events[..first.event].iter();
            let number = before.filter(|event| is_fork(event)).count();
            self.hard = Some(self.hard.map_or(number, |hard| hard.min(number)));
        }
        for fork in analysis.forks.iter().filter(|fork| !fork.flips.is_empty()) {
            flips.extend(parent.flips(fork, self.depth + self.feasible + 1));
            self.feasible += u32::from(fork.counts && fork.is_feasible());
        }
        if !analysis.stopped && self.feasible - before < wanted {
            // The walk came to the end of the path.
            self.asked = self.forks;
        }
        flips
    }

    /// The flips of forks about the byte at which the path was refused.
    fn flips_of_refused(&self, parent: &ParentPath, analysis: &Analysis) -> Vec<PendingFlip> {
        let forks = analysis.besides.iter();
        let flips = forks.flat_map(|fork| parent.flips(fork, self.depth + 1));
        let flips = flips.map(|flip| PendingFlip {
            is_about_refused: true,
            ..flip
        });
        flips.collect()
    }
}

/// The number of the event that is fork `number` of a path, or of its end.
pub fn event_of_fork(path: &RecordedPath, number: usize) -> usize {
    let mut forks = path.events.iter().enumerate();
    let mut forks = forks.by_ref().filter(|(_, event)| is_fork(event));
    forks
        .nth(number)
        .map_or(path.events.len(), |(event, _)| event)
}

impl Work<'_, '_> {
    /// Makes the run of a flip, and looks at its path; `None` if there is nothing new.
    pub(super) fn run_flip(
        &self,
        seed: &mut Seed,
        context: &Context,
        flip: &PendingFlip,
    ) -> Result<Option<NewPath>, EngineError> {
        if !self.explorer.known.add(flip.node) {
            return Ok(None);
        }
        seed.state.progress.sent.push(flip.node.0);
        let shared = self.explorer.shared;
        let directory = self.path_directory(seed);
        let (parent, channels) = (&flip.capsule, &flip.channels);
        let written = flip.alteration.write(parent, channels, &directory);
        let capsule = Arc::new(written.map_err(|error| shared.campaign.failed(error))?);
        let traced = self.record_derived(context.subject, &capsule, seed);
        let Some(mut traced) = traced else {
            seed.state.progress.is_incomplete |= flip.is_predicted();
            let _ = fs::remove_dir_all(&directory);
            return Ok(None);
        };
        self.look_whether_it_ends(seed, context, &capsule, &traced, flip)?;
        let nodes = nodes(&traced.path, &context.subject.file, &seed.test.calls);
        let Some(forks) = self.place_of(seed, flip, &traced, &nodes) else {
            let _ = fs::remove_dir_all(&directory);
            return Ok(None);
        };
        // What was tried counts, too: a hint is none of a fork's own outcomes.
        let mut outcomes: Vec<Outcome> = outcomes_of(&traced.path).collect();
        locked(&self.explorer.beyond).extend(&outcomes);
        if !outcomes.contains(&flip.outcome) {
            outcomes.push(flip.outcome);
        }
        let number = seed.state.progress.derived.len();
        let mut derived = DerivedPath {
            directory,
            point: flip.point,
            outcome: flip.outcome,
            depth: flip.depth,
            forks: nodes.len() - 1,
            asked: forks,
            feasible: 0,
            hard: None,
            staleness: flip.staleness.saturating_add(1),
        };
        let analysis = self.look_at(seed, context, &capsule, &mut traced, &derived)?;
        let parent = ParentPath {
            capsule,
            path: &traced.path,
            terms: &traced.terms,
            nodes: &nodes,
            point: Some(flip.point),
            number: Some(number),
            staleness: derived.staleness,
        };
        let wanted = context.extent.feasible(flip.depth);
        let flips = derived.record_flips(&parent, &analysis, wanted);
        let refused = derived.flips_of_refused(&parent, &analysis);
        seed.state.progress.derived.push(derived);
        Ok(Some(NewPath {
            number,
            outcomes,
            flips,
            refused,
        }))
    }

    /// Behind how many of its forks a run is new; `None` if it is not looked at. Counts what became
    /// of its prediction.
    fn place_of(
        &self,
        seed: &mut Seed,
        flip: &PendingFlip,
        traced: &Traced,
        nodes: &[Node],
    ) -> Option<usize> {
        // Forks that say that an input is long enough are not the same in all runs.
        let reached = flip.reached(nodes);
        let as_predicted = reached.is_some();
        let forks = reached.unwrap_or_else(|| self.first_new_fork(nodes) + 1);
        let is_new = self.explorer.known.add_all(nodes.iter().copied());
        // What does not end is not looked at: where it was killed says nothing.
        let has_ended = traced.exceeded.is_none();
        let is_predicted = flip.is_predicted();
        let is_looked_at = (is_new || as_predicted || !is_predicted) && has_ended;
        let mut figures = locked(&self.explorer.figures);
        let exploration = &mut figures.exploration;
        // That an end of input cuts a line, or is part of its last one, is understood; the path stays incomplete.
        let is_divergence = is_predicted && !as_predicted && !flip.moves_lines;
        exploration.divergences += u64::from(is_divergence);
        exploration.unended += u64::from(!has_ended);
        exploration.known += u64::from(is_predicted && !is_new && !as_predicted);
        // A guess is looked at on a known path too: what depends on a byte may be no part of the path.
        let is_counted = is_looked_at && (is_new || is_predicted);
        exploration.paths += u64::from(is_counted);
        seed.state.progress.is_incomplete |= is_predicted && (!as_predicted || !has_ended);
        if is_counted {
            self.worker.count_path();
            seed.state.paths += 1;
        }
        is_looked_at.then_some(forks)
    }

    /// The fork behind which a path is one that no run has taken.
    fn first_new_fork(&self, nodes: &[Node]) -> usize {
        let is_new = |node: &Node| !self.explorer.known.has(*node);
        let first = nodes.iter().position(is_new).unwrap_or(nodes.len());
        first.saturating_sub(1)
    }

    /// A new directory for a derived path.
    fn path_directory(&self, seed: &Seed) -> PathBuf {
        let number = seed.state.progress.sent.len();
        let paths = self.explorer.shared.work.paths(seed.state.digest);
        paths.join(number.to_string())
    }

    /// Records a run on an invented input; `None` if that cannot be done.
    pub(super) fn record_derived(
        &self,
        subject: &Subject,
        capsule: &Capsule,
        seed: &Seed,
    ) -> Option<Traced> {
        let time = Duration::from_secs_f64(seed.state.recorded_seconds);
        let limits = tight_limits(self.explorer.shared.config, time);
        let mut executor = self.worker.executor(subject, Origin::Invented, limits);
        executor.run(capsule).ok()
    }

    /// Asks the checks of a derived path behind the fork where it is new, and as many forks as the
    /// context wants; judges what can fail, and what its own input does.
    fn look_at(
        &self,
        seed: &mut Seed,
        context: &Context,
        capsule: &Capsule,
        traced: &mut Traced,
        derived: &DerivedPath,
    ) -> Result<Analysis, EngineError> {
        let shared = self.explorer.shared;
        let from = match derived.asked.checked_sub(1) {
            Some(last) => event_of_fork(&traced.path, last).saturating_add(1),
            None => 0,
        };
        // A maximum of the distance is one of the whole exploration.
        let besides = match shared.config.distance {
            Some(_) => BTreeSet::new(),
            None => refused::forks(&traced.terms, &traced.path, from),
        };
        let task = Task {
            checks_from: Some(from),
            forks: Forks::First {
                from,
                feasible: context.extent.feasible(derived.depth),
                besides,
            },
            fork_time: self.fork_time(seed),
        };
        let analysis = (self.worker).analyse(traced, context.subject, &task, self.deadline);
        let limits = tight_limits(shared.config, traced.time);
        let complaints = (self.worker).judge(context.subject, capsule, &limits, self.deadline);
        let case = Case {
            test: &seed.test,
            own: context.own,
            capsule,
            path: &traced.path,
            distance: context.extent.distance(derived.depth),
        };
        let baseline = seed.baseline.as_deref().unwrap_or_default();
        let known = Known {
            baseline,
            found: &seed.state.found,
            everywhere: &self.explorer.defects,
        };
        let mut confirmer = Confirmer::new(self.trials(context.subject, limits), case, known);
        confirmer.tell_own(&complaints.unwrap_or_default())?;
        confirmer.confirm(&analysis)?;
        let (found, divergences) = (std::mem::take(&mut confirmer.found), confirmer.divergences);
        self.add(&found)?;
        defects::take_in(&mut seed.state.found, found);
        self.count(seed, &analysis);
        let sites = &context.subject.program.sites;
        let is_decided = !analysis.stopped && analysis.checks.undecided == 0;
        let is_checked = is_decided && analysis.unchosen == 0;
        seed.state.progress.is_incomplete |= !is_checked || !is_whole(&traced.path, sites);
        locked(&self.explorer.figures).exploration.divergences += divergences;
        Ok(analysis)
    }

    /// Counts what a walk over a path of a test found out.
    pub(super) fn count(&self, seed: &mut Seed, analysis: &Analysis) {
        let mut figures = locked(&self.explorer.figures);
        figures.statistics.merge(&analysis.statistics);
        let progress = &mut seed.state.progress;
        let is_postponed = |fork: &&Settled| fork.is_hard && !progress.is_patient;
        let (postponed, decided): (Vec<_>, Vec<_>) = analysis.forks.iter().partition(is_postponed);
        figures.count_forks(&decided);
        progress.is_incomplete |= decided.iter().any(|fork| !fork.known);
        progress.postponed += postponed.len() as u64;
    }
}
