//! The stage of a test's own path: every check asked, for all inputs that take it.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use nearmiss_abi::note::{NoteKind, NoteRow};
use nearmiss_campaign::capsule::Origin;
use nearmiss_campaign::kept;
use nearmiss_campaign::test_case::TestCase;
use nearmiss_judge::{identity, spot};
use nearmiss_results::Status;
use nearmiss_sandbox::Exceeded;
use nearmiss_search::{Executor, Node};
use nearmiss_trace::{RawTrace, RecordedPath};

use super::seed::{Progress, Seed, Standing, State};
use super::tree::{nodes, outcomes_of, sameness};
use super::{Work, locked};
use crate::analyse::{Analysis, Task};
use crate::confirmer::{Case, Confirmer, Known, describe};
use crate::defects::{self, Found};
use crate::error::{EngineError, TrialError};
use crate::executor::{RunError, Traced, digest, reads_input};
use crate::subject::Subject;
use crate::summary::summarise;
use crate::worker::limits;

/// Nodes of a path that are remembered, to say where it is left when it is run again.
const MOST_NODES: usize = 1 << 14;

/// Why the twin's word about a test's own input is not whole.
const OTHERWISE: &str = "its sanitizer twin failed an assertion that held when the test ran, and was not seen to its end";

/// Why a memory twin was not even asked for.
const NOT_RUN: &str = "no input was read, the run fails otherwise, or there was no time left";

/// What became of what was predicted on a test's own path.
#[derive(Default)]
pub(super) struct Judged {
    /// Runs that left the predicted path.
    divergences: u64,
    /// Guesses that came true.
    confirmed_guesses: u64,
    /// Why the twin could not be asked about the test's own input.
    pub trouble: Option<String>,
}

impl Work<'_, '_> {
    pub(super) fn own_path(&self, number: usize, seed: &mut Seed) -> Result<(), EngineError> {
        let capsule = &seed.test.capsule;
        let subjects = &self.explorer.subjects;
        let builds = &self.explorer.shared.tally.builds;
        builds.add(1);
        let subject = subjects.get(capsule);
        builds.remove(1);
        let subject = match subject {
            Ok(subject) => subject,
            Err(why) => return skip(seed, why.to_string()),
        };
        let mut traced = match self.record(&seed.test, &subject)? {
            Ok(traced) => traced,
            Err(why) => return skip(seed, why.to_string()),
        };
        if let Some(limit) = traced.exceeded {
            let advice = match limit {
                Exceeded::Time => " (--run-time gives it more)",
                _ => "",
            };
            return skip(seed, format!("run again, it {limit}{advice}"));
        }
        let Some(end) = self.enter_tree(number, seed, &subject, &traced) else {
            return Ok(());
        };
        seed.memory.answers = std::mem::take(&mut traced.path.answers);
        seed.standing = Standing::Active;
        self.settle(seed, traced.digest)?;
        let units = self.explorer.shared.work.units();
        let kept = State::load(&units, traced.digest);
        // Without a judge little was found out.
        let is_worth_it =
            |state: &State| !state.summary.stopped && state.summary.unconfirmable.is_none();
        if let Some(state) = kept.filter(is_worth_it)
            && self.take_up(seed, state, &subject)?
        {
            return Ok(());
        }
        seed.state = State {
            end: end.0,
            digest: traced.digest,
            program: subject.fingerprint(),
            ended: traced.ended.clone(),
            recorded_seconds: traced.time.as_secs_f64(),
            progress: Progress {
                farthest: u32::MAX,
                ..Progress::default()
            },
            ..State::default()
        };
        let start = Instant::now();
        self.check_own(seed, &subject, &mut traced)?;
        seed.state.own_seconds = start.elapsed().as_secs_f64();
        self.save(seed)
    }

    /// Makes the test's path part of the execution tree; gives its end. `None` if another test takes the
    /// same path: one of them is enough.
    fn enter_tree(
        &self,
        number: usize,
        seed: &mut Seed,
        subject: &Subject,
        traced: &Traced,
    ) -> Option<Node> {
        let nodes = nodes(&traced.path, &subject.file, &seed.test.calls);
        let end = *nodes.last().expect("there is a root");
        let first = *locked(&self.explorer.first_there)
            .entry(sameness(&traced.path, end))
            .or_insert(number);
        if first != number {
            seed.standing = Standing::SamePath(first);
            return None;
        }
        let first = nodes.iter().take(MOST_NODES);
        seed.memory.nodes = first.copied().collect();
        self.explorer.known.add_all(nodes);
        let mut outcomes = locked(&self.explorer.outcomes);
        let before = outcomes.len();
        outcomes.extend(outcomes_of(&traced.path));
        seed.memory.has_new_outcomes = outcomes.len() > before;
        seed.memory.pool.observe(&mut outcomes_of(&traced.path));
        Some(end)
    }

    /// What the test recorded: when it ran first, or now.
    fn record(
        &self,
        test: &TestCase,
        subject: &Subject,
    ) -> Result<Result<Traced, RunError>, EngineError> {
        let shared = self.explorer.shared;
        let limits = limits(shared.config, Duration::from_secs_f64(test.seconds));
        let Some(file) = &test.trace else {
            let mut executor = self.worker.executor(subject, Origin::Again, limits);
            return Ok(executor.run(&test.capsule));
        };
        let raw = RawTrace::open(file).map_err(|error| EngineError::Trace(file.clone(), error))?;
        let stdin = test.capsule.stdin_content();
        let stdin = stdin.map_err(|error| shared.campaign.failed(error))?;
        let (terms, path) =
            RecordedPath::read_alone(&raw, &subject.program.sites, stdin.as_deref());
        Ok(Ok(Traced {
            digest: digest(shared.config, &raw, stdin.as_deref()),
            reads_input: reads_input(&raw),
            terms,
            path,
            ended: test.ended.clone(),
            exceeded: None,
            time: Duration::from_secs_f64(test.seconds),
        }))
    }

    /// Keeps the test's own files beside what is known of its paths: the run that it was recorded in is
    /// removed by the next command.
    fn settle(&self, seed: &mut Seed, digest: u64) -> Result<(), EngineError> {
        let shared = self.explorer.shared;
        let own = shared.work.paths(digest).join(kept::OWN);
        let settled = kept::settle(&seed.test.capsule, &own, shared.campaign.root());
        seed.test.capsule = settled.map_err(|error| shared.campaign.failed(error))?;
        Ok(())
    }

    /// Goes on where an earlier call stopped. Says whether it can: what no longer fails, because the program
    /// is another one even if this path of it is not, leaves nothing that is known for certain.
    fn take_up(
        &self,
        seed: &mut Seed,
        mut state: State,
        subject: &Subject,
    ) -> Result<bool, EngineError> {
        let is_same_program = state.program == subject.fingerprint();
        state.program = subject.fingerprint();
        let mut told = Vec::new();
        for one in &mut state.found {
            one.finding.test = describe(&seed.test);
            let shown = one.clone();
            told.push(match self.still_fails(one, subject) {
                Ok(true) => shown,
                Ok(false) if !is_same_program => return Ok(false),
                Ok(false) => shown.doubted("run again, this input did not fail"),
                Err(why) => {
                    let why = why.to_string();
                    let shown = shown.doubted(&why);
                    seed.trouble = Some(why);
                    shown
                }
            });
        }
        let sent = state.progress.sent.iter().map(|node| Node(*node));
        self.explorer.known.add_all(sent);
        seed.state = state;
        self.add(&told)?;
        Ok(true)
    }

    /// Whether the twin fails on a kept input as it did before; or why that is not known.
    fn still_fails(&self, found: &Found, subject: &Subject) -> Result<bool, TrialError> {
        if found.finding.status == Status::Unconfirmed {
            // It was never seen to fail; the prediction stands as long as the program does.
            return Ok(true);
        }
        let limits = limits(self.explorer.shared.config, Duration::from_secs(1));
        let kind = found.finding.kind;
        let worker = self.worker;
        let complaints = worker.try_twin_of(kind, subject, &found.capsule, &limits)?;
        Ok(identity::shown(&found.finding, &complaints).is_some())
    }

    fn check_own(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        traced: &mut Traced,
    ) -> Result<(), EngineError> {
        let shared = self.explorer.shared;
        let is_cut = |row: &NoteRow| row.kind == NoteKind::Disk as u8;
        if traced.path.notes.iter().any(is_cut) {
            // What was recorded says nothing about the program.
            return Err(shared
                .campaign
                .failed(io::ErrorKind::StorageFull.into())
                .into());
        }
        // The rest is for replays: what was found and not confirmed is worth little.
        let left = self.deadline.saturating_duration_since(Instant::now());
        let end = self.deadline - left / 4;
        let analysis = self.worker.analyse(traced, subject, &Task::CHECKS, end);
        let can_fail = !analysis.places.is_empty() || !analysis.probes.is_empty();
        if can_fail {
            self.need_sandbox(&analysis)?;
        }
        // A program that reads no input has nothing for a twin to judge.
        let judged = if traced.reads_input || can_fail {
            self.judge_own(seed, subject, traced, Some(&analysis))?
        } else {
            Judged::default()
        };
        let mut summary = summarise(&traced.path, subject, &analysis, judged.divergences);
        summary.no_input = !traced.reads_input;
        summary.checks.undecided -= judged.confirmed_guesses;
        summary.checks.failing += judged.confirmed_guesses;
        if let Some(why) = &judged.trouble {
            summary.withdraw(why);
        }
        if summary.uninitialised.is_unknown() {
            summary.uninitialised.refused.push(NOT_RUN.into());
        }
        seed.state.summary = summary;
        seed.state.places = places(subject, &analysis);
        seed.state.too_short = analysis.too_short;
        seed.state.progress.finished = (!analysis.stopped).then_some(0);
        let mut figures = locked(&self.explorer.figures);
        figures.statistics.merge(&analysis.statistics);
        Ok(())
    }

    /// Replays what can fail on the test's own path, if there is an analysis of it, and asks the twin about
    /// the test's own input: memory errors on data that is not input show nowhere else.
    pub(super) fn judge_own(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        traced: &Traced,
        analysis: Option<&Analysis>,
    ) -> Result<Judged, EngineError> {
        let limits = limits(self.explorer.shared.config, traced.time);
        let mut trouble = None;
        if seed.baseline.is_none() {
            let complaints = self
                .worker
                .judge(subject, &seed.test.capsule, &limits, self.deadline);
            seed.baseline = Some(complaints.unwrap_or_else(|why| {
                trouble = Some(why.to_string());
                Vec::new()
            }));
        }
        let case = Case {
            test: &seed.test,
            own: &traced.path.channels,
            capsule: &seed.test.capsule,
            path: &traced.path,
            distance: 0,
        };
        let baseline = seed.baseline.as_deref().unwrap_or_default();
        let known = Known {
            baseline,
            found: &seed.state.found,
            everywhere: &self.explorer.defects,
        };
        let mut confirmer = Confirmer::new(self.trials(subject, limits), case, known);
        if let Some(analysis) = analysis {
            confirmer.confirm(analysis)?;
        }
        if confirmer.tell_own(baseline)? {
            trouble.get_or_insert_with(|| OTHERWISE.to_string());
        }
        let judged = Judged {
            divergences: confirmer.divergences,
            confirmed_guesses: confirmer.confirmed_guesses,
            trouble,
        };
        let found = std::mem::take(&mut confirmer.found);
        self.add(&found)?;
        defects::take_in(&mut seed.state.found, found);
        Ok(judged)
    }

    /// Makes sure that invented inputs can be run, before the first one is.
    fn need_sandbox(&self, analysis: &Analysis) -> Result<(), EngineError> {
        let total = analysis.places.len() + analysis.probes.len();
        let refused = |why| EngineError::NoSandbox { total, why };
        let sandbox = &self.explorer.shared.config.sandbox;
        sandbox.check().map_err(refused).map(drop)
    }

    /// Keeps what is known of a test, with the inputs of what was found.
    pub(super) fn save(&self, seed: &mut Seed) -> Result<(), EngineError> {
        let shared = self.explorer.shared;
        let (units, root) = (shared.work.units(), shared.campaign.root());
        let inputs = shared.work.paths(seed.state.digest);
        let mut keep = || -> std::io::Result<()> {
            for (number, found) in seed.state.found.iter_mut().enumerate() {
                let directory = inputs.join(format!("found-{number}"));
                if found.directory != directory {
                    *found = found.moved_to(&directory, root)?;
                }
            }
            seed.state.save(&units)
        };
        Ok(keep().map_err(|error| shared.campaign.failed(error))?)
    }
}

fn skip(seed: &mut Seed, why: String) -> Result<(), EngineError> {
    seed.standing = Standing::Skipped(why);
    Ok(())
}

/// The lines where checks were met.
fn places(subject: &Subject, analysis: &Analysis) -> Vec<(String, u32)> {
    let sites = &subject.program.sites;
    let lines: BTreeSet<(String, u32)> = analysis
        .sites
        .iter()
        .map(|site| {
            let (file, line, _) = spot::place(sites, *site);
            (file, line)
        })
        .collect();
    lines.into_iter().collect()
}
