//! Alarms about memory that was never written: no check sees such reads, so the inputs that come to the line are run by
//! MemorySanitizer's twin.

use std::path::Path;

use nearmiss_abi::check::Kind;
use nearmiss_judge::complaint::{Place, complaints};
use nearmiss_paths::replay::Explored;
use nearmiss_paths::{Config, ReachOutcome};
use nearmiss_report::sarif::Alarm;
use nearmiss_results::{PathTest, ReachVerdict};
use nearmiss_search::Tally;
use nearmiss_twin::Judge;

/// What was written depends on the way to the line: inputs of so many ways are tried.
const MOST_INPUTS: usize = 32;

/// Looks for an input that comes to the alarm's line, and for which MemorySanitizer complains there.
pub fn reach(alarm: &Alarm, config: &mut Config) -> Result<ReachOutcome, String> {
    let mut reached = search(config, 1)?;
    let mut shown = first_complaint(alarm, config, &reached)?;
    if shown.is_none() && reached.report.verdict == ReachVerdict::Reached {
        reached = search(config, MOST_INPUTS)?;
        shown = first_complaint(alarm, config, &reached)?;
    }
    match shown {
        Some(place) => reached.choose(place),
        None if reached.report.verdict == ReachVerdict::Reached => {
            let tried = reached.exploration.tests.len();
            reached.choose(0);
            reached.report.verdict = ReachVerdict::Unknown;
            reached.report.reason = Some(format!(
                "the line is reached, and MemorySanitizer does not complain: it was asked about {tried} ways to it"
            ));
        }
        None => {}
    }
    Ok(reached)
}

/// Looks for so many inputs that come to the line, each by a way of its own.
fn search(config: &mut Config, inputs: usize) -> Result<ReachOutcome, String> {
    if let Some(search) = &mut config.reach {
        search.inputs = inputs;
    }
    nearmiss_paths::reach(config, &Tally::default()).map_err(|error| error.to_string())
}

/// The first of the inputs that came to the line for which MemorySanitizer complains there.
fn first_complaint(
    alarm: &Alarm,
    config: &Config,
    reached: &ReachOutcome,
) -> Result<Option<usize>, String> {
    for (place, test) in reached.exploration.tests.iter().enumerate() {
        if complains(alarm, config, test)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// Whether MemorySanitizer complains about the alarm's lines on this input.
fn complains(alarm: &Alarm, config: &Config, test: &PathTest) -> Result<bool, String> {
    let explored = Explored {
        directory: config.directory.clone(),
        compiler: config.build.compiler.clone(),
        sandbox: config.sandbox.clone(),
    };
    let outcome = explored.replay_by(Judge::Memory, &test.rows);
    let outcome = outcome.map_err(|error| format!("there is no memory twin: {error}"))?;
    let place = &alarm.place;
    let file = Path::new(&place.file).file_name();
    let is_here = |it: &Place| {
        let lines = place.first..=place.last.max(place.first);
        Path::new(&it.file).file_name() == file && lines.contains(&it.line)
    };
    let said = complaints(&outcome.stderr, outcome.ended);
    let mut said = said
        .iter()
        .filter(|it| it.kinds == [Kind::UninitialisedRead]);
    Ok(said.any(|it| it.places.iter().chain(&it.stack).any(is_here)))
}
