//! `nearmiss show` and `nearmiss report`: what the last run found.

use std::fs;
use std::path::Path;

use nearmiss_engine::EngineError;
use nearmiss_engine::campaign::read_report;
use nearmiss_report::text;

use crate::arguments::Format;
use crate::output;

/// Largest source file that a line is shown of.
const MAX_SOURCE: u64 = 16 << 20;

/// A line of a source file, if the file is where it was when it was compiled.
pub fn source_line(file: &str, line: u32) -> Option<String> {
    let metadata = fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_SOURCE {
        return None;
    }
    let text = fs::read(file).ok()?;
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    let line = text.split(|byte| *byte == b'\n').nth(index)?;
    Some(
        String::from_utf8_lossy(line)
            .trim_end_matches('\r')
            .to_string(),
    )
}

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
            text::finding(finding, &source_line)
        }
    };
    output::result(text.as_bytes())
}

/// Prints the whole report.
pub fn report(format: Format, directory: &Path) -> Result<(), String> {
    let report = read_report(directory).map_err(|error| error.to_string())?;
    let text = match format {
        Format::Text => text::report(&report, &source_line),
        Format::Json => nearmiss_report::json(&report),
    };
    output::result(text.as_bytes())
}
