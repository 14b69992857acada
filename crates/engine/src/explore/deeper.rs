//! The stage of derived paths: each is a starting point of its own.
//!
//! ```text
//!  pool   flips that leave derived paths, and derived paths with forks that were not asked about
//!   └─►   a rule chooses ──► run ──► one more derived path ──► its first feasible forks are flips …
//! ```
//!
//! A fork belongs to the path on which it was met first: what lies before the fork by which a path was
//! derived is the business of the path that it left. So every alternative is decided once.

use std::sync::Arc;

use nearmiss_campaign::capsule::Capsule;
use nearmiss_search::strategy::{Item, Nearest, NewOutcome, Newest, Outcome, Random, Rarest, Rule};
use nearmiss_search::{Mix, Strategy};

use super::Work;
use super::derived::{Context, DerivedPath, Extent, ParentPath, PendingFlip, event_of_fork};
use super::seed::Seed;
use super::tree::nodes;
use crate::analyse::{Forks, Task};
use crate::error::EngineError;

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
        // What no run has done, the deepest, the nearest to the test, what few have done, and anything.
        let rules: Vec<Box<dyn Rule<Lead>>> = vec![
            Box::new(NewOutcome),
            Box::new(Newest),
            Box::new(Nearest),
            Box::new(Rarest),
            Box::<Random>::default(),
        ];
        Pool {
            leads: Mix::new(rules),
            next_path: 0,
        }
    }
}

impl Pool {
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.leads.is_empty()
    }

    /// A run had these outcomes.
    pub fn observe(&mut self, outcomes: &mut dyn Iterator<Item = Outcome>) {
        self.leads.observe(outcomes);
    }

    /// The derived paths that waiting flips leave, and the forks at which they do.
    pub fn waiting(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let leads = self.leads.items().iter();
        leads.filter_map(|lead| match lead {
            Lead::Flip(flip) => flip.leaves,
            Lead::Path { .. } => None,
        })
    }

    fn add_flips(&mut self, flips: Vec<PendingFlip>) {
        for flip in flips {
            self.leads.add(Lead::Flip(Box::new(flip)));
        }
    }

    /// Puts in a derived path, if there is more to be asked about it.
    fn add_path(&mut self, derived: &[DerivedPath], number: usize) {
        let path = &derived[number];
        if !path.is_done() {
            self.leads.add(Lead::Path {
                number,
                outcome: path.outcome,
                depth: path.depth,
            });
        }
    }

    /// Puts in the paths that were derived since it was done last.
    fn add_new_paths(&mut self, derived: &[DerivedPath]) {
        for number in self.next_path..derived.len() {
            self.add_path(derived, number);
        }
        self.next_path = derived.len();
    }
}

impl Work<'_, '_> {
    /// Works off the pool until it is empty or the unit's time is over.
    pub(super) fn deeper(&self, seed: &mut Seed) -> Result<(), EngineError> {
        let capsule = &seed.test.capsule;
        let subjects = &self.explorer.subjects;
        let Ok(subject) = subjects.get(&capsule.program, &capsule.environment) else {
            return Ok(());
        };
        if seed.memory.channels.is_none() {
            self.own_route(seed, &subject);
        }
        let Some(own) = seed.memory.channels.clone() else {
            return Ok(());
        };
        let context = |extent: u32| Context {
            subject: &subject,
            own: &own,
            extent: Extent::Feasible(extent),
        };
        let Seed { state, memory, .. } = &mut *seed;
        memory.pool.add_new_paths(&state.progress.derived);
        while !self.is_over() {
            let Some(lead) = seed.memory.pool.leads.next() else {
                break;
            };
            let is_full = seed.memory.pool.leads.len() >= FULL_POOL;
            let context = context(if is_full { 0 } else { FEASIBLE_AT_ONCE });
            let flips = match lead {
                Lead::Flip(flip) => match self.run_flip(seed, &context, *flip)? {
                    Some((_, flips)) => flips,
                    None => continue,
                },
                Lead::Path { number, .. } => self.ask_more(seed, &context, number),
            };
            let Seed { state, memory, .. } = &mut *seed;
            memory.pool.add_flips(flips);
            memory.pool.add_new_paths(&state.progress.derived);
        }
        self.save_deeper(seed)
    }

    /// Asks a derived path for more flips.
    fn ask_more(&self, seed: &mut Seed, context: &Context, number: usize) -> Vec<PendingFlip> {
        let flips = self.flips_behind(seed, context, number, FEASIBLE_AT_ONCE);
        let Seed { state, memory, .. } = seed;
        if flips.is_none() {
            // It cannot be run again: what lies behind is lost.
            state.progress.is_incomplete = true;
            let path = &mut state.progress.derived[number];
            path.asked = path.forks;
        }
        memory.pool.add_path(&state.progress.derived, number);
        flips.unwrap_or_default()
    }

    /// The flips of the next feasible forks of a derived path that were not asked about yet; `None`
    /// if it cannot be recorded again.
    pub(super) fn flips_behind(
        &self,
        seed: &mut Seed,
        context: &Context,
        number: usize,
        wanted: u32,
    ) -> Option<Vec<PendingFlip>> {
        let path = &seed.state.progress.derived[number];
        let (point, asked) = (path.point, path.asked);
        let capsule = Capsule::read(&path.directory).ok()?;
        let mut traced = self.record_derived(context.subject, &capsule, seed)?;
        let task = Task {
            checks_from: None,
            forks: Forks::First {
                from: event_of_fork(&traced.path, asked),
                feasible: wanted,
            },
        };
        let analysis = (self.lab).analyse(&mut traced, context.subject, &task, self.deadline);
        self.count(seed, &analysis);
        let nodes = nodes(&traced.path, &context.subject.file);
        let parent = ParentPath {
            capsule: Arc::new(capsule),
            path: &traced.path,
            nodes: &nodes,
            point: Some(point),
            number: Some(number),
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
