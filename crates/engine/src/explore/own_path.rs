//! A test at distance 0: its own path, every check asked for all inputs that take it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nearmiss_search::Node;
use nearmiss_trace::RawTrace;

use super::state::{Progress, Slot, Standing, State};
use super::{Unit, locked, nodes, sameness};
use crate::analyse::{Analysis, Task, analyse};
use crate::capsule::Origin;
use crate::defects::{Found, is_shown};
use crate::error::EngineError;
use crate::hunt::{Case, Hunt};
use crate::lab::{Traced, digest, limits, tight_limits};
use crate::spot;
use crate::subject::Subject;
use crate::summary::summarise;
use crate::test_case::TestCase;

impl Unit<'_, '_> {
    pub(super) fn own_path(&self, number: usize, slot: &mut Slot) -> Result<(), EngineError> {
        let capsule = &slot.test.capsule;
        let subjects = &self.explorer.subjects;
        let subject = match subjects.get(&capsule.program, &capsule.environment) {
            Ok(subject) => subject,
            Err(why) => return skip(slot, why),
        };
        let mut traced = match self.record(&slot.test, &subject)? {
            Ok(traced) => traced,
            Err(why) => return skip(slot, why),
        };
        if let Some(limit) = traced.exceeded {
            return skip(slot, format!("run again, it {limit}"));
        }
        let nodes = nodes(&traced.path, &subject.file);
        let end = *nodes.last().expect("there is a root");
        let first = *locked(&self.explorer.first_there)
            .entry(sameness(&traced.path, end))
            .or_insert(number);
        if first != number {
            slot.standing = Standing::SamePath(first);
            return Ok(());
        }
        self.explorer.known.add_all(nodes);
        slot.standing = Standing::Active;
        let units = self.explorer.bench.work.units();
        let kept = State::load(&units, traced.digest);
        if let Some(state) = kept.filter(|state| !state.summary.stopped) {
            return self.take_up(slot, state);
        }
        slot.state = State {
            end: end.0,
            digest: traced.digest,
            ended: traced.ended.clone(),
            recorded_seconds: traced.time.as_secs_f64(),
            progress: Progress {
                farthest: u32::MAX,
                ..Progress::default()
            },
            ..State::default()
        };
        let start = Instant::now();
        self.check_own(slot, &subject, &mut traced)?;
        slot.state.own_seconds = start.elapsed().as_secs_f64();
        self.save(slot)
    }

    /// What the test recorded: when it ran first, or now.
    fn record(
        &self,
        test: &TestCase,
        subject: &Subject,
    ) -> Result<Result<Traced, String>, EngineError> {
        let bench = self.explorer.bench;
        let limits = limits(bench.config, Duration::from_secs_f64(test.seconds));
        let sites = &subject.program.sites;
        let Some(file) = &test.trace else {
            return Ok(self.lab.trace(&test.capsule, Origin::Again, sites, &limits));
        };
        let raw = RawTrace::open(file).map_err(|error| EngineError::Trace(file.clone(), error))?;
        let stdin = test.capsule.stdin_content();
        let stdin = stdin.map_err(|error| bench.campaign.failed(error))?;
        Ok(Ok(Traced {
            digest: digest(bench.config, &raw, stdin.as_deref()),
            path: nearmiss_trace::Path::read(&raw, sites, stdin.as_deref()),
            ended: test.ended.clone(),
            exceeded: None,
            time: Duration::from_secs_f64(test.seconds),
        }))
    }

    /// Goes on where an earlier call stopped.
    fn take_up(&self, slot: &mut Slot, state: State) -> Result<(), EngineError> {
        let sent = state.progress.sent.iter().map(|node| Node(*node));
        self.explorer.known.add_all(sent);
        // What was found stays found only if it still fails: the program may be another one, even
        // if this path of it is not.
        slot.state = state;
        let found = std::mem::take(&mut slot.state.found);
        for one in found {
            if self.still_fails(&one) {
                slot.state.found.push(one);
            }
        }
        self.explorer.add(&slot.state.found)
    }

    /// Whether the twin fails on a kept input as it did before.
    fn still_fails(&self, found: &Found) -> bool {
        let capsule = &found.capsule;
        let subjects = &self.explorer.subjects;
        let Ok(subject) = subjects.get(&capsule.program, &capsule.environment) else {
            return false;
        };
        let limits = tight_limits(self.explorer.bench.config, Duration::from_secs(1));
        let complaints = self.lab.try_twin(&subject, capsule, &limits);
        is_shown(&found.finding, &complaints.unwrap_or_default())
    }

    fn check_own(
        &self,
        slot: &mut Slot,
        subject: &Subject,
        traced: &mut Traced,
    ) -> Result<(), EngineError> {
        let bench = self.explorer.bench;
        // The rest is for replays: what was found and not confirmed is worth little.
        let left = self.deadline.saturating_duration_since(Instant::now());
        let end = self.deadline - left / 4;
        let sites = &subject.program.sites;
        let (config, tally) = (bench.config, bench.tally);
        let analysis = analyse(
            &mut traced.path,
            sites,
            config,
            &bench.stack,
            &Task::CHECKS,
            end,
            tally,
        );
        let can_fail = !analysis.places.is_empty() || !analysis.probes.is_empty();
        let (mut divergences, mut confirmed_guesses) = (0, 0);
        if can_fail {
            self.need_sandbox(&analysis)?;
            (divergences, confirmed_guesses) =
                self.judge_own(slot, subject, traced, Some(&analysis))?;
        }
        let mut summary = summarise(&traced.path, subject, &analysis, divergences);
        summary.checks.undecided -= confirmed_guesses;
        summary.checks.failing += confirmed_guesses;
        slot.state.summary = summary;
        slot.state.places = places(subject, &analysis);
        slot.state.progress.finished = (!analysis.stopped).then_some(0);
        let mut figures = locked(&self.explorer.figures);
        figures.statistics.merge(&analysis.statistics);
        Ok(())
    }

    /// Replays what can fail on the test's own path, and asks the twin about the test's own input:
    /// memory errors on data that is not input are seen by nobody else. Gives the runs that left
    /// the predicted path, and the guesses that came true.
    ///
    /// Without an analysis this is for later: at distance 0 the twin is asked only where something
    /// can fail, because building the twins of a hundred programs takes its time.
    pub(super) fn judge_own(
        &self,
        slot: &mut Slot,
        subject: &Subject,
        traced: &Traced,
        analysis: Option<&Analysis>,
    ) -> Result<(u64, u64), EngineError> {
        let limits = limits(self.explorer.bench.config, traced.time);
        if slot.anyway.is_none() {
            let complaints = self.lab.try_twin(subject, &slot.test.capsule, &limits);
            slot.anyway = Some(complaints.unwrap_or_default());
        }
        let case = Case {
            test: &slot.test,
            own: &traced.path.channels,
            capsule: &slot.test.capsule,
            path: &traced.path,
            distance: 0,
        };
        let anyway = slot.anyway.as_deref().unwrap_or_default();
        let known = (anyway, slot.state.found.as_slice());
        let mut hunt = Hunt::new((self.lab, subject), case, limits, known, self.deadline);
        if let Some(analysis) = analysis {
            hunt.confirm(analysis)?;
        }
        hunt.tell_own(anyway)?;
        let counts = (hunt.divergences, hunt.confirmed_guesses);
        let found = std::mem::take(&mut hunt.found);
        self.explorer.add(&found)?;
        slot.state.found.extend(found);
        Ok(counts)
    }

    /// Makes sure that invented inputs can be run, before the first one is.
    fn need_sandbox(&self, analysis: &Analysis) -> Result<(), EngineError> {
        let total = analysis.places.len() + analysis.probes.len();
        let refused = |why| EngineError::NoSandbox { total, why };
        let sandbox = &self.explorer.bench.config.sandbox;
        sandbox.check().map_err(refused).map(drop)
    }

    /// Keeps what is known of a test, with the inputs of what was found.
    pub(super) fn save(&self, slot: &mut Slot) -> Result<(), EngineError> {
        let bench = self.explorer.bench;
        let (units, root) = (bench.work.units(), bench.campaign.root());
        let inputs = bench.work.paths(slot.state.digest);
        let mut keep = || -> std::io::Result<()> {
            for (number, found) in slot.state.found.iter_mut().enumerate() {
                let directory = inputs.join(format!("found-{number}"));
                if found.directory != directory {
                    *found = found.moved_to(&directory, root)?;
                }
            }
            slot.state.save(&units)
        };
        keep().map_err(|error| bench.campaign.failed(error))
    }
}

fn skip(slot: &mut Slot, why: String) -> Result<(), EngineError> {
    slot.standing = Standing::Skipped(why);
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
