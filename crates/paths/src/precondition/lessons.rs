//! What rejections teach: conditions that every input keeps to which the precondition accepts.
//!
//! A call that was rejected took its way by decisions, and every input that decides alike is rejected alike. So each
//! accepted input decides one of them otherwise. Those that follow from the others, and from what is known, say nothing;
//! where few are left, that is a lesson. So of a precondition that is a conjunction each part is learnt by one rejection:
//!
//! ```text
//!  0 > p[0]                          rejected   ─►  p[0] >= 0
//!  p[0] >= 0, p[0] >= n              rejected   ─►  p[0] < n          since p[0] >= 0 is known
//!  0 < n, 1 < n, t[0] > t[1]         rejected   ─►  n <= 1 or t[0] <= t[1]    since 0 < n follows from 1 < n
//! ```
//!
//! # Why a lesson holds
//!
//! *Every input that keeps to the setup and is accepted keeps to all lessons.* At first there are none. Let a rejected call
//! have the decisions D, and let L be the lessons so far. The lesson is "not all of R", where R is what remains of D when
//! decisions are left out one by one, each because the solver said that setup, L and those which are still there have no
//! input without it. So an input that keeps to the setup, L and R keeps to all of D. Were it accepted, it would keep to L, and
//! with D it would take the rejected call's path: a contradiction. This needs three things, and nothing is learnt without them:
//!
//! - D is the whole path: the recording is complete and has no notes, no answers of the system, no values that were fixed,
//!   in the setup neither. Else another input might decide alike and go elsewhere.
//! - The call was rejected, and did not fail: a precondition that fails is no rejection by its own words.
//! - "Infeasible" is certain: an answer that is not known leaves the decision in R, which only weakens the lesson.
//!
//! What is learnt is about accepted inputs only. So every query with lessons has to be about such inputs: they are part
//! of each ([`Lessons::ask`]), and the solver may assume them.
//!
//! # Probes
//!
//! Calls for a partial path of the function go deep at once, with many decisions that are not known to be needed. So the
//! decisions of a call are also tried one by one from its beginning: what if this one goes otherwise ([`Lessons::probe`])?
//! Of a conjunction that is rejected at once, with one decision that is new.

use std::collections::HashSet;

use nearmiss_abi::event::{EventKind, PHASE_PRECONDITION, PHASE_SETUP};
use nearmiss_expr::TermId;
use nearmiss_harness::ACCEPTED;

use crate::input::Input;
use crate::workspace::{RecordedRun, Solution, Workspace};

/// What was learnt.
#[derive(Debug, Default)]
pub struct Lessons {
    /// In the order in which they were learnt.
    conditions: Vec<TermId>,
    /// What all admissible inputs keep to, by the lessons or by the setup.
    implied: HashSet<TermId>,
    /// What is not known to be so, by the lessons that there are.
    open: HashSet<TermId>,
    /// Decisions of the precondition that were probed.
    probed: HashSet<TermId>,
}

/// With more decisions that remain nothing is learnt: long lessons cost every query more than they save (a search for
/// each of eight numbers among eight elements).
const MOST_REMAINING: usize = 3;
/// With more decisions that are not known to be needed, it is not asked which of them remain.
const MOST_OPEN: usize = 24;
/// The most lessons: each is part of every query.
const MOST_LESSONS: usize = 512;
/// So many probes there are at first, and for each lesson.
const FIRST_PROBES: usize = 32;
const PROBES_OF_LESSON: usize = 4;

impl Lessons {
    /// Learns from a call of the precondition, if that was rejected.
    pub fn learn(&mut self, workspace: &mut Workspace, recorded: &RecordedRun) {
        if !is_plain_rejection(recorded) || self.conditions.len() == MOST_LESSONS {
            return;
        }
        let setup = conditions(recorded, PHASE_SETUP);
        let mut open = Vec::new();
        for condition in conditions(recorded, PHASE_PRECONDITION) {
            if !self.is_implied(workspace, &setup, condition, &recorded.input) {
                open.push(condition);
            }
            if open.len() > MOST_OPEN {
                return;
            }
        }
        let remaining = self.remaining(workspace, &setup, open, &recorded.input);
        if (1..=MOST_REMAINING).contains(&remaining.len()) {
            self.keep(workspace, &remaining);
        }
    }

    /// Those decisions from which the others follow.
    fn remaining(
        &self,
        workspace: &mut Workspace,
        setup: &[TermId],
        mut decisions: Vec<TermId>,
        input: &Input,
    ) -> Vec<TermId> {
        let mut position = 0;
        while position < decisions.len() && decisions.len() > 1 {
            let decision = decisions.remove(position);
            let otherwise = workspace.terms.not(decision);
            let all = [setup, &decisions].concat();
            if self.ask(workspace, &all, otherwise, input) != Solution::Infeasible {
                decisions.insert(position, decision);
                position += 1;
            }
        }
        decisions
    }

    /// No accepted input keeps to all of these.
    fn keep(&mut self, workspace: &mut Workspace, rejected: &[TermId]) {
        let mut lesson = workspace.terms.truth(false);
        for &decision in rejected {
            let otherwise = workspace.terms.not(decision);
            lesson = workspace.terms.or(lesson, otherwise);
        }
        self.implied.insert(lesson);
        self.open.clear();
        self.conditions.push(lesson);
        workspace.solver.assume_always(&[lesson]);
    }

    /// What all accepted inputs keep to.
    #[cfg(test)]
    pub fn conditions(&self) -> &[TermId] {
        &self.conditions
    }

    /// Whether all inputs that keep to the setup and the lessons keep to a condition. `input` keeps to the setup.
    fn is_implied(
        &mut self,
        workspace: &mut Workspace,
        setup: &[TermId],
        condition: TermId,
        input: &Input,
    ) -> bool {
        if self.implied.contains(&condition) || self.open.contains(&condition) {
            return self.implied.contains(&condition);
        }
        let otherwise = workspace.terms.not(condition);
        let is_implied = self.ask(workspace, setup, otherwise, input) == Solution::Infeasible;
        match is_implied {
            true => self.implied.insert(condition),
            false => self.open.insert(condition),
        };
        is_implied
    }

    /// An input that goes the first way off a call's path which is worth a try: a decision that was not probed yet, and
    /// goes otherwise behind all that come before it.
    pub fn probe(&mut self, workspace: &mut Workspace, recorded: &RecordedRun) -> Option<Input> {
        let mut before = conditions(recorded, PHASE_SETUP);
        for condition in conditions(recorded, PHASE_PRECONDITION) {
            if self.probed.len() > FIRST_PROBES + PROBES_OF_LESSON * self.conditions.len() {
                return None;
            }
            if self.probed.insert(condition) {
                let otherwise = workspace.terms.not(condition);
                if let Solution::Input(input) =
                    self.ask(workspace, &before, otherwise, &recorded.input)
                {
                    return Some(input);
                }
            }
            before.push(condition);
        }
        None
    }

    /// Is there an input for all conditions and the goal that keeps to the lessons? `base` makes the conditions true.
    pub fn ask(
        &self,
        workspace: &mut Workspace,
        conditions: &[TermId],
        goal: TermId,
        base: &Input,
    ) -> Solution {
        let (kept, broken) = workspace.partition(&self.conditions, base);
        let all = [conditions, &kept].concat();
        let mut goal = goal;
        for lesson in broken {
            goal = workspace.terms.and(goal, lesson);
        }
        workspace.ask(&all, goal, base)
    }
}

/// Whether a call was rejected, by decisions that are all on its path.
fn is_plain_rejection(recorded: &RecordedRun) -> bool {
    let path = &recorded.path;
    let mut events = path.events.iter();
    recorded.says_yes(ACCEPTED) == Some(false)
        && !recorded.is_doubtful()
        && path.notes.is_empty()
        && path.answers.is_empty()
        && !events.any(|event| event.is_failure() || event.kind == EventKind::Concretized)
}

/// The conditions that a call decided in one phase.
fn conditions(recorded: &RecordedRun, phase: u16) -> Vec<TermId> {
    let events = recorded.path.events.iter();
    let events = events.filter(|event| event.phase == phase);
    events.filter_map(|event| event.condition).collect()
}
