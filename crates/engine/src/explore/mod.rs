//! The exploration of a campaign: a worklist of units, each one stage of one seed.
//!
//! ```text
//!  seeds     the tests, and the paths that were derived from them
//!  stages    own path     every check asked, for all inputs of the path
//!            neighbours   divergence points at distance D of a sensitive operation ──► flips ──► runs
//!                         ──► derived paths, explored on up to 2·D forks from the divergence point
//!            deeper       derived paths become starting points, by a mix of rules, as long as there is time
//!  order     search::Schedule: all tests at one level before any is at the next
//!  executor  a capsule in the sandbox (worker);  judge: its twin (confirmer)
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | this one | the units, one after another, on several threads; the share of the time of each |
//! | [`own_path`] | the stage of a test's own path |
//! | [`neighbours`] | the stage of one distance |
//! | [`deeper`] | the stage of derived paths |
//! | [`derived`] | one derived path: its run, its checks, the flips that leave it |
//! | [`seed`] | what is known of a test, and kept between two calls |
//! | [`tree`] | a path's forks and nodes in the execution tree |
//! | [`figures`] | what was done, in numbers |

mod deeper;
mod derived;
mod figures;
mod neighbours;
mod own_path;
mod seed;
mod tree;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use nearmiss_campaign::test_case::TestCase;
use nearmiss_results::{EndReason, Exploration, Finding};
use nearmiss_sandbox::Limits;
use nearmiss_search::strategy::{FIRST_DISTANCES, Outcome};
use nearmiss_search::{Known, Schedule, Stage, Strategy, Unit};
use nearmiss_solve::Statistics;

use crate::defects::{Defects, Found};
use crate::error::EngineError;
use crate::subject::{Subject, Subjects};
use crate::trials::Trials;
use crate::worker::{Shared, Worker};
use figures::Figures;

pub use figures::Counts;
pub use seed::{Seed, Standing};

/// No unit gets less than this.
const LEAST_SHARE: Duration = Duration::from_millis(500);
/// How often a unit that did not come to its end is taken up again before the next level. Most
/// need far less than their fair share of the time; what they leave is for the others.
const ROUNDS: u32 = 3;

/// Of the time of a query, what one about a fork gets at first: one part in so many. Runs do not wait
/// for what is hard; it is asked again when nothing else is left.
const EASY_PART: u32 = 8;

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
    /// Nothing explored yet.
    pub fn new(shared: &'a Shared<'a>, deadline: Instant) -> Explorer<'a> {
        let left = deadline.saturating_duration_since(Instant::now());
        let own_share = match shared.config.distance {
            Some(0) => left,
            _ => left / 2,
        };
        Explorer {
            shared,
            subjects: Subjects::default(),
            known: Known::default(),
            first_there: Mutex::default(),
            outcomes: Mutex::default(),
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
        let seeds: Vec<Mutex<Seed>> = tests.into_iter().map(Seed::new).map(Mutex::new).collect();
        self.shared.tally.tests.set(seeds.len() as u64);
        let worklist = Worklist::default();
        for unit in first_units(&seeds) {
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
        let seeds: Vec<Seed> = seeds
            .into_iter()
            .map(|seed| seed.into_inner().expect("no thread panics"))
            .collect();
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
            if queue.failure.is_some() || self.shared.is_over(self.deadline) {
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
        let work = Work {
            explorer: self,
            worker,
            deadline: start + self.share(&unit, peers, &seed),
        };
        match unit.stage {
            Stage::OwnPath => work.own_path(unit.seed, &mut seed)?,
            Stage::Neighbours(distance) => work.neighbours(&mut seed, distance)?,
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

    /// The units that follow from one that was performed.
    fn following(&self, unit: Unit, seed: &mut Seed) -> Vec<Unit> {
        if !seed.is_active() || seed.stuck.is_some() {
            return Vec::new();
        }
        let distance = match unit.stage {
            Stage::OwnPath => 0,
            Stage::Neighbours(distance) => distance,
            Stage::Deeper(_) if !seed.has_more() => {
                seed.memory.is_deeper_scheduled = false;
                return self.patiently(unit, seed);
            }
            Stage::Deeper(slice) => return vec![after(unit, Stage::Deeper(slice + 1))],
        };
        let mut more = Vec::new();
        if !seed.is_finished(distance) && unit.round + 1 < ROUNDS {
            let round = unit.round + 1;
            more.push(Unit { round, ..unit });
            if distance > 0 {
                more.extend(self.first_deeper(unit, seed));
            }
            return more;
        }
        let maximum = self.shared.config.distance;
        let is_wanted = maximum.is_none_or(|maximum| distance < maximum);
        let has_farther = is_wanted && !seed.is_exhausted(distance);
        seed.memory.has_all_distances = !has_farther;
        if has_farther {
            let mut next = after(unit, Stage::Neighbours(distance + 1));
            if unit.stage == Stage::OwnPath && !seed.memory.has_new_outcomes {
                next.turn += self.shared.tally.tests.get() as usize;
            }
            more.push(next);
        }
        if distance >= FIRST_DISTANCES || !has_farther {
            more.extend(self.first_deeper(unit, seed));
        }
        if more.is_empty() {
            more = self.patiently(unit, seed);
        }
        more
    }

    /// The unit that works off the derived paths of a seed, if there is none yet. A maximum of the distance is
    /// one of the whole exploration.
    fn first_deeper(&self, unit: Unit, seed: &mut Seed) -> Option<Unit> {
        let is_wanted = self.shared.config.distance.is_none() && seed.has_more();
        if !is_wanted || std::mem::replace(&mut seed.memory.is_deeper_scheduled, true) {
            return None;
        }
        let distance = match unit.stage {
            Stage::Neighbours(distance) => distance,
            Stage::OwnPath | Stage::Deeper(_) => 0,
        };
        let slice = distance.saturating_sub(FIRST_DISTANCES);
        Some(after(unit, Stage::Deeper(slice)))
    }

    /// When all else is done with a seed, its hard queries have their turn, behind everything else.
    fn patiently(&self, unit: Unit, seed: &mut Seed) -> Vec<Unit> {
        let is_done = seed.memory.has_all_distances && !seed.memory.is_deeper_scheduled;
        let explores = self.shared.config.distance != Some(0);
        if !is_done || !explores || !seed.has_hard() {
            return Vec::new();
        }
        seed.become_patient();
        vec![Unit {
            is_postponed: true,
            stage: Stage::Neighbours(1),
            round: 0,
            ..unit
        }]
    }

    /// The time for a unit when so many share what is left. The farther it is from the test, the
    /// more it takes turns with what else can be done: no more than was spent on the test so far.
    fn share(&self, unit: &Unit, peers: usize, seed: &Seed) -> Duration {
        let end = match unit.stage {
            Stage::OwnPath if !unit.is_postponed => self.own_deadline,
            _ => self.deadline,
        };
        let left = end.saturating_duration_since(Instant::now());
        let fair = left * self.shared.config.jobs as u32 / (peers as u32).max(1);
        let spent = Duration::from_secs_f64(seed.state.seconds.max(1.0));
        let share = match unit.stage {
            Stage::OwnPath => fair,
            // Without a maximum of the distance there is always more to come.
            _ if self.shared.config.distance.is_some() => fair,
            Stage::Neighbours(distance) if distance <= FIRST_DISTANCES => fair / 2,
            _ => (fair / 2).min(spent),
        };
        share.clamp(LEAST_SHARE, left.max(LEAST_SHARE))
    }

    /// What became of it all.
    fn explored(&self, seeds: Vec<Seed>) -> Explored {
        let (mut exploration, statistics) =
            std::mem::take(&mut *locked(&self.figures)).finish(&seeds);
        exploration.ended = self.end_reason(&seeds);
        exploration.runs = self.shared.tally.runs.get();
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

    fn end_reason(&self, seeds: &[Seed]) -> EndReason {
        let config = self.shared.config;
        if self.shared.is_over(self.deadline) {
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

/// The own path of every test: of each program one, then of each another, so that all programs
/// have their turn where time is short; the cheapest tests first.
fn first_units(seeds: &[Mutex<Seed>]) -> Vec<Unit> {
    let mut turns: HashMap<PathBuf, usize> = HashMap::new();
    let mut numbered: Vec<(usize, &Mutex<Seed>)> = seeds.iter().enumerate().collect();
    numbered.sort_by_key(|(_, seed)| cost(locked(seed).test.seconds));
    numbered
        .into_iter()
        .map(|(number, seed)| {
            let program = locked(seed).test.capsule.program.clone();
            let turn = turns.entry(program).or_default();
            *turn += 1;
            Unit {
                is_postponed: false,
                stage: Stage::OwnPath,
                round: 0,
                turn: *turn,
                seed: number,
            }
        })
        .collect()
}

/// How costly a test is, by how long it took in the suite: one more for each doubling. Short ones are alike, so
/// that the order of a suite does not change from one call to the next.
fn cost(seconds: f64) -> u32 {
    const SHORT: f64 = 0.25;
    (seconds / SHORT).max(1.0).log2() as u32
}

/// The first round of a stage that follows from a unit. That a test's own path was postponed says nothing
/// about its neighbours.
fn after(unit: Unit, stage: Stage) -> Unit {
    Unit {
        is_postponed: unit.is_postponed && unit.stage != Stage::OwnPath,
        stage,
        round: 0,
        ..unit
    }
}

/// What a unit is performed with.
struct Work<'u, 'a> {
    explorer: &'u Explorer<'a>,
    worker: &'u Worker<'u>,
    deadline: Instant,
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
        self.explorer.shared.is_over(self.deadline)
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
