//! `nearmiss run` and `nearmiss replay`, from beginning to end.

use std::time::{Duration, Instant};

use nearmiss_abi::check::Kind as Failure;
use nearmiss_campaign::TestCase;
use nearmiss_campaign::capsule::Capsule;
use nearmiss_campaign::store::{Campaign, Kind, RunDirectory, read_report};
use nearmiss_judge::run_twin;
use nearmiss_results::{Contracts, Report, Summary};
use nearmiss_sandbox::Outcome;
use nearmiss_search::{Phase, Tally};
use nearmiss_twin::Judge;

use crate::contracts::{LIBRARY_PATH, contracted, loading_from};
use crate::endless::{never_ends, run_endless_twin};
use crate::error::{EngineError, TrialError};
use crate::explore::{Explorer, Seed, Standing};
use crate::own_build::try_findings;
use crate::record::record;
use crate::recorders::{recorder_of, refresh};
use crate::subject::build_twin;
use crate::summary::{add_recorded, merge};
use crate::test::apply_contracts;
use crate::worker::{Shared, limits};
use crate::{Config, Target, program};

/// Runs a program once, looks for inputs next to its own that make it fail, and reports them.
pub fn run(target: Target, config: &Config, tally: &Tally) -> Result<Report, EngineError> {
    program::inspect(&target.program, &target.environment, &target.directory)?;
    let campaign = Campaign::open(&config.directory)?;
    let directory = campaign.new_run()?;
    let shared = Shared::new(config, &campaign, Kind::Run, tally);
    let is_plain = program::is_plain(&target.program, &target.environment, &target.directory);
    let (test, contracts) = match target.live || !is_plain {
        true => record_live(target, &shared, &directory)?,
        false => {
            tally.enter(Phase::Recording);
            let mut tests = [record(target, config, &campaign, &directory)?];
            shared.recorders.take_over(&mut tests);
            let contracts = apply_contracts(&mut tests, &shared);
            let [test] = tests;
            (test, contracts)
        }
    };
    tally.enter(Phase::Exploring);
    let deadline = Instant::now() + config.time;
    tally.set_deadline(deadline);
    let explorer = Explorer::new(&shared, 1, deadline);
    let save = |findings| {
        // What is there so far survives a kill; the whole report comes at the end.
        let stopped = Summary {
            stopped: true,
            ..Summary::default()
        };
        let _ = campaign.write_report(&Report::new(findings, stopped));
    };
    let mut explored = explorer.explore(vec![test], &save)?;
    tally.enter(Phase::Reporting);
    try_findings(&mut explored.findings, &campaign, config);
    if let Some(Seed {
        standing: Standing::Skipped(why),
        ..
    }) = explored.seeds.first()
    {
        return Err(EngineError::Skipped(why.clone()));
    }
    let summaries = explored.seeds.iter().map(Seed::summary);
    let mut summary = merge(summaries, &explored.statistics);
    add_recorded(&mut summary, explored.seeds.iter().map(|seed| &seed.test));
    let explores = config.distance != Some(0);
    if let Some(why) = explored.seeds.first().and_then(|seed| seed.stuck.clone()) {
        summary.complete = false;
        summary.another_path = Some(why);
    }
    summary.contracts = contracts;
    summary.exploration = explores.then(|| explored.exploration.clone());
    explorer.forget_others(&explored.seeds)?;
    let report = Report::new(explored.findings, summary);
    campaign.write_report(&report)?;
    campaign.keep_only(&directory)?;
    Ok(report)
}

/// Runs the recorder of a program in the user's world, as it checks contracts, and records it at once: for programs that
/// would not meet the same in a second run.
fn record_live(
    mut target: Target,
    shared: &Shared,
    directory: &RunDirectory,
) -> Result<(TestCase, Contracts), EngineError> {
    let Shared {
        config,
        campaign,
        tally,
        ..
    } = shared;
    let original = target.program.clone();
    tally.enter(Phase::Building(original.display().to_string()));
    let root = campaign.root();
    let started = (target.environment.as_slice(), target.directory.as_path());
    let built = recorder_of(&original, started, &config.compiler, root);
    let (recorder, libraries) = built.map_err(EngineError::Skipped)?;
    let (program, library_path, contracts) = contracted(&recorder, started, config, root);
    let beside = libraries.first().and_then(|library| library.parent());
    target.program = program;
    if let Some(directory) = library_path.as_deref().or(beside) {
        let before = target.environment.iter().find(|it| it.0 == LIBRARY_PATH);
        let variable = loading_from(directory, before.map(|it| &it.1));
        target.environment.retain(|it| it.0 != LIBRARY_PATH);
        target.environment.push(variable);
    }
    tally.enter(Phase::Recording);
    let mut test = record(target, config, campaign, directory)?;
    if test.capsule.program != original {
        test.capsule.stands_for = Some(original);
    }
    Ok((test, contracts))
}

/// Runs the input of a finding once more, by the program itself or by its twin.
pub fn replay(id: &str, twin: bool, config: &Config) -> Result<Outcome, EngineError> {
    let report = read_report(&config.directory)?;
    let finding = report
        .finding(id)
        .ok_or_else(|| EngineError::NoFinding(id.to_string()))?;
    if finding.kind == Failure::Hang && twin && config.sandbox.confines() {
        return replay_endless(id, config);
    }
    let judge = match finding.kind {
        Failure::UninitialisedRead => Judge::Memory,
        _ => Judge::Address,
    };
    replay_input(&finding.id, twin.then_some(judge), config)
}

/// Runs an input on which a program never ends: that it does not, and where it is.
fn replay_endless(id: &str, config: &Config) -> Result<Outcome, EngineError> {
    let campaign = Campaign::open(&config.directory)?;
    let directory = campaign.inputs().join(id);
    let capsule = Capsule::read(&directory).map_err(|error| campaign.failed(error))?;
    let time = never_ends(&config.sandbox, &capsule).map_err(TrialError::from)?;
    let Some(time) = time else {
        return replay_input(id, Some(Judge::Address), config);
    };
    let libraries = program::libraries_of(&capsule);
    let (root, program) = (campaign.root(), &capsule.program);
    let twin = build_twin(config, root, program, &libraries, Judge::Address)?;
    let outcome = run_endless_twin(&config.sandbox, &twin, &capsule, time);
    Ok(outcome.map_err(TrialError::from)?)
}

/// Runs an input that a campaign keeps under a name, by the program itself or by a twin.
pub fn replay_input(
    name: &str,
    judge: Option<Judge>,
    config: &Config,
) -> Result<Outcome, EngineError> {
    let campaign = Campaign::open(&config.directory)?;
    let directory = campaign.inputs().join(name);
    let capsule = Capsule::read(&directory).map_err(|error| campaign.failed(error))?;
    refresh(&capsule, config, campaign.root()).map_err(EngineError::Skipped)?;
    let limits = limits(config, Duration::from_secs(1));
    let outcome = if let Some(judge) = judge {
        let libraries = program::libraries_of(&capsule);
        let (root, program) = (campaign.root(), &capsule.program);
        let twin = build_twin(config, root, program, &libraries, judge)?;
        let spec = capsule.spec(&twin.program, &[], &limits);
        run_twin(&config.sandbox, &twin, spec)
    } else {
        config
            .sandbox
            .run(&capsule.spec(&capsule.program, &[], &limits))
    };
    Ok(outcome.map_err(TrialError::from)?)
}
