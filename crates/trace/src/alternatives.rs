//! What else could have happened at an event of a path.

use nearmiss_abi::event::{EventKind, PHASE_FUNCTION};
use nearmiss_abi::note::NoteKind;
use nearmiss_expr::{TermId, Terms};
use nearmiss_sites::Sites;

use crate::path::Event;
use crate::switch::switch_targets;

/// Another outcome of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// As [`Event::choice`] has it.
    pub choice: u64,
    /// What an input needs for it, behind the path condition up to the event.
    pub goal: TermId,
    /// What is there.
    pub leads_to: LeadsTo,
}

/// What an alternative leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeadsTo {
    /// Another path.
    Path,
    /// A failure: a check that held would not.
    Failure,
}

/// The alternatives of an event. A value that was concretized has some too, but it is not known how
/// many: they have to be queried one by one.
pub fn alternatives(terms: &mut Terms, sites: &Sites, event: &Event) -> Vec<Alternative> {
    let Some(condition) = event.condition else {
        return Vec::new();
    };
    let leads_to = match event.kind {
        EventKind::Switch => return other_targets(terms, sites, event),
        // An allocation that fails for the largest sizes is a path like any other.
        EventKind::Branch | EventKind::Probe => LeadsTo::Path,
        // A precondition that aborts does not accept: what it does before is of no interest.
        EventKind::Check if event.exits && event.phase >= PHASE_FUNCTION => LeadsTo::Path,
        EventKind::Check if event.truth => LeadsTo::Failure,
        EventKind::Check => LeadsTo::Path,
        // What was assumed and did not hold ended the run; what held needs no alternative.
        EventKind::Assume if !event.truth => LeadsTo::Path,
        _ => return Vec::new(),
    };
    vec![Alternative {
        choice: u64::from(!event.truth),
        goal: terms.not(condition),
        leads_to,
    }]
}

fn other_targets(terms: &mut Terms, sites: &Sites, event: &Event) -> Vec<Alternative> {
    let Some(switched) = event.switched else {
        return Vec::new();
    };
    let targets = switch_targets(terms, sites, event.site, switched);
    let others = targets
        .into_iter()
        .filter(|(choice, _)| *choice != event.choice);
    others
        .map(|(choice, goal)| Alternative {
            choice,
            goal,
            leads_to: LeadsTo::Path,
        })
        .collect()
}

impl Event {
    /// Whether a path ends with this event, as a failure. A branch to `abort` or an assertion does not
    /// end it yet: the program's own code goes on up to the call that does.
    pub fn ends_path(&self) -> bool {
        let goes_on = self.kind == EventKind::Check && self.exits && self.phase >= PHASE_FUNCTION;
        self.is_failure() && !goes_on
    }

    /// Whether this event tells paths of a function apart: also an allocation that may fail, and a
    /// call through a pointer that input chooses, since what is called may decide nothing that is
    /// seen.
    pub fn is_step(&self) -> bool {
        match self.kind {
            EventKind::Branch | EventKind::Switch | EventKind::Probe => true,
            EventKind::Check => self.exits,
            EventKind::Concretized => self.reason == Some(NoteKind::Jump),
            _ => false,
        }
    }
}
