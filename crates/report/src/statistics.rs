//! Programs and tests in figures: short tables for people, all rows for plots.

use std::path::Path;

use nearmiss_results::{DistanceFigures, ProgramFigures, Summary, TestFigures};

use crate::table::{Column, tab_separated, table};
use crate::words::shortened;
use crate::{escape, shell};

/// Most programs in the short table.
const MAX_PROGRAMS: usize = 20;
/// Most tests in the short table.
const MAX_TESTS: usize = 10;
/// Longest name of a program, and command of a test.
const MAX_NAME: usize = 40;

/// Which figures are wanted whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    /// A row for each program: checks in all and by line, times.
    Programs,
    /// A row for each test: its time in the suite, recorded, and of the analysis.
    Tests,
    /// A row for each distance: what it cost and gave.
    Distances,
}

/// The programs with most checks and the tests that took longest.
pub fn block(summary: &Summary) -> String {
    let mut text = String::new();
    if !summary.programs.is_empty() {
        text += "Programs, those with most checks first; places are lines of code:\n";
        text += &programs_table(&by_checks(&summary.programs));
        text += &more(summary.programs.len(), MAX_PROGRAMS, "programs");
    }
    // A single test is what the programs' table says already.
    if summary.tests.len() > 1 {
        text += "Tests that took longest:\n";
        text += &tests_table(&by_cost(&summary.tests));
        text += &more(summary.tests.len(), MAX_TESTS, "tests");
    }
    text
}

fn more(count: usize, shown: usize, option: &str) -> String {
    match count.saturating_sub(shown) {
        0 => String::new(),
        more => format!("  … and {more} more: nearmiss report --statistics {option}\n"),
    }
}

fn by_checks(programs: &[ProgramFigures]) -> Vec<&ProgramFigures> {
    let mut sorted: Vec<&ProgramFigures> = programs.iter().collect();
    sorted.sort_by_key(|one| (std::cmp::Reverse(one.checks), &one.program));
    sorted
}

fn by_cost(tests: &[TestFigures]) -> Vec<&TestFigures> {
    let cost = |test: &TestFigures| test.recorded_seconds + test.analysis_seconds;
    let mut sorted: Vec<&TestFigures> = tests.iter().collect();
    sorted.sort_by(|left, right| cost(right).total_cmp(&cost(left)));
    sorted
}

fn programs_table(programs: &[&ProgramFigures]) -> String {
    let columns = [
        Column::Left("program"),
        Column::Right("executions"),
        Column::Right("paths"),
        Column::Right("checks"),
        Column::Right("places"),
        Column::Right("new paths"),
        Column::Right("findings"),
        Column::Right("suite"),
        Column::Right("recorded"),
        Column::Right("analysis"),
    ];
    let seconds = |seconds: f64| format!("{seconds:.1} s");
    let row = |one: &&ProgramFigures| {
        vec![
            program_name(one, programs),
            one.executions.to_string(),
            one.tests.to_string(),
            one.checks.to_string(),
            one.unique_checks.to_string(),
            one.paths.to_string(),
            one.findings.to_string(),
            seconds(one.suite_seconds),
            seconds(one.recorded_seconds),
            seconds(one.analysis_seconds),
        ]
    };
    let rows: Vec<Vec<String>> = programs.iter().take(MAX_PROGRAMS).map(row).collect();
    table(&columns, &rows, "  ")
}

/// A program's name, with its directories if another has the same name.
fn program_name(program: &ProgramFigures, all: &[&ProgramFigures]) -> String {
    let name = |one: &ProgramFigures| Path::new(&one.program).file_name().map(ToOwned::to_owned);
    let own = name(program);
    let is_unique = all.iter().filter(|one| name(one) == own).count() == 1;
    let shown = match own.filter(|_| is_unique) {
        Some(name) => name.to_string_lossy().into_owned(),
        None => program.program.clone(),
    };
    shortened(&escape::text(&shown), MAX_NAME)
}

fn tests_table(tests: &[&TestFigures]) -> String {
    let columns = [
        Column::Left("test"),
        Column::Right("suite"),
        Column::Right("recorded"),
        Column::Right("analysis"),
        Column::Right("checks"),
        Column::Left("command"),
    ];
    let seconds = |seconds: f64| format!("{seconds:.3} s");
    let row = |one: &&TestFigures| {
        vec![
            escape::text(&one.id),
            seconds(one.suite_seconds),
            seconds(one.recorded_seconds),
            seconds(one.analysis_seconds),
            one.checks.to_string(),
            shortened(&shell::command_line(&one.argv), MAX_NAME),
        ]
    };
    let rows: Vec<Vec<String>> = tests.iter().take(MAX_TESTS).map(row).collect();
    table(&columns, &rows, "  ")
}

/// All rows with tabs between the cells and a line of titles: for plots.
pub fn tab_separated_values(summary: &Summary, figures: Figures) -> String {
    match figures {
        Figures::Programs => program_rows(&summary.programs),
        Figures::Tests => test_rows(&summary.tests),
        Figures::Distances => {
            let exploration = summary.exploration.as_ref();
            distance_rows(exploration.map_or(&[], |it| &it.distances[..]))
        }
    }
}

fn program_rows(programs: &[ProgramFigures]) -> String {
    let titles = [
        "program",
        "executions",
        "tests",
        "checks",
        "unique_checks",
        "paths",
        "findings",
        "suite_seconds",
        "recorded_seconds",
        "analysis_seconds",
    ];
    let row = |one: &ProgramFigures| {
        vec![
            escape::text(&one.program),
            one.executions.to_string(),
            one.tests.to_string(),
            one.checks.to_string(),
            one.unique_checks.to_string(),
            one.paths.to_string(),
            one.findings.to_string(),
            exact(one.suite_seconds),
            exact(one.recorded_seconds),
            exact(one.analysis_seconds),
        ]
    };
    tab_separated(&titles, by_checks(programs).into_iter().map(row))
}

/// The quickest in the suite first.
fn test_rows(tests: &[TestFigures]) -> String {
    let titles = [
        "test",
        "executions",
        "checks",
        "unique_checks",
        "suite_seconds",
        "recorded_seconds",
        "analysis_seconds",
        "command",
    ];
    let row = |one: &TestFigures| {
        vec![
            escape::text(&one.id),
            one.executions.to_string(),
            one.checks.to_string(),
            one.unique_checks.to_string(),
            exact(one.suite_seconds),
            exact(one.recorded_seconds),
            exact(one.analysis_seconds),
            shell::command_line(&one.argv),
        ]
    };
    let mut sorted: Vec<&TestFigures> = tests.iter().collect();
    sorted.sort_by(|left, right| left.suite_seconds.total_cmp(&right.suite_seconds));
    tab_separated(&titles, sorted.into_iter().map(row))
}

fn distance_rows(distances: &[DistanceFigures]) -> String {
    let titles = [
        "distance",
        "finished",
        "unfinished",
        "runs",
        "paths",
        "checks",
        "findings",
        "seconds",
    ];
    let row = |one: &DistanceFigures| {
        vec![
            one.distance.to_string(),
            one.finished.to_string(),
            one.unfinished.to_string(),
            one.runs.to_string(),
            one.paths.to_string(),
            one.checks.to_string(),
            one.findings.to_string(),
            exact(one.seconds),
        ]
    };
    tab_separated(&titles, distances.iter().map(row))
}

fn exact(seconds: f64) -> String {
    format!("{seconds:.6}")
}
