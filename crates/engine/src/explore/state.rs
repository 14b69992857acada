//! What is known of a test: part of it is kept on the disk, so that the same command goes on
//! where the last one stopped.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::{fs, io};

use nearmiss_campaign::store::write_atomically;
use nearmiss_campaign::test_case::TestCase;
use nearmiss_judge::Complaint;
use nearmiss_results::Summary;
use nearmiss_search::{Feasibility, Node};
use serde::{Deserialize, Serialize};

use super::offshoot::Sprout;
use crate::analyse::Flip;
use crate::defects::Found;

/// A test and what is known of it.
#[derive(Debug)]
pub struct Slot {
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
    pub anyway: Option<Vec<Complaint>>,
    /// What is known of it for now.
    pub(super) memory: Memory,
}

/// Whether a test is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has come to it yet.
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
    /// What was explored, by the event of the divergence point.
    pub subtrees: BTreeMap<usize, Subtree>,
    /// The nodes of the execution tree that runs were sent to.
    pub sent: Vec<u64>,
}

/// What was explored from one divergence point.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Subtree {
    /// How many forks deep.
    pub(super) bound: u32,
    /// The new paths.
    pub(super) offshoots: Vec<Offshoot>,
}

/// A new path, as far as exploring on from it needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Offshoot {
    /// Where its capsule lies.
    #[serde(with = "nearmiss_sandbox::words::path")]
    pub(super) directory: PathBuf,
    /// How many forks it is from the divergence point, itself included.
    pub(super) depth: u32,
    /// Forks that were asked about, from the beginning of the path.
    pub(super) asked: usize,
    /// How many of those behind its own could go another way.
    pub(super) feasible: u32,
}

/// What is known for now.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The first nodes of the path that it took when it was recorded.
    pub nodes: Vec<Node>,
    /// Inputs that go another way, by event.
    pub flips: HashMap<usize, Vec<Flip>>,
    /// Runs that are still to be made, by the event of the divergence point.
    pub pending: HashMap<usize, VecDeque<Sprout>>,
}

impl Slot {
    /// Nothing is known yet.
    pub fn new(test: TestCase) -> Slot {
        Slot {
            test,
            standing: Standing::Waiting,
            state: State::default(),
            stuck: None,
            trouble: None,
            anyway: None,
            memory: Memory::default(),
        }
    }

    /// Whether it is looked at for itself.
    pub fn is_active(&self) -> bool {
        self.standing == Standing::Active
    }

    /// What was looked at on its own path, with what exploration has not made up for.
    pub fn summary(&self) -> Summary {
        let subtrees = &self.state.progress.subtrees;
        let is_explored = |fork: &&usize| subtrees.get(fork).is_some_and(|it| it.bound > 0);
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
            Standing::Active => self
                .state
                .progress
                .finished
                .is_some_and(|done| done >= distance),
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
