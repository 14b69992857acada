//! The report about a function, for a terminal.

use std::fmt::{self, Write};

use nearmiss_results::{Coverage, Covered, FunctionReport, PathFigures, Uncovered};

use crate::function::{failures, infeasible, outcomes};
use crate::text::{Detail, Lookup};
use crate::words::{counted, time};
use crate::{escape, finding, summary};

/// The whole report. With [`Detail::Full`] every row and every value is shown whole.
pub fn report(report: &FunctionReport, lookup: &dyn Lookup, detail: Detail) -> String {
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = write_head(&mut text, report);
    let table = outcomes::block(report, detail);
    if !table.is_empty() {
        let _ = write!(text, "\n{table}");
    }
    text += &infeasible::block(report, detail);
    for found in &report.findings {
        let test = failures::test_of(report, found);
        let input = test.map(|test| outcomes::input(&test.before, detail));
        let block = finding::in_function(found, input.as_deref(), "", lookup);
        let _ = write!(text, "\n{block}");
    }
    text.push('\n');
    let _ = write_figures(&mut text, report);
    let _ = write_losses(&mut text, report);
    text
}

fn write_head(text: &mut String, report: &FunctionReport) -> fmt::Result {
    let prototype = match report.prototype.as_str() {
        "" => &report.function,
        prototype => prototype,
    };
    writeln!(
        text,
        "{} in {}",
        escape::text(prototype),
        escape::text(&report.file)
    )?;
    let mut helpers = Vec::new();
    if let Some(name) = &report.precondition {
        let mode = escape::text(&report.mode);
        helpers.push(format!("precondition {} ({mode})", escape::text(name)));
    }
    if let Some(name) = &report.oracle {
        helpers.push(format!("oracle {}", escape::text(name)));
    }
    if !helpers.is_empty() {
        writeln!(text, "{}", helpers.join(", "))?;
    }
    writeln!(text, "{}", completeness(report))?;
    for bound in &report.bounds {
        writeln!(text, "Bound: {}", escape::text(bound))?;
    }
    let is_bound = |note: &&String| report.bounds.contains(note);
    for assumed in report.assumed.iter().filter(|note| !is_bound(note)) {
        writeln!(text, "Note: {}", escape::text(assumed))?;
    }
    Ok(())
}

/// Whether everything is covered, in a sentence.
fn completeness(report: &FunctionReport) -> String {
    let tests = counted(report.tests.len() as u64, "test");
    let what = match report.cover.as_str() {
        "branches" => "outcome of a branch",
        "mcdc" => "condition on its own",
        _ => "path",
    };
    let admissible = match report.precondition {
        Some(_) => " on admissible inputs",
        None => "",
    };
    let within = match report.bounds.is_empty() {
        true => ".",
        false => ", within these bounds:",
    };
    match report.is_complete() {
        true if what == "path" => {
            format!("Complete: {tests}, one for every feasible path{admissible}{within}")
        }
        true => format!("Complete: {tests} for every feasible {what}{admissible}{within}"),
        false => {
            format!("Not complete: {tests}, but perhaps not for every feasible {what}, see below.")
        }
    }
}

fn write_figures(text: &mut String, report: &FunctionReport) -> fmt::Result {
    if let Some(coverage) = &report.coverage {
        writeln!(text, "Coverage: {}.", coverage_words(coverage))?;
        write_uncovered(text, coverage)?;
    }
    let figures = &report.figures;
    write!(
        text,
        "Paths: {} in {}",
        figures.paths,
        counted(figures.runs, "run")
    )?;
    let counts = [
        (figures.infeasible, "infeasible partial path", ""),
        (
            figures.unknown,
            "partial path",
            " not decided by the solver",
        ),
        (figures.bounded, "partial path", " left at a bound"),
        (figures.repeated, "run", " on a known path"),
        (figures.diverged, "run", " off the predicted path"),
    ];
    for (count, noun, words) in counts.iter().filter(|(count, _, _)| *count > 0) {
        write!(text, ", {}{words}", counted(*count, noun))?;
    }
    writeln!(text, ".")?;
    if report.precondition.is_some() || figures.precondition_calls > 0 {
        let calls = counted(figures.precondition_calls, "call");
        let paths = counted(figures.precondition_paths, "path");
        writeln!(text, "Precondition: {calls} of its own, {paths}.")?;
    }
    writeln!(text, "{}", time_words(figures))
}

/// Outcomes and conditions that are listed.
const LISTED: usize = 12;

/// `Not covered: merge.c:13:9 true, merge.c:15:9 false and 3 more.`
fn write_uncovered(text: &mut String, coverage: &Coverage) -> fmt::Result {
    let all = &coverage.uncovered;
    if all.is_empty() {
        return Ok(());
    }
    let words =
        |open: &Uncovered| format!("{}:{}:{} {}", open.file, open.line, open.column, open.what);
    let listed: Vec<String> = all.iter().take(LISTED).map(words).collect();
    write!(text, "Not covered: {}", listed.join(", "))?;
    if all.len() > LISTED {
        write!(text, " and {} more", all.len() - LISTED)?;
    }
    writeln!(text, ".")
}

fn coverage_words(coverage: &Coverage) -> String {
    let share = |Covered { covered, total }: Covered, name: &str| match total {
        0 => format!("no {name}"),
        _ => format!("{covered} of {total} {name}"),
    };
    [
        share(coverage.lines, "lines"),
        share(coverage.branches, "branch outcomes"),
        share(coverage.mcdc, "MC/DC conditions"),
    ]
    .join(", ")
}

/// `Time: 1.2 s (0.4 s running, 0.7 s solving), 850 runs/s; 120 queries, 34 for a solver.`
fn time_words(figures: &PathFigures) -> String {
    let mut text = format!(
        "Time: {} ({} running, {} solving)",
        time(figures.seconds),
        time(figures.run_seconds),
        time(figures.solver_seconds)
    );
    let runs = figures.runs + figures.precondition_calls;
    if figures.run_seconds > 0.0 {
        let rate = runs as f64 / figures.run_seconds;
        let _ = write!(text, ", {rate:.0} runs/s");
    }
    let queries = counted(figures.questions, "query");
    let _ = write!(text, "; {queries}, {} for a solver.", figures.solved);
    text
}

fn write_losses(text: &mut String, report: &FunctionReport) -> fmt::Result {
    if !report.is_complete() {
        writeln!(text, "Not complete, because:")?;
        for why in &report.incomplete {
            writeln!(text, "  {}", escape::text(why))?;
        }
    }
    if !report.notes.is_empty() {
        writeln!(text, "Lost while recording:")?;
        text.push_str(&summary::notes(&report.notes));
    }
    Ok(())
}
