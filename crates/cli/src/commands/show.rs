//! `nearmiss show` and `nearmiss report`: what the last run found, and explorations.

use std::fmt::Write;
use std::path::Path;

use nearmiss_report::function::single;
use nearmiss_report::statistics::{Figures, tab_separated_values};
use nearmiss_report::{escape, text, unit_test};
use nearmiss_results::{Finding, FunctionReport, PathTest};

use super::kept::{self, Exploration, Owner};
use crate::arguments::{ExploredArguments, Format, Framework, Statistics};
use crate::files::Disk;
use crate::output;

/// Shows one finding, one test, or the list of all findings.
pub fn show(
    id: Option<&str>,
    explored: &ExploredArguments,
    directory: &Path,
) -> Result<(), String> {
    let function = explored.function.as_deref();
    let text = match (id, explored.test, function) {
        (Some(id), _, _) => finding(id, function, directory)?,
        (None, Some(number), Some(name)) => test(number, name, directory)?,
        (None, None, Some(name)) => {
            let listed = single::list(&kept::exploration(name, directory)?.report);
            or_nothing(listed)
        }
        (None, _, None) => everything(directory)?,
    };
    output::result(text.as_bytes())
}

/// Shows a finding next to a unit test as a test function.
pub fn as_test(id: &str, framework: Option<Framework>, directory: &Path) -> Result<(), String> {
    let report = nearmiss_campaign::read_report(directory).map_err(|error| error.to_string())?;
    let found = report
        .finding(id)
        .ok_or_else(|| format!("there is no finding {id}"))?;
    let test = &found.test;
    let file = test.calls.first().map(|call| test.cwd.join(&call.file));
    let source = file.and_then(|file| std::fs::read_to_string(file).ok());
    let framework = framework.map(Into::into);
    let text = unit_test::c(found, framework, &source.unwrap_or_default()).ok_or_else(|| {
        format!(
            "{id} is no finding next to a unit test: `nearmiss replay {id}` runs its input again"
        )
    })?;
    output::result(text.as_bytes())
}

fn finding(id: &str, function: Option<&str>, directory: &Path) -> Result<String, String> {
    let owner = kept::owner(id, function, directory)?;
    let shown = match &owner {
        Owner::Campaign(report) => report.finding(id).map(|it| text::finding(it, &Disk)),
        Owner::Exploration(exploration) => {
            let report = &exploration.report;
            let shown = |found: &Finding| single::finding(report, found, &Disk);
            report.finding(id).map(shown)
        }
    };
    Ok(shown.unwrap_or_default())
}

fn test(number: usize, name: &str, directory: &Path) -> Result<String, String> {
    let exploration = kept::exploration(name, directory)?;
    let test = test_of(&exploration.report, number)?;
    let replay = kept::replay_command(&format!("--test {number}"), name, directory);
    Ok(single::test(&exploration.report, test, &replay, &Disk))
}

/// The test of this number.
pub fn test_of(report: &FunctionReport, number: usize) -> Result<&PathTest, String> {
    report.test(number).ok_or_else(|| {
        let (function, tests) = (&report.function, report.tests.len());
        format!("there is no test {number} of {function}: it has {tests} of them")
    })
}

/// The findings of the last run, then those of each exploration under its name.
fn everything(directory: &Path) -> Result<String, String> {
    let explorations = kept::explorations(directory);
    let mut text = match kept::campaign_report(directory) {
        Ok(report) => text::list(&report),
        Err(_) if !explorations.is_empty() => String::new(),
        Err(trouble) => return Err(trouble),
    };
    for Exploration { name, report, .. } in &explorations {
        let listed = single::list(report);
        if !listed.is_empty() {
            // Writing into a string does not fail.
            let file = escape::text(&report.file);
            let _ = write!(text, "of {name} in {file} (--function {name}):\n{listed}");
        }
    }
    Ok(or_nothing(text))
}

fn or_nothing(listed: String) -> String {
    match listed.is_empty() {
        true => "no findings\n".into(),
        false => listed,
    }
}

/// Prints the whole report.
pub fn report(format: Format, directory: &Path) -> Result<(), String> {
    let report = kept::campaign_report(directory).map_err(|trouble| {
        let explorations = kept::explorations(directory);
        let named = explorations.first().map(|last| &last.name);
        named.map_or(trouble, |name| {
            format!("no run or test here, but explorations: nearmiss report --function {name}")
        })
    })?;
    let text = match format {
        Format::Text => text::report(&report, &Disk),
        Format::Json => nearmiss_report::json(&report),
    };
    output::result(text.as_bytes())
}

/// Prints a table of figures.
pub fn statistics(table: Statistics, directory: &Path) -> Result<(), String> {
    let report = kept::campaign_report(directory)?;
    let figures = match table {
        Statistics::Programs => Figures::Programs,
        Statistics::Tests => Figures::Tests,
        Statistics::Distances => Figures::Distances,
    };
    output::result(tab_separated_values(&report.summary, figures).as_bytes())
}
