//! `nearmiss run` and `nearmiss replay`, from beginning to end.

use std::time::{Duration, Instant};

use nearmiss_results::Report;
use nearmiss_sandbox::Outcome;
use nearmiss_trace::{Path, RawTrace};

use crate::analyse::analyse;
use crate::campaign::{Campaign, read_report};
use crate::capsule::Capsule;
use crate::confirm::run_twin;
use crate::error::EngineError;
use crate::hunt::{Hunt, build_twin, limits};
use crate::program::{self, Program};
use crate::record::{Recording, record};
use crate::{Config, Progress, Target};

/// Runs a program once, looks for inputs next to its own that make it fail, and reports them.
pub fn run(
    target: Target,
    config: &Config,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, EngineError> {
    let program = program::inspect(&target.program, &target.environment)?;
    let campaign = Campaign::open(&config.directory)?;
    let directory = campaign.new_run()?;
    progress(Progress::Recording);
    let recording = record(target, config, &campaign, &directory)?;
    progress(Progress::Reading);
    let mut path = read(&recording, &program, &campaign)?;
    let deadline = Instant::now() + config.time;
    // The rest is for replays: what was found and not confirmed is worth little.
    let end = deadline - config.time / 4;
    let analysis = analyse(&mut path, &program.sites, config, end, progress);
    let mut hunt = Hunt::new(
        (config, &campaign, &directory),
        (&recording, &path, &program),
        deadline,
    );
    let findings = hunt.confirm(&analysis, progress)?;
    let report = hunt.report(findings, &analysis);
    campaign.write_report(&report)?;
    campaign.keep_only(&directory)?;
    Ok(report)
}

fn read(
    recording: &Recording,
    program: &Program,
    campaign: &Campaign,
) -> Result<Path, EngineError> {
    let failed = |error| EngineError::Trace(recording.trace.clone(), error);
    let raw = RawTrace::open(&recording.trace).map_err(failed)?;
    let stdin = recording
        .capsule
        .stdin_content()
        .map_err(|error| campaign.failed(error))?;
    Ok(Path::read(&raw, &program.sites, stdin.as_deref()))
}

/// Runs the input of a finding once more, by the program itself or by its twin.
pub fn replay(id: &str, twin: bool, config: &Config) -> Result<Outcome, EngineError> {
    let report = read_report(&config.directory)?;
    let finding = report
        .finding(id)
        .ok_or_else(|| EngineError::NoFinding(id.to_string()))?;
    let campaign = Campaign::open(&config.directory)?;
    let run = finding
        .test
        .trace
        .parent()
        .and_then(|traces| traces.parent());
    let directory = run
        .unwrap_or(campaign.root())
        .join("inputs")
        .join(&finding.id);
    let capsule = Capsule::read(&directory).map_err(|error| campaign.failed(error))?;
    let limits = limits(Duration::from_secs(1));
    let outcome = if twin {
        let libraries = program::inspect(&capsule.program, &capsule.environment)?.libraries;
        let twin = build_twin(config, &campaign, &capsule.program, &libraries)
            .map_err(EngineError::Replay)?;
        run_twin(&config.sandbox, &twin, &capsule, &limits)
    } else {
        config
            .sandbox
            .run(&capsule.spec(&capsule.program, &[], &limits))
    };
    outcome.map_err(|error| EngineError::Replay(error.to_string()))
}
