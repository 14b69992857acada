//! The answer of `nearmiss reach`, for a terminal.

use std::fmt::{self, Write};

use nearmiss_results::{FunctionReport, Input, ReachReport, ReachVerdict};

use crate::escape;
use crate::function::{failures, outcomes};
use crate::text::{Detail, Lookup};
use crate::words::{counted, time};
use crate::{finding, summary};

/// The input of a report for people, on one line.
pub fn input(report: &ReachReport, detail: Detail) -> Option<String> {
    match &report.memory {
        Some(memory) => Some(outcomes::input(memory, detail)),
        None => channels(report),
    }
}

/// Bytes of a channel that are shown.
const FEW_BYTES: usize = 120;

/// The input of a whole program, on one line.
pub fn channels(report: &ReachReport) -> Option<String> {
    let shown = report.channels.iter().map(|(name, content)| {
        let content = match content {
            Input::File(path) => format!("content of {}", path.display()),
            Input::Bytes(bytes) => {
                let few = bytes.iter().take(FEW_BYTES);
                let text: String = few.map(|byte| escape::byte(*byte)).collect();
                let more = match bytes.len() > FEW_BYTES {
                    true => "…",
                    false => "",
                };
                format!("\"{text}\"{more}")
            }
        };
        format!("{}={content}", escape::text(name))
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| shown.join(" "))
}

/// Several answers, a line each, and how many there are of each kind.
pub fn table(reports: &[ReachReport]) -> String {
    let mut text = String::new();
    for report in reports {
        // Writing into a string does not fail.
        let _ = write_row(&mut text, report);
    }
    let count = |wanted: ReachVerdict| {
        let same = reports.iter().filter(|it| it.verdict == wanted);
        same.count()
    };
    let _ = writeln!(
        text,
        "{}: {} reached, {} infeasible, {} unknown.",
        counted(reports.len() as u64, "target"),
        count(ReachVerdict::Reached),
        count(ReachVerdict::Infeasible),
        count(ReachVerdict::Unknown)
    );
    text
}

fn write_row(text: &mut String, report: &ReachReport) -> fmt::Result {
    let target = escape::text(&report.target);
    write!(text, "{target}: {}", report.verdict.name())?;
    match report.verdict {
        ReachVerdict::Reached => {
            let input = channels(report).unwrap_or_default();
            write!(text, " {}: {input}", origin(report))?;
        }
        ReachVerdict::Infeasible => {}
        ReachVerdict::Unknown => {
            write!(
                text,
                ": {}",
                escape::text(report.reason.as_deref().unwrap_or_default())
            )?;
        }
    }
    writeln!(
        text,
        " ({}, {})",
        counted(report.runs, "run"),
        time(report.seconds)
    )
}

/// `by test T3`, `from test T3`, `by the run itself`.
fn origin(report: &ReachReport) -> String {
    let Some(test) = &report.test else {
        return "by".into();
    };
    let name = match test.id.as_str() {
        "" => "the recorded run".to_string(),
        id => format!("test {}", escape::text(id)),
    };
    match test.is_own {
        true => format!("by {name} itself"),
        false => format!("from {name}"),
    }
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
    if !report.violated.is_empty() {
        text.push('\n');
    }
    for violated in &report.violated {
        let _ = writeln!(text, "Violated on the way: {}", escape::text(violated));
    }
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
            writeln!(text, "Reached by: {input}")?;
            match &report.test {
                Some(_) => writeln!(text, "That is an input {}.", origin(report)),
                None => Ok(()),
            }
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
            if let Some(nearest) = &report.nearest {
                let name = match nearest.test.as_str() {
                    "" => "the recorded run".to_string(),
                    id => format!("test {}", escape::text(id)),
                };
                let decisions = counted(nearest.decisions, "decision");
                writeln!(
                    text,
                    "  nearest was {name}: at least {decisions} would have to go otherwise"
                )?;
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
