//! The report for a terminal.

use std::path::Path;

use nearmiss_results::Report;

use crate::{finding, summary};

/// What a report looks up outside of itself, if it is there.
pub trait Lookup {
    /// The text of a line of a source file.
    fn source_line(&self, file: &str, line: u32) -> Option<String>;
    /// What a file with input holds.
    fn content(&self, file: &Path) -> Option<Vec<u8>>;
}

/// How much of an input is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The first few changes.
    Brief,
    /// All, within reason.
    Full,
}

impl Detail {
    /// How many lines with changes are shown.
    pub(crate) fn rows(self) -> usize {
        match self {
            Detail::Brief => 3,
            Detail::Full => 50,
        }
    }
}

/// The whole report: a block for each finding, then the summary.
pub fn report(report: &Report, lookup: &dyn Lookup) -> String {
    let mut text = String::new();
    for found in &report.findings {
        text.push_str(&finding::block(found, lookup, Detail::Brief));
        text.push('\n');
    }
    text.push_str(&summary::block(report));
    text
}

/// One finding, with all that is known of it.
pub fn finding(found: &nearmiss_results::Finding, lookup: &dyn Lookup) -> String {
    finding::block(found, lookup, Detail::Full)
}

/// One line per finding.
pub fn list(report: &Report) -> String {
    report.findings.iter().map(finding::line_of_list).collect()
}
