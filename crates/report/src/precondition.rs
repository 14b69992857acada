//! Preconditions as text: one with its evidence, or a table of many.

use nearmiss_results::{DecidedAssignments, PreconditionReport};

use crate::escape;
use crate::words::counted;

/// A precondition, what it rests on, and a test on each side of each part.
pub fn text(report: &PreconditionReport) -> String {
    let mut text = format!(
        "{} in {}\n",
        escape::text(&report.prototype),
        escape::text(&report.file)
    );
    let parts = report
        .contract
        .lines()
        .filter_map(|line| line.strip_prefix("  requires "));
    let parts: Vec<&str> = parts.collect();
    let bracketed = |part: &&str| match parts.len() > 1 && part.contains(" || ") {
        true => format!("({part})"),
        false => part.to_string(),
    };
    let lines: Vec<String> = parts.iter().map(bracketed).collect();
    text += &match report.formula.as_str() {
        "1" => "Every call is likely safe.\n\n".to_string(),
        "0" => "No call was safe.\n\n".to_string(),
        _ => format!("A call is likely safe if\n  {}\n\n", lines.join("\n  && ")),
    };
    text += &extent(report);
    if let Some(decided) = &report.decided {
        text += &exploration(decided);
    }
    if let Some(relation) = &report.relation {
        text += &format!("Compared with the specification, for all sizes: {relation}.\n");
    }
    if !report.evidence.is_empty() {
        text += "\nEvidence:\n";
    }
    for row in &report.evidence {
        text += &format!("  {}\n", row.clause);
        if let Some(passes) = &row.passes {
            text += &format!("    holds: {passes} returns\n");
        }
        if let (Some(fails), Some(how)) = (&row.fails, &row.how) {
            text += &format!("    fails: {fails} {how}\n");
        }
    }
    if report.conflict_count > 0 {
        let count = counted(report.conflict_count as u64, "assignment");
        text += &format!(
            "\nNo predicate tells the tests of {count} apart, so these count as not safe:\n"
        );
        for conflict in &report.conflicts {
            text += &format!(
                "  {} {}\n  {} returns\n",
                conflict.fails, conflict.how, conflict.passes
            );
        }
    }
    if !report.notes.is_empty() {
        text.push('\n');
    }
    for note in &report.notes {
        text += &format!("note: {note}\n");
    }
    text
}

/// On how much it rests.
fn extent(report: &PreconditionReport) -> String {
    let assignments = counted(report.assignments as u64, "feasible assignment");
    let predicates = counted(report.predicates as u64, "predicate");
    let tests = counted(report.tests, "test");
    let which = match report.complete {
        true => format!(
            "Complete: all {assignments} of {predicates}, for sizes up to {}",
            report.largest
        ),
        false => format!("Sampled: {assignments} of {predicates}"),
    };
    let mut text = format!(
        "{which}; {} safe; {tests} ({} contents).\n",
        report.safe, report.fuzzing
    );
    if !report.found.is_empty() {
        text += &format!(
            "Predicates that tests suggested: {}.\n",
            report.found.join(", ")
        );
    }
    text += &format!("Time: {:.2} s.\n", report.seconds);
    text
}

/// What exploring all paths decided.
fn exploration(decided: &DecidedAssignments) -> String {
    let numbers = match decided.any_numbers {
        true => "any numbers",
        false => "small numbers",
    };
    let aside = match decided.exceptions.is_empty() {
        true => "",
        false => ", signed overflow aside",
    };
    let mut text = format!(
        "Explored {}, blocks of up to {} elements, {numbers}{aside}: {} proved",
        counted(decided.paths, "path"),
        decided.largest,
        counted(decided.proved as u64, "safe assignment"),
    );
    if decided.refuted > 0 {
        text += &format!(", {} refuted and learnt from", decided.refuted);
    }
    text += &format!(", {} undecided.\n", decided.undecided);
    if let Some(why) = &decided.open {
        text += &format!("  not all is decided: {}\n", escape::text(why));
    }
    for exception in &decided.exceptions {
        text += &format!("  overflows although it is let through: {exception}\n");
    }
    text
}

/// A row for each function; `known` were in the file of contracts already.
pub fn table(reports: &[PreconditionReport], known: usize) -> String {
    let wide = reports
        .iter()
        .map(|report| report.function.len())
        .max()
        .unwrap_or(8)
        .max(8);
    let mut text = format!(
        "{:wide$}  predicates  assignments  {:>8}  {:>7}  a call is likely safe if\n",
        "function", "tests", "seconds"
    );
    for report in reports.iter().filter(|report| report.skipped.is_none()) {
        let extent = if report.complete { "" } else { "+" };
        text += &format!(
            "{:wide$}  {:>10}  {:>11}  {:>8}  {:>7.2}  {}\n",
            report.function,
            report.predicates,
            format!("{}{extent}", report.assignments),
            report.tests,
            report.seconds,
            report.formula
        );
    }
    let skipped: Vec<&PreconditionReport> = reports
        .iter()
        .filter(|report| report.skipped.is_some())
        .collect();
    if !skipped.is_empty() {
        text += &format!(
            "\n{} left out:\n",
            counted(skipped.len() as u64, "function")
        );
    }
    for report in skipped {
        let why = report.skipped.as_deref().unwrap_or("");
        text += &format!("  {}\n", escape::text(why.lines().next().unwrap_or("")));
    }
    if reports
        .iter()
        .any(|report| report.skipped.is_none() && !report.complete)
    {
        text += "\n+ sampled: there are more assignments than were tested.\n";
    }
    if known > 0 {
        text += &format!(
            "\n{} had a contract already.\n",
            counted(known as u64, "function")
        );
    }
    text
}

/// All of them as one JSON document.
pub fn json(reports: &[PreconditionReport]) -> String {
    let one = |report: &PreconditionReport| report.to_json().trim_end().to_string();
    let all: Vec<String> = reports.iter().map(one).collect();
    format!("[{}]\n", all.join(",\n"))
}
