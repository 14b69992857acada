//! The stage of derived paths: each is a starting point of its own.
//!
//! ```text
//!  pool   flips that leave derived paths, and derived paths with forks that were not asked about
//!   └─►   a rule chooses ──► run ──► one more derived path ──► its first feasible forks are flips …
//! ```
//!
//! A fork belongs to the path on which it was met first: what lies before the fork by which a path was
//! derived is the business of the path that it left. So every alternative is decided once.

use std::collections::BTreeSet;
use std::sync::Arc;

use nearmiss_abi::event::EventKind;
use nearmiss_campaign::capsule::Capsule;
use nearmiss_search::strategy::{Item, Outcome, RuleName, SharedOutcomes, Unseen};
use nearmiss_search::{Explore, Mix, Next, Strategy, Visited, next_arrival};
use nearmiss_trace::{Channel, Event};

use super::Work;
use super::derived::{Context, DerivedPath, Extent, ParentPath, PendingFlip, event_of_fork};
use super::seed::{Seed, Values};
use super::tree::nodes;
use super::values;
use crate::analyse::{Forks, Task};
use crate::error::EngineError;
use crate::subject::Subject;

/// Feasible forks that are asked for on a path at a time: its run is known to be worth the queries
/// only by what comes of the first ones.
const FEASIBLE_AT_ONCE: u32 = 8;
/// With so many flips in the pool no path is asked for more: they would only wait, each with its input.
const FULL_POOL: usize = 4096;

/// What can be done next.
#[derive(Debug)]
enum Lead {
    /// A flip is run.
    Flip(Box<PendingFlip>),
    /// A derived path with this number is asked for more flips.
    Path {
        number: usize,
        outcome: Outcome,
        depth: u32,
        staleness: u32,
    },
}

impl Item for Lead {
    fn outcome(&self) -> Outcome {
        match self {
            Lead::Flip(flip) => flip.outcome,
            Lead::Path { outcome, .. } => *outcome,
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Lead::Flip(flip) => flip.depth,
            Lead::Path { depth, .. } => *depth,
        }
    }

    fn staleness(&self) -> u32 {
        match self {
            Lead::Flip(flip) => flip.staleness,
            Lead::Path { staleness, .. } => *staleness,
        }
    }

    fn is_about_refused(&self) -> bool {
        matches!(self, Lead::Flip(flip) if flip.is_about_refused)
    }
}

/// The worklist of one test.
#[derive(Debug)]
pub struct Pool {
    leads: Mix<Lead>,
    /// Derived paths from this number on were not put into it.
    next_path: usize,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::new(&[], SharedOutcomes::default())
    }
}

impl Pool {
    /// An empty one, on which these rules take turns. What runs for other tests had is not new to it.
    pub fn new(rules: &[RuleName], outcomes: SharedOutcomes) -> Pool {
        Pool {
            leads: Mix::new(rules.iter().map(|rule| rule.rule()).collect(), outcomes),
            next_path: 0,
        }
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.leads.is_empty()
    }

    /// Puts in runs that wait for the stage of derived paths: those of which nothing is predicted, for one.
    pub fn add(&mut self, flips: Vec<PendingFlip>) {
        add_flips(&mut self.leads, flips);
    }

    /// Takes out the flips that belong to a divergence point, up to so many forks behind it: its distance has its turn.
    pub fn take_near(&mut self, point: usize, bound: u32) -> Vec<PendingFlip> {
        let is_near = |lead: &mut Lead| matches!(lead, Lead::Flip(flip) if flip.point == point && flip.depth <= bound && flip.is_predicted());
        let near = self.leads.take(is_near).into_iter();
        near.filter_map(|lead| match lead {
            Lead::Flip(flip) => Some(*flip),
            Lead::Path { .. } => None,
        })
        .collect()
    }

    /// Whether the other way at a branch is one that no run has gone. Which ways there are at a switch is known only once it is
    /// asked about.
    pub fn may_be_unseen(&self, fork: &Event) -> bool {
        let other = 1u64.wrapping_sub(fork.choice);
        fork.kind != EventKind::Branch || self.leads.is_unseen((fork.site.0, other))
    }

    /// A run had these outcomes; see [`Strategy::observe`].
    pub fn observe(&mut self, outcomes: &mut dyn Iterator<Item = Outcome>) -> bool {
        self.leads.observe(outcomes)
    }

    /// The derived paths that waiting flips leave, and the forks at which they do.
    pub fn waiting(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let leads = self.leads.items().iter();
        leads.filter_map(|lead| match lead {
            Lead::Flip(flip) => flip.leaves,
            Lead::Path { .. } => None,
        })
    }

    /// The next time all derived paths are put in about which there is more to be asked.
    pub fn begin_again(&mut self) {
        self.next_path = 0;
    }

    /// Puts in the paths that were derived since it was done last.
    fn add_new_paths(&mut self, derived: &[DerivedPath]) {
        for number in self.next_path..derived.len() {
            add_path(&mut self.leads, derived, number);
        }
        self.next_path = derived.len();
    }
}

/// Puts in a derived path, if there is more to be asked about it.
fn add_path(leads: &mut dyn Strategy<Lead>, derived: &[DerivedPath], number: usize) {
    let path = &derived[number];
    if !path.is_done() {
        leads.add(Lead::Path {
            number,
            outcome: path.outcome,
            depth: path.depth,
            staleness: path.staleness,
        });
    }
}

/// The first flip of a fork is to be the newest.
fn add_flips(leads: &mut dyn Strategy<Lead>, flips: Vec<PendingFlip>) {
    for flip in flips.into_iter().rev() {
        leads.add(Lead::Flip(Box::new(flip)));
    }
}

/// Explores the leads of one test.
struct Deeper<'d, 'u, 'a> {
    work: &'d Work<'u, 'a>,
    seed: &'d mut Seed,
    subject: &'d Subject,
    /// The test's own input.
    own: &'d [Channel],
}

impl Deeper<'_, '_, '_> {
    /// Runs a flip; gives the number of the path that it took, if that is new.
    fn run_flip(
        &mut self,
        flip: &PendingFlip,
        leads: &mut dyn Strategy<Lead>,
    ) -> Result<Option<usize>, EngineError> {
        let is_full = leads.len() >= FULL_POOL;
        let context = Context {
            subject: self.subject,
            own: self.own,
            extent: Extent::Feasible(if is_full { 0 } else { FEASIBLE_AT_ONCE }),
        };
        let Some(mut new) = self.work.run_flip(self.seed, &context, flip)? else {
            return Ok(None);
        };
        let outcomes = std::mem::take(&mut new.outcomes);
        if leads.observe(&mut outcomes.into_iter()) {
            new.mark_fresh(&mut self.seed.state.progress.derived);
        }
        add_flips(leads, new.flips);
        add_flips(leads, new.refused);
        add_path(leads, &self.seed.state.progress.derived, new.number);
        Ok(Some(new.number))
    }

    /// Asks a derived path for more flips.
    fn ask_more(&mut self, number: usize, leads: &mut dyn Strategy<Lead>) {
        let (work, subject) = (self.work, self.subject);
        let flips = work.flips_behind(self.seed, subject, number, FEASIBLE_AT_ONCE);
        let progress = &mut self.seed.state.progress;
        if flips.is_none() {
            // It cannot be run again: what lies behind is lost.
            progress.is_incomplete = true;
            let path = &mut progress.derived[number];
            path.asked = path.forks;
        }
        add_path(leads, &progress.derived, number);
        add_flips(leads, flips.unwrap_or_default());
    }
}

impl Explore<Lead> for Deeper<'_, '_, '_> {
    /// The number of a derived path.
    type Arrival = usize;
    type Error = EngineError;

    fn is_over(&self) -> bool {
        self.work.is_over()
    }

    fn explore(
        &mut self,
        lead: &Lead,
        leads: &mut dyn Strategy<Lead>,
    ) -> Result<Visited<usize>, EngineError> {
        let arrived = match lead {
            Lead::Flip(flip) => self.run_flip(flip, leads)?,
            Lead::Path { number, .. } => {
                self.ask_more(*number, leads);
                None
            }
        };
        Ok(arrived.map_or(Visited::Nothing, Visited::Arrived))
    }
}

impl Work<'_, '_> {
    /// Works off the pool until it is empty or the unit's time is over.
    pub(super) fn deeper(&self, seed: &mut Seed) -> Result<(), EngineError> {
        let Some((subject, own)) = self.begin_deeper(seed) else {
            return Ok(());
        };
        let mut pool = std::mem::take(&mut seed.memory.pool);
        pool.add_new_paths(&seed.state.progress.derived);
        add_flips(&mut pool.leads, self.far_flips(seed, &subject));
        if seed.memory.values == Values::Wanted {
            seed.memory.values = Values::Added;
            pool.add(values::flips(seed, &own));
        }
        self.work_off(seed, &subject, &own, &mut pool.leads)?;
        pool.next_path = seed.state.progress.derived.len();
        seed.memory.pool = pool;
        self.save_deeper(seed)
    }

    /// Makes runs for outcomes that no run had, until there are none or the unit's time is over.
    pub(super) fn unseen(&self, seed: &mut Seed) -> Result<(), EngineError> {
        let Some((subject, own)) = self.begin_deeper(seed) else {
            return Ok(());
        };
        loop {
            let flips = self.unseen_flips(seed, &subject);
            let is_last = flips.is_empty();
            let mut pool = std::mem::take(&mut seed.memory.pool);
            pool.add(flips);
            self.work_off(seed, &subject, &own, &mut pool.leads.by(Unseen))?;
            seed.memory.pool = pool;
            seed.memory.has_unseen = self.is_over();
            if is_last || self.is_over() {
                return self.save_deeper(seed);
            }
        }
    }

    /// What a unit of derived paths begins with: its program, and the test's own input.
    fn begin_deeper(&self, seed: &mut Seed) -> Option<(Arc<Subject>, Arc<Vec<Channel>>)> {
        let capsule = &seed.test.capsule;
        let subjects = &self.explorer.subjects;
        let subject = subjects.get(capsule).ok()?;
        if seed.memory.channels.is_none() {
            self.own_route(seed, &subject);
        }
        Some((subject, seed.memory.channels.clone()?))
    }

    fn work_off(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        own: &[Channel],
        leads: &mut dyn Strategy<Lead>,
    ) -> Result<(), EngineError> {
        let mut deeper = Deeper {
            work: self,
            seed,
            subject,
            own,
        };
        while let Next::Arrival(_) = next_arrival(&mut deeper, leads)? {}
        Ok(())
    }

    /// The flips of the next feasible forks of a derived path that were not asked about yet; `None`
    /// if it cannot be recorded again.
    pub(super) fn flips_behind(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        number: usize,
        wanted: u32,
    ) -> Option<Vec<PendingFlip>> {
        let path = &seed.state.progress.derived[number];
        let (point, asked) = (path.point, path.asked);
        let capsule = Capsule::read(&path.directory).ok()?;
        let mut traced = self.record_derived(subject, &capsule, seed)?;
        let task = Task {
            checks_from: None,
            forks: Forks::First {
                from: event_of_fork(&traced.path, asked),
                feasible: wanted,
                besides: BTreeSet::new(),
            },
            fork_time: self.fork_time(seed),
        };
        let analysis = (self.worker).analyse(&mut traced, subject, &task, self.deadline);
        self.count(seed, &analysis);
        let nodes = nodes(&traced.path, &subject.file, &seed.test.calls);
        let parent = ParentPath {
            capsule: Arc::new(capsule),
            path: &traced.path,
            terms: &traced.terms,
            nodes: &nodes,
            point: Some(point),
            number: Some(number),
            staleness: seed.state.progress.derived[number].staleness,
        };
        let path = &mut seed.state.progress.derived[number];
        Some(path.record_flips(&parent, &analysis, wanted))
    }

    /// Keeps what is known, as if the forks whose flips still wait had not been asked about.
    fn save_deeper(&self, seed: &mut Seed) -> Result<(), EngineError> {
        let now: Vec<usize> = (seed.state.progress.derived.iter())
            .map(|path| path.asked)
            .collect();
        for (number, fork) in seed.waiting() {
            let path = &mut seed.state.progress.derived[number];
            path.asked = path.asked.min(fork);
        }
        let saved = self.save(seed);
        for (path, asked) in seed.state.progress.derived.iter_mut().zip(now) {
            path.asked = asked;
        }
        saved
    }
}
