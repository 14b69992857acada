//! Partial paths that no admissible input takes.

use std::fmt::Write;

use nearmiss_results::{FunctionReport, Infeasible};

use crate::escape;
use crate::text::Detail;
use crate::words::{counted, shortened};

/// How many are shown.
const MOST: usize = 10;
/// Longest condition that is shown.
const CONDITION: usize = 100;

/// One line each: where the path cannot go on, and what that would need.
pub fn block(report: &FunctionReport, detail: Detail) -> String {
    if report.infeasible.is_empty() {
        return String::new();
    }
    let by_precondition = report.infeasible.iter().filter(|it| it.precondition);
    let count = counted(report.infeasible.len() as u64, "infeasible partial path");
    let because = match (by_precondition.count(), &report.precondition) {
        (0, _) | (_, None) => String::new(),
        (all, Some(name)) if all == report.infeasible.len() => {
            format!(", because of {}", escape::text(name))
        }
        (some, Some(name)) => format!(", {some} because of {}", escape::text(name)),
    };
    let mut text = format!("\n{count}{because}:\n");
    let most = match detail {
        Detail::Brief => MOST,
        Detail::Full => usize::MAX,
    };
    text.extend(
        report
            .infeasible
            .iter()
            .take(most)
            .map(|it| line(it, detail)),
    );
    let more = report.infeasible.len().saturating_sub(most);
    if more > 0 {
        // Writing into a string does not fail.
        let _ = writeln!(text, "  … and {more} more (--all shows them)");
    }
    text
}

/// `  merge.c:14:9 true, after 3 decisions: needs n1 < 0 (rejected by the precondition)`.
fn line(partial: &Infeasible, detail: Detail) -> String {
    let mut text = String::from("  ");
    let (place, before) = match partial.path.split_last() {
        Some((last, before)) => {
            let (file, way) = (escape::text(&last.file), escape::text(&last.way));
            let place = format!("{file}:{}:{} {way}", last.line, last.column);
            (place, before.len())
        }
        None => ("the whole function".to_string(), 0),
    };
    text += &place;
    if before > 0 {
        let _ = write!(text, ", after {}", counted(before as u64, "decision"));
    }
    if !partial.condition.is_empty() {
        let condition = escape::text(&partial.condition);
        let condition = match detail {
            Detail::Brief => shortened(&condition, CONDITION),
            Detail::Full => condition,
        };
        let _ = write!(text, ": needs {condition}");
    }
    if partial.precondition {
        text += " (possible, but not admissible)";
    }
    text.push('\n');
    text
}
