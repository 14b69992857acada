//! A violated contract: it counts where the call then fails.
//!
//! The twin says which requirement does not hold, and goes on into the function. What fails there while the function is
//! active is what the contract was to prevent.

use nearmiss_abi::check::Kind;
use nearmiss_results::Finding;

use crate::complaint::{Complaint, Place};
use crate::spot::Check;

/// What the twin says of a requirement at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// It is violated, and the call fails: both in one.
    Fails(Complaint),
    /// It is violated: which one it is. The call does not fail.
    Harmless(String),
    /// It holds.
    None,
}

/// What the twin says of the requirement that a check is about.
pub fn of_check(complaints: &[Complaint], check: &Check) -> Violation {
    let spot = &check.spot;
    violation(
        complaints,
        &check.function,
        (&spot.file, spot.line, spot.column),
    )
}

/// The failure that a finding tells of, if the twin shows it.
pub fn shown(finding: &Finding, complaints: &[Complaint]) -> Option<Complaint> {
    let place = (finding.file.as_str(), finding.line, finding.column);
    match violation(complaints, &finding.function, place) {
        Violation::Fails(complaint) => Some(complaint),
        _ => None,
    }
}

/// What a twin said in a run: failures, and violated requirements with what came of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Something failed, and no contract foresaw it.
    Failure(Complaint),
    /// The requirement of a function's contract is violated, and the call fails: both in one.
    Fails(String, Complaint),
    /// It is violated, and the call does not fail.
    Harmless(String, Complaint),
}

/// Puts every violated requirement and the failure of its call together.
pub fn told(complaints: &[Complaint]) -> Vec<Told> {
    let mut foreseen = Vec::new();
    let mut told = Vec::new();
    for (number, complaint) in complaints.iter().enumerate() {
        let Some(function) = violated_of(complaint) else {
            if !foreseen.contains(&number) {
                told.push(Told::Failure(complaint.clone()));
            }
            continue;
        };
        let function = function.to_string();
        match failure_in(complaints, number, &function) {
            Some(failure) => {
                foreseen.push(failure);
                let both = both(complaint, &complaints[failure]);
                told.push(Told::Fails(function, both));
            }
            None => told.push(Told::Harmless(function, complaint.clone())),
        }
    }
    told
}

/// Why a violated requirement is no failure.
pub fn doubt(violated: &str) -> String {
    format!("{violated} is violated, and the call does not fail")
}

/// The function whose contract a complaint is about.
fn violated_of(complaint: &Complaint) -> Option<&str> {
    let rest = complaint.text.strip_prefix("precondition of ")?;
    let (function, _) = rest.split_once(':')?;
    (complaint.kinds == [Kind::Precondition]).then_some(function)
}

/// The first failure behind a violated requirement while the function is active.
fn failure_in(complaints: &[Complaint], violated: usize, function: &str) -> Option<usize> {
    let is_inside = |one: &Complaint| {
        let in_function = |place: &Place| place.function == function;
        let mut places = one.stack.iter().chain(&one.places);
        one.kinds != [Kind::Precondition] && places.any(in_function)
    };
    let later = complaints[violated + 1..].iter().position(is_inside)?;
    Some(violated + 1 + later)
}

/// A violated requirement and the failure of its call, as one complaint.
fn both(violated: &Complaint, failure: &Complaint) -> Complaint {
    Complaint {
        text: format!("{}; then {}{}", violated.text, failure.text, at(failure)),
        places: violated.places.clone(),
        kinds: violated.kinds.clone(),
        ..failure.clone()
    }
}

fn violation(complaints: &[Complaint], function: &str, place: (&str, u32, u32)) -> Violation {
    let is_it = |one: &Complaint| {
        one.kinds == [Kind::Precondition] && one.is_exactly_at(place.0, place.1, place.2)
    };
    let Some(number) = complaints.iter().position(is_it) else {
        return Violation::None;
    };
    let violated = &complaints[number];
    match failure_in(complaints, number, function) {
        Some(failure) => Violation::Fails(both(violated, &complaints[failure])),
        None => Violation::Harmless(violated.text.clone()),
    }
}

fn at(failure: &Complaint) -> String {
    let place = failure.places.first();
    place.map_or(String::new(), |place| {
        let file = place.file.rsplit('/').next().unwrap_or_default();
        format!(" at {file}:{}", place.line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complaint::complaints;
    use nearmiss_sandbox::Ended;

    const VIOLATED: &str = "t.c:4:1: runtime error: precondition of set: i != 10\n";
    const FAILURE: &str = "t.c:7:9: runtime error: index 10 out of bounds for type 'int[10]'\n    \
                           #0 0x1 in set /src/t.c:7:9\n    #1 0x2 in main /src/t.c:12:3\n";

    fn finding(function: &str) -> Finding {
        Finding {
            function: function.into(),
            file: "t.c".into(),
            line: 4,
            column: 1,
            ..Finding::new(Default::default())
        }
    }

    #[test]
    fn a_violation_counts_where_the_call_fails() {
        let read = |text: String| complaints(text.as_bytes(), Ended::Exited(0));
        let both = read(format!("{VIOLATED}{FAILURE}"));
        let shown_text = shown(&finding("set"), &both).unwrap().text;
        assert!(shown_text.starts_with("precondition of set: i != 10; then index 10"));
        assert!(shown_text.ends_with(" at t.c:7"), "{shown_text}");
        // Nothing fails; something fails before; something fails elsewhere.
        assert_eq!(shown(&finding("set"), &read(VIOLATED.into())), None);
        assert_eq!(
            shown(&finding("set"), &read(format!("{FAILURE}{VIOLATED}"))),
            None
        );
        assert_eq!(shown(&finding("get"), &both), None);
    }

    #[test]
    fn a_failure_is_told_once() {
        let read = |text: String| complaints(text.as_bytes(), Ended::Exited(0));
        let all = told(&read(format!("{VIOLATED}{FAILURE}{FAILURE}")));
        assert!(matches!(&all[..], [Told::Fails(of, _), Told::Failure(_)] if of == "set"));
        let harmless = told(&read(format!("{FAILURE}{VIOLATED}")));
        assert!(matches!(&harmless[..], [Told::Failure(_), Told::Harmless(of, _)] if of == "set"));
    }
}
