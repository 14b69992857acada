//! One finding or one test of an exploration, with all that is known of it.

use std::fmt::Write;

use nearmiss_results::{Finding, FunctionReport, PathTest, Step};

use crate::function::{failures, outcomes};
use crate::text::{Detail, Lookup};
use crate::words::{counted, shortened};
use crate::{escape, finding};

/// Longest part of a source line that is shown beside a decision.
const SOURCE: usize = 60;

/// A finding: what, where, the input, and the decisions that lead there.
pub fn finding(report: &FunctionReport, found: &Finding, lookup: &dyn Lookup) -> String {
    let Some(test) = failures::test_of(report, found) else {
        return finding::in_function(found, None, "", lookup);
    };
    let others = match found.tests {
        0 | 1 => String::new(),
        tests => format!(", the first of {tests} that fail there"),
    };
    let input = outcomes::input(&test.before, Detail::Full);
    let title = format!("the way of test {}{others}:", test.number);
    let way = way(&title, &test.path, lookup);
    finding::in_function(found, Some(&input), &way, lookup)
}

/// A test: its input, what became of it, and its decisions. `replay` is the command that runs it.
pub fn test(report: &FunctionReport, test: &PathTest, replay: &str, lookup: &dyn Lookup) -> String {
    let number = test.number;
    let mut text = format!(
        "test {number} of {} in {}: {}\n",
        escape::text(&report.function),
        escape::text(&report.file),
        outcomes::verdict(report, test)
    );
    let input = outcomes::input(&test.before, Detail::Full);
    let outcome = outcomes::outcome(test, Detail::Full);
    // Writing into a string does not fail.
    let _ = writeln!(text, "  input: {input}");
    let _ = writeln!(text, "  result: {outcome}");
    text += &way("its way:", &test.path, lookup);
    let _ = writeln!(text, "  replay: {}", escape::text(replay));
    text
}

/// One line for each finding.
pub fn list(report: &FunctionReport) -> String {
    report.findings.iter().map(finding::line_of_list).collect()
}

/// A line for each decision, with its source; the last ones if there are many.
fn way(title: &str, path: &[Step], lookup: &dyn Lookup) -> String {
    let rows: Vec<&[Step]> = path.chunk_by(|left, right| left == right).collect();
    let (before, shown) = rows.split_at(rows.len().saturating_sub(Detail::Full.rows()));
    let mut text = format!("  {title}\n");
    let left_out: usize = before.iter().map(|row| row.len()).sum();
    if left_out > 0 {
        // Writing into a string does not fail.
        let _ = writeln!(
            text,
            "    … {} before",
            counted(left_out as u64, "decision")
        );
    }
    if path.is_empty() {
        text += "    no decisions\n";
    }
    let words: Vec<String> = shown.iter().map(|row| decision(row)).collect();
    let width = words.iter().map(|line| line.chars().count()).max();
    let width = width.unwrap_or(0);
    for (row, words) in shown.iter().zip(&words) {
        let source = lookup.source_line(&row[0].file, row[0].line);
        let source = escape::text(source.unwrap_or_default().trim());
        let line = format!("    {words:<width$}  {}", shortened(&source, SOURCE));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// `merge.c:10:5 true`, or `merge.c:10:5 true, 3 times` in a row.
fn decision(row: &[Step]) -> String {
    let step = &row[0];
    let (file, way) = (escape::text(&step.file), escape::text(&step.way));
    let words = format!("{file}:{}:{} {way}", step.line, step.column);
    match row.len() {
        1 => words,
        times => format!("{words}, {times} times"),
    }
}
