//! What was looked at and what was lost, put together.

use nearmiss_abi::library::{self, State};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_results::{LostCall, Note, Queries, Summary};
use nearmiss_sites::Sites;
use nearmiss_solve::Statistics;
use nearmiss_trace::{End, Path};

use crate::analyse::Analysis;
use crate::spot;

/// The summary of a run; `divergences` are counted while failures are confirmed.
pub fn summarise(
    path: &Path,
    sites: &Sites,
    analysis: &Analysis,
    divergences: u64,
    unconfirmable: Option<String>,
) -> Summary {
    let notes = notes(path, sites);
    let lost = !notes.is_empty()
        || path.stopped
        || path.end != End::Whole
        || path.inconsistent > 0
        || divergences > 0
        || analysis.stopped
        || analysis.checks.undecided > 0;
    Summary {
        complete: !lost,
        checks: analysis.checks.clone(),
        queries: queries(&analysis.statistics),
        lost_calls: lost_calls(&notes),
        notes,
        divergences,
        inconsistent: path.inconsistent,
        events: path.events.len() as u64,
        stopped: analysis.stopped,
        unconfirmable,
        uninstrumented: Vec::new(),
        ..Summary::default()
    }
}

fn notes(path: &Path, sites: &Sites) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for row in &path.notes {
        let Some(kind) = NoteKind::from_code(row.kind) else {
            continue;
        };
        let (file, line, callee) = spot::place(sites, SiteId(row.site));
        if kind == NoteKind::Call && library::state(&callee) == Some(State::Harmless) {
            continue;
        }
        let same = |note: &&mut Note| {
            (note.kind, &note.file, note.line, &note.callee) == (kind, &file, line, &callee)
        };
        match notes.iter_mut().find(same) {
            Some(note) => note.count += u64::from(row.count),
            None => notes.push(Note {
                kind,
                file,
                line,
                callee,
                count: u64::from(row.count),
            }),
        }
    }
    notes
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
        count: statistics.questions(),
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
