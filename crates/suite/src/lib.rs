//! The user's suite, run as it is: every execution of an instrumented program is captured.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`command`] | runs the suite's command, as the user would |
//! | [`collector`] | watches what they leave while the suite runs, and keeps what is new |
//! | [`identity`] | which executions are the same |
//! | [`programs`] | the programs they are of |
//! | [`contents`] | the files they read |
//! | [`sample`] | a random part of them |
//! | [`case`] | an execution as a test case |
//! | [`world`] | what it found in the file system |
//! | [`shelf`] | where tests are kept between two commands |
//! | [`skipped`] | what is not looked at, and why |

mod case;
mod collector;
mod command;
mod contents;
mod digest;
mod error;
mod identity;
mod programs;
mod sample;
mod shelf;
mod skipped;
#[cfg(test)]
mod testing;
mod variables;
mod world;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nearmiss_abi::capture::{DEFAULT_FILE, DEFAULT_FILES, FILES};
use nearmiss_abi::channel::ChannelSet;
use nearmiss_campaign::{Campaign, CampaignError, Capsule, Chance, Options, TestCase};
use nearmiss_capture::Meeting;
use nearmiss_results::{Sample, Suite};
use nearmiss_sandbox::Ended;
use nearmiss_search::{Phase, Tally};

use case::{NoCase, Workshop};
use collector::{Collector, command_line};
use command::Finished;
use programs::{ProgramFacts, Programs};
use shelf::Shelf;
use skipped::Reason;

pub use error::SuiteError;

/// How executions are to be recorded.
#[derive(Clone, Debug)]
pub struct Config {
    /// The channels that are inputs.
    pub channels: ChannelSet,
    /// How much of a run is recorded.
    pub options: Options,
    /// Whether the suite's output is kept instead of shown.
    pub keeps_output: bool,
    /// Set from outside to stop early.
    pub stop: &'static AtomicBool,
}

/// The suite to be run, as the user would run it: standard streams are ours.
#[derive(Debug)]
pub struct SuiteTarget {
    /// The command, with its name first.
    pub command: Vec<OsString>,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Look at a random part of its executions only: percent, and what the choice starts from.
    pub sample: Option<(f64, u64)>,
    /// Most bytes of captured files on the disk.
    pub disk: u64,
    /// Most different executions that are kept.
    pub tests: u64,
    /// Whether we were started with `SIGPIPE` ignored, and so the suite is to be.
    pub broken_pipes_ignored: bool,
    /// Set from outside when the suite is to be ended too: the signal that says so reaches us
    /// alone.
    pub terminate: &'static AtomicBool,
}

/// What a suite ran.
#[derive(Debug)]
pub struct Collected {
    /// Its different executions, in the order in which they started.
    pub tests: Vec<TestCase>,
    /// The suite in figures.
    pub suite: Suite,
}

/// Runs the suite and sorts what was captured.
pub fn collect(
    target: &SuiteTarget,
    config: &Config,
    campaign: &Campaign,
    tally: &Tally,
) -> Result<Collected, SuiteError> {
    let captures = Captures::new(campaign)?;
    tally.enter(Phase::Recording);
    // With a small budget there is no room for files of the usual size either.
    let (file, files) = (
        DEFAULT_FILE.min(target.disk),
        DEFAULT_FILES.min(target.disk),
    );
    let meeting = Meeting::open(&captures.0, file, files).map_err(SuiteError::MeetingPlace)?;
    let programs = Programs::new(campaign.root().join("programs"), &target.directory);
    let mut collector = Collector::new(&captures.0, programs, target, &meeting, tally);
    let output = campaign.root().join("suite.out");
    let output = config.keeps_output.then_some(output.as_path());
    let finished = run(target, output, &mut collector)?;
    // Ctrl-C ended the suite; what it ran until then is looked at. SIGTERM is meant for us too.
    let stopped = config.stop.load(Ordering::Relaxed);
    if !target.terminate.load(Ordering::Relaxed) {
        config.stop.store(false, Ordering::Relaxed);
    }
    tally.enter(Phase::Sorting);
    if collector.executions == 0 {
        return Err(SuiteError::NothingCaptured(command_line(&target.command)));
    }
    let mut collected = sort(target, config, campaign, collector, stopped)?;
    collected.suite.ended = Ended::from(finished.status).to_string();
    collected.suite.seconds = finished.time.as_secs_f64();
    tally.tests.set(collected.tests.len() as u64);
    Ok(collected)
}

/// Gives the capsule of a single process what it captured: its world (what that needs is moved into
/// `files`), what it got by chance, and of its environment what it may have looked at. A process that
/// left nothing has the disk as its world.
pub fn keep_world(
    captures: &Path,
    process: u32,
    files: &Path,
    capsule: &mut Capsule,
) -> io::Result<()> {
    let captured = collector::read(&captures.join(format!("{process}.capsule"))).ok();
    let facts = fs::read(&capsule.program).map(|content| ProgramFacts::of_content(&content));
    let kept = variables::kept(
        capsule.environment.to_vec(),
        facts.as_ref().ok(),
        captured.as_ref(),
        capsule.channels,
    );
    (capsule.environment, capsule.variables) = (kept.variables.into(), kept.why);
    let Some(captured) = captured else {
        return Ok(());
    };
    let world = world::build(&captured, |name| files.join(name));
    fs::create_dir_all(files)?;
    for name in world::contents(&world, files) {
        fs::rename(captures.join(FILES).join(name), files.join(name))?;
    }
    (capsule.world, capsule.chance) = (world, Chance::of(&captured));
    Ok(())
}

/// The directory that programs capture into, as long as the suite runs.
#[derive(Debug)]
struct Captures(PathBuf);

impl Captures {
    fn new(campaign: &Campaign) -> Result<Captures, SuiteError> {
        let captures = Captures(campaign.root().join("captures"));
        // What a nearmiss that was killed left.
        captures.remove();
        fs::create_dir_all(&captures.0).map_err(|error| campaign.failed(error))?;
        Ok(captures)
    }

    fn remove(&self) {
        // What is left is removed by the next suite.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Drop for Captures {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Runs the command and collects beside it.
fn run(
    target: &SuiteTarget,
    output: Option<&Path>,
    collector: &mut Collector<'_>,
) -> Result<Finished, SuiteError> {
    let name = PathBuf::from(target.command.first().cloned().unwrap_or_default());
    let failed = |error: io::Error| SuiteError::Start(name.clone(), error);
    let running = command::start(target, output).map_err(failed)?;
    let (suite, captures) = (running.process(), collector.captures.clone());
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| collector.watch(&ended, suite));
        let finished = running.wait(target);
        ended.store(true, Ordering::Release);
        let watched = watching.join().expect("no thread panics");
        watched.map_err(|error| SuiteError::from(CampaignError::Directory(captures, error)))?;
        finished.map_err(failed)
    })
}

/// Chooses among the different executions and makes test cases of them.
fn sort(
    target: &SuiteTarget,
    config: &Config,
    campaign: &Campaign,
    mut collector: Collector<'_>,
    stopped: bool,
) -> Result<Collected, SuiteError> {
    let failed = |error: io::Error| campaign.failed(error);
    collector
        .candidates
        .sort_by_key(|candidate| candidate.started);
    let (chosen, sample) = choose(target, &collector);
    let mut shelf = Shelf::open(campaign.root().join("tests")).map_err(failed)?;
    let workshop = Workshop {
        config,
        programs: &collector.programs,
        contents: &collector.contents,
    };
    let mut tests = Vec::new();
    for (candidate, chosen) in collector.candidates.iter().zip(chosen) {
        if !chosen {
            shelf.keep(&candidate.digest);
            continue;
        }
        match workshop.make(candidate, &mut shelf) {
            Ok(test) => tests.push(test),
            Err(NoCase::Failed(error)) => return Err(failed(error).into()),
            Err(NoCase::Skipped(reason)) => {
                let command = || match collector::read(&candidate.record) {
                    Ok(captured) => command_line(&captured.arguments),
                    Err(_) => String::new(),
                };
                collector.skipped.add(reason, candidate.executions, command);
            }
        }
    }
    if stopped {
        let nothing = || command_line(&target.command);
        collector.skipped.add(Reason::Stopped, 0, nothing);
    } else {
        shelf.remove_unseen().map_err(failed)?;
    }
    let suite = Suite {
        command: target
            .command
            .iter()
            .map(|word| word.display().to_string())
            .collect(),
        executions: collector.executions,
        tests: collector.candidates.len() as u64,
        sample,
        skipped: collector.skipped.rows(),
        ..Suite::default()
    };
    Ok(Collected { tests, suite })
}

fn choose(target: &SuiteTarget, collector: &Collector<'_>) -> (Vec<bool>, Option<Sample>) {
    let candidates = collector.candidates.iter();
    let digests: Vec<String> = candidates
        .map(|candidate| candidate.digest.clone() + &candidate.program.facts.identity)
        .collect();
    match target.sample {
        None => (vec![true; digests.len()], None),
        Some((percent, seed)) => {
            let (chosen, sample) = sample::choose(&digests, percent, seed);
            (chosen, Some(sample))
        }
    }
}
