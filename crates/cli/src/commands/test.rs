//! `nearmiss test`.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use nearmiss_engine::{Config, Output, SuiteTarget};
use nearmiss_results::Report;
use nearmiss_search::Tally;

use crate::arguments::TestArguments;
use crate::commands::settings::{self, Defaults};
use crate::display::{Display, Mode, campaign};
use crate::{FOUND, NOTHING, TROUBLE, environment, output, signals};

/// A suite is left alone: time is the only limit, but for large inputs. What a compressor does with
/// its first kilobytes it does with the others too, and its own paths would take all the time.
const DEFAULTS: Defaults = Defaults {
    time: Duration::from_secs(600),
    distance: None,
    input: 4 << 10,
};

/// Runs a suite, looks around every execution in it and reports what was found.
pub fn test(arguments: TestArguments) -> Result<u8, String> {
    let wanted = &arguments.suite;
    let config = Config {
        calls: wanted.calls(),
        ..settings::config(&arguments.analysis, &DEFAULTS)?
    };
    let target = SuiteTarget {
        sample: wanted.sample.map(|percent| (percent, wanted.seed)),
        disk: wanted.disk,
        tests: wanted.executions,
        ..suite(arguments.command)?
    };
    let quiet = arguments.analysis.quiet;
    if config.output == Output::Through && !quiet {
        let limits = settings::limits(&config);
        output::complain(&format!("after the suite: {limits} (see --help)"));
    }
    signals::install();
    let tally = Arc::new(Tally::default());
    if let Some(drill) = environment::drill() {
        tally.set_drill(drill);
    }
    let display = Display::start(campaign::Campaign::new(tally.clone()), Mode::choose(quiet));
    let report = nearmiss_engine::test(target, &config, &tally);
    display.finish();
    let report = report.map_err(|error| error.to_string())?;
    settings::tell(&report, &arguments.analysis)?;
    Ok(status(&report))
}

/// The suite of a command, with the usual limits.
pub fn suite(command: Vec<OsString>) -> Result<SuiteTarget, String> {
    Ok(SuiteTarget {
        command,
        environment: environment::variables(),
        directory: environment::directory()?,
        sample: None,
        disk: 2 << 30,
        tests: 10_000,
        broken_pipes_ignored: signals::broken_pipes_were_ignored(),
        terminate: &signals::TERMINATE,
    })
}

/// Whoever runs it in place of the suite must hear of a suite that fails.
fn status(report: &Report) -> u8 {
    let suite = report.summary.suite.as_ref();
    let passes = suite.is_none_or(|suite| suite.ended == "exit 0");
    let looked_at: u64 = report.summary.programs.iter().map(|one| one.tests).sum();
    if suite.is_some() && looked_at == 0 {
        // No test could be run again: that must not look as if all were fine.
        return TROUBLE;
    }
    if passes && report.findings.is_empty() {
        NOTHING
    } else {
        FOUND
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_results::{ProgramFigures, Suite, Summary};

    #[test]
    fn a_suite_that_fails_is_a_failure() {
        let looked = |ended: &str, looked_at: u64| {
            let suite = Suite {
                ended: ended.into(),
                ..Suite::default()
            };
            let summary = Summary {
                suite: Some(suite),
                programs: vec![ProgramFigures {
                    tests: looked_at,
                    ..ProgramFigures::default()
                }],
                ..Summary::default()
            };
            Report::new(Vec::new(), summary)
        };
        let report = |ended: &str| looked(ended, 1);
        assert_eq!(status(&report("exit 0")), NOTHING);
        assert_eq!(status(&report("exit 2")), FOUND);
        assert_eq!(status(&report("signal 2")), FOUND);
        assert_eq!(status(&looked("exit 0", 0)), TROUBLE);
    }
}
