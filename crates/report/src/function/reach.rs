//! The answer of `nearmiss reach`, for a terminal.

use std::fmt::{self, Write};

use nearmiss_results::{FunctionReport, ReachReport, ReachVerdict};

use crate::escape;
use crate::function::{failures, outcomes};
use crate::text::{Detail, Lookup};
use crate::words::{counted, time};
use crate::{finding, summary};

/// The input of a report for people, on one line.
pub fn input(report: &ReachReport, detail: Detail) -> Option<String> {
    let memory = report.memory.as_ref()?;
    Some(outcomes::input(memory, detail))
}

/// The whole answer. The exploration has what failed on the way, and what was lost.
pub fn report(
    report: &ReachReport,
    exploration: Option<&FunctionReport>,
    lookup: &dyn Lookup,
    detail: Detail,
) -> String {
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = write_head(&mut text, report, detail);
    let _ = write_path(&mut text, report, lookup, detail);
    for found in exploration.iter().flat_map(|it| &it.findings) {
        let test = exploration.and_then(|it| failures::test_of(it, found));
        let shown = test.map(|test| outcomes::input(&test.before, detail));
        let block = finding::in_function(found, shown.as_deref(), "", lookup);
        let _ = write!(text, "\n{block}");
    }
    text.push('\n');
    let _ = write_end(&mut text, report);
    if let Some(exploration) = exploration.filter(|it| !it.notes.is_empty()) {
        text += "Lost while recording:\n";
        text += &summary::notes(&exploration.notes);
    }
    text
}

fn write_head(text: &mut String, report: &ReachReport, detail: Detail) -> fmt::Result {
    let function = escape::text(&report.function);
    write!(text, "{} from {function}", escape::text(&report.target))?;
    if let Some(when) = &report.when {
        write!(text, " when {}", escape::text(when))?;
    }
    for via in &report.via {
        write!(text, ", via {}", escape::text(via))?;
    }
    for place in &report.not_through {
        write!(text, ", not through {}", escape::text(place))?;
    }
    text.push('\n');
    match report.verdict {
        ReachVerdict::Reached => {
            let input = input(report, detail).unwrap_or_default();
            writeln!(text, "Reached by: {input}")
        }
        ReachVerdict::Infeasible => writeln!(
            text,
            "Infeasible: every path that could lead there was refuted."
        ),
        ReachVerdict::Unknown => {
            writeln!(text, "Unknown: not found, and not refuted:")?;
            let reasons = report.reason.as_deref().unwrap_or_default();
            for reason in reasons.split("; ").filter(|it| !it.is_empty()) {
                writeln!(text, "  {}", escape::text(reason))?;
            }
            Ok(())
        }
    }
}

/// Turns that are shown of a long path.
const FEW_TURNS: usize = 24;

fn write_path(
    text: &mut String,
    report: &ReachReport,
    lookup: &dyn Lookup,
    detail: Detail,
) -> fmt::Result {
    let path = &report.path;
    let skipped = match detail {
        Detail::Full => 0,
        _ => path.len().saturating_sub(FEW_TURNS),
    };
    if !path.is_empty() {
        writeln!(text, "\nThe turns on the way:")?;
    }
    if skipped > 0 {
        let turns = counted(skipped as u64, "turn");
        writeln!(text, "  ({turns} before, --all shows them)")?;
    }
    for step in &path[skipped..] {
        let (file, line) = (escape::text(&step.file), step.line);
        write!(
            text,
            "  {file}:{line}:{} {}",
            step.column,
            escape::text(&step.way)
        )?;
        match lookup.source_line(&step.file, step.line) {
            Some(source) => writeln!(text, "  {}", escape::text(source.trim()))?,
            None => writeln!(text)?,
        }
    }
    Ok(())
}

fn write_end(text: &mut String, report: &ReachReport) -> fmt::Result {
    for assumed in &report.assumed {
        writeln!(text, "Assumed: {}", escape::text(assumed))?;
    }
    if let Some(replay) = &report.replay {
        writeln!(text, "Replay: {}", escape::text(replay))?;
    }
    write!(
        text,
        "{}, {} in {}",
        counted(report.runs, "run"),
        counted(report.queries, "query"),
        time(report.seconds)
    )?;
    if report.pruned > 0 {
        let paths = counted(report.pruned, "partial path");
        write!(text, "; {paths} left out that cannot lead there")?;
    }
    writeln!(text, ".")
}
