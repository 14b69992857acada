//! The exploration of a campaign: a worklist of units, each one stage of one seed.
//!
//! ```text
//!  seeds     the tests, and the paths that were derived from them
//!  stages    own path     every check asked, for all inputs of the path
//!            growth       what repeats in its input, repeated more often ──► runs of the twin
//!            unseen       calls of unit tests: forks whose other outcome no run had ──► flips ──► runs
//!            neighbours   divergence points at distance D of a sensitive operation ──► flips ──► runs
//!                         ──► derived paths, explored on up to 2·D forks from the divergence point
//!            deeper       derived paths become starting points, by a mix of rules, as long as there is time
//!  order     search::Schedule: all tests at one level before any is at the next
//!  executor  a capsule in the sandbox (worker);  judge: its twin (confirmer)
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | this one | the units, one after another, on several threads |
//! | [`order`] | which units there are, what follows from one, and its share of the time |
//! | [`own_path`] | the stage of a test's own path |
//! | [`grow`] | the stage of longer inputs |
//! | [`neighbours`] | the stage of one distance |
//! | [`deeper`] | the stage of derived paths |
//! | [`far`] | forks of a test's own path at any distance |
//! | [`derived`] | one derived path: its run, its checks, the flips that leave it |
//! | [`refused`] | where an input was refused, and by which forks |
//! | [`resume`] | which tests earlier calls came to |
//! | [`values`] | values of bytes that the path lost sight of |
//! | [`seed`] | what is known of a test, and kept between two calls |
//! | [`tree`] | a path's forks and nodes in the execution tree |
//! | [`figures`] | what was done, in numbers |

mod deeper;
mod derived;
mod endless;
mod far;
mod figures;
mod grow;
mod neighbours;
mod order;
mod own_path;
mod refused;
mod resume;
mod seed;
pub(crate) mod tree;
mod values;

use std::collections::{HashMap, HashSet};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use nearmiss_campaign::test_case::TestCase;
use nearmiss_results::{EndReason, Exploration, Finding};
use nearmiss_sandbox::Limits;
use nearmiss_search::strategy::{Outcome, SharedOutcomes};
use nearmiss_search::{Known, Schedule, Stage, Strategy, Unit};
use nearmiss_solve::Statistics;

use crate::defects::{Defects, Found};
use crate::error::EngineError;
use crate::subject::{Subject, Subjects};
use crate::trials::Trials;
use crate::worker::{Shared, Worker};
use figures::Figures;
use order::first_units;
use resume::Earlier;

pub use figures::Counts;
pub use seed::{Seed, Standing};

/// Of the time of a query, what one about a fork gets at first: one part in so many. Runs do not wait
/// for what is hard; it is asked again when nothing else is left.
const EASY_PART: u32 = 8;

/// Of a suite's time, what lies beside the tests' own paths has one part in so many at least: these come first. Of
/// a single test's time it has half.
const BESIDE: u32 = 8;

/// What all units share.
pub struct Explorer<'a> {
    shared: &'a Shared<'a>,
    /// The programs.
    pub subjects: Subjects,
    /// The nodes of the execution trees.
    known: Known,
    /// Which test was the first of those that need to be looked at once, by their [`tree::sameness`].
    first_there: Mutex<HashMap<u64, usize>>,
    /// Outcomes at the forks of the tests' own paths.
    outcomes: Mutex<HashSet<Outcome>>,
    /// Those of all other runs.
    beyond: Mutex<HashSet<Outcome>>,
    /// What has grown in the calls of unit tests ([`crate::growth::Parts::likeness`]).
    grown: Mutex<HashSet<u64>>,
    /// What was found.
    defects: Mutex<Defects>,
    /// What was done.
    figures: Mutex<Figures>,
    /// When the tests' own paths must leave the time to others: what lies beside them is looked at
    /// even where they cannot be finished.
    own_deadline: Instant,
    /// The end of the time.
    deadline: Instant,
}

/// What became of a campaign.
#[derive(Debug)]
pub struct Explored {
    /// The tests, in their order.
    pub seeds: Vec<Seed>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What was done besides the tests' own paths.
    pub exploration: Exploration,
    /// What the solver did.
    pub statistics: Statistics,
}

/// The worklist, and how many units of it are being worked on.
#[derive(Default)]
struct Queue {
    schedule: Schedule,
    busy: usize,
    failure: Option<EngineError>,
}

/// The queue, shared by all threads.
#[derive(Default)]
struct Worklist {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl<'a> Explorer<'a> {
    /// Nothing of so many tests explored yet.
    pub fn new(shared: &'a Shared<'a>, tests: usize, deadline: Instant) -> Explorer<'a> {
        let left = deadline.saturating_duration_since(Instant::now());
        let own_share = match shared.config.distance {
            Some(0) => left,
            _ if tests > 1 => left - left / BESIDE,
            _ => left / 2,
        };
        Explorer {
            shared,
            subjects: Subjects::new(shared.recorders.clone()),
            known: Known::default(),
            first_there: Mutex::default(),
            outcomes: Mutex::default(),
            beyond: Mutex::default(),
            grown: Mutex::default(),
            defects: Mutex::new(Defects::new(&shared.config.directory)),
            figures: Mutex::default(),
            own_deadline: deadline - (left - own_share),
            deadline,
        }
    }

    /// Explores all tests until the time is over or nothing is left. `save` is called whenever
    /// there is something new to report.
    pub fn explore(
        &self,
        tests: Vec<TestCase>,
        save: &(dyn Fn(Vec<Finding>) + Sync),
    ) -> Result<Explored, EngineError> {
        let keys: Vec<u64> = tests.iter().map(resume::key).collect();
        let earlier = Earlier::load(&self.shared.work);
        let rules = &self.shared.config.rules;
        let outcomes = SharedOutcomes::default();
        let tests = tests.into_iter();
        let seeds = tests.map(|test| Seed::new(test, rules, outcomes.clone()));
        let seeds: Vec<Mutex<Seed>> = seeds.map(Mutex::new).collect();
        self.shared.tally.tests.set(seeds.len() as u64);
        let worklist = Worklist::default();
        for unit in first_units(&seeds, &|number| earlier.knows(keys[number])) {
            locked(&worklist.queue).schedule.add(unit);
        }
        let jobs = self.shared.config.jobs.clamp(1, seeds.len().max(1));
        std::thread::scope(|scope| {
            for thread in 0..jobs {
                let (worklist, seeds) = (&worklist, &seeds);
                scope.spawn(move || self.work_off(worklist, seeds, thread, save));
            }
        });
        if let Some(failure) = locked(&worklist.queue).failure.take() {
            return Err(failure);
        }
        let mut seeds: Vec<Seed> = seeds
            .into_iter()
            .map(|seed| seed.into_inner().expect("no thread panics"))
            .collect();
        self.adopt(&mut seeds, &keys, &earlier)?;
        let saved = Earlier::save(&seeds, &keys, &self.shared.work);
        saved.map_err(|error| self.shared.campaign.failed(error))?;
        Ok(self.explored(seeds))
    }

    /// One thread: units of the worklist until none is left.
    fn work_off(
        &self,
        worklist: &Worklist,
        seeds: &[Mutex<Seed>],
        thread: usize,
        save: &(dyn Fn(Vec<Finding>) + Sync),
    ) {
        let worker = Worker::new(self.shared, thread);
        while let Some((unit, peers)) = self.next_unit(worklist) {
            let before = locked(&self.defects).len();
            let more = self.perform(&worker, unit, peers, seeds);
            let defects = locked(&self.defects);
            if defects.len() > before {
                save(defects.findings());
            }
            drop(defects);
            worklist.finish(more);
        }
    }

    /// The unit whose turn it is, and how many wait for the same share of the time. Waits while
    /// other threads may still add some.
    fn next_unit(&self, worklist: &Worklist) -> Option<(Unit, usize)> {
        let mut queue = locked(&worklist.queue);
        loop {
            if queue.failure.is_some() || self.is_over() {
                return None;
            }
            let Some(unit) = queue.schedule.next() else {
                if queue.busy == 0 {
                    return None;
                }
                queue = worklist.changed.wait(queue).expect("no thread panics");
                continue;
            };
            let is_own = unit.stage == Stage::OwnPath && !unit.is_postponed;
            if is_own && self.shared.is_over(self.own_deadline) {
                queue.schedule.add(Unit {
                    is_postponed: true,
                    ..unit
                });
                continue;
            }
            queue.busy += 1;
            return Some((unit, 1 + queue.schedule.peers_of(&unit)));
        }
    }

    /// Performs a unit; gives those that follow from it.
    fn perform(
        &self,
        worker: &Worker,
        unit: Unit,
        peers: usize,
        seeds: &[Mutex<Seed>],
    ) -> Result<Vec<Unit>, EngineError> {
        let mut seed = locked(&seeds[unit.seed]);
        let (start, before) = (Instant::now(), worker.counts());
        self.show(unit.stage, peers);
        let share = self.share(&unit, peers, &seed);
        let work = Work {
            explorer: self,
            worker,
            deadline: start + share.time,
            most_cpu: before.cpu.saturating_add(share.cpu),
            most_runs: before.runs.saturating_add(share.runs),
        };
        match unit.stage {
            Stage::OwnPath => work.own_path(unit.seed, &mut seed)?,
            Stage::Growth => work.grow(&mut seed, !unit.is_postponed)?,
            Stage::Neighbours(distance) => work.neighbours(&mut seed, distance)?,
            Stage::Unseen => work.unseen(&mut seed)?,
            Stage::Deeper(_) => work.deeper(&mut seed)?,
        }
        let elapsed = start.elapsed();
        seed.state.seconds += elapsed.as_secs_f64();
        locked(&self.figures).add(unit.stage, worker.counts() - before, elapsed);
        Ok(self.following(unit, &mut seed))
    }

    /// Says what is being done.
    fn show(&self, stage: Stage, peers: usize) {
        let tally = self.shared.tally;
        if let Stage::Neighbours(distance) = stage {
            tally.distance.set(distance.into());
        }
        let waiting = (peers as u64).min(tally.tests.get());
        tally.tests_done.set(tally.tests.get() - waiting);
    }

    /// What became of it all.
    fn explored(&self, seeds: Vec<Seed>) -> Explored {
        let (mut exploration, statistics) =
            std::mem::take(&mut *locked(&self.figures)).finish(&seeds, self.shared.config.grow);
        exploration.ended = self.end_reason(&seeds);
        exploration.runs = self.shared.tally.runs.get();
        let (own, beyond) = (locked(&self.outcomes), locked(&self.beyond));
        exploration.outcomes = beyond.difference(&own).count() as u64;
        let mut defects = locked(&self.defects);
        for seed in &seeds {
            if let Standing::SamePath(first) = seed.standing {
                defects.share(&seeds[first].test.id, &seed.test.id);
            }
        }
        Explored {
            findings: defects.findings(),
            seeds,
            exploration,
            statistics,
        }
    }

    /// Whether the campaign's time is over.
    fn is_over(&self) -> bool {
        self.shared.is_over(self.deadline)
    }

    fn end_reason(&self, seeds: &[Seed]) -> EndReason {
        let config = self.shared.config;
        if self.is_over() {
            let maximum = config.runs.unwrap_or(u64::MAX);
            return match self.shared.tally.runs.get() >= maximum {
                _ if config.is_stopped() => EndReason::Interrupted,
                true => EndReason::Runs,
                false => EndReason::Time,
            };
        }
        let distance = config.distance.unwrap_or(u32::MAX);
        let is_bounded = |seed: &Seed| !seed.is_exhausted(distance) || seed.has_more();
        if config.distance.is_some() && seeds.iter().any(is_bounded) {
            EndReason::Distance
        } else if seeds.iter().any(|seed| seed.stuck.is_some()) {
            EndReason::AnotherPath
        } else if seeds.iter().all(Seed::is_explored) {
            EndReason::Explored
        } else {
            EndReason::Exhausted
        }
    }

    /// Removes what is kept of tests that are none of these, once all of these are known.
    pub fn forget_others(&self, seeds: &[Seed]) -> Result<(), EngineError> {
        let campaign = self.shared.campaign;
        campaign.clean_inputs()?;
        if seeds.iter().any(|seed| seed.standing == Standing::Waiting) {
            return Ok(());
        }
        let active = seeds.iter().filter(|seed| seed.is_active());
        let digests: Vec<u64> = active.map(|seed| seed.state.digest).collect();
        let cleaned = self.shared.work.keep_only(&digests);
        Ok(cleaned.map_err(|error| campaign.failed(error))?)
    }
}

impl Worklist {
    /// A unit was performed, and these follow from it.
    fn finish(&self, more: Result<Vec<Unit>, EngineError>) {
        let mut queue = locked(&self.queue);
        queue.busy -= 1;
        match more {
            Ok(units) => units.into_iter().for_each(|unit| queue.schedule.add(unit)),
            Err(error) => {
                queue.failure.get_or_insert(error);
            }
        }
        self.changed.notify_all();
    }
}

/// What a unit is performed with.
struct Work<'u, 'a> {
    explorer: &'u Explorer<'a>,
    worker: &'u Worker<'u>,
    deadline: Instant,
    /// It ends when the worker has used up so much CPU time.
    most_cpu: Duration,
    /// It ends when the worker has made so many runs.
    most_runs: u64,
}

impl Work<'_, '_> {
    /// The time of one query about a fork.
    fn fork_time(&self, seed: &Seed) -> Duration {
        let time = self.explorer.shared.config.query_time;
        if seed.state.progress.is_patient {
            time
        } else {
            time / EASY_PART
        }
    }

    fn is_over(&self) -> bool {
        let made = self.worker.counts();
        self.explorer.shared.is_over(self.deadline)
            || made.runs >= self.most_runs
            || made.cpu >= self.most_cpu
    }

    /// The time that is left of the unit's at most.
    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Trials of a program in the time of the unit.
    fn trials<'s>(&'s self, subject: &'s Subject, limits: Limits) -> Trials<'s> {
        Trials {
            worker: self.worker,
            subject,
            limits,
            deadline: self.deadline,
        }
    }

    /// Adds failures to the findings of the campaign.
    fn add(&self, found: &[Found]) -> Result<(), EngineError> {
        let campaign = self.explorer.shared.campaign;
        let mut defects = locked(&self.explorer.defects);
        for one in found {
            let added = defects.add(one, &campaign.inputs());
            if added.map_err(|error| campaign.failed(error))? {
                self.worker.count_finding();
            }
        }
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics")
}
