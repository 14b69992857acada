//! `nearmiss run`.

use nearmiss_engine::tally::Tally;
use nearmiss_engine::{Config, EngineError, Options, Output, Target};

use crate::arguments::{Format, RunArguments};
use crate::files::Disk;
use crate::{FOUND, NOTHING, environment, output, signals};

/// Runs a program and reports what was found.
pub fn run(arguments: RunArguments) -> Result<u8, String> {
    let words = |error: EngineError| error.to_string();
    let config = config(&arguments)?;
    let target = target(arguments.command)?;
    signals::install();
    let tally = Tally::default();
    let report = nearmiss_engine::run(target, &config, &tally).map_err(words)?;
    match arguments.format {
        Format::Json => output::result(nearmiss_report::json(&report).as_bytes())?,
        Format::Text => {
            let text = nearmiss_report::text::report(&report, &Disk);
            output::message(text.as_bytes());
        }
    }
    Ok(if report.findings.is_empty() {
        NOTHING
    } else {
        FOUND
    })
}

fn target(command: Vec<std::ffi::OsString>) -> Result<Target, String> {
    let name = command.first().ok_or("no program given")?;
    Ok(Target {
        program: environment::find_program(name).map_err(|error| error.to_string())?,
        environment: environment::variables(),
        directory: environment::directory()?,
        stdin: environment::stdin()?,
        arguments: command,
    })
}

fn config(arguments: &RunArguments) -> Result<Config, String> {
    let compiler = environment::compiler_config()?;
    let solver = arguments.solver.as_ref();
    Ok(Config {
        directory: arguments.campaign.dir.clone(),
        time: arguments.time,
        question_time: arguments.query_time,
        run_time: None,
        distance: Some(0),
        runs: None,
        jobs: 1,
        checks: arguments
            .checks
            .as_ref()
            .map(|kinds| kinds.iter().copied().collect()),
        sandbox: environment::sandbox(arguments.no_sandbox)?,
        solver: solver.map(|command| command.split_whitespace().map(str::to_string).collect()),
        channels: arguments.channel_letters(),
        options: Options {
            length: arguments.length,
            elements: arguments.elements,
            updates: arguments.updates,
            input: arguments.input,
        },
        output: match arguments.format {
            Format::Text => Output::Through,
            Format::Json => Output::Kept,
        },
        clang: compiler.clang,
        library_directory: compiler.library_directory,
        stop: &signals::STOP,
    })
}
