//! What was looked at and what was lost, put together.

use std::collections::HashSet;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::library::{self, State};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_campaign::test_case::TestCase;
use nearmiss_judge::spot;
use nearmiss_results::{
    Checks, InputFigures, LostCall, Note, Queries, Recorded, Summary, add_inputs,
};
use nearmiss_sites::Sites;
use nearmiss_solve::Statistics;
use nearmiss_trace::{Channel, End, Event, RecordedPath};

use crate::analyse::Analysis;
use crate::subject::Subject;

/// The summary of one path; `divergences` are counted while failures are confirmed.
pub fn summarise(
    path: &RecordedPath,
    subject: &Subject,
    analysis: &Analysis,
    divergences: u64,
) -> Summary {
    let notes = notes(path, &subject.program.sites);
    let uninstrumented = subject.program.uninstrumented.clone();
    let lost = !notes.is_empty()
        || path.stopped
        || path.end != End::Whole
        || path.inconsistent > 0
        || divergences > 0
        || analysis.stopped
        || analysis.unchosen > 0
        || analysis.checks.undecided > 0
        || !uninstrumented.is_empty();
    Summary {
        complete: !lost,
        checks: analysis.checks.clone(),
        queries: queries(&analysis.statistics),
        lost_calls: lost_calls(&notes),
        losses: losses(path),
        inputs: inputs(path),
        tied_to_shape: is_tied_to_shape(path, &subject.program.sites),
        notes,
        divergences,
        too_short: analysis.unchosen,
        inconsistent: path.inconsistent,
        events: path.events.len() as u64,
        stopped: analysis.stopped,
        unconfirmable: subject.unconfirmable(),
        uninitialised: subject.uninitialised(),
        uninstrumented,
        ..Summary::default()
    }
}

/// Whether a path was recorded without losing or concretizing anything: then its alternatives are all.
pub fn is_whole(path: &RecordedPath, sites: &Sites) -> bool {
    let is_recorded = !path.stopped && path.end == End::Whole && path.inconsistent == 0;
    let is_concretized = |event: &Event| event.kind == EventKind::Concretized;
    is_recorded && !path.events.iter().any(is_concretized) && notes(path, sites).is_empty()
}

/// Whether the path says how many there are of something in its input: loops or recursive functions decided on input how
/// often they turn, lines were read one by one, there were so many arguments, pipes and sockets gave so many bytes.
fn is_tied_to_shape(path: &RecordedPath, sites: &Sites) -> bool {
    let mut decided = HashSet::new();
    let is_turn = |event: &Event| {
        let is_in_loop = || {
            let site = sites.get(event.site);
            site.is_some_and(|(_, site)| site.in_loop.is_some())
        };
        event.is_decision() && (!decided.insert(event.site) || is_in_loop())
    };
    let has_one_shape = |channel: &Channel| {
        let kinds = [
            ChannelKind::Argument,
            ChannelKind::Pipe,
            ChannelKind::Socket,
        ];
        channel.piece.is_some_and(|piece| piece.is_line) || kinds.contains(&channel.kind)
    };
    path.channels.iter().any(has_one_shape) || path.events.iter().any(is_turn)
}

/// How much input a run saw.
fn inputs(path: &RecordedPath) -> Vec<InputFigures> {
    let mut all = Vec::new();
    for channel in &path.channels {
        let kind = match channel.kind {
            ChannelKind::Argument => "argument",
            ChannelKind::Stdin => "stdin",
            ChannelKind::File => "file",
            ChannelKind::Named => "memory",
            ChannelKind::Environment => "variable",
            ChannelKind::Pipe => "pipe",
            ChannelKind::Socket => "socket",
            ChannelKind::Call => "call",
            ChannelKind::Length => continue,
        };
        let one = InputFigures {
            kind: kind.into(),
            count: 1,
            bytes: channel.content.len() as u64,
        };
        add_inputs(&mut all, &[one]);
    }
    all
}

/// What of a path was not recorded.
fn losses(path: &RecordedPath) -> Vec<String> {
    let mut losses = Vec::new();
    if path.stopped {
        losses.push("the recording stopped before the program did".into());
    }
    if path.end != End::Whole {
        losses.push("what was recorded cannot be read to its end".into());
    }
    losses
}

/// Adds which recorded executions died or gave a status other than 0. Where one died of a failure, nothing
/// holds for all inputs of its path.
pub fn add_recorded<'t>(summary: &mut Summary, tests: impl IntoIterator<Item = &'t TestCase>) {
    for test in tests {
        let recorded = Recorded {
            test: test.id.clone(),
            program: test.program().to_path_buf(),
            ended: test.ended.clone(),
        };
        if test.ended == "exit 0" {
            continue;
        }
        summary.complete &= recorded.failure().is_none();
        summary.recorded.push(recorded);
    }
}

/// One summary of many paths.
pub fn merge(summaries: impl IntoIterator<Item = Summary>, statistics: &Statistics) -> Summary {
    let mut all = Summary {
        complete: true,
        no_input: true,
        queries: queries(statistics),
        ..Summary::default()
    };
    let mut count = 0;
    for one in summaries {
        count += 1;
        all.complete &= one.complete;
        add_checks(&mut all.checks, &one.checks);
        for note in &one.notes {
            add_note(&mut all.notes, note);
        }
        all.divergences += one.divergences;
        all.too_short += one.too_short;
        all.tied_to_shape |= one.tied_to_shape;
        all.inconsistent += one.inconsistent;
        all.events += one.events;
        all.stopped |= one.stopped;
        all.no_input &= one.no_input;
        add_inputs(&mut all.inputs, &one.inputs);
        if all.unconfirmable.is_none() {
            all.unconfirmable = one.unconfirmable.clone();
        }
        all.uninitialised.add(&one.uninitialised);
        for loss in &one.losses {
            add_once(&mut all.losses, loss);
        }
        for name in &one.uninstrumented {
            add_once(&mut all.uninstrumented, name);
        }
    }
    all.no_input &= count > 0;
    // Nothing was checked for any input: no promise.
    all.complete &= !all.no_input;
    all.lost_calls = lost_calls(&all.notes);
    all
}

fn add_once(known: &mut Vec<String>, new: &str) {
    if !known.iter().any(|one| one == new) {
        known.push(new.to_string());
    }
}

fn add_checks(all: &mut Checks, one: &Checks) {
    all.met += one.met;
    all.by_solver += one.by_solver;
    all.undecided += one.undecided;
    all.failing += one.failing;
    all.skipped += one.skipped;
    for (layer, count) in &one.without_solver {
        *all.without_solver.entry(layer.clone()).or_default() += count;
    }
}

fn add_note(notes: &mut Vec<Note>, new: &Note) {
    let same = |note: &&mut Note| {
        (note.kind, &note.file, note.line, &note.callee)
            == (new.kind, &new.file, new.line, &new.callee)
    };
    match notes.iter_mut().find(same) {
        Some(note) => note.count += new.count,
        None => notes.push(new.clone()),
    }
}

fn notes(path: &RecordedPath, sites: &Sites) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for row in &path.notes {
        let Some(kind) = NoteKind::from_code(row.kind) else {
            continue;
        };
        let (file, line, callee) = spot::place(sites, SiteId(row.site));
        let is_harmless = library::state(&callee) == Some(State::Harmless) || is_ours(&callee);
        if kind == NoteKind::Call && is_harmless {
            continue;
        }
        let count = u64::from(row.count);
        let note = Note {
            kind,
            file,
            line,
            callee,
            count,
        };
        add_note(&mut notes, &note);
    }
    notes
}

/// Whether a function is one of nearmiss's own: what it is given is not lost.
fn is_ours(function: &str) -> bool {
    let starts = ["__nm_", "nearmiss_", "klee_"];
    starts.iter().any(|start| function.starts_with(start))
}

/// The notes about calls by function, those that swallowed most first.
fn lost_calls(notes: &[Note]) -> Vec<LostCall> {
    let mut notes: Vec<&Note> = notes
        .iter()
        .filter(|note| note.kind == NoteKind::Call)
        .collect();
    notes.sort_by_key(|note| std::cmp::Reverse(note.count));
    let mut calls: Vec<LostCall> = Vec::new();
    for note in notes {
        let place = format!("{}:{}", note.file, note.line);
        match calls.iter_mut().find(|call| call.function == note.callee) {
            Some(call) => {
                call.count += note.count;
                call.places.push(place);
            }
            None => calls.push(LostCall {
                function: note.callee.clone(),
                count: note.count,
                places: vec![place],
            }),
        }
    }
    calls.sort_by(|left, right| (right.count, &left.function).cmp(&(left.count, &right.function)));
    calls
}

fn queries(statistics: &Statistics) -> Queries {
    let milliseconds = |time: std::time::Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
    Queries {
        count: statistics.queries(),
        median_ms: milliseconds(statistics.times.median()),
        p95_ms: milliseconds(statistics.times.p95()),
        total_ms: milliseconds(statistics.times.total()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(callee: &str, line: u32, count: u64) -> Note {
        Note {
            kind: NoteKind::Call,
            file: "x.c".into(),
            line,
            callee: callee.into(),
            count,
        }
    }

    #[test]
    fn lost_calls_are_grouped_and_the_greediest_is_first() {
        let float = Note {
            kind: NoteKind::Float,
            ..call("", 9, 100)
        };
        let notes = [
            call("regexec", 1, 4),
            call("crypt", 2, 3),
            call("crypt", 3, 5),
            float,
        ];
        let calls = lost_calls(&notes);
        let shown: Vec<(&str, u64)> = calls
            .iter()
            .map(|call| (call.function.as_str(), call.count))
            .collect();
        assert_eq!(shown, [("crypt", 8), ("regexec", 4)]);
        assert_eq!(calls[0].places, ["x.c:3", "x.c:2"]);
    }
}
