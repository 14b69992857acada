//! Towards a target in a whole program: `nearmiss reach FILE:LINE -- PROGRAM …`.
//!
//! ```text
//!  tests ─► recorded on the marked program ─► did one come there? ─► else by distance
//!  path  ─► its forks, nearest first ─► a few are asked about ─► flips ─► Guided worklist ─► run ─► path …
//! ```
//!
//! The program is a variant with marks at the target and at the steps before it. What cannot lead to the target by
//! the control flow is left out, and a run ends where it can no longer come there.
//!
//! | module | what it does |
//! | --- | --- |
//! | this one | the tests, and what comes of the search |
//! | [`hunt`] | the worklist: flips, and paths with forks that were not asked about |
//! | [`survey`] | where each test comes, recorded once for many targets: which of them are near |

mod hunt;
mod survey;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nearmiss_abi::check::{CONTRACT_PREFIX, Kind as Failure};
use nearmiss_abi::environment::DEAD_ENDS;
use nearmiss_abi::event::PHASE_FUNCTION;
use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_campaign::store::{Campaign, Kind};
use nearmiss_campaign::test_case::TestCase;
use nearmiss_flow::{FlowGraph, Guide};
use nearmiss_judge::contract::{self, Told};
use nearmiss_judge::steps;
use nearmiss_results::{Input, Step};
use nearmiss_search::{Executor, Phase, Tally};
use nearmiss_trace::{Channel, Event, RecordedPath};
use nearmiss_twin::TwinProgram;

use crate::contracts::{LIBRARY_PATH, loading_from};
use crate::error::EngineError;
use crate::executor::Traced;
use crate::inputs;
use crate::program;
use crate::recorders::Recorders;
use crate::subject::{Subject, Subjects};
use crate::worker::{Shared, Worker, limits};
use crate::{Config, SuiteTarget, Target};
use hunt::Hunt;
pub use survey::{LineKey, Survey};

/// A program with marks in it, and how many of them are steps to the target.
#[derive(Clone, Debug)]
pub struct MarkedProgram {
    /// The program.
    pub program: TwinProgram,
    /// The steps; the last is the target.
    pub steps: u8,
}

/// What came of a search.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The input that came to the target.
    pub reached: Option<Reached>,
    /// Whether no way of the program's control flow leads to the target.
    pub is_unreachable: bool,
    /// Whether the compiler has left no code of a place that is to be passed.
    pub is_left_out: bool,
    /// Runs of the program.
    pub runs: u64,
    /// Queries to the solver.
    pub queries: u64,
    /// Alternatives that were left out, because no way leads from them to the target.
    pub pruned: u64,
    /// How long it took.
    pub time: Duration,
    /// The test that came nearest, and how many decisions were missing; 0 if it is not known how far it is.
    pub nearest: Option<(String, u32)>,
    /// Why the search ended without an answer.
    pub reasons: Vec<String>,
}

/// An input that comes to the target.
#[derive(Debug)]
pub struct Reached {
    /// The test from which it was derived.
    pub test: String,
    /// Whether it is the test's own.
    pub is_own: bool,
    /// Where its capsule lies.
    pub directory: PathBuf,
    /// Its words.
    pub arguments: Vec<OsString>,
    /// What each channel holds.
    pub input: BTreeMap<String, Input>,
    /// The decisions on the way.
    pub path: Vec<Step>,
    /// Requirements of contracts that it violates on the way, and what came of that.
    pub violated: Vec<String>,
}

/// A place for the tests of a search, its campaign.
#[derive(Debug)]
pub struct Search<'a> {
    config: &'a Config,
    campaign: Campaign,
    tally: &'a Tally,
    tests: Vec<TestCase>,
}

/// Most tests from which a search begins.
const MOST_STARTS: usize = 32;
/// As many of the nearest tests are begun with at a time, where a survey says which they are.
const NEAREST: usize = 6;

impl<'a> Search<'a> {
    /// A search that begins with these tests.
    pub fn new(
        config: &'a Config,
        campaign: Campaign,
        tests: Vec<TestCase>,
        tally: &'a Tally,
    ) -> Search<'a> {
        Search {
            config,
            campaign,
            tally,
            tests,
        }
    }

    /// The programs that tests run, each once.
    pub fn programs(&self) -> Vec<&Capsule> {
        let mut programs: Vec<&Capsule> = Vec::new();
        for test in &self.tests {
            if !programs.iter().any(|it| it.program == test.capsule.program) {
                programs.push(&test.capsule);
            }
        }
        programs
    }

    /// Looks for an input of a program that comes to the target of its marked variant. `name` is that of the
    /// directory in which the input is kept; `nearest` has the tests to begin with in their order, if that is known.
    pub fn reach(
        &self,
        program: &std::path::Path,
        marked: &MarkedProgram,
        time: Duration,
        name: &str,
        nearest: Option<&[String]>,
    ) -> Result<Outcome, EngineError> {
        let start = Instant::now();
        let deadline = start + time;
        self.tally.enter(Phase::Exploring);
        self.tally.set_deadline(deadline);
        let shared = Shared::new(self.config, &self.campaign, Kind::Test, self.tally);
        let worker = Worker::new(&shared, 0);
        let mut outcome = Outcome::default();
        let Some(guide) = self.guide(marked)? else {
            outcome.is_left_out = true;
            return Ok(outcome);
        };
        let dead_ends = self.write_dead_ends(&guide)?;
        let mut starts = Vec::new();
        for test in (self.tests.iter()).filter(|test| test.capsule.program == program) {
            let capsule = equipped(&test.capsule, marked, Some(&dead_ends));
            starts.push((test.id.clone(), capsule, test.seconds));
        }
        if let Some(order) = nearest {
            let rank = |id: &String| order.iter().position(|it| it == id);
            starts.sort_by_key(|(id, _, _)| rank(id).unwrap_or(usize::MAX));
        }
        let subjects = Subjects::new(shared.recorders.clone());
        let Some((_, first, _)) = starts.first() else {
            outcome.reasons.push("no test runs this program".into());
            return Ok(outcome);
        };
        let subject = subjects.get(first);
        let subject = subject.map_err(|error| EngineError::Skipped(error.to_string()))?;
        // What is not instrumented may call anything.
        if !guide.can_be_reached() && subject.program.uninstrumented.is_empty() {
            outcome.is_unreachable = true;
            return Ok(outcome);
        }
        let mut hunt = Hunt::new(&worker, &subject, &guide, marked.steps, deadline);
        let at_once = match nearest {
            Some(_) => NEAREST,
            None => starts.len(),
        };
        for some in starts.chunks(at_once) {
            if hunt.is_over() || hunt.has_reached() {
                break;
            }
            hunt.begin_all(some, MOST_STARTS)?;
            hunt.go_on()?;
        }
        outcome.nearest = hunt.nearest();
        outcome.runs = worker.counts().runs;
        hunt.tell(&mut outcome);
        if let Some(found) = hunt.found.take() {
            let violated = violated(&worker, &subject, &found);
            outcome.reached = Some(self.keep(found, &subject, marked, name, violated)?);
        }
        outcome.time = start.elapsed();
        Ok(outcome)
    }

    /// The way to the target; `None` if the compiler has left no code of a place that is to be passed.
    fn guide(&self, marked: &MarkedProgram) -> Result<Option<Guide>, EngineError> {
        let program = &marked.program.program;
        let failed = |error: nearmiss_twin::TwinError| {
            EngineError::Program(program.clone(), error.to_string())
        };
        let libraries = match &marked.program.library_path {
            Some(directory) => files_in(directory),
            None => Vec::new(),
        };
        let flows = nearmiss_twin::flows_of(program, &libraries).map_err(failed)?;
        let graph = FlowGraph::new(&flows, &[]);
        Ok(Guide::through_marks(graph, marked.steps).ok())
    }

    fn write_dead_ends(&self, guide: &Guide) -> Result<PathBuf, EngineError> {
        let path = self.campaign.root().join("dead-ends");
        let path = std::path::absolute(&path).unwrap_or(path);
        let written = fs::write(&path, guide.dead_ends(PHASE_FUNCTION));
        written.map_err(|error| self.campaign.failed(error))?;
        Ok(path)
    }

    /// Keeps an input as one of the program itself.
    fn keep(
        &self,
        found: hunt::Found,
        subject: &Subject,
        marked: &MarkedProgram,
        name: &str,
        violated: Vec<String>,
    ) -> Result<Reached, EngineError> {
        let failed = |error| self.campaign.failed(error);
        let directory = self.campaign.inputs().join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).map_err(failed)?;
        let Traced { path, .. } = &found.traced;
        let contents: Vec<Vec<u8>> = (path.channels.iter())
            .map(|channel| channel.content.clone())
            .collect();
        let original = self.tests.iter().find(|test| test.id == found.test);
        let mut capsule = found.capsule.clone();
        if let Some(test) = original {
            capsule.program = test.capsule.program.clone();
            capsule.environment = test.capsule.environment.clone();
        }
        // Contents that differ from the test's own lie in files of the search.
        for (number, file) in capsule.own_files().into_iter().enumerate() {
            let copy = directory.join(format!("content-{number}"));
            if fs::copy(&*file, &copy).is_ok() {
                *file = copy;
            }
        }
        capsule.write(&directory).map_err(failed)?;
        Ok(Reached {
            test: found.test,
            is_own: found.is_own,
            arguments: capsule.arguments.clone(),
            input: inputs::show(&capsule, &path.channels, &contents, &blank(&path.channels)),
            path: turns(path, subject, marked.steps),
            violated,
            directory,
        })
    }
}

/// The requirements of contracts that an input violates, in the words of the twin.
fn violated(worker: &Worker, subject: &Subject, found: &hunt::Found) -> Vec<String> {
    let is_violated =
        |event: &Event| event.failure == Some(Failure::Precondition) && event.is_failure();
    if !found.traced.path.events.iter().any(is_violated) {
        return Vec::new();
    }
    let limits = limits(worker.shared.config, found.traced.time);
    let said = worker.try_twin(subject, &found.capsule, &limits);
    let words = |told: Told| match told {
        Told::Failure(_) => None,
        Told::Fails(_, complaint) => Some(complaint.text),
        Told::Harmless(_, complaint) => {
            Some(format!("{} (the call does not fail)", complaint.text))
        }
    };
    match said {
        Ok(complaints) => contract::told(&complaints)
            .into_iter()
            .filter_map(words)
            .collect(),
        Err(why) => vec![format!("a contract; which one was not found out: {why}")],
    }
}

/// Runs a program once: the only test.
pub fn record_one(
    target: Target,
    config: &Config,
    campaign: &Campaign,
    tally: &Tally,
) -> Result<Vec<TestCase>, EngineError> {
    program::inspect(&target.program, &target.environment, &target.directory)?;
    config.sandbox.check().map_err(EngineError::NeedsSandbox)?;
    tally.enter(Phase::Recording);
    let directory = campaign.new_run()?;
    let mut tests = vec![crate::record::record(target, config, campaign, &directory)?];
    Recorders::new(config, campaign.root()).build_all(&mut tests)?;
    Ok(tests)
}

/// Runs a suite: every different execution in it is a test.
pub fn record_suite(
    target: &SuiteTarget,
    config: &Config,
    campaign: &Campaign,
    tally: &Tally,
) -> Result<Vec<TestCase>, EngineError> {
    config.sandbox.check().map_err(EngineError::NeedsSandbox)?;
    let mut tests = nearmiss_suite::collect(target, &config.suite(), campaign, tally)?.tests;
    Recorders::new(config, campaign.root()).build_all(&mut tests)?;
    Ok(tests)
}

/// The instrumented libraries that a capsule's program loads.
pub fn libraries(capsule: &Capsule) -> Vec<PathBuf> {
    program::libraries_of(capsule)
}

/// A test's capsule with the marked program in place of its own.
fn equipped(capsule: &Capsule, marked: &MarkedProgram, dead_ends: Option<&PathBuf>) -> Capsule {
    let mut capsule = capsule.clone();
    capsule.program = marked.program.program.clone();
    if let Some(libraries) = &marked.program.library_path {
        let mut variables = capsule.environment.iter();
        let before = variables.find(|(name, _)| *name == LIBRARY_PATH);
        let (name, value) = loading_from(libraries, before.map(|it| &it.1));
        capsule.environment.set(name, value);
    }
    if let Some(path) = dead_ends {
        let value = path.clone().into_os_string();
        capsule.environment.set(DEAD_ENDS.into(), value);
    }
    capsule
}

/// The same channels with nothing in them: compared with these, all that was read is shown.
fn blank(channels: &[Channel]) -> Vec<Channel> {
    let blank = |channel: &Channel| Channel {
        content: Vec::new(),
        ..channel.clone()
    };
    channels.iter().map(blank).collect()
}

fn files_in(directory: &std::path::Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_library = |path: &PathBuf| nearmiss_twin::inspect(path, &[]).is_ok();
    entries
        .map(|entry| entry.path())
        .filter(is_library)
        .collect()
}

/// The decisions before the target.
fn turns(path: &RecordedPath, subject: &Subject, steps: u8) -> Vec<Step> {
    let is_before = |event: &&Event| event.steps_passed < steps;
    let decisions = path.events.iter().take_while(is_before);
    let sites = &subject.program.sites;
    // That a contract is looked at is no turn.
    let is_contract = |event: &Event| {
        let site = sites.get(event.site);
        site.is_some_and(|(unit, site)| unit.function_of(site).starts_with(CONTRACT_PREFIX))
    };
    decisions
        .filter(|event| event.is_step() && !is_contract(event))
        .map(|event| steps::taken(sites, event))
        .collect()
}

/// Runs a capsule once more, to see what it does.
fn record(
    worker: &Worker<'_>,
    subject: &Subject,
    capsule: &Capsule,
    origin: Origin,
    time: Duration,
) -> Option<Traced> {
    let limits = limits(worker.shared.config, time);
    worker.executor(subject, origin, limits).run(capsule).ok()
}
