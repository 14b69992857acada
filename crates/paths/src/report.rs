//! The report: what was found out, and what it took.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use nearmiss_abi::check::Kind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_judge::{Complaint, spot};
use nearmiss_results::{FunctionReport, Infeasible, Note, PathFigures, PathTest, VERSION, Verdict};
use nearmiss_sites::Sites;

use crate::arrivals::Arrivals;
use crate::coverage::CoverageError;
use crate::error::Unfinished;
use crate::explorer::Explorer;
use crate::findings::{Evidence, Findings};
use crate::gaps::{Gaps, is_harness};
use crate::judge::Judged;
use crate::measure::Measured;
use crate::study::Study;
use crate::{Cover, Mode, freed, naming};

/// Makes the report of an exploration that has ended.
pub struct ReportBuilder<'a, 'l> {
    study: Study<'a>,
    arrivals: Arrivals<'l>,
}

impl<'a, 'l> ReportBuilder<'a, 'l> {
    /// Everything is there.
    pub fn new(study: Study<'a>, arrivals: Arrivals<'l>) -> ReportBuilder<'a, 'l> {
        ReportBuilder { study, arrivals }
    }

    /// The report.
    pub fn report(mut self, figures: PathFigures, infeasible: Vec<Infeasible>) -> FunctionReport {
        let (config, programs) = (self.study.config, self.study.programs.clone());
        let judge = self.study.judge.take();
        let judged = judge.map_or_else(Judged::default, |judge| judge.finish());
        let measured = self.measured();
        let gaps = Gaps {
            study: &self.study,
            arrivals: &self.arrivals,
        };
        let incomplete = gaps.words(&judged, &measured);
        let prototype = programs.plan.as_ref().map(|plan| plan.prototype());
        let findings = self.findings(&judged);
        let request = config.request.as_ref();
        let mut report = FunctionReport {
            version: VERSION,
            function: programs.function.clone(),
            file: programs.source.display().to_string(),
            prototype: prototype.unwrap_or_default(),
            precondition: request.and_then(|request| request.precondition.clone()),
            mode: mode_name(config.mode).into(),
            oracle: request.and_then(|request| request.oracle.clone()),
            cover: cover_name(config.cover).into(),
            assumed: self.assumed(),
            failed_before: self.study.failed_before.len() as u64,
            bounds: self.bounds(),
            conventions: programs
                .plan
                .as_ref()
                .map_or_else(Vec::new, |plan| plan.conventions().to_vec()),
            incomplete,
            tests: std::mem::take(&mut self.study.collection.tests),
            infeasible,
            findings: findings.list,
            figures,
            coverage: measured.coverage,
            notes: self.notes(),
            undefined: programs.undefined.clone(),
        };
        let exits = self.exits();
        naming::restore(&mut report, &config.build.files);
        name_failures(&mut report.tests, &judged, &findings.shown);
        let is_path = |test: &&PathTest| {
            !matches!(test.verdict, Verdict::Failure(_)) || exits.contains(&test.number)
        };
        report.figures.paths = report.tests.iter().filter(is_path).count() as u64;
        if let Some(plan) = &programs.plan {
            freed::mark(&mut report.tests, plan, &judged.freed);
        }
        report
    }

    /// Tests that end by `abort`, an assertion or a trap: paths like any other, unlike those that end in
    /// undefined behaviour.
    fn exits(&self) -> BTreeSet<usize> {
        let failed = self.study.collection.failed.iter();
        let exits = failed.filter(|failed| {
            let check = failed.check.as_ref();
            check.is_some_and(|check| check.spot.kind.is_exit())
        });
        exits.map(|failed| failed.test).collect()
    }

    fn findings(&self, judged: &Judged) -> Findings {
        let tests = &self.study.collection.tests;
        let evidence = Evidence {
            sites: &self.arrivals.explorer.workspace.sites,
            program: self.study.programs.recording.clone(),
            directory: self.study.config.directory.clone(),
            failed: &self.study.collection.failed,
            complaints: &judged.complaints,
            rows: &|test| tests[test - 1].rows.clone(),
        };
        evidence.findings()
    }

    /// What was decided without the user, and what was not looked at although no path depends on it.
    fn assumed(&self) -> Vec<String> {
        let mut assumed = self.study.programs.notes.clone();
        let cut = self.arrivals.explorer.tree.oracle_cut;
        if cut > 0 {
            assumed.push(format!(
                "the oracle has {cut} more ways to decide on these paths that were not tried: a verdict is of its test's input"
            ));
        }
        assumed.extend(self.failed_before());
        assumed
    }

    /// What lies behind a failure is not looked at, also if a target is there.
    fn failed_before(&self) -> Option<String> {
        let (study, arrivals) = (&self.study, &self.arrivals);
        let first = Gaps { study, arrivals }.place(*study.failed_before.first()?);
        Some(match study.failed_before.len() {
            1 => format!("a run failed before it came to the target, at {first}"),
            runs => {
                format!("{runs} runs failed before they came to the target, the first at {first}")
            }
        })
    }

    /// Bounds on the inputs that the user did not choose.
    fn bounds(&self) -> Vec<String> {
        let programs = &self.study.programs;
        let plan = programs.plan.as_ref();
        let mut bounds = plan.map_or_else(Vec::new, |plan| plan.bounds().to_vec());
        if plan.is_some() && self.study.config.request.is_none() {
            bounds.push(crate::build::fuzzer_bound());
        }
        bounds.extend(crate::outside::bounds(self.study.config, programs));
        bounds
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
            measured.trouble = Some(Unfinished::Failed(CoverageError::File(file, error)));
        }
        measured
    }

    /// What was lost, by place in the user's files.
    fn notes(&self) -> Vec<Note> {
        let sites = &self.arrivals.explorer.workspace.sites;
        let notes = self.study.collection.notes.iter();
        notes
            .map(|(&(kind, site), &count)| note(sites, kind, site, count))
            .filter(|note| !is_harness(Some(&note.file)))
            .collect()
    }
}

fn note(sites: &Sites, kind: NoteKind, id: SiteId, count: u64) -> Note {
    let (file, line, callee) = spot::place(sites, id);
    Note {
        kind,
        file,
        line,
        callee,
        count,
    }
}

/// Tests at which the twin complained have failed, whatever the recording saw. What a test fails of is
/// the finding that it shows.
fn name_failures(tests: &mut [PathTest], judged: &Judged, shown: &BTreeMap<usize, String>) {
    let fails = |complaint: &Complaint| complaint.kinds != [Kind::Precondition];
    let complained: BTreeSet<usize> = (judged.complaints.iter())
        .filter(|(_, complaints)| complaints.iter().any(fails))
        .map(|(test, _)| *test)
        .collect();
    for test in tests {
        let has_failed = matches!(test.verdict, Verdict::Failure(_));
        if let Some(id) = shown.get(&test.number) {
            test.verdict = Verdict::Failure(id.clone());
        } else if complained.contains(&test.number) && !has_failed {
            test.verdict = Verdict::Failure("fails on its twin".into());
        }
    }
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Native => "native",
        Mode::Early => "early",
        Mode::Late => "late",
        Mode::Calls => "calls",
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

/// What an exploration took.
pub fn figures(explorer: &Explorer, time: Duration) -> PathFigures {
    let (tree, workspace) = (&explorer.tree, &explorer.workspace);
    let statistics = workspace.solver.statistics();
    let calls = explorer.precondition.calls();
    PathFigures {
        // Which tests are paths is known once the twin has seen them.
        paths: 0,
        infeasible: tree.infeasible_count,
        unknown: tree.unknown,
        bounded: tree.bounded,
        pruned: tree.pruned,
        runs: tree.runs,
        repeated: tree.repeated - tree.asked_again,
        diverged: tree.diverged,
        precondition_calls: calls.calls,
        precondition_paths: calls.paths,
        questions: statistics.queries(),
        solved: statistics.solved(),
        layers: (statistics.by_layer())
            .map(|(layer, queries)| (layer.to_string(), queries))
            .collect(),
        seconds: time.as_secs_f64(),
        run_seconds: workspace.time_of_runs.as_secs_f64(),
        solver_seconds: statistics.times.total().as_secs_f64(),
    }
}
