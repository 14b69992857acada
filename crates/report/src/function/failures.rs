//! Which finding a test shows.

use nearmiss_results::{Finding, FunctionReport, PathTest, Verdict};

/// The finding that a test shows, if it is the first to show it or its verdict names it: by its number,
/// or by what and where.
pub fn finding_of<'a>(report: &'a FunctionReport, test: &PathTest) -> Option<&'a Finding> {
    let name = test_name(test);
    let names = |found: &&Finding| match &test.verdict {
        Verdict::Failure(what) => *what == found.id || *what == words(found),
        _ => false,
    };
    let mut findings = report.findings.iter();
    let named = findings.clone().find(names);
    named.or_else(|| findings.find(|found| found.test.id == name))
}

/// The first test that shows a finding.
pub fn test_of<'a>(report: &'a FunctionReport, found: &Finding) -> Option<&'a PathTest> {
    let shows = |test: &&PathTest| finding_of(report, test).is_some_and(|it| it.id == found.id);
    let mut tests = report.tests.iter();
    let first = tests.clone().find(|test| test_name(test) == found.test.id);
    first.or_else(|| tests.find(shows))
}

/// What findings call a test.
fn test_name(test: &PathTest) -> String {
    format!("P{}", test.number)
}

/// `assertion at x.c:13`.
pub fn words(found: &Finding) -> String {
    format!("{} at {}:{}", found.kind.name(), found.file, found.line)
}
