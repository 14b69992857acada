//! The exploration of a campaign: all tests at distance 0, then all at distance 1, and so on.
//!
//! ```text
//!  D = 0   each test's own path: every check asked
//!  D = 1…  divergence points at distance D of a sensitive operation, deepest first ──► new inputs ──► run
//!          ──► new paths: every check asked, explored on up to 2·D forks from the divergence point
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | this one | the order of the work: distances, tests, threads, time |
//! | [`own_path`] | a test at distance 0 |
//! | [`neighbours`] | a test at another distance |
//! | [`offshoot`] | one new path |
//! | [`state`] | what is known of a test, and kept between two calls |
//!
//! A unit of work is one test at one distance; units run on several threads. Each has a share
//! of the time that is left, so that no test keeps the others from being looked at.

mod neighbours;
mod offshoot;
mod own_path;
mod state;

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_campaign::test_case::TestCase;
use nearmiss_results::{DistanceFigures, EndReason, Exploration, Finding};
use nearmiss_search::{Known, Node, Trail};
use nearmiss_solve::Statistics;
use nearmiss_trace::{Channel, Event, RecordedPath};
use siphasher::sip::SipHasher13;

use crate::defects::{Defects, Found};
use crate::error::EngineError;
use crate::lab::{Bench, Lab};
use crate::subject::Subjects;

pub use state::{Slot, Standing};

/// No unit gets less than this.
const LEAST_SHARE: Duration = Duration::from_millis(500);
/// How often units that did not come to their end are taken up again at the same distance. Most
/// need far less than their fair share of the time; what they leave is for the others.
const ROUNDS: u32 = 3;

/// What all units share.
pub struct Explorer<'a> {
    bench: &'a Bench<'a>,
    /// The programs.
    pub subjects: Subjects,
    /// The nodes of the execution trees.
    known: Known,
    /// Which test was the first of those that need to be looked at once, by their [`sameness`].
    first_there: Mutex<HashMap<u64, usize>>,
    /// What was found.
    defects: Mutex<Defects>,
    /// What was done.
    figures: Mutex<Figures>,
    /// The end of the time.
    deadline: Instant,
}

/// What was done, added up over all units.
#[derive(Debug, Default)]
struct Figures {
    exploration: Exploration,
    statistics: Statistics,
    failure: Option<EngineError>,
}

/// What became of a campaign.
#[derive(Debug)]
pub struct Explored {
    /// The tests, in their order.
    pub slots: Vec<Slot>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What was done besides the tests' own paths.
    pub exploration: Exploration,
    /// What the solver did.
    pub statistics: Statistics,
}

impl<'a> Explorer<'a> {
    /// Nothing explored yet.
    pub fn new(bench: &'a Bench<'a>, deadline: Instant) -> Explorer<'a> {
        Explorer {
            bench,
            subjects: Subjects::default(),
            known: Known::default(),
            first_there: Mutex::default(),
            defects: Mutex::new(Defects::new(&bench.config.directory)),
            figures: Mutex::default(),
            deadline,
        }
    }

    /// Explores all tests, distance by distance. `save` is called whenever there is something
    /// new to report.
    pub fn explore(
        &self,
        tests: Vec<TestCase>,
        save: &(dyn Fn(Vec<Finding>) + Sync),
    ) -> Result<Explored, EngineError> {
        let slots: Vec<Mutex<Slot>> = tests.into_iter().map(Slot::new).map(Mutex::new).collect();
        self.bench.tally.tests.set(slots.len() as u64);
        let most = self.bench.config.distance.unwrap_or(u32::MAX);
        let mut ended = EndReason::Distance;
        for distance in 0..=most {
            self.pass(distance, &slots, save)?;
            if self.bench.is_over(self.deadline) {
                ended = self.why_over();
                break;
            }
            if slots.iter().all(|slot| locked(slot).is_exhausted(distance)) {
                let is_stuck = |slot: &Mutex<Slot>| locked(slot).stuck.is_some();
                ended = match slots.iter().any(is_stuck) {
                    true => EndReason::AnotherPath,
                    false => EndReason::Explored,
                };
                break;
            }
        }
        let Figures {
            mut exploration,
            statistics,
            ..
        } = std::mem::take(&mut *locked(&self.figures));
        exploration.ended = ended;
        exploration.runs = self.bench.tally.runs.get();
        let slots: Vec<Slot> = slots
            .into_iter()
            .map(|slot| slot.into_inner().expect("no thread panics"))
            .collect();
        let mut defects = locked(&self.defects);
        for slot in &slots {
            if let Standing::SamePath(first) = slot.standing {
                defects.share(&slots[first].test.id, &slot.test.id);
            }
        }
        Ok(Explored {
            findings: defects.findings(),
            slots,
            exploration,
            statistics,
        })
    }

    /// Removes what is kept of tests that are none of these, once all of these are known.
    pub fn forget_others(&self, slots: &[Slot]) -> Result<(), EngineError> {
        let campaign = self.bench.campaign;
        campaign.clean_inputs()?;
        if slots.iter().any(|slot| slot.standing == Standing::Waiting) {
            return Ok(());
        }
        let active = slots.iter().filter(|slot| slot.is_active());
        let digests: Vec<u64> = active.map(|slot| slot.state.digest).collect();
        let cleaned = self.bench.work.keep_only(&digests);
        Ok(cleaned.map_err(|error| campaign.failed(error))?)
    }

    fn why_over(&self) -> EndReason {
        let config = self.bench.config;
        let is_spent = config
            .runs
            .is_some_and(|most| self.bench.tally.runs.get() >= most);
        match (config.is_stopped(), is_spent) {
            (true, _) => EndReason::Interrupted,
            (_, true) => EndReason::Runs,
            _ => EndReason::Time,
        }
    }

    /// All tests at one distance.
    fn pass(
        &self,
        distance: u32,
        slots: &[Mutex<Slot>],
        save: &(dyn Fn(Vec<Finding>) + Sync),
    ) -> Result<(), EngineError> {
        let tally = self.bench.tally;
        tally.distance.store(distance, Ordering::Relaxed);
        tally.tests_done.set(0);
        let before = (tally.runs.get(), tally.paths.get(), tally.checks.get());
        let (findings, start) = (locked(&self.defects).len(), Instant::now());
        let end = self.end_of(distance);
        for _ in 0..ROUNDS {
            let is_open = |number: &usize| !locked(&slots[*number]).is_finished(distance);
            let open: Vec<usize> = in_turn(slots).into_iter().filter(is_open).collect();
            if open.is_empty() || self.bench.is_over(end) {
                break;
            }
            tally.tests_done.set((slots.len() - open.len()) as u64);
            self.round(distance, slots, &open, end, save);
        }
        let done = |slot: &&Mutex<Slot>| locked(slot).is_finished(distance);
        let finished = slots.iter().filter(done).count() as u64;
        let mut figures = locked(&self.figures);
        if let Some(failure) = figures.failure.take() {
            return Err(failure);
        }
        let exploration = &mut figures.exploration;
        exploration.distances.push(DistanceFigures {
            distance,
            finished,
            unfinished: slots.len() as u64 - finished,
            runs: tally.runs.get() - before.0,
            paths: tally.paths.get() - before.1,
            checks: tally.checks.get() - before.2,
            findings: (locked(&self.defects).len() - findings) as u64,
            seconds: start.elapsed().as_secs_f64(),
        });
        let is_next = exploration.finished == distance.checked_sub(1);
        if finished == slots.len() as u64 && is_next {
            exploration.finished = Some(distance);
        }
        Ok(())
    }

    /// When a distance must leave the time to others. The tests' own paths get half of it: what lies
    /// beside them is looked at even where they cannot be finished.
    fn end_of(&self, distance: u32) -> Instant {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match (distance, self.bench.config.distance) {
            (0, most) if most != Some(0) => self.deadline - left / 2,
            _ => self.deadline,
        }
    }

    /// All units that are open at a distance, on several threads.
    fn round(
        &self,
        distance: u32,
        slots: &[Mutex<Slot>],
        open: &[usize],
        end: Instant,
        save: &(dyn Fn(Vec<Finding>) + Sync),
    ) {
        let next = AtomicUsize::new(0);
        let jobs = self.bench.config.jobs.clamp(1, open.len().max(1));
        let work = |thread: usize| {
            let lab = Lab::new(self.bench, thread);
            loop {
                let position = next.fetch_add(1, Ordering::Relaxed);
                let Some(&number) = open.get(position) else {
                    return;
                };
                if self.bench.is_over(end) {
                    return;
                }
                let before = locked(&self.defects).len();
                let unit = Unit {
                    explorer: self,
                    lab: &lab,
                    distance,
                    deadline: Instant::now() + self.share(open.len() - position, end),
                };
                if let Err(error) = unit.work(number, &mut locked(&slots[number])) {
                    next.store(open.len(), Ordering::Relaxed);
                    locked(&self.figures).failure.get_or_insert(error);
                }
                let defects = locked(&self.defects);
                if defects.len() > before {
                    save(defects.findings());
                }
                self.bench.tally.tests_done.add(1);
            }
        };
        std::thread::scope(|scope| {
            for thread in 0..jobs {
                let work = &work;
                scope.spawn(move || work(thread));
            }
        });
    }

    /// The time for a unit when so many are left.
    fn share(&self, units: usize, end: Instant) -> Duration {
        let left = end.saturating_duration_since(Instant::now());
        let jobs = self.bench.config.jobs as u32;
        let fair = left * jobs / (units as u32).max(1);
        fair.clamp(LEAST_SHARE, left.max(LEAST_SHARE))
    }

    fn add(&self, found: &[Found]) -> Result<(), EngineError> {
        let campaign = self.bench.campaign;
        let mut defects = locked(&self.defects);
        for one in found {
            let added = defects.add(one, &campaign.inputs());
            let is_new = added.map_err(|error| campaign.failed(error))?;
            self.bench.tally.findings.add(u64::from(is_new));
        }
        Ok(())
    }
}

/// The numbers of the tests in the order in which they are looked at: of each program one, then of
/// each another, so that all programs have their turn where time is short.
fn in_turn(slots: &[Mutex<Slot>]) -> Vec<usize> {
    let mut turns: HashMap<PathBuf, usize> = HashMap::new();
    let mut order: Vec<(usize, usize)> = Vec::new();
    for (number, slot) in slots.iter().enumerate() {
        let turn = turns
            .entry(locked(slot).test.capsule.program.clone())
            .or_default();
        order.push((*turn, number));
        *turn += 1;
    }
    order.sort_unstable();
    order.into_iter().map(|(_, number)| number).collect()
}

/// One test at one distance.
struct Unit<'u, 'a> {
    explorer: &'u Explorer<'a>,
    lab: &'u Lab<'u>,
    distance: u32,
    deadline: Instant,
}

impl Unit<'_, '_> {
    fn work(&self, number: usize, slot: &mut Slot) -> Result<(), EngineError> {
        let start = Instant::now();
        match self.distance {
            0 => self.own_path(number, slot)?,
            _ if !slot.is_active() => {}
            distance if slot.is_finished(distance) => {}
            _ => self.neighbours(slot)?,
        }
        slot.state.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.explorer.bench.is_over(self.deadline)
    }
}

/// Whether an event is a fork: a decision on input data.
fn is_fork(event: &Event) -> bool {
    event.is_decision()
}

/// The nodes of the execution tree along a path: the root, then one for each fork. That an input
/// is long enough is no part of a path's name.
fn nodes(path: &RecordedPath, program: &std::path::Path) -> Vec<Node> {
    let mut trail = Trail::root(shape(path, program));
    let mut nodes = vec![trail.node()];
    for event in path.events.iter().filter(|event| is_fork(event)) {
        nodes.push(match event.implied.is_some() {
            true => trail.node(),
            false => trail.go(event.site.0, event.choice),
        });
    }
    nodes
}

/// What two executions must have in common for their forks to be comparable: the program, and its
/// arguments but for what is in them. Whether two have the same files shows only later.
fn shape(path: &RecordedPath, program: &std::path::Path) -> u64 {
    let mut hasher = SipHasher13::new();
    program.hash(&mut hasher);
    let is_argument = |one: &&Channel| one.kind == ChannelKind::Argument;
    path.channels
        .iter()
        .filter(is_argument)
        .count()
        .hash(&mut hasher);
    hasher.finish()
}

/// What two tests must have in common for one of them to be enough: the end of their paths, and
/// how large their inputs are. The same path with a larger input may do more on concrete data.
fn sameness(path: &RecordedPath, end: Node) -> u64 {
    let mut hasher = SipHasher13::new();
    (end.0, path.events.len()).hash(&mut hasher);
    for channel in path.channels.iter().filter(|one| one.piece.is_none()) {
        (channel.kind as u8, channel.index, channel.content.len()).hash(&mut hasher);
    }
    hasher.finish()
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics")
}
