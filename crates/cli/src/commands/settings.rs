//! What `run` and `test` make of the flags that they share.

use std::io;
use std::time::Duration;

use nearmiss_engine::{Calls, Config, Options, Output};
use nearmiss_results::Report;

use crate::arguments::{AnalysisArguments, Format};
use crate::commands::contracts;
use crate::files::Disk;
use crate::{environment, output, signals};

/// What a command takes where the user says nothing.
pub struct Defaults {
    /// Time for the analysis.
    pub time: Duration,
    /// The largest distance.
    pub distance: Option<u32>,
    /// Bytes of each input that are looked at.
    pub input: u64,
}

/// The words of `--solver`, after an attempt to use it.
pub fn solver(command: Option<&str>) -> Result<Option<Vec<String>>, String> {
    let Some(command) = command else {
        return Ok(None);
    };
    let words: Vec<String> = command.split_whitespace().map(str::to_string).collect();
    nearmiss_engine::check_solver(&words).map_err(|error| error.to_string())?;
    Ok(Some(words))
}

/// What the engine is to do.
pub fn config(arguments: &AnalysisArguments, defaults: &Defaults) -> Result<Config, String> {
    environment::check_address_space()?;
    check_output(arguments)?;
    let mut compiler = environment::compiler_config()?;
    if arguments.checks.is_some() {
        compiler.checks = nearmiss_compile::Checks::and_of(&arguments.on_demand());
    }
    let (budget, inputs) = (&arguments.budget, &arguments.inputs);
    Ok(Config {
        directory: arguments.campaign.dir.clone(),
        time: budget.time.unwrap_or(defaults.time),
        query_time: budget.query_time,
        run_time: budget.run_time,
        distance: budget.distance.or(defaults.distance),
        grow: inputs.grow,
        runs: budget.runs,
        rules: budget.search.clone(),
        jobs: budget.jobs.map_or_else(processors, usize::from),
        checks: arguments.kinds(),
        sandbox: match arguments.no_fork_server {
            true => environment::sandbox(arguments.no_sandbox)?.without_fork_servers(),
            false => environment::sandbox(arguments.no_sandbox)?,
        },
        solver: solver(arguments.solver.as_deref())?,
        channels: inputs.channel_set(),
        options: Options {
            length: inputs.length,
            elements: inputs.elements,
            updates: inputs.updates,
            input: inputs.input.unwrap_or(defaults.input),
        },
        output: match (arguments.format, &arguments.output) {
            (Format::Json, None) => Output::Kept,
            _ => Output::Through,
        },
        compiler,
        calls: Calls::default(),
        contracted: contracts::wanted(arguments.contracts.as_deref(), arguments.no_contracts)?,
        stop: &signals::STOP,
    })
}

/// Makes sure that the report can be written where it is wanted, before hours of work.
fn check_output(arguments: &AnalysisArguments) -> Result<(), String> {
    let Some(path) = &arguments.output else {
        return Ok(());
    };
    let is_new = !path.exists();
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    let opened = options.open(path);
    opened.map_err(|error| format!("--output {}: {error}", path.display()))?;
    if is_new {
        // Until there is a report there is no file.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The limits in words: what an unattended first try will use up, and how to change it.
pub fn limits(config: &Config) -> String {
    let distance = match config.distance {
        None => "any distance".to_string(),
        Some(distance) => format!("distance {distance}"),
    };
    let runs = config
        .runs
        .map_or(String::new(), |runs| format!(", {runs} runs"));
    let jobs = match config.jobs {
        1 => "1 job".to_string(),
        jobs => format!("{jobs} jobs"),
    };
    format!(
        "{}, {distance}{runs}, {jobs}, {} for a query, {} bytes of each input",
        time(config.time),
        time(config.query_time),
        config.options.input
    )
}

/// A time as one would say it.
fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds >= 120.0 => format!("{} min", (seconds / 6.0).round() / 10.0),
        _ => format!("{} s", (seconds * 1e3).round() / 1e3),
    }
}

/// Tells what was found, where the flags say.
pub fn tell(report: &Report, arguments: &AnalysisArguments) -> Result<(), String> {
    let text = || nearmiss_report::text::report(report, &Disk);
    let chosen = match arguments.format {
        Format::Json => nearmiss_report::json(report),
        Format::Text => text(),
    };
    let failed = |path: &std::path::Path, error: io::Error| format!("{}: {error}", path.display());
    match (&arguments.output, arguments.format) {
        (Some(path), _) => {
            output::message(text().as_bytes());
            std::fs::write(path, chosen).map_err(|error| failed(path, error))
        }
        (None, Format::Json) => output::result(chosen.as_bytes()),
        (None, Format::Text) => {
            output::message(chosen.as_bytes());
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_plain_words() {
        assert_eq!(time(Duration::from_secs(600)), "10 min");
        assert_eq!(time(Duration::from_secs(150)), "2.5 min");
        assert_eq!(time(Duration::from_secs(60)), "60 s");
        assert_eq!(time(Duration::from_millis(500)), "0.5 s");
    }
}
