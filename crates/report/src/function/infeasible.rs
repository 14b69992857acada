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
    let kept = report.infeasible.len() as u64;
    let all = report.figures.infeasible.max(kept);
    let mut count = counted(all, "infeasible partial path");
    if kept < all {
        count += &format!(", of which the first {kept}");
    }
    let because = match (by_precondition.count(), &report.precondition) {
        (0, _) | (_, None) => String::new(),
        (all, Some(name)) if all == report.infeasible.len() => {
            format!(", because of {}", escape::text(name))
        }
        (some, Some(name)) => format!(", {some} because of {}", escape::text(name)),
    };
    let mut text = format!("\n{count}{because}:\n");
    let groups = match detail {
        Detail::Brief => by_place(&report.infeasible),
        Detail::Full => report.infeasible.iter().map(|it| vec![it]).collect(),
    };
    let most = match detail {
        Detail::Brief => MOST,
        Detail::Full => usize::MAX,
    };
    text.extend(groups.iter().take(most).map(|group| line(group, detail)));
    if groups.len() > most || groups.len() < report.infeasible.len() {
        text += "  (--all shows each of them)\n";
    }
    text
}

/// Those that end with the same step are told together.
fn by_place(infeasible: &[Infeasible]) -> Vec<Vec<&Infeasible>> {
    let mut groups: Vec<Vec<&Infeasible>> = Vec::new();
    for partial in infeasible {
        let is_same = |group: &&mut Vec<&Infeasible>| group[0].path.last() == partial.path.last();
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(partial),
            None => groups.push(vec![partial]),
        }
    }
    groups
}

/// `  merge.c:14:9 true, after 3 decisions: needs n1 < 0`; of several that with the shortest condition.
fn line(group: &[&Infeasible], detail: Detail) -> String {
    let Some(partial) = group.iter().min_by_key(|it| it.condition.len()) else {
        return String::new();
    };
    let mut text = match partial.path.last() {
        Some(last) => {
            let (file, way) = (escape::text(&last.file), escape::text(&last.way));
            format!("  {file}:{}:{} {way}", last.line, last.column)
        }
        None => "  the whole function".into(),
    };
    let before = partial.path.len().saturating_sub(1);
    // Writing into a string does not fail.
    match (group.len(), before) {
        (1, 0) => {}
        (1, before) => {
            let _ = write!(text, ", after {}", counted(before as u64, "decision"));
        }
        (count, _) => {
            let _ = write!(text, ", {count} times");
        }
    }
    if !partial.condition.is_empty() {
        let condition = escape::text(&partial.condition);
        let condition = match detail {
            Detail::Brief => shortened(&condition, CONDITION),
            Detail::Full => condition,
        };
        let example = if group.len() > 1 { ", e.g." } else { ":" };
        let _ = write!(text, "{example} needs {condition}");
    }
    if partial.precondition {
        text += " (possible, but not admissible)";
    }
    text.push('\n');
    text
}
