//! A predicted failure against what was seen: the program's replay and its twin's word.

use std::fmt;

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::site::SiteId;
use nearmiss_sites::Sites;
use nearmiss_trace::Event;

use crate::complaint::Complaint;
use crate::contract::{self, Violation};
use crate::spot::{self, Check};

/// A failure that is expected of an input.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The events that the recorded path has before it.
    pub before: &'a [Event],
    /// Its site.
    pub site: SiteId,
    /// The check that is expected to fail.
    pub check: &'a Check,
}

/// What became of a predicted failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What the twin said, if it failed as predicted.
    pub confirmed: Option<Seen>,
    /// Whether the program left the predicted path, or did not fail where it should have.
    pub diverged: bool,
    /// Why it is not confirmed.
    pub doubt: String,
    /// What else the twin complained about.
    pub others: Vec<Complaint>,
}

/// A predicted failure that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What it is: a memory error may be another than was predicted.
    pub kind: Kind,
    /// What the twin said.
    pub complaint: Complaint,
}

/// Judges a replay: `replayed` is the path that the program took on the input, `twin` what its twin
/// complained about; either may be an error.
pub fn judge<Error: fmt::Display>(
    expected: &Expected,
    sites: &Sites,
    replayed: Result<&[Event], &Error>,
    twin: Result<Vec<Complaint>, Error>,
) -> Verdict {
    let followed = replayed.map(|events| compare(sites, expected, events));
    let fails = followed.as_ref().is_ok_and(|replayed| replayed.fails);
    let mut doubt = match &followed {
        Ok(replayed) => replayed.words(),
        Err(error) => error.to_string(),
    };
    let (confirmed, others) = match twin {
        Ok(complaints) => {
            let seen = seen(&complaints, expected.check, fails);
            if seen.is_none() && fails {
                doubt = match contract::of_check(&complaints, expected.check) {
                    Violation::Harmless(text) => contract::doubt(&text),
                    _ => "its sanitizer twin does not fail there".into(),
                };
            }
            (seen, complaints)
        }
        Err(why) => {
            doubt = why.to_string();
            (None, Vec::new())
        }
    };
    Verdict {
        // What lies outside an object may look like another to the program itself: then
        // only its twin can see the failure.
        diverged: followed.is_ok_and(|replayed| {
            replayed.left_at.is_some() || !replayed.fails && confirmed.is_none()
        }),
        confirmed,
        doubt,
        others,
    }
}

/// The complaint that is the predicted failure: at its very column, else on its line.
fn seen(complaints: &[Complaint], check: &Check, fails: bool) -> Option<Seen> {
    let spot = &check.spot;
    if spot.kind == Kind::Precondition {
        return match contract::of_check(complaints, check) {
            Violation::Fails(complaint) => Some(Seen {
                kind: spot.kind,
                complaint,
            }),
            _ => None,
        };
    }
    let of = |complaint: &Complaint| {
        let kind = kind_seen(complaint, check, fails)?;
        let complaint = complaint.clone();
        Some(Seen { kind, complaint })
    };
    let mut exact = complaints
        .iter()
        .filter(|one| one.is_exactly_at(&spot.file, spot.line, spot.column));
    exact
        .find_map(of)
        .or_else(|| complaints.iter().find_map(of))
}

/// What happened, if a complaint of the twin is the predicted failure. One without a place
/// counts only if the instrumented program failed where it was to fail.
fn kind_seen(complaint: &Complaint, check: &Check, fails: bool) -> Option<Kind> {
    let spot = &check.spot;
    let is_here = match complaint.places.is_empty() {
        true => fails && complaint.kinds.contains(&spot.kind),
        false => complaint.names(&spot.file, spot.line),
    };
    let kind = complaint.as_kind(spot.kind);
    kind.filter(|_| is_here)
}

/// How a replay went.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Replayed {
    /// It failed at the predicted place.
    fails: bool,
    /// The number of the first event that was not as predicted.
    left_at: Option<usize>,
}

impl Replayed {
    fn words(&self) -> String {
        match (self.fails, self.left_at) {
            (true, _) => String::new(),
            (false, Some(number)) => {
                format!("its replay left the predicted path at event {number}")
            }
            (false, None) => "its replay did not fail there".into(),
        }
    }
}

/// Compares a replay with the recorded path up to the predicted failure. Failures on concrete
/// data are not compared: they have no place of their own in the order. Neither are
/// assumptions: a longer input has more of them. A replay may be shorter: what a program does between
/// its last call and its death is recorded only if the death comes after.
fn compare(sites: &Sites, expected: &Expected, replay: &[Event]) -> Replayed {
    let is_compared = |event: &&Event| {
        event.implied.is_none() && !matches!(event.kind, EventKind::CheckFailed | EventKind::Assume)
    };
    let step = |event: &Event| (event.kind, event.site, event.choice);
    let predicted = expected.before.iter().filter(is_compared).map(step);
    let taken = replay.iter().filter(is_compared).map(step);
    let left_at = predicted
        .zip(taken)
        .position(|(predicted, taken)| predicted != taken);
    let place = |event: &Event| {
        let check = spot::check(sites, event.site, event.failure)?;
        Some((check.spot.file, check.spot.line, check.spot.column))
    };
    let spot = &expected.check.spot;
    let here = Some((spot.file.clone(), spot.line, spot.column));
    let is_here = |event: &Event| event.site == expected.site || place(event) == here;
    Replayed {
        fails: replay
            .iter()
            .any(|event| event.is_failure() && is_here(event)),
        left_at,
    }
}
