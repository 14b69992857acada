//! `nearmiss explore`: a test for every path of one function.
//!
//! | module | what it does |
//! | --- | --- |
//! | `settings` | flags → what `paths` is to do |
//! | `sizes` | the file of `--sizes` |
//! | `results` | what is told |
//! | `writing` | what is written |

mod results;
pub(super) mod settings;
mod sizes;
pub(super) mod writing;

use std::path::Path;
use std::sync::Arc;

use nearmiss_abi::check::Kind;
use nearmiss_campaign::Campaign;
use nearmiss_results::{Finding, FunctionReport, Verdict};
use nearmiss_search::Tally;

use super::kept;
use crate::arguments::{ExploreArguments, Format};
use crate::display::{Display, Mode, function};
use crate::{FOUND, NOTHING, output, signals};

/// Explores a function, tells what was found and writes the tests.
pub fn explore(arguments: &ExploreArguments) -> Result<u8, String> {
    writing::refuse_to_overwrite(&arguments.common.results)?;
    let name = name(arguments);
    let directory = kept::directory_of(&name, &arguments.common.campaign.dir);
    let campaign = Campaign::open(&directory).map_err(|error| error.to_string())?;
    let config = settings::config(arguments, campaign.root())?;
    signals::install();
    let tally = Arc::new(Tally::default());
    let watched = function::Exploration::new(tally.clone());
    let display = Display::start(watched, Mode::choose(arguments.common.quiet));
    let report = nearmiss_paths::explore(&config, &tally);
    display.finish();
    let mut report = report.map_err(|error| error.to_string())?;
    for finding in &mut report.findings {
        finding.replay = kept::replay_command(&finding.id, &name, &arguments.common.campaign.dir);
    }
    kept::keep(&report, campaign.root())?;
    let text = results::tell(&report, &arguments.common.results)?;
    writing::write(&report, text, campaign.root(), arguments)?;
    if !arguments.common.quiet && may_lack_precondition(&report, arguments) {
        output::complain(&proposal(&report.function, arguments));
    }
    Ok(status(&report))
}

/// How to find out which calls a function is made for.
fn proposal(function: &str, arguments: &ExploreArguments) -> String {
    let files: Vec<String> = (arguments.files.iter())
        .map(|file| file.display().to_string())
        .collect();
    let flags = match arguments.common.flags.is_empty() {
        true => String::new(),
        false => format!(" -- {}", arguments.common.flags.join(" ")),
    };
    format!(
        "these may be calls that {function} is not made for; what a safe call needs: \
         nearmiss infer {} --function {function}{flags}",
        files.join(" ")
    )
}

/// Whether all that fails has to do with what callers must see to, and nothing was said about that.
fn may_lack_precondition(report: &FunctionReport, arguments: &ExploreArguments) -> bool {
    let (subject, inputs) = (&arguments.common.subject, &arguments.common.inputs);
    let is_said = subject.pre.is_some()
        || subject.contracts.is_some()
        || inputs.sizes.is_some()
        || !(subject.require.is_empty() && inputs.size.is_empty() && inputs.range.is_empty());
    let is_callers = |finding: &Finding| {
        matches!(
            finding.kind,
            Kind::OutOfBoundsRead
                | Kind::OutOfBoundsWrite
                | Kind::NullDereference
                | Kind::SignedOverflow
                | Kind::DivisionByZero
        )
    };
    subject.function.is_some()
        && !is_said
        && !report.findings.is_empty()
        && report.findings.iter().all(is_callers)
}

/// Shows the report of the last exploration of a function again.
pub fn show(function: &str, format: Format, all: bool, campaign: &Path) -> Result<(), String> {
    let report = kept::exploration(function, campaign)?.report;
    let text = match format {
        Format::Json => report.to_json(),
        Format::Text => results::shown(&report, all),
    };
    output::result(text.as_bytes())
}

/// What the exploration is called afterwards.
fn name(arguments: &ExploreArguments) -> String {
    match &arguments.common.subject.function {
        Some(function) => function.clone(),
        None => file_stem(&arguments.files[0]),
    }
}

fn file_stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn status(report: &FunctionReport) -> u8 {
    let is_wrong = |verdict: &Verdict| matches!(verdict, Verdict::Fail | Verdict::Failure(_));
    let has_failed = report.tests.iter().any(|test| is_wrong(&test.verdict));
    match has_failed || !report.findings.is_empty() {
        true => FOUND,
        false => NOTHING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_results::{Memory, PathTest};

    #[test]
    fn a_rejected_result_is_a_finding() {
        let report = |verdict: Verdict| FunctionReport {
            tests: vec![PathTest {
                number: 1,
                before: Memory::default(),
                after: None,
                rows: Vec::new(),
                verdict,
                path: Vec::new(),
            }],
            ..FunctionReport::default()
        };
        assert_eq!(status(&report(Verdict::Pass)), NOTHING);
        assert_eq!(status(&report(Verdict::Ended("exit 3".into()))), NOTHING);
        assert_eq!(status(&report(Verdict::Fail)), FOUND);
        assert_eq!(status(&report(Verdict::Failure("NM-1".into()))), FOUND);
        assert_eq!(status(&FunctionReport::default()), NOTHING);
    }
}
