//! Whether two findings are of one defect, by where they fail, by what, and by who called.
//!
//! | two failures | are |
//! | --- | --- |
//! | at one place, of one class (read and write, null and out of bounds of one access) | one |
//! | at one place, through a bad pointer that two callers in other files gave | two: the callers are at fault |
//! | two loops of one function that never end | one: where a loop is stopped is a matter of chance |
//! | in one function, called from one place, on one object, for the same bytes of the input | one: so is its cause |
//! | anything else | two |

use std::collections::BTreeSet;

use nearmiss_abi::check::Kind;
use nearmiss_results::{Finding, Frame};

use crate::complaint::{Complaint, is_memory, same_file};
use crate::contract;

/// The complaint that is the failure that a finding tells of, if one is.
pub fn shown(finding: &Finding, complaints: &[Complaint]) -> Option<Complaint> {
    if finding.kind == Kind::Precondition {
        return contract::shown(finding, complaints);
    }
    if finding.kind == Kind::Hang {
        let is_it = |complaint: &&Complaint| {
            let place = complaint.places.first();
            complaint.kinds == [Kind::Hang]
                && place.is_some_and(|it| {
                    it.function == finding.function && same_file(&it.file, &finding.file)
                })
        };
        return complaints.iter().find(is_it).cloned();
    }
    let is_it = |complaint: &&Complaint| {
        complaint.is_exactly_at(&finding.file, finding.line, finding.column)
            && complaint.as_kind(finding.kind) == Some(finding.kind)
    };
    complaints.iter().find(is_it).cloned()
}

/// Whether two findings are of one defect.
pub fn is_same(known: &Finding, new: &Finding) -> bool {
    if class(known.kind) != class(new.kind) || !same_file(&known.file, &new.file) {
        return false;
    }
    if new.kind == Kind::Hang {
        return known.function == new.function;
    }
    match known.line == new.line {
        true => is_same_place(known, new) && !have_other_givers(known, new),
        false => have_one_cause(known, new),
    }
}

/// Kinds that one failure may show as.
fn class(kind: Kind) -> u8 {
    match kind {
        Kind::Crash => Kind::OutOfBoundsRead as u8,
        kind if is_memory(kind) => Kind::OutOfBoundsRead as u8,
        Kind::Abort => Kind::Assertion as u8,
        kind => kind as u8,
    }
}

/// Whether two failures on one line are at one column. What two sanitizers say of one access has two: that of
/// the index, and that of the access itself.
fn is_same_place(known: &Finding, new: &Finding) -> bool {
    let columns = |finding: &Finding| {
        let frame = finding
            .stack
            .first()
            .filter(|frame| frame.line == finding.line);
        [
            finding.column,
            frame.map_or(finding.column, |frame| frame.column),
        ]
    };
    // What was only predicted is told at the column of the check, what was seen at that of the access.
    let is_seen_once = known.status != new.status && known.kind == new.kind && is_memory(new.kind);
    let [one, other] = [columns(known), columns(new)];
    is_seen_once
        || one
            .iter()
            .any(|column| *column == 0 || other.contains(column))
        || other.contains(&0)
}

/// Whether two callers in other files gave a pointer that is bad by itself.
fn have_other_givers(known: &Finding, new: &Finding) -> bool {
    let is_bad_pointer = |finding: &Finding| {
        is_memory(finding.kind)
            && !matches!(finding.kind, Kind::OutOfBoundsRead | Kind::OutOfBoundsWrite)
    };
    match (giver(&known.stack), giver(&new.stack)) {
        (Some(one), Some(other)) => {
            is_bad_pointer(known)
                && is_bad_pointer(new)
                && (one.line != other.line || !same_file(&one.file, &other.file))
        }
        _ => false,
    }
}

/// The innermost caller in another file than the failing function's.
fn giver(stack: &[Frame]) -> Option<&Frame> {
    let (first, callers) = stack.split_first()?;
    callers
        .iter()
        .find(|frame| !same_file(&frame.file, &first.file))
}

/// Whether two failures at different lines of a function have one cause: it was called from the same place,
/// and what it was given is the same object and comes from the same bytes of the input.
fn have_one_cause(known: &Finding, new: &Finding) -> bool {
    let callers = callers(&known.stack);
    (is_memory(known.kind) || known.kind == Kind::UninitialisedRead)
        && known.function == new.function
        && !callers.is_empty()
        && callers == self::callers(&new.stack)
        && known.object == new.object
        && !changed(known).is_disjoint(&changed(new))
}

/// The callers, without the turns of a recursion.
fn callers(stack: &[Frame]) -> Vec<(&str, u32)> {
    let mut callers: Vec<(&str, u32)> = Vec::new();
    for frame in stack.iter().skip(1) {
        let caller = (frame.function.as_str(), frame.line);
        if !callers.contains(&caller) {
            callers.push(caller);
        }
    }
    callers
}

/// Which bytes of the input a finding changes: every one of them by its channel and offset.
fn changed(finding: &Finding) -> BTreeSet<(&str, u64)> {
    let bytes = finding.changes.iter().flat_map(|change| {
        let length = change.from.len().max(change.to.len()) as u64;
        (0..length).map(|number| (change.channel.as_str(), change.offset + number))
    });
    bytes.collect()
}

#[cfg(test)]
mod tests;
