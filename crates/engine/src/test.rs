//! `nearmiss test`, from beginning to end: the suite runs as it is, then every different execution
//! is looked at.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

use nearmiss_campaign::TestCase;
use nearmiss_campaign::store::{Campaign, Kind};
use nearmiss_results::{
    Contracts, EndReason, Exploration, Finding, Report, Suite, Summary, UnitTests,
};
use nearmiss_search::{Phase, Tally};
use nearmiss_solve::Statistics;
use nearmiss_suite::{Collected, collect};

use crate::calls::add_unit_tests;
use crate::contracts::{LIBRARY_PATH, contracted, loading_from};
use crate::error::EngineError;
use crate::explore::{Explored, Explorer, Seed};
use crate::figures;
use crate::own_build::try_findings;
use crate::subject::Subjects;
use crate::summary::{add_recorded, merge};
use crate::worker::Shared;
use crate::{Config, SuiteTarget};

/// Runs a suite, looks for inputs next to those of its executions that make programs fail, and
/// reports them.
pub fn test(target: SuiteTarget, config: &Config, tally: &Tally) -> Result<Report, EngineError> {
    // Said before the suite runs, which may take hours.
    config.sandbox.check().map_err(EngineError::NeedsSandbox)?;
    let campaign = Campaign::open(&config.directory)?;
    let Collected {
        mut tests,
        mut suite,
    } = collect(&target, &config.suite(), &campaign, tally)?;
    let shared = Shared::new(config, &campaign, Kind::Test, tally);
    shared.recorders.take_over(&mut tests);
    let subjects = Subjects::new(shared.recorders.clone());
    suite.unit_tests = add_unit_tests(&mut tests, &shared, &subjects);
    let contracts = apply_contracts(&mut tests, &shared);
    tally.enter(Phase::Exploring);
    let deadline = Instant::now() + config.time;
    tally.set_deadline(deadline);
    let explorer = Explorer::new(&shared, tests.len(), deadline);
    let save = |findings| {
        // What is there so far survives a kill; the whole report comes at the end.
        let _ = campaign.write_report(&unfinished(&suite, findings));
    };
    let mut explored = explorer.explore(tests, &save)?;
    tally.enter(Phase::Reporting);
    try_findings(&mut explored.findings, &campaign, config);
    explorer.forget_others(&explored.seeds)?;
    let mut report = report(suite, explored);
    report.summary.contracts = contracts;
    campaign.write_report(&report)?;
    Ok(report)
}

/// Has every test run as a variant of its program that checks contracts.
pub fn apply_contracts(tests: &mut [TestCase], shared: &Shared) -> Contracts {
    let (config, campaign) = (shared.config, shared.campaign);
    if config.contracted.contracts.is_empty() {
        return Contracts::default();
    }
    let mut all = Contracts::default();
    let mut known: HashMap<PathBuf, (PathBuf, Option<PathBuf>)> = HashMap::new();
    // Calls of unit tests are made by variants of their own.
    for test in tests.iter_mut().filter(|test| test.calls.is_empty()) {
        let capsule = &mut test.capsule;
        let (program, library_path) = known.entry(capsule.program.clone()).or_insert_with(|| {
            let environment = capsule.environment.to_vec();
            let runs_in = (environment.as_slice(), capsule.directory.as_path());
            // What cannot be built is said when the test's turn comes.
            let _ = shared.recorders.build(&capsule.program);
            let (program, library_path, contracts) =
                contracted(&capsule.program, runs_in, config, campaign.root());
            all.add(contracts);
            (program, library_path)
        });
        if *program != capsule.program {
            capsule.run_by(program.clone());
        }
        if let Some(directory) = library_path {
            let mut variables = capsule.environment.iter();
            let before = variables.find(|(name, _)| *name == LIBRARY_PATH);
            let (name, value) = loading_from(directory, before.map(|it| &it.1));
            capsule.environment.set(name, value);
        }
    }
    all
}

/// A report for the case that there is never a better one.
fn unfinished(suite: &Suite, findings: Vec<Finding>) -> Report {
    let summary = Summary {
        stopped: true,
        suite: Some(suite.clone()),
        exploration: Some(Exploration {
            ended: EndReason::Interrupted,
            ..Exploration::default()
        }),
        ..Summary::default()
    };
    Report::new(findings, summary)
}

fn report(mut suite: Suite, explored: Explored) -> Report {
    let Explored {
        seeds,
        findings,
        exploration,
        statistics,
    } = explored;
    figures::finish_suite(&mut suite, &seeds);
    let mut summary = summary(&seeds, &statistics);
    summary.programs = figures::programs(&seeds, &findings);
    summary.tests = figures::tests(&seeds);
    withdraw_for_calls(&mut summary, &suite);
    summary.suite = Some(suite);
    summary.exploration = Some(exploration);
    Report::new(findings, summary)
}

/// Calls of unit tests that are no inputs were not looked at.
fn withdraw_for_calls(summary: &mut Summary, suite: &Suite) {
    let left_out: u64 = suite.unit_tests.iter().map(|tests| tests.left_out).sum();
    if left_out > 0 {
        summary.losses.push(format!(
            "{left_out} calls of unit tests are from the same places as others; they were not looked at"
        ));
    }
    if suite.unit_tests.iter().any(|tests| tests.is_cut) {
        let losses = &mut summary.losses;
        losses
            .push("only the first calls of a test program were counted: it makes too many".into());
    }
    if suite.unit_tests.iter().any(|tests| tests.ends_early) {
        let why = "runs of unit tests end 256 calls behind those that are inputs";
        summary.losses.push(why.into());
    }
    for tests in suite
        .unit_tests
        .iter()
        .filter(|tests| !tests.trouble.is_empty())
    {
        let UnitTests { test, trouble, .. } = tests;
        summary
            .losses
            .push(format!("the calls of {test} are no inputs: {trouble}"));
    }
    summary.complete &= summary.losses.is_empty();
}

/// One summary of all tests' own paths: complete only if each was looked at to its end.
fn summary(seeds: &[Seed], statistics: &Statistics) -> Summary {
    let active = seeds.iter().filter(|seed| seed.is_active());
    let mut summary = merge(active.map(Seed::summary), statistics);
    summary.stopped |= seeds.iter().any(|seed| !seed.is_finished(0));
    let skipped = seeds.iter().filter(|seed| seed.is_skipped()).count();
    if skipped > 0 {
        let tests = if skipped == 1 { "test" } else { "tests" };
        summary.losses.push(format!(
            "{skipped} {tests} of the suite could not be looked at: see what was left out"
        ));
    }
    summary.complete &= !summary.stopped && skipped == 0;
    add_recorded(&mut summary, seeds.iter().map(|seed| &seed.test));
    summary
}
