//! What was looked at and what was lost, put together.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_results::{Note, Queries, Summary};
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
        notes,
        divergences,
        inconsistent: path.inconsistent,
        events: path.events.len() as u64,
        stopped: analysis.stopped,
        unconfirmable,
    }
}

fn notes(path: &Path, sites: &Sites) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for row in &path.notes {
        let Some(kind) = NoteKind::from_code(row.kind) else {
            continue;
        };
        let (file, line, callee) = spot::place(sites, SiteId(row.site));
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

fn queries(statistics: &Statistics) -> Queries {
    let milliseconds = |time: std::time::Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
    Queries {
        count: statistics.questions(),
        median_ms: milliseconds(statistics.times.median()),
        p95_ms: milliseconds(statistics.times.p95()),
        total_ms: milliseconds(statistics.times.total()),
    }
}
