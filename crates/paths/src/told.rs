//! The report: what was found out, what it took, and what nobody knows.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use nearmiss_abi::event::PHASE_FUNCTION;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_results::{
    FunctionReport, Infeasible, Note, PathFigures, PathTest, Step, VERSION, Verdict,
};
use nearmiss_sites::{SiteKind, Sites};
use nearmiss_solve::TreeSolver;
use nearmiss_trace::Event;

use crate::explorer::{DeadEnd, Explorer, Finished};
use crate::findings::Evidence;
use crate::judge::Judged;
use crate::lab::Asked;
use crate::measure::Measured;
use crate::study::Study;
use crate::{Cover, Mode, conditions, freed, steps, ways};

/// Dead ends for which it is looked at whose fault they are.
const EXPLAINED: usize = 256;

/// An exploration that has ended.
pub struct Told<'a, 'l> {
    study: Study<'a>,
    explorer: Explorer<'l>,
}

impl<'a, 'l> Told<'a, 'l> {
    /// Everything is there.
    pub fn new(study: Study<'a>, explorer: Explorer<'l>) -> Told<'a, 'l> {
        Told { study, explorer }
    }

    /// The report. `seconds` is what the exploration took.
    pub fn report(mut self, seconds: f64) -> Result<FunctionReport, String> {
        let figures = self.figures(seconds);
        let (config, programs) = (self.study.config, self.study.programs.clone());
        let judged = self
            .study
            .judge
            .take()
            .map_or_else(Judged::default, |judge| judge.finish());
        let measured = self.measured();
        let incomplete = self.incomplete(&judged, &measured);
        // After the figures: to explain what is infeasible takes questions of its own, to a solver of
        // its own.
        let infeasible = self.infeasible();
        let mut findings = Evidence {
            sites: &self.explorer.lab.sites,
            program: programs.recording.clone(),
            directory: config.directory.clone(),
            failed: &self.study.collection.failed,
            complaints: &judged.complaints,
            rows: &|test| self.study.collection.tests[test - 1].rows.clone(),
        }
        .findings();
        for finding in &mut findings {
            finding.file = as_named(&config.build.files, &finding.file);
        }
        let request = config.request.as_ref();
        let mut report = FunctionReport {
            version: VERSION,
            function: programs.function.clone(),
            file: programs.source.display().to_string(),
            prototype: programs
                .plan
                .as_ref()
                .map_or_else(String::new, |plan| plan.prototype()),
            precondition: request.and_then(|request| request.precondition.clone()),
            mode: mode_name(config.mode).into(),
            oracle: request.and_then(|request| request.oracle.clone()),
            cover: cover_name(config.cover).into(),
            assumed: self.assumed(),
            incomplete,
            tests: std::mem::take(&mut self.study.collection.tests),
            infeasible,
            findings,
            figures,
            coverage: measured.coverage,
            notes: self.notes(),
        };
        name_failures(&mut report.tests, &judged, &report.findings);
        if let Some(plan) = &programs.plan {
            freed::mark(&mut report.tests, plan, &judged.freed);
        }
        Ok(report)
    }

    /// What was decided without the user, and what was not looked at although no path depends on it.
    fn assumed(&self) -> Vec<String> {
        let mut assumed = self.study.programs.notes.clone();
        let cut = self.explorer.tree.oracle_cut;
        if cut > 0 {
            assumed.push(format!(
                "the oracle has {cut} more ways to decide on these paths that were not tried: a verdict is of its test's input"
            ));
        }
        assumed
    }

    /// What the tests cover; what lcov's tools read is left in the directory.
    fn measured(&mut self) -> Measured {
        let counted = self.study.measure.take();
        let mut measured = counted.map_or_else(Measured::default, |measure| measure.finish());
        let file = self.study.config.directory.join(crate::LCOV);
        let written = match measured.coverage {
            Some(_) => fs::write(&file, &measured.lcov),
            // What another exploration left is not this one's.
            None => fs::remove_file(&file).or(Ok(())),
        };
        if let Err(error) = written {
            measured.trouble = Some(format!("{}: {error}", file.display()));
        }
        measured
    }

    /// Partial paths that cannot be taken, in words.
    fn infeasible(&mut self) -> Vec<Infeasible> {
        let dead_ends = std::mem::take(&mut self.explorer.tree.infeasible);
        // The other one has learnt what admissible inputs are like.
        self.explorer.lab.solver = TreeSolver::new();
        let plan = self.study.programs.plan.clone();
        let has_precondition = !matches!(
            self.explorer.precondition,
            crate::precondition::Precondition::Nobody
        );
        let mut told = Vec::with_capacity(dead_ends.len());
        for (position, dead_end) in dead_ends.iter().enumerate() {
            let asks = has_precondition && position < EXPLAINED;
            let precondition = asks && self.is_possible_otherwise(dead_end);
            let sites = &self.explorer.lab.sites;
            let terms = &self.explorer.lab.terms;
            told.push(Infeasible {
                path: partial_path(sites, dead_end),
                condition: conditions::words(terms, plan.as_ref(), dead_end.fork.way.goal),
                precondition,
            });
        }
        told
    }

    /// Whether inputs take a dead end that the precondition does not accept.
    fn is_possible_otherwise(&mut self, dead_end: &DeadEnd) -> bool {
        let DeadEnd { visit, fork } = dead_end;
        let conditions = &visit.conditions[..fork.before];
        let asked = (self.explorer.lab).ask(conditions, fork.way.goal, &visit.input);
        matches!(asked, Asked::Input(_))
    }

    fn figures(&self, seconds: f64) -> PathFigures {
        let (tree, lab) = (&self.explorer.tree, &self.explorer.lab);
        let calls = self.explorer.precondition.calls();
        let is_path = |test: &&PathTest| !matches!(test.verdict, Verdict::Failure(_));
        PathFigures {
            paths: self.study.collection.tests.iter().filter(is_path).count() as u64,
            infeasible: tree.infeasible_count,
            unknown: tree.unknown,
            bounded: tree.bounded,
            runs: tree.runs,
            repeated: tree.repeated - tree.asked_again,
            diverged: tree.diverged,
            precondition_calls: calls.calls,
            precondition_paths: calls.paths,
            questions: lab.solver.figures.questions,
            solved: lab.solver.figures.solved,
            seconds,
            run_seconds: lab.time_of_runs.as_secs_f64(),
            solver_seconds: lab.solver.figures.time.as_secs_f64(),
        }
    }

    /// Why not everything is known.
    fn incomplete(&self, judged: &Judged, measured: &Measured) -> Vec<String> {
        let mut reasons = match self.study.is_covered {
            // What was wanted is there; other paths do not matter.
            true => Vec::new(),
            false => self.unexplored(),
        };
        if let Some(trouble) = &judged.trouble {
            reasons.push(format!(
                "not every test was run on the sanitizer twin: {trouble}"
            ));
        }
        if let Some(trouble) = &measured.trouble {
            reasons.push(format!("what the tests cover was not counted: {trouble}"));
        }
        reasons
    }

    /// Why there may be other paths.
    fn unexplored(&self) -> Vec<String> {
        let (tree, collection) = (&self.explorer.tree, &self.study.collection);
        let open = self.explorer.open();
        let mut reasons = Vec::new();
        match self.study.finished {
            Finished::OutOfTime => {
                reasons.push(format!(
                    "the time was over with {open} partial paths undecided (--time)"
                ));
            }
            Finished::Stopped if open > 0 => {
                let why = match self.study.config.stop.load(Ordering::Relaxed) {
                    true => "it was stopped",
                    false => "there were as many paths as wanted (--max-paths)",
                };
                reasons.push(format!("{why}, with {open} partial paths undecided"));
            }
            _ => {}
        }
        let counts = [
            (
                tree.unknown,
                "question about a partial path was too hard for its time (--query-time)",
                "questions about partial paths were too hard for their time (--query-time)",
            ),
            (
                tree.bounded,
                "partial path lies beyond the bounds on loops and recursion",
                "partial paths lie beyond the bounds on loops and recursion",
            ),
            (
                tree.diverged,
                "run left the predicted path",
                "runs left the predicted path",
            ),
            (
                collection.damaged,
                "recording stopped early or contradicts itself",
                "recordings stopped early or contradict themselves",
            ),
            (
                collection.unexplained,
                "run died before the check was recorded that would say why: other paths may lie behind it",
                "runs died before the checks were recorded that would say why: other paths may lie behind them",
            ),
            (
                collection.endless,
                "run did not end in time (--run-time)",
                "runs did not end in time (--run-time)",
            ),
            (
                self.study.rejected,
                "test was rejected by the precondition",
                "tests were rejected by the precondition",
            ),
            (
                self.explorer.lab.solver.figures.wrong,
                "answer of the solver was wrong: please report this",
                "answers of the solver were wrong: please report this",
            ),
        ];
        for (number, one, many) in counts {
            match number {
                0 => {}
                1 => reasons.push(format!("1 {one}")),
                _ => reasons.push(format!("{number} {many}")),
            }
        }
        for (name, runs) in &collection.missing {
            reasons.push(format!(
                "{runs} paths end where {name} is called, which nobody defines: give the file that does"
            ));
        }
        for &site in &tree.narrowed {
            let place = place(&self.explorer.lab.sites, site);
            reasons.push(format!(
                "{place}: only some values of an address or size were tried"
            ));
        }
        if !collection.notes.is_empty() {
            let places = collection.notes.len();
            reasons.push(format!(
                "input data was lost at {places} places (see the notes): other paths may lie behind them"
            ));
        }
        reasons
    }

    /// What was lost, by place.
    fn notes(&self) -> Vec<Note> {
        let sites = &self.explorer.lab.sites;
        let notes = self.study.collection.notes.iter();
        notes
            .map(|(&(kind, site), &count)| note(sites, kind, site, count))
            .collect()
    }
}

fn note(sites: &Sites, kind: NoteKind, id: SiteId, count: u64) -> Note {
    let known = sites.get(id);
    let callee = match known.map(|(_, site)| &site.kind) {
        Some(SiteKind::Call(name)) => name.clone(),
        _ => String::new(),
    };
    let file = known.and_then(|(unit, site)| unit.files.get(site.file as usize));
    Note {
        kind,
        file: file.cloned().unwrap_or_default(),
        line: known.map_or(0, |(_, site)| site.line),
        callee,
        count,
    }
}

fn place(sites: &Sites, id: SiteId) -> String {
    match sites.get(id) {
        Some((unit, site)) => {
            let file = unit.files.get(site.file as usize);
            format!("{}:{}", file.map_or("?", |file| file), site.line)
        }
        None => "somewhere".into(),
    }
}

/// The function's steps up to a dead end, and the one that cannot be taken.
fn partial_path(sites: &Sites, dead_end: &DeadEnd) -> Vec<Step> {
    let events = &dead_end.visit.events;
    let own = |event: &&Event| event.phase == PHASE_FUNCTION && ways::is_decision(event);
    let before = events[..dead_end.fork.event].iter().filter(own);
    let last = steps::other(
        sites,
        &events[dead_end.fork.event],
        dead_end.fork.way.choice,
    );
    let mut path: Vec<Step> = before.map(|event| steps::taken(sites, event)).collect();
    path.push(last);
    path
}

/// Tests at which the twin complained have failed, whatever the recording saw.
fn name_failures(tests: &mut [PathTest], judged: &Judged, findings: &[nearmiss_results::Finding]) {
    let complained: BTreeSet<usize> = judged.complaints.iter().map(|(test, _)| *test).collect();
    for test in tests
        .iter_mut()
        .filter(|test| complained.contains(&test.number))
    {
        let id = format!("P{}", test.number);
        let own = findings.iter().find(|finding| finding.test.id == id);
        let words = own.map(|finding| {
            format!(
                "{} at {}:{}",
                finding.kind.name(),
                finding.file,
                finding.line
            )
        });
        if !matches!(test.verdict, Verdict::Failure(_)) {
            test.verdict = Verdict::Failure(words.unwrap_or_else(|| "fails on its twin".into()));
        }
    }
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Native => "native",
        Mode::Early => "early",
        Mode::Late => "late",
        Mode::Summary => "summary",
        Mode::Auto => "auto",
    }
}

fn cover_name(cover: Cover) -> &'static str {
    match cover {
        Cover::Paths => "paths",
        Cover::Branches => "branches",
        Cover::Mcdc => "mcdc",
    }
}

/// A file as the user named it: sanitizers say where it is from the root on.
fn as_named(files: &[PathBuf], file: &str) -> String {
    let is_it = |named: &&PathBuf| {
        named
            .canonicalize()
            .is_ok_and(|path| path == Path::new(file))
    };
    let named = files.iter().find(is_it);
    named.map_or(file.to_string(), |named| named.display().to_string())
}
