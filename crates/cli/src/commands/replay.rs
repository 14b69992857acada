//! `nearmiss replay`: an input that fails, or a test of an exploration, once more.

use std::fs;
use std::path::Path;
use std::time::Duration;

use nearmiss_abi::channel::ChannelSet;
use nearmiss_campaign::Campaign;
use nearmiss_engine::{Calls, Config, Options, Output};
use nearmiss_judge::complaint::complaints;
use nearmiss_paths::replay::Explored;
use nearmiss_results::PathTest;
use nearmiss_sandbox::{Ended, Outcome};
use nearmiss_twin::Judge;

use super::kept::{self, Exploration, Owner};
use super::show::test_of;
use crate::arguments::ReplayArguments;
use crate::{FOUND, NOTHING, environment, output, signals};

/// Replays a finding or a test: what the program says goes where it would go.
pub fn replay(arguments: &ReplayArguments) -> Result<u8, String> {
    let directory = &arguments.campaign.dir;
    let explored = &arguments.explored;
    if let Some(id) = &arguments.id {
        return match kept::owner(id, explored.function.as_deref(), directory)? {
            Owner::Campaign(_) => replay_finding(id, arguments),
            Owner::Exploration(exploration) => {
                let report = &exploration.report;
                let found = report.finding(id);
                let test =
                    found.and_then(|found| nearmiss_report::function::test_of(report, found));
                let test = test.ok_or_else(|| format!("{id}: its input was not kept"))?;
                replay_test(id, test, &exploration, arguments)
            }
        };
    }
    let name = explored.function.as_deref().unwrap_or_default();
    let number = explored.test.unwrap_or_default();
    let searched = kept::directory_of(name, directory);
    let input = format!("test-{number}");
    if searched.join("inputs").join(&input).is_dir() {
        // What `reach` found of a whole program.
        let config = replay_config(&searched, arguments)?;
        let judge = (!arguments.program).then_some(Judge::Address);
        let outcome = nearmiss_engine::replay_input(&input, judge, &config);
        return show(&input, &outcome.map_err(|error| error.to_string())?);
    }
    let exploration = kept::exploration(name, directory)?;
    let test = test_of(&exploration.report, number)?;
    replay_test(&format!("test {number}"), test, &exploration, arguments)
}

/// Runs a program, or its twin, on the input of a finding of `run` or `test`.
fn replay_finding(id: &str, arguments: &ReplayArguments) -> Result<u8, String> {
    let config = replay_config(&arguments.campaign.dir, arguments)?;
    let outcome = nearmiss_engine::replay(id, !arguments.program, &config);
    let outcome = outcome.map_err(|error| error.to_string())?;
    show(id, &outcome)
}

/// What a replay in the campaign of a directory needs.
fn replay_config(directory: &Path, arguments: &ReplayArguments) -> Result<Config, String> {
    let compiler = environment::compiler_config()?;
    Ok(Config {
        directory: directory.to_path_buf(),
        time: Duration::ZERO,
        query_time: Duration::ZERO,
        run_time: None,
        grow: 0,
        distance: Some(0),
        runs: None,
        rules: Vec::new(),
        jobs: 1,
        checks: None,
        sandbox: environment::sandbox(arguments.no_sandbox)?,
        solver: None,
        channels: ChannelSet::NONE,
        options: Options::default(),
        output: Output::Through,
        compiler,
        contracted: nearmiss_engine::Contracted::default(),
        calls: Calls::default(),
        stop: &signals::STOP,
    })
}

/// Runs the twin of what was explored on the input of a test. The program itself has nothing to say
/// that its twin does not.
fn replay_test(
    what: &str,
    test: &PathTest,
    exploration: &Exploration,
    arguments: &ReplayArguments,
) -> Result<u8, String> {
    let campaign = Campaign::open(&exploration.directory).map_err(|error| error.to_string())?;
    let explored = Explored {
        directory: campaign.root().to_path_buf(),
        compiler: environment::compiler_config()?,
        sandbox: environment::sandbox(arguments.no_sandbox)?,
    };
    let file = &exploration.report.file;
    if is_newer(Path::new(file), &explored.program()) {
        output::complain(&format!(
            "{file} is newer than what was explored, which is what runs here: explore it again"
        ));
    }
    let outcome = explored.replay(&test.rows);
    let outcome = outcome.map_err(|error| error.to_string())?;
    let status = show(what, &outcome)?;
    if status != NOTHING || exploration.report.oracle.is_none() {
        return Ok(status);
    }
    let verdict = explored.verdict(&test.rows);
    let verdict = verdict.map_err(|error| error.to_string())?;
    Ok(match verdict {
        Some(false) => {
            output::complain(&format!("{what}: the oracle rejects the result"));
            FOUND
        }
        Some(true) => {
            output::complain(&format!("{what}: the oracle accepts the result"));
            NOTHING
        }
        None => NOTHING,
    })
}

fn is_newer(file: &Path, than: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    matches!((time(file), time(than)), (Ok(file), Ok(than)) if file > than)
}

/// Shows what a program said and how it ended; the exit status says whether it failed.
fn show(what: &str, outcome: &Outcome) -> Result<u8, String> {
    output::said_by_program(&outcome.stdout, &outcome.stderr)?;
    let end = match (outcome.exceeded, outcome.ended) {
        (Some(limit), _) => limit.to_string(),
        (None, Ended::Exited(status)) => format!("ended with status {status}"),
        (None, Ended::Signal(signal)) => format!("was killed by signal {signal}"),
    };
    output::complain(&format!("{what}: the program {end}"));
    let failed = !complaints(&outcome.stderr, outcome.ended).is_empty();
    Ok(if failed { FOUND } else { NOTHING })
}
