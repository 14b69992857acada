//! `nearmiss show` and `nearmiss report`: what the last run found.

use std::path::Path;

use nearmiss_engine::EngineError;
use nearmiss_engine::campaign::read_report;
use nearmiss_report::statistics::{Figures, tab_separated_values};
use nearmiss_report::text;

use crate::arguments::{Format, Statistics};
use crate::files::Disk;
use crate::output;

/// Shows one finding, or the list of all.
pub fn show(id: Option<&str>, directory: &Path) -> Result<(), String> {
    let report = read_report(directory).map_err(|error| error.to_string())?;
    let text = match id {
        None if report.findings.is_empty() => "no findings\n".to_string(),
        None => text::list(&report),
        Some(id) => {
            let finding = report
                .finding(id)
                .ok_or_else(|| EngineError::NoFinding(id.to_string()).to_string())?;
            text::finding(finding, &Disk)
        }
    };
    output::result(text.as_bytes())
}

/// Prints the whole report.
pub fn report(format: Format, directory: &Path) -> Result<(), String> {
    let report = read_report(directory).map_err(|error| error.to_string())?;
    let text = match format {
        Format::Text => text::report(&report, &Disk),
        Format::Json => nearmiss_report::json(&report),
    };
    output::result(text.as_bytes())
}

/// Prints a table of figures.
pub fn statistics(table: Statistics, directory: &Path) -> Result<(), String> {
    let report = read_report(directory).map_err(|error| error.to_string())?;
    let figures = match table {
        Statistics::Programs => Figures::Programs,
        Statistics::Tests => Figures::Tests,
        Statistics::Distances => Figures::Distances,
    };
    output::result(tab_separated_values(&report.summary, figures).as_bytes())
}
