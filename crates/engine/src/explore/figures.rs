//! What was done, in numbers: for each distance, and behind all distances.

use std::collections::BTreeMap;
use std::ops::Sub;
use std::time::Duration;

use nearmiss_results::{DistanceFigures, Exploration, GrowthFigures};
use nearmiss_search::{Feasibility, Stage};
use nearmiss_solve::Statistics;

use super::seed::Seed;
use crate::analyse::Settled;

/// What was done, added up over all units.
#[derive(Debug, Default)]
pub struct Figures {
    /// What is reported in the end.
    pub exploration: Exploration,
    /// What the solver did.
    pub statistics: Statistics,
    distances: BTreeMap<u32, DistanceFigures>,
    deeper: Option<DistanceFigures>,
    growth: Option<DistanceFigures>,
}

/// What one thread has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Runs in the sandbox.
    pub runs: u64,
    /// New paths.
    pub paths: u64,
    /// Checks that were met.
    pub checks: u64,
    /// Defects that were found here first.
    pub findings: u64,
    /// CPU time of the thread and of its runs in the sandbox.
    pub cpu: Duration,
}

impl Sub for Counts {
    type Output = Counts;

    fn sub(self, before: Counts) -> Counts {
        Counts {
            runs: self.runs - before.runs,
            paths: self.paths - before.paths,
            checks: self.checks - before.checks,
            findings: self.findings - before.findings,
            cpu: self.cpu.saturating_sub(before.cpu),
        }
    }
}

impl Figures {
    /// A unit was performed.
    pub fn add(&mut self, stage: Stage, counts: Counts, time: Duration) {
        let row = match stage {
            Stage::OwnPath => self.distances.entry(0).or_default(),
            Stage::Neighbours(distance) => self.distances.entry(distance).or_default(),
            Stage::Growth => self.growth.get_or_insert_default(),
            Stage::Unseen | Stage::Deeper(_) => self.deeper.get_or_insert_default(),
        };
        row.runs += counts.runs;
        row.paths += counts.paths;
        row.checks += counts.checks;
        row.findings += counts.findings;
        row.seconds += time.as_secs_f64();
        row.cpu_seconds += counts.cpu.as_secs_f64();
    }

    /// CPU time that went into longer inputs so far, and into all else.
    pub fn growth_cpu(&self) -> (Duration, Duration) {
        let seconds = |row: &DistanceFigures| Duration::from_secs_f64(row.cpu_seconds);
        let others = self.distances.values().chain(&self.deeper);
        let growth = self.growth.as_ref().map(seconds);
        (growth.unwrap_or_default(), others.map(seconds).sum())
    }

    /// The time that went into longer inputs so far, added up over all jobs.
    pub fn growth_time(&self) -> Duration {
        let growth = self.growth.as_ref();
        Duration::from_secs_f64(growth.map_or(0.0, |row| row.seconds))
    }

    /// The runs that longer inputs took so far.
    pub fn growth_runs(&self) -> u64 {
        self.growth.as_ref().map_or(0, |row| row.runs)
    }

    /// Counts forks that were asked about.
    pub fn count_forks(&mut self, forks: &[&Settled]) {
        for fork in forks.iter().filter(|fork| fork.counts) {
            match fork.feasibility() {
                Feasibility::Feasible => self.exploration.feasible += 1,
                Feasibility::Infeasible => self.exploration.infeasible += 1,
                Feasibility::Unknown | Feasibility::Open => self.exploration.unknown += 1,
            }
        }
    }

    /// What is reported, given what became of the tests and the maximum of repetitions.
    pub fn finish(self, seeds: &[Seed], most: u64) -> (Exploration, Statistics) {
        let Figures {
            mut exploration,
            statistics,
            distances,
            deeper,
            growth,
        } = self;
        for (distance, row) in distances {
            let is_finished = |seed: &&Seed| seed.is_finished(distance);
            let finished = seeds.iter().filter(is_finished).count() as u64;
            exploration.distances.push(DistanceFigures {
                distance,
                finished,
                unfinished: seeds.len() as u64 - finished,
                ..row
            });
            let is_next = exploration.finished == distance.checked_sub(1);
            if finished == seeds.len() as u64 && is_next {
                exploration.finished = Some(distance);
            }
        }
        let postponed = seeds.iter().map(|seed| seed.state.progress.postponed);
        exploration.unknown += postponed.sum::<u64>();
        exploration.deeper = deeper;
        exploration.growth = growth.map(|row| {
            let grown = seeds.iter().filter(|seed| seed.has_grown()).count() as u64;
            let parts = seeds.iter().map(|seed| seed.state.progress.repeated as u64);
            let left_out = seeds
                .iter()
                .map(|seed| seed.state.progress.not_grown as u64);
            GrowthFigures {
                most,
                parts: parts.sum(),
                left_out: left_out.sum(),
                row: DistanceFigures {
                    distance: 1,
                    finished: grown,
                    unfinished: seeds.len() as u64 - grown,
                    ..row
                },
            }
        });
        (exploration, statistics)
    }
}
