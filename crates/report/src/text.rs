//! The report for a terminal.

use nearmiss_results::Report;

use crate::{finding, summary};

/// Finds the text of a line of a source file, if it can be read.
pub type SourceLine<'a> = dyn Fn(&str, u32) -> Option<String> + 'a;

/// The whole report: a block for each finding, then the summary.
pub fn report(report: &Report, source: &SourceLine) -> String {
    let mut text = String::new();
    for found in &report.findings {
        text.push_str(&finding::block(found, source));
        text.push('\n');
    }
    text.push_str(&summary::block(report));
    text
}

/// One finding.
pub fn finding(found: &nearmiss_results::Finding, source: &SourceLine) -> String {
    finding::block(found, source)
}

/// One line per finding.
pub fn list(report: &Report) -> String {
    report.findings.iter().map(finding::line).collect()
}
