//! `nearmiss run`.

use std::sync::Arc;
use std::time::Duration;

use nearmiss_engine::Target;
use nearmiss_results::Report;
use nearmiss_search::Tally;

use crate::arguments::RunArguments;
use crate::commands::settings::{self, Defaults};
use crate::display::{Display, Mode, campaign};
use crate::{FOUND, NOTHING, TROUBLE, environment, signals};

/// A program that is run by hand: somebody waits for the answer.
const DEFAULTS: Defaults = Defaults {
    time: Duration::from_secs(60),
    distance: None,
    input: nearmiss_abi::environment::DEFAULT_INPUT,
};

/// Runs a program and reports what was found.
pub fn run(arguments: RunArguments) -> Result<u8, String> {
    let config = settings::config(&arguments.analysis, &DEFAULTS)?;
    let target = Target {
        live: arguments.live,
        ..target(arguments.command)?
    };
    signals::install();
    let tally = Arc::new(Tally::default());
    if let Some(drill) = environment::drill() {
        tally.set_drill(drill);
    }
    let display = Display::start(
        campaign::Campaign::new(tally.clone()),
        Mode::choose(arguments.analysis.quiet),
    );
    let report = nearmiss_engine::run(target, &config, &tally);
    display.finish();
    let report = report.map_err(|error| error.to_string())?;
    settings::tell(&report, &arguments.analysis)?;
    Ok(status(&report))
}

/// Where failures could not be confirmed for lack of a twin, no finding does not look as if all were fine.
fn status(report: &Report) -> u8 {
    match (report.findings.is_empty(), &report.summary.unconfirmable) {
        (false, _) => FOUND,
        (true, Some(_)) => TROUBLE,
        (true, None) => NOTHING,
    }
}

/// The program of a command, as a shell would start it.
pub fn target(command: Vec<std::ffi::OsString>) -> Result<Target, String> {
    let name = command.first().ok_or("no program given")?;
    Ok(Target {
        program: environment::find_program(name).map_err(|error| error.to_string())?,
        environment: environment::variables(),
        directory: environment::directory()?,
        stdin: environment::stdin()?,
        arguments: command,
        live: false,
    })
}
