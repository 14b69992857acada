//! The table: one row for each path, with its input, its result and what is to be thought of it.

use std::fmt::Write;

use nearmiss_results::{FunctionReport, Memory, PathTest, Role, Verdict};

use crate::escape;
use crate::function::failures::finding_of;
use crate::function::value::Short;
use crate::table::{Column, table};
use crate::text::Detail;
use crate::words::{counted, shortened};

/// Rows that are shown if there are many: the first ones, and those that failed.
const ROWS: usize = 40;
/// Widest input that is shown.
const INPUT: usize = 72;
/// Widest result that is shown.
const RESULT: usize = 48;

/// The table, and how many rows are not in it.
pub fn block(report: &FunctionReport, detail: Detail) -> String {
    if report.tests.is_empty() {
        return String::new();
    }
    let most = match detail {
        Detail::Brief => ROWS,
        Detail::Full => usize::MAX,
    };
    let (first, others) = report.tests.split_at(report.tests.len().min(most));
    let failed = others.iter().filter(|test| is_failure(report, test));
    let shown: Vec<&PathTest> = first.iter().chain(failed.take(most)).collect();
    let columns = [
        Column::Right("path"),
        Column::Left("input"),
        Column::Left("result"),
        Column::Left("verdict"),
    ];
    let rows: Vec<Vec<String>> = shown
        .iter()
        .flat_map(|test| rows(report, test, detail))
        .collect();
    let mut text = table(&columns, &rows, "");
    let more = report.tests.len() - shown.len();
    if more > 0 {
        // Writing into a string does not fail.
        let more = counted(more as u64, "more path");
        let _ = writeln!(text, "… and {more} (--all shows them)");
    }
    text
}

fn is_failure(report: &FunctionReport, test: &PathTest) -> bool {
    let has_returned = matches!(test.verdict, Verdict::None | Verdict::Pass);
    !has_returned || finding_of(report, test).is_some()
}

/// One row, cut; or with all details, on as many lines as that takes.
fn rows(report: &FunctionReport, test: &PathTest, detail: Detail) -> Vec<Vec<String>> {
    let (input, outcome) = (input(&test.before, detail), outcome(test, detail));
    let (inputs, outcomes) = match detail {
        Detail::Brief => (
            vec![shortened(&input, INPUT)],
            vec![shortened(&outcome, RESULT)],
        ),
        Detail::Full => (wrapped(&input, INPUT), wrapped(&outcome, RESULT)),
    };
    let line = |index: usize| {
        let of = |lines: &[String]| lines.get(index).cloned().unwrap_or_default();
        let (number, verdict) = match index {
            0 => (test.number.to_string(), verdict(report, test)),
            _ => (String::new(), String::new()),
        };
        vec![number, of(&inputs), of(&outcomes), verdict]
    };
    (0..inputs.len().max(outcomes.len())).map(line).collect()
}

/// A text on several lines, which end behind a comma or a space if there is one.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in text.split_inclusive([',', ' ']) {
        for character in piece.chars().collect::<Vec<_>>().chunks(width) {
            let piece: String = character.iter().collect();
            match lines.last_mut() {
                Some(line) if line.chars().count() + piece.trim_end().chars().count() <= width => {
                    line.push_str(&piece);
                }
                _ => lines.push(piece),
            }
        }
    }
    lines
}

/// `t1={1,2} n1=2`.
pub fn input(before: &Memory, detail: Detail) -> String {
    let mut short = Short::new(before, detail);
    let mut shown = Vec::new();
    for variable in &before.variables {
        if !short.has_shown_stub(&variable.name) {
            shown.push(short.variable(variable));
        }
    }
    match shown.is_empty() {
        true => "–".into(),
        false => shown.join(" "),
    }
}

/// The result, then what the function has changed: `3, t3={1,2,3}`.
pub fn outcome(test: &PathTest, detail: Detail) -> String {
    let Some(after) = &test.after else {
        return "–".into();
    };
    let results = after.variables.iter().filter(|it| it.role == Role::Result);
    let mut parts: Vec<String> = results
        .map(|variable| {
            let mut short = Short::new(after, detail).with_stubs_of(&test.before);
            short = short.knowing(test.before.blocks.len());
            short.typed(&variable.value, &variable.ctype)
        })
        .collect();
    let changed = changed(&test.before, after, detail);
    if !changed.is_empty() {
        parts.push(changed.join(" "));
    }
    match parts.is_empty() {
        true => "–".into(),
        false => parts.join(", "),
    }
}

/// The variables that are not what they were.
fn changed(before: &Memory, after: &Memory, detail: Detail) -> Vec<String> {
    let mut old = Short::new(before, Detail::Full);
    let old: Vec<String> = before.variables.iter().map(|it| old.variable(it)).collect();
    let mut full = Short::new(after, Detail::Full).with_stubs_of(before);
    let mut short = Short::new(after, detail).with_stubs_of(before);
    let mut changed = Vec::new();
    for variable in &after.variables {
        if matches!(variable.role, Role::Stub | Role::Written | Role::Result) {
            continue;
        }
        let (full, short) = (full.variable(variable), short.variable(variable));
        // What another variable leads to now is shown there.
        let name = escape::text(&variable.name);
        if !old.contains(&full) && full != format!("{name}={name}") {
            changed.push(short);
        }
    }
    changed
}

/// What is to be thought of a test, in a word or two.
pub fn verdict(report: &FunctionReport, test: &PathTest) -> String {
    if let Some(found) = finding_of(report, test) {
        return format!("FAILURE {}", found.id);
    }
    match &test.verdict {
        Verdict::None => "returned".into(),
        Verdict::Pass => "pass".into(),
        Verdict::Fail => "FAIL".into(),
        Verdict::Failure(what) => format!("FAILURE {}", escape::text(what)),
        Verdict::Ended(how) => escape::text(how),
    }
}
