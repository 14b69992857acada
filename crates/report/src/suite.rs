//! The suite as text: what it ran, what of that was looked at.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use nearmiss_results::{Missed, Sample, Skipped, Suite, UnitTests};

use crate::words::{counted, percent, shortened, time};
use crate::{escape, shell};

/// Longest command line that is shown.
const MAX_COMMAND: usize = 70;
/// Most files that are named.
const MAX_FILES: usize = 6;
/// Most reasons that are shown.
const MAX_REASONS: usize = 10;

/// The suite in figures.
pub fn block(suite: &Suite) -> String {
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = write_run(&mut text, suite);
    if let Some(sample) = &suite.sample {
        let _ = write_sample(&mut text, sample);
    }
    let _ = write_unit_tests(&mut text, &suite.unit_tests);
    let _ = write_skipped(&mut text, &suite.skipped);
    text
}

fn write_run(text: &mut String, suite: &Suite) -> fmt::Result {
    let command = shortened(&shell::command_line(&suite.command), MAX_COMMAND);
    let ended = escape::text(&suite.ended);
    writeln!(
        text,
        "Suite: `{command}` ended with {ended} after {}.",
        time(suite.seconds)
    )?;
    write!(
        text,
        "  {} of instrumented programs, {} different",
        counted(suite.executions, "execution"),
        suite.tests
    )?;
    match suite.same_path {
        0 => writeln!(text, "."),
        1 => writeln!(text, "; 1 of these took the path of another."),
        more => writeln!(text, "; {more} of these took the path of another."),
    }
}

/// What was taken for test code and for the code under test, a line each, and how to change it.
fn write_unit_tests(text: &mut String, all: &[UnitTests]) -> fmt::Result {
    if all.is_empty() {
        return Ok(());
    }
    let names = |of: fn(&UnitTests) -> &Vec<String>| -> Vec<String> {
        let names: BTreeSet<&String> = all.iter().flat_map(of).collect();
        names.into_iter().cloned().collect()
    };
    let (test_files, under_test) = (names(|it| &it.test_files), names(|it| &it.files));
    let most_functions = all.iter().map(|it| it.functions).max().unwrap_or(0);
    let calls = all.iter().map(|it| it.calls).sum();
    writeln!(
        text,
        "  Unit tests in {}: test code is {} (--tests GLOB says otherwise);",
        counted(all.len() as u64, "program"),
        files(&test_files)
    )?;
    writeln!(
        text,
        "    under test: up to {} of {}; inputs: {} of the tests{}.",
        counted(most_functions, "function"),
        files(&under_test),
        counted(calls, "call"),
        match all.iter().map(|it| it.left_out).sum::<u64>() {
            0 => String::new(),
            more => format!(" ({more} more from the same places are not)"),
        }
    )?;
    let sum = |of: fn(&UnitTests) -> u64| all.iter().map(of).sum::<u64>();
    let (numbers, structures) = (sum(|it| it.numbers), sum(|it| it.structures));
    if numbers + structures > 0 {
        writeln!(
            text,
            "    their arguments have {} and {} to structures and the like: see --arguments.",
            counted(numbers, "number"),
            counted(structures, "pointer")
        )?;
    }
    let troubles = all.iter().filter(|it| !it.trouble.is_empty());
    for tests in troubles.take(MAX_REASONS) {
        let why = escape::text(&tests.trouble);
        writeln!(text, "    {}: no calls: {why}", escape::text(&tests.test))?;
    }
    Ok(())
}

/// Names of files, as many as fit into a line.
fn files(names: &[String]) -> String {
    let shown: Vec<String> = (names.iter().take(MAX_FILES))
        .map(|name| escape::text(name).to_string())
        .collect();
    match names.len() {
        0 => "what is not instrumented".to_string(),
        count if count > MAX_FILES => {
            format!("{} and {} more", shown.join(", "), count - MAX_FILES)
        }
        _ => shown.join(", "),
    }
}

fn write_sample(text: &mut String, sample: &Sample) -> fmt::Result {
    let Sample {
        seed, chosen, of, ..
    } = sample;
    let share = percent(sample.percent);
    writeln!(
        text,
        "  Sample: {share} of the tests, {chosen} of {of} (seed {seed})."
    )?;
    for Missed { share, probability } in &sample.missed {
        let (share, missed) = (percent(*share), percent(probability * 100.0));
        writeln!(
            text,
            "    A defect that {share} of all tests lead to is missed with a probability of {missed}."
        )?;
    }
    Ok(())
}

fn write_skipped(text: &mut String, skipped: &[Skipped]) -> fmt::Result {
    if skipped.is_empty() {
        return Ok(());
    }
    writeln!(text, "  Left out, or not as in the suite:")?;
    for one in skipped.iter().take(MAX_REASONS) {
        let reason = escape::text(&one.reason);
        write!(text, "    {}: {reason}", counted(one.count, "execution"))?;
        match one.example.as_str() {
            "" => writeln!(text)?,
            example => {
                let example = shortened(&escape::text(example), MAX_COMMAND);
                writeln!(text, ", for example `{example}`")?;
            }
        }
    }
    let more = skipped.iter().skip(MAX_REASONS).map(|one| one.count);
    match more.sum() {
        0 => Ok(()),
        more => writeln!(
            text,
            "    … and {} for other reasons",
            counted(more, "execution")
        ),
    }
}
