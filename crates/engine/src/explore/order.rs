//! Which units there are, what follows from one that was performed, and its share of the time.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use nearmiss_search::strategy::FIRST_DISTANCES;
use nearmiss_search::{Stage, Unit};

use super::seed::Values;
use super::{Explorer, Seed, locked};

/// No unit gets less than this.
const LEAST_SHARE: Duration = Duration::from_millis(500);
/// How often a unit is begun that does not come to its end, each time a distance later: most need far
/// less than their fair share of the time, and what they leave is for the others.
const ROUNDS: u32 = 3;
/// Growth may use up one part in so many of the CPU time that all else has used up.
const GROWTH_CPU: u32 = 20;
/// To begin with, before all else has used up anything, it has one part in so many of the time.
const FIRST_GROWTH: u32 = 60;
/// But never more than one part in so many of what all else has used up: on a busy machine a minute holds little CPU time.
const MOST_GROWTH: u32 = 10;
/// No unit of growth is begun with less CPU time than this: fewer of them have their turn.
const LEAST_GROWTH: Duration = Duration::from_millis(50);
/// Nor with less than so many recordings of its test take.
const RECORDINGS: u32 = 8;
/// Of the time of all jobs it has no more than one part in so many, however little CPU time it gets in that.
const GROWTH_TIME: u32 = 12;

/// Where calls are the input it has so many times these parts: their data are short, and its runs begin at the call.
const CALLS_GROW: u32 = 3;
/// Of a maximum of runs it has one part in so many, and then all the CPU time that these take.
const GROWTH_RUNS: u64 = 3;
/// But no fewer than these: one thing that grows may take so many, and what is not finished is begun again.
const LEAST_RUNS: u64 = 32;

/// What a unit may use up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// How long it may take.
    pub time: Duration,
    /// How much CPU time it may use up, with its runs.
    pub cpu: Duration,
    /// How many runs it may make at most.
    pub runs: u64,
}

impl Share {
    /// So much time, whatever the runs.
    fn of(time: Duration) -> Share {
        Share {
            time,
            cpu: Duration::MAX,
            runs: u64::MAX,
        }
    }
}

impl Explorer<'_> {
    /// The units that follow from one that was performed.
    pub(super) fn following(&self, unit: Unit, seed: &mut Seed) -> Vec<Unit> {
        if !seed.is_active() || seed.stuck.is_some() {
            return Vec::new();
        }
        let distance = match unit.stage {
            Stage::OwnPath => 0,
            Stage::Growth => return self.grow_on(unit, seed),
            Stage::Unseen if seed.memory.has_unseen && unit.round + 1 < ROUNDS => {
                let round = unit.round + 1;
                return vec![Unit { round, ..unit }];
            }
            Stage::Unseen => return self.patiently(unit, seed),
            Stage::Neighbours(distance) => distance,
            Stage::Deeper(_) if !seed.has_more() => {
                seed.memory.is_deeper_scheduled = false;
                return self.patiently(unit, seed);
            }
            Stage::Deeper(distance) => return vec![after(unit, Stage::Deeper(distance + 1))],
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
        if unit.stage == Stage::OwnPath && maximum.is_none() && is_of_calls(seed) {
            more.push(after(unit, Stage::Unseen));
        }
        if unit.stage == Stage::OwnPath && self.grows(seed) {
            seed.memory.is_growth_scheduled = true;
            more.push(after(unit, Stage::Growth));
        }
        if distance >= first_distances(seed) || !has_farther {
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
            Stage::OwnPath | Stage::Growth | Stage::Unseen | Stage::Deeper(_) => 0,
        };
        Some(after(unit, Stage::Deeper(distance)))
    }

    /// Whether longer inputs of a seed are to be tried. They are beside its own path.
    fn grows(&self, seed: &Seed) -> bool {
        let config = self.shared.config;
        let is_done = seed.state.progress.grown_to == Some(config.grow);
        config.grow > 0 && config.distance != Some(0) && !is_done
    }

    /// How much CPU time growth may use up now: a part of what all else has used up, since CPU time is what it takes
    /// from that, however busy the machine is.
    fn cpu_to_grow(&self, seed: &Seed) -> Duration {
        let config = self.shared.config;
        if config.distance.is_some() || config.runs.is_some() {
            return Duration::MAX;
        }
        let (growth, others) = locked(&self.figures).growth_cpu();
        let first = config.time * config.jobs as u32 / FIRST_GROWTH;
        let whole = (first + others / GROWTH_CPU).min(others / MOST_GROWTH);
        (whole * parts(seed)).saturating_sub(growth)
    }

    /// How much of the time growth may take now.
    fn time_to_grow(&self, seed: &Seed, left: Duration) -> Duration {
        let config = self.shared.config;
        if config.distance.is_some() || config.runs.is_some() {
            return left;
        }
        let whole = config.time * config.jobs as u32 / GROWTH_TIME * parts(seed);
        whole
            .saturating_sub(locked(&self.figures).growth_time())
            .min(left)
    }

    /// How many runs are left for growth as long as there is anything else to do.
    fn runs_to_grow(&self) -> u64 {
        let part = |runs: u64| (runs / GROWTH_RUNS).max(LEAST_RUNS);
        let whole = self.shared.config.runs.map_or(u64::MAX, part);
        whole.saturating_sub(locked(&self.figures).growth_runs())
    }

    /// Growth that is not finished in its share goes on a distance later; behind all else where it has had its part of the
    /// runs or of the time, or where all else has done nothing since there was no CPU time for it.
    fn grow_on(&self, unit: Unit, seed: &mut Seed) -> Vec<Unit> {
        if !self.grows(seed) || unit.is_postponed {
            seed.memory.is_growth_scheduled = false;
            return self.patiently(unit, seed);
        }
        let (_, others) = locked(&self.figures).growth_cpu();
        let is_starved = self.cpu_to_grow(seed) < least_growth(seed);
        let before = std::mem::replace(&mut seed.memory.not_grown_at, is_starved.then_some(others));
        let has_had_all =
            self.runs_to_grow() == 0 || self.time_to_grow(seed, Duration::MAX).is_zero();
        let is_idle = is_starved && before == Some(others);
        vec![Unit {
            is_postponed: has_had_all || is_idle,
            round: unit.round + 1,
            ..unit
        }]
    }

    /// When all else is done with a seed, its hard queries have their turn, behind everything else, and then the
    /// values of its bytes.
    fn patiently(&self, unit: Unit, seed: &mut Seed) -> Vec<Unit> {
        let memory = &seed.memory;
        let is_done =
            memory.has_all_distances && !memory.is_deeper_scheduled && !memory.is_growth_scheduled;
        let distance = self.shared.config.distance;
        if is_done && distance.is_none() && !seed.has_hard() && seed.wants_values() {
            seed.memory.values = Values::Wanted;
            seed.memory.is_deeper_scheduled = true;
            return vec![Unit {
                is_postponed: true,
                ..after(unit, Stage::Deeper(FIRST_DISTANCES))
            }];
        }
        if !is_done || distance == Some(0) || !seed.has_hard() {
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

    /// The time for a unit when so many share what is left. Where no maximum of the distance is given it leaves
    /// half to what comes behind; beyond the first distances it gets no more than was spent on the test so far.
    pub(super) fn share(&self, unit: &Unit, peers: usize, seed: &Seed) -> Share {
        let end = match unit.stage {
            Stage::OwnPath if !unit.is_postponed => self.own_deadline,
            _ => self.deadline,
        };
        let left = end.saturating_duration_since(Instant::now());
        let fair = left * self.shared.config.jobs as u32 / (peers as u32).max(1);
        let spent = Duration::from_secs_f64(seed.state.seconds.max(1.0));
        let share = match unit.stage {
            Stage::OwnPath => fair,
            Stage::Growth if unit.is_postponed => fair,
            Stage::Growth => return self.growth_share(left, fair, peers.max(1), seed),
            // Without a maximum of the distance there is always more to come.
            _ if self.shared.config.distance.is_some() => fair,
            Stage::Neighbours(distance) if distance <= FIRST_DISTANCES => fair / 2,
            _ => (fair / 2).min(spent),
        };
        Share::of(share.clamp(LEAST_SHARE, left.max(LEAST_SHARE)))
    }

    /// The share of a unit of growth while other units wait. Where its parts of the time are used up there is none:
    /// it goes on when all else is done.
    fn growth_share(&self, left: Duration, fair: Duration, peers: usize, seed: &Seed) -> Share {
        let (runs, cpu) = (self.runs_to_grow(), self.cpu_to_grow(seed));
        let least = least_growth(seed);
        if runs == 0 || cpu < least {
            return Share::of(Duration::ZERO);
        }
        let time = match self.shared.config.distance {
            Some(_) => fair.max(LEAST_SHARE).min(left.max(LEAST_SHARE)),
            None => self.time_to_grow(seed, left),
        };
        Share {
            time,
            cpu: (cpu / peers as u32).max(least),
            runs,
        }
    }
}

/// Whether calls are the input: there are many short paths, most of which go where others of the suite went.
fn is_of_calls(seed: &Seed) -> bool {
    !seed.test.calls.is_empty()
}

/// Distances that are explored before derived paths become starting points.
fn first_distances(seed: &Seed) -> u32 {
    if is_of_calls(seed) {
        1
    } else {
        FIRST_DISTANCES
    }
}

/// How many times its part of the time growth has for a test.
fn parts(seed: &Seed) -> u32 {
    if is_of_calls(seed) { CALLS_GROW } else { 1 }
}

/// CPU time with which a unit of growth is worth its beginning: the test is recorded once more.
fn least_growth(seed: &Seed) -> Duration {
    let recorded = Duration::from_secs_f64(seed.state.recorded_seconds.max(0.0));
    LEAST_GROWTH.max(recorded * RECORDINGS)
}

/// The own path of every test: of each program one, then of each another, so that all programs
/// have their turn where time is short; those that no earlier call looked at first, and of them the cheapest. Behind them the
/// executions whose calls are tests too: most have no other input, and take as long as all of their calls.
pub(super) fn first_units(seeds: &[Mutex<Seed>], is_known: &dyn Fn(usize) -> bool) -> Vec<Unit> {
    let mut turns: HashMap<PathBuf, usize> = HashMap::new();
    let mut numbered: Vec<(usize, &Mutex<Seed>)> = seeds.iter().enumerate().collect();
    numbered.sort_by_key(|(number, seed)| (is_known(*number), cost(locked(seed).test.seconds)));
    let with_calls: HashSet<String> = (seeds.iter())
        .filter_map(|seed| locked(seed).test.called_by())
        .collect();
    numbered
        .into_iter()
        .map(|(number, seed)| {
            let test = &locked(seed).test;
            let turn = turns.entry(test.capsule.program.clone()).or_default();
            *turn += match with_calls.contains(&test.id) {
                true => seeds.len(),
                false => 1,
            };
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
