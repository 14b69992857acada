//! A test and the paths that were derived from it: part of what is known is kept on the disk, so
//! that the same command goes on where the last one stopped.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use nearmiss_campaign::store::write_atomically;
use nearmiss_campaign::test_case::TestCase;
use nearmiss_judge::Complaint;
use nearmiss_results::Summary;
use nearmiss_search::strategy::{RuleName, SharedOutcomes};
use nearmiss_search::{BreadthFirst, Feasibility, Node};
use nearmiss_trace::{Answer, Channel};
use serde::{Deserialize, Serialize};

use super::deeper::Pool;
use super::derived::{DerivedPath, PendingFlip};
use crate::analyse::Flip;
use crate::defects::Found;

/// A test and what is known of it.
#[derive(Debug)]
pub struct Seed {
    /// The test.
    pub test: TestCase,
    /// Whether it is looked at.
    pub standing: Standing,
    /// What is known of it.
    pub state: State,
    /// Why its neighbours cannot be explored, if so.
    pub stuck: Option<String>,
    /// Why its twin could not be asked this time about what was found before.
    pub trouble: Option<String>,
    /// What the twin says about its own input, once that was asked.
    pub baseline: Option<Vec<Complaint>>,
    /// What is known of it for now.
    pub(super) memory: Memory,
}

/// Whether a test is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its turn has not come yet.
    Waiting,
    /// It is.
    Active,
    /// It takes the path of the test with this number, which is.
    SamePath(usize),
    /// It cannot be, and why.
    Skipped(String),
}

/// What is known of a test and kept.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// The last node of its path.
    pub(super) end: u64,
    /// A name for all that it recorded.
    pub(super) digest: u64,
    /// See [`crate::subject::Subject::fingerprint`].
    #[serde(default)]
    pub(super) program: u64,
    /// How far it is explored.
    pub(super) progress: Progress,
    /// What was looked at on its own path, and what was lost.
    pub summary: Summary,
    /// Places (file and line) where checks were met on its own path.
    pub places: Vec<(String, u32)>,
    /// Events of forks on its own path at which shorter inputs may go the same way.
    #[serde(default)]
    pub(super) too_short: Vec<usize>,
    /// How it ended when it was recorded.
    pub ended: String,
    /// How long the recorded run took.
    pub recorded_seconds: f64,
    /// How long its own path took to look at.
    pub own_seconds: f64,
    /// How long all took.
    pub seconds: f64,
    /// New paths from it.
    pub paths: u64,
    /// What was found from it.
    pub found: Vec<Found>,
}

/// How far a test is explored: as of the end of a unit, so that what is kept is whole.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    /// The distance up to which it is explored.
    pub finished: Option<u32>,
    /// The largest distance at which it has divergence points.
    pub farthest: u32,
    /// What is known of its forks, by event.
    pub forks: BTreeMap<usize, Feasibility>,
    /// How many forks deep was explored from a divergence point, by its event.
    pub bounds: BTreeMap<usize, u32>,
    /// The paths that were derived from it.
    pub derived: Vec<DerivedPath>,
    /// Events of forks on its own path that wait for more time for their queries.
    #[serde(default)]
    pub hard: BTreeSet<usize>,
    /// How many alternatives wait for more time for their queries, also on derived paths.
    #[serde(default)]
    pub postponed: u64,
    /// Whether queries have their whole time: what was hard is asked again, after all that was not.
    #[serde(default)]
    pub is_patient: bool,
    /// The nodes of the execution tree that runs were sent to.
    pub sent: Vec<u64>,
    /// How many steps were made with the things that may grow in its input.
    #[serde(default)]
    pub grown: usize,
    /// How many of these things were tried as far as there is room.
    #[serde(default)]
    pub repeated: usize,
    /// How many more there are, beyond those that are tried.
    #[serde(default)]
    pub not_grown: usize,
    /// Up to how many repetitions all of them were, if they were.
    #[serde(default)]
    pub grown_to: Option<u64>,
    /// Whether an alternative was lost: not decided, not run, not where it was predicted, or behind
    /// something that was not recorded.
    pub is_incomplete: bool,
}

/// What is known for now.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The first nodes of the path that it took when it was recorded.
    pub nodes: Vec<Node>,
    /// What came from outside then and is not given again.
    pub answers: Vec<Answer>,
    /// Its own input.
    pub channels: Option<Arc<Vec<Channel>>>,
    /// How many of its runs were looked at because they did not end.
    pub endless_looks: u32,
    /// Inputs that go another way, by event.
    pub flips: HashMap<usize, Vec<Flip>>,
    /// Runs that are still to be made, by the event of the divergence point.
    pub pending: HashMap<usize, BreadthFirst<PendingFlip>>,
    /// What is next where derived paths are the starting points.
    pub pool: Pool,
    /// Whether a unit that works off the pool waits for its turn.
    pub is_deeper_scheduled: bool,
    /// Whether a unit that tries longer inputs does.
    pub is_growth_scheduled: bool,
    /// How much CPU time all else had used up when there was none for growth.
    pub not_grown_at: Option<Duration>,
    /// The things that may grow of which one more is refused as many are.
    pub refused: HashSet<usize>,
    /// How many more blocks of the heap the most turns of a thing that may grow made larger, until that was looked at.
    pub enlarging: BTreeMap<usize, u64>,
    /// Whether an outcome on its own path was on that of no test before: those that bring something new come
    /// first.
    pub has_new_outcomes: bool,
    /// Whether outcomes that no run had wait for the next round of their stage.
    pub has_unseen: bool,
    /// Whether no larger distance waits for its turn.
    pub has_all_distances: bool,
    /// Whether all forks of its own path were asked about, or can wait for their distance.
    pub has_asked_all: bool,
    /// Whether values of its bytes are to be tried, or were.
    pub values: Values,
}

/// What becomes of values of a test's bytes ([`super::values`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Values {
    /// Nothing yet.
    #[default]
    Open,
    /// They come next.
    Wanted,
    /// They are in the pool.
    Added,
}

impl Seed {
    /// Nothing is known yet.
    pub fn new(test: TestCase, rules: &[RuleName], outcomes: SharedOutcomes) -> Seed {
        let memory = Memory {
            pool: Pool::new(rules, outcomes),
            ..Memory::default()
        };
        Seed {
            test,
            standing: Standing::Waiting,
            state: State::default(),
            stuck: None,
            trouble: None,
            baseline: None,
            memory,
        }
    }

    /// Whether it is looked at for itself.
    pub fn is_active(&self) -> bool {
        self.standing == Standing::Active
    }

    /// What was looked at on its own path, with what exploration has not made up for.
    pub fn summary(&self) -> Summary {
        let bounds = &self.state.progress.bounds;
        let is_explored = |fork: &&usize| bounds.get(fork).is_some_and(|bound| *bound > 0);
        let left = self.state.too_short.iter();
        let too_short = left.filter(|fork| !is_explored(fork)).count() as u64;
        let mut summary = self.state.summary.clone();
        summary.complete &= too_short == 0;
        summary.too_short += too_short;
        if let Some(why) = &self.trouble {
            summary.withdraw(why);
        }
        summary
    }

    /// Whether it could not be looked at.
    pub fn is_skipped(&self) -> bool {
        matches!(self.standing, Standing::Skipped(_))
    }

    /// Whether the test needs no more work at a distance.
    pub fn is_finished(&self, distance: u32) -> bool {
        match self.standing {
            Standing::Waiting => false,
            Standing::Active if distance > 0 && self.stuck.is_some() => true,
            Standing::Active => {
                let Progress {
                    finished, farthest, ..
                } = self.state.progress;
                finished.is_some_and(|done| done >= distance.min(farthest))
            }
            Standing::SamePath(_) | Standing::Skipped(_) => true,
        }
    }

    /// Whether there is nothing to be done at any larger distance.
    pub fn is_exhausted(&self, distance: u32) -> bool {
        match self.standing {
            Standing::Waiting => false,
            Standing::Active if self.stuck.is_some() => true,
            Standing::Active => {
                self.is_finished(distance) && self.state.progress.farthest <= distance
            }
            Standing::SamePath(_) | Standing::Skipped(_) => true,
        }
    }

    /// Whether all longer inputs of its shape were tried that were to be.
    pub fn has_grown(&self) -> bool {
        let is_same = matches!(self.standing, Standing::SamePath(_));
        is_same || self.state.progress.grown_to.is_some()
    }

    /// Whether derived paths have alternatives that were not tried.
    pub fn has_more(&self) -> bool {
        let mut derived = self.state.progress.derived.iter();
        self.is_active() && (!self.memory.pool.is_empty() || derived.any(|path| !path.is_done()))
    }

    /// Whether values of its bytes are worth runs: the path lost sight of what depends on some of them.
    pub(super) fn wants_values(&self) -> bool {
        let has_lost = !self.state.summary.notes.is_empty();
        self.is_active() && has_lost && self.memory.values == Values::Open
    }

    /// Whether queries wait for more time.
    pub fn has_hard(&self) -> bool {
        let Progress {
            is_patient,
            hard,
            derived,
            ..
        } = &self.state.progress;
        !is_patient && (!hard.is_empty() || derived.iter().any(|path| path.hard.is_some()))
    }

    /// From now on queries have their whole time, and those that were hard are asked again.
    pub(super) fn become_patient(&mut self) {
        let (progress, memory) = (&mut self.state.progress, &mut self.memory);
        for event in std::mem::take(&mut progress.hard) {
            progress.forks.remove(&event);
            progress.bounds.remove(&event);
            memory.flips.remove(&event);
        }
        for path in &mut progress.derived {
            let hard = path.hard.take();
            path.asked = path.asked.min(hard.unwrap_or(path.asked));
        }
        memory.pool.begin_again();
        memory.has_all_distances = false;
        progress.is_patient = true;
        progress.postponed = 0;
        progress.finished = progress.finished.map(|_| 0);
        progress.farthest = u32::MAX;
    }

    /// The derived paths whose flips wait to be run, each with the fork that they leave it at: a later
    /// call, which does not know the flips, asks about these forks again.
    pub(super) fn waiting(&self) -> Vec<(usize, usize)> {
        let pending = self.memory.pending.values();
        let pending = pending.flat_map(BreadthFirst::items);
        let pending = pending.filter_map(|flip| flip.leaves);
        pending.chain(self.memory.pool.waiting()).collect()
    }

    /// Whether every alternative on its path and on all that were derived from it was tried, or
    /// cannot be taken.
    pub fn is_explored(&self) -> bool {
        match self.standing {
            Standing::Waiting | Standing::Skipped(_) => false,
            Standing::SamePath(_) => true,
            Standing::Active => {
                let is_all = self.is_exhausted(u32::MAX) && !self.has_more() && !self.has_hard();
                is_all && self.summary().complete && !self.state.progress.is_incomplete
            }
        }
    }
}

impl State {
    /// Keeps it in its file.
    pub fn save(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let text = serde_json::to_vec(self)?;
        write_atomically(&file(directory, self.digest), &text)
    }

    /// What was kept of a test that recorded the same.
    pub fn load(directory: &Path, digest: u64) -> Option<State> {
        let text = fs::read(file(directory, digest)).ok()?;
        let state: State = serde_json::from_slice(&text).ok()?;
        (state.digest == digest).then_some(state)
    }
}

fn file(directory: &Path, digest: u64) -> PathBuf {
    directory.join(format!("{digest:016x}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invent::tests::capsule;

    /// A test of which everything easy was explored, with a hard fork on its path and one on a derived path.
    fn seed_with_hard_forks() -> Seed {
        let test = TestCase {
            id: String::new(),
            capsule: capsule(),
            executions: 1,
            ended: "exit 0".into(),
            seconds: 0.0,
            trace: None,
            calls: Vec::new(),
            reads_files: false,
        };
        let mut seed = Seed::new(test, &[], SharedOutcomes::default());
        seed.standing = Standing::Active;
        seed.state.summary.complete = true;
        let progress = &mut seed.state.progress;
        progress.finished = Some(3);
        progress.farthest = 3;
        for (event, fork) in [(4, Feasibility::Feasible), (9, Feasibility::Unknown)] {
            progress.forks.insert(event, fork);
            progress.bounds.insert(event, 6);
        }
        progress.hard.insert(9);
        progress.postponed = 2;
        progress.derived.push(DerivedPath {
            directory: PathBuf::new(),
            point: 4,
            outcome: (1, 0),
            depth: 1,
            forks: 8,
            asked: 8,
            feasible: 0,
            hard: Some(5),
            staleness: 0,
        });
        seed
    }

    #[test]
    fn hard_queries_are_asked_again_before_anything_is_said_to_be_explored() {
        let mut seed = seed_with_hard_forks();
        assert!(seed.has_hard() && !seed.is_explored());
        seed.become_patient();
        let progress = &seed.state.progress;
        assert_eq!(progress.forks.keys().copied().collect::<Vec<_>>(), [4]);
        assert!(!progress.bounds.contains_key(&9));
        assert_eq!((progress.derived[0].asked, progress.postponed), (5, 0));
        assert!(!seed.has_hard() && seed.has_more() && !seed.is_exhausted(3));
    }

    #[test]
    fn what_stays_hard_is_not_postponed_again() {
        let mut seed = seed_with_hard_forks();
        seed.become_patient();
        seed.state.progress.hard.insert(9);
        assert!(!seed.has_hard());
    }
}
