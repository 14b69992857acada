//! The summary as text: what was decided how, and what was lost.

use std::fmt::{self, Write};

use nearmiss_abi::note::NoteKind;
use nearmiss_results::{
    Checks, Contracts, LostCall, Note, Recorded, Report, Status, Summary, Uninitialised,
};

use crate::exploration::Around;
use crate::words::counted;
use crate::{escape, exploration, inputs, statistics, suite};

/// Most notes that are shown.
const MAX_NOTES: usize = 20;
/// Most places of one function that are shown.
const MAX_PLACES: usize = 3;

/// What is said of a program that read nothing.
const NO_INPUT: &str = "\
The program read no input: no argument, standard input or file of its own, so there is nothing to vary
and nothing was explored. If its input comes from elsewhere: --env for variables of its environment,
--pipes for pipes, --sockets for sockets. If it is a unit test with data of its own, explore what it tests:
nearmiss explore FILE.c --function NAME.
";

/// The lines at the end of a report.
pub fn block(report: &Report) -> String {
    let mut text = String::new();
    // Writing into a string does not fail.
    let summary = &report.summary;
    let _ = write_verdict(&mut text, report);
    let _ = write_uninitialised(&mut text, summary);
    let _ = write_contracts(&mut text, summary);
    let _ = write_recorded(&mut text, summary);
    let _ = inputs::write(&mut text, summary);
    text.extend(summary.suite.as_ref().map(suite::block));
    let around = match summary.suite {
        Some(_) => Around::Suite,
        None => Around::OnePath,
    };
    let explored = summary.exploration.as_ref();
    text.extend(explored.map(|it| exploration::block(it, around)));
    text += &statistics::block(summary);
    let _ = write_checks(&mut text, summary);
    let _ = write_losses(&mut text, summary);
    text
}

fn write_verdict(text: &mut String, report: &Report) -> fmt::Result {
    let confirmed = report
        .findings
        .iter()
        .filter(|found| found.status == Status::Confirmed)
        .count();
    let unconfirmed = report.findings.len() - confirmed;
    let summary = &report.summary;
    match (report.findings.len(), summary.complete) {
        (0, _) if paths(summary) == 0 => {
            writeln!(text, "No path of an instrumented program was looked at.")
        }
        (0, _) if summary.no_input => text.write_str(NO_INPUT),
        (0, true) => writeln!(
            text,
            "No check can fail, for any input {}that takes {}.",
            if summary.tied_to_shape {
                "of the same shape "
            } else {
                ""
            },
            path_words(summary)
        ),
        (0, false) => writeln!(
            text,
            "No failure found; the answer is not complete, see below."
        ),
        (count, _) => writeln!(
            text,
            "{} found, {}.",
            counted(count as u64, "failure"),
            status_words(confirmed, unconfirmed)
        ),
    }
}

/// Whether reads of memory that was never written were looked for: no check is about them.
fn write_uninitialised(text: &mut String, summary: &Summary) -> fmt::Result {
    let Uninitialised {
        looked_for,
        refused,
    } = &summary.uninitialised;
    let shown: Vec<String> = refused.iter().map(|why| escape::text(why)).collect();
    let why = shown.join("; ");
    match (looked_for, refused.is_empty()) {
        (false, true) => Ok(()),
        (true, true) => writeln!(
            text,
            "Uninitialised reads were looked for in the runs that were made."
        ),
        (false, false) => writeln!(text, "Uninitialised reads were not looked for: {why}."),
        (true, false) => writeln!(
            text,
            "Uninitialised reads were looked for in some of the runs, not in all: {why}."
        ),
    }
}

/// Which contracts were checked, and which were not.
fn write_contracts(text: &mut String, summary: &Summary) -> fmt::Result {
    let Contracts { used, unused } = &summary.contracts;
    if !used.is_empty() {
        let names = escape::text(&used.join(", "));
        writeln!(
            text,
            "Contracts were checked where these are entered: {names}."
        )?;
    }
    for (function, why) in unused {
        let (function, why) = (escape::text(function), escape::text(why));
        writeln!(text, "The contract of {function} was not used: {why}.")?;
    }
    Ok(())
}

/// The recorded executions that died, whatever was found.
fn write_recorded(text: &mut String, summary: &Summary) -> fmt::Result {
    let failed = summary
        .recorded
        .iter()
        .filter(|one| one.failure().is_some());
    let died: Vec<&Recorded> = failed.collect();
    if let (None, [one]) = (&summary.suite, summary.recorded.as_slice()) {
        return match one.failure() {
            Some(signal) => writeln!(text, "The recorded run itself was killed by {signal}."),
            None => writeln!(
                text,
                "The recorded run ended with {}.",
                escape::text(&one.ended)
            ),
        };
    }
    if died.is_empty() {
        return Ok(());
    }
    let shown = died.iter().take(MAX_PLACES).map(|one| {
        let signal = one.failure().unwrap_or_default();
        format!("{} by {signal}", escape::text(&one.test))
    });
    let shown: Vec<String> = shown.collect();
    let more = match died.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let tests = counted(died.len() as u64, "test");
    writeln!(
        text,
        "Killed in the suite itself: {tests} ({}{more}).",
        shown.join(", ")
    )
}

/// The paths that an answer is about: the recorded ones. New paths are looked at too, but what
/// is lost on them is not told.
fn path_words(summary: &Summary) -> String {
    match paths(summary) {
        1 => "the same path".into(),
        paths => format!("one of these {paths} paths"),
    }
}

fn paths(summary: &Summary) -> u64 {
    match &summary.suite {
        Some(_) => summary.programs.iter().map(|one| one.tests).sum(),
        None => 1,
    }
}

fn status_words(confirmed: usize, unconfirmed: usize) -> String {
    match (confirmed, unconfirmed) {
        (_, 0) => "confirmed".to_string(),
        (0, _) => "unconfirmed".to_string(),
        _ => format!("{confirmed} confirmed and {unconfirmed} unconfirmed"),
    }
}

fn write_checks(text: &mut String, summary: &Summary) -> fmt::Result {
    let Checks {
        met,
        without_solver,
        by_solver,
        undecided,
        failing,
        skipped,
    } = &summary.checks;
    let new_paths = summary.exploration.as_ref().map_or(0, |it| it.paths);
    let of = match (&summary.suite, new_paths) {
        (_, 0) => "",
        (Some(_), _) => " of the recorded paths",
        (None, _) => " of the recorded path",
    };
    write!(text, "Checks on input data{of}: {met} met")?;
    let without: u64 = without_solver.values().sum();
    if without > 0 {
        let layers: Vec<String> = without_solver
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(layer, count)| format!("{layer} {count}"))
            .collect();
        write!(
            text,
            ", {without} hold without the solver ({})",
            layers.join(", ")
        )?;
    }
    let counts = [
        (by_solver, "hold by the solver"),
        (undecided, "not decided"),
        (failing, "can fail"),
        (skipped, "not asked"),
    ];
    for (count, words) in counts {
        if *count > 0 {
            write!(text, ", {count} {words}")?;
        }
    }
    writeln!(text, ".")?;
    let queries = &summary.queries;
    if queries.count > 0 {
        writeln!(
            text,
            "Queries: {}, median {:.1} ms, 95 % within {:.1} ms, {:.1} s in all.",
            queries.count,
            queries.median_ms,
            queries.p95_ms,
            queries.total_ms / 1000.0
        )?;
    }
    Ok(())
}

fn write_losses(text: &mut String, summary: &Summary) -> fmt::Result {
    if summary.complete {
        return Ok(());
    }
    writeln!(text, "Not complete, because:")?;
    write_unlooked(text, summary)?;
    write_undecided(text, summary)?;
    for loss in &summary.losses {
        writeln!(text, "  {}", escape::text(loss))?;
    }
    for name in &summary.uninstrumented {
        writeln!(text, "  {} is not instrumented", escape::text(name))?;
    }
    if let Some(why) = &summary.unconfirmable {
        let why = escape::text(why);
        writeln!(text, "  failures could not be confirmed: {why}")?;
    }
    write_counts(text, summary)?;
    write_lost_calls(text, &summary.lost_calls)?;
    let is_listed = |note: &&Note| note.kind == NoteKind::Call && !summary.lost_calls.is_empty();
    let notes: Vec<&Note> = summary
        .notes
        .iter()
        .filter(|note| !is_listed(note))
        .collect();
    text.push_str(&listed(&notes));
    Ok(())
}

/// Why paths were not looked at, or not to their end.
fn write_unlooked(text: &mut String, summary: &Summary) -> fmt::Result {
    if summary.no_input {
        writeln!(text, "  no input was read")?;
    }
    if summary.stopped {
        let whole = match summary.suite {
            Some(_) => "all recorded paths were looked at",
            None => "the end of the path",
        };
        writeln!(text, "  the analysis was stopped before {whole}")?;
    }
    if let Some(why) = &summary.another_path {
        writeln!(text, "  {}", escape::text(why))?;
    }
    Ok(())
}

/// Checks without an answer, and executions that died before theirs.
fn write_undecided(text: &mut String, summary: &Summary) -> fmt::Result {
    let were = |count: u64| if count == 1 { "was" } else { "were" };
    let undecided = summary.checks.undecided;
    if undecided > 0 {
        let (checks, were) = (counted(undecided, "check"), were(undecided));
        writeln!(
            text,
            "  {checks} {were} not decided: out of time, or input was fixed"
        )?;
    }
    let recorded = summary.recorded.iter();
    let died = recorded.filter(|one| one.failure().is_some()).count() as u64;
    if died > 0 {
        let (executions, were) = (counted(died, "recorded execution"), were(died));
        writeln!(text, "  {executions} {were} killed by a signal")?;
    }
    Ok(())
}

fn write_counts(text: &mut String, summary: &Summary) -> fmt::Result {
    let counts = [
        (summary.divergences, "new input", "left the predicted path"),
        (
            summary.too_short,
            "decision",
            "on bytes that shorter inputs do not have; these were not tried",
        ),
        (
            summary.inconsistent,
            "recorded fact",
            "against the recorded input (a fault of nearmiss)",
        ),
    ];
    for (count, noun, words) in counts {
        if count > 0 {
            writeln!(text, "  {} {words}", counted(count, noun))?;
        }
    }
    Ok(())
}

/// One line for each note, up to a number that can be read.
pub fn notes(notes: &[Note]) -> String {
    listed(&notes.iter().collect::<Vec<_>>())
}

fn listed(notes: &[&Note]) -> String {
    let shown = notes.iter().take(MAX_NOTES);
    let mut text: String = shown
        .map(|note| format!("  {}\n", show_note(note)))
        .collect();
    let more = notes.len().saturating_sub(MAX_NOTES);
    if more > 0 {
        let _ = writeln!(text, "  … and {more} more places");
    }
    text
}

fn write_lost_calls(text: &mut String, calls: &[LostCall]) -> fmt::Result {
    if calls.is_empty() {
        return Ok(());
    }
    writeln!(text, "  {}:", NoteKind::Call.words())?;
    for call in calls.iter().take(MAX_NOTES) {
        writeln!(text, "    {}", show_lost_call(call))?;
    }
    let more = calls.len().saturating_sub(MAX_NOTES);
    if more > 0 {
        writeln!(text, "    … and {more} more functions")?;
    }
    Ok(())
}

fn show_lost_call(call: &LostCall) -> String {
    let function = match call.function.as_str() {
        "" => "through a pointer".to_string(),
        name => escape::text(name),
    };
    let shown = call
        .places
        .iter()
        .take(MAX_PLACES)
        .map(|place| escape::text(place));
    let mut text = format!("{function} at {}", shown.collect::<Vec<_>>().join(", "));
    let more = call.places.len().saturating_sub(MAX_PLACES);
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    if call.count > 1 {
        let _ = write!(text, " ({} values or bytes)", call.count);
    }
    text
}

fn show_note(note: &Note) -> String {
    let mut text = note.kind.words().to_string();
    if !note.callee.is_empty() {
        let _ = write!(text, ": {}", escape::text(&note.callee));
    }
    if !note.file.is_empty() {
        let _ = write!(text, " at {}:{}", escape::text(&note.file), note.line);
    }
    if note.count > 1 {
        let _ = write!(text, " ({} times)", note.count);
    }
    text
}
