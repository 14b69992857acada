//! What else could have happened at an event of a path.

use nearmiss_abi::event::{EventKind, PHASE_FUNCTION};
use nearmiss_abi::note::NoteKind;
use nearmiss_expr::TermId;
use nearmiss_trace::{Event, switch_targets};

use crate::lab::Lab;

/// Another way at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// As [`Event::choice`] has it.
    pub choice: u64,
    /// What an input needs to go there.
    pub goal: TermId,
    /// What is there.
    pub leads: Leads,
}

/// What another way leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leads {
    /// On: another path.
    On,
    /// To a failure: a check that held would not.
    ToFailure,
}

/// The other ways at an event. A value that was fixed has ways too, but nobody knows how many:
/// those are `fixed`'s matter.
pub fn others(lab: &mut Lab, event: &Event) -> Vec<Way> {
    let Some(condition) = event.condition else {
        return Vec::new();
    };
    let leads = match event.kind {
        EventKind::Switch => return other_targets(lab, event),
        // An allocation that fails for the largest sizes is a way like any other.
        EventKind::Branch | EventKind::Probe => Leads::On,
        // A precondition that aborts does not accept: what it does before is of no interest.
        EventKind::Check if event.exits && event.phase >= PHASE_FUNCTION => Leads::On,
        EventKind::Check if event.truth => Leads::ToFailure,
        EventKind::Check => Leads::On,
        // What was assumed and did not hold ended the run; what held needs no other way.
        EventKind::Assume if !event.truth => Leads::On,
        _ => return Vec::new(),
    };
    vec![Way {
        choice: u64::from(!event.truth),
        goal: lab.terms.not(condition),
        leads,
    }]
}

fn other_targets(lab: &mut Lab, event: &Event) -> Vec<Way> {
    let Some(switched) = event.switched else {
        return Vec::new();
    };
    let targets = switch_targets(&mut lab.terms, &lab.sites, event.site, switched);
    let others = targets
        .into_iter()
        .filter(|(choice, _)| *choice != event.choice);
    others
        .map(|(choice, goal)| Way {
            choice,
            goal,
            leads: Leads::On,
        })
        .collect()
}

/// Whether a path ends with an event, as a failure. A branch to `abort` or an assertion does not end it yet:
/// the program's own code goes on up to the call that does.
pub fn ends_path(event: &Event) -> bool {
    let goes_on = event.kind == EventKind::Check && event.exits && event.phase >= PHASE_FUNCTION;
    event.is_failure() && !goes_on
}

/// Whether an event is a decision that tells paths apart: also a call through a pointer that input
/// chooses, since what is called may decide nothing that is seen.
pub fn is_decision(event: &Event) -> bool {
    match event.kind {
        EventKind::Branch | EventKind::Switch | EventKind::Probe => true,
        EventKind::Check => event.exits,
        EventKind::Fixed => event.reason == Some(NoteKind::Jump),
        _ => false,
    }
}
