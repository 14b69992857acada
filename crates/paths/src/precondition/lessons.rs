//! What rejections teach: conditions that every input keeps to which the precondition accepts.
//!
//! A call that was rejected took its way by some decisions. If inputs that keep to all that is known take all of them but
//! one, accepted inputs take that one otherwise. So of a precondition that is a conjunction each part is learnt by one rejection:
//!
//! ```text
//!  0 > p[0]                          rejected   ─►  p[0] >= 0
//!  p[0] >= 0, p[0] >= n              rejected   ─►  p[0] < n         since p[0] >= 0 is known
//!  p[0] >= 0, p[0] < n, p[1] < 0     rejected   ─►  p[1] >= 0
//! ```
//!
//! Where a rejection depends on what earlier decisions found (a search among the elements), nothing is learnt.

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
}

impl Lessons {
    /// Learns from a call of the precondition that was rejected.
    pub fn learn(&mut self, workspace: &mut Workspace, recorded: &RecordedRun) {
        let of_phase = |phase: u16| {
            let events = recorded.path.events.iter();
            events.filter(move |event| event.phase == phase)
        };
        let own = || of_phase(PHASE_PRECONDITION);
        // What was lost, or came from outside, may be why.
        let is_plain = recorded.says_yes(ACCEPTED) == Some(false)
            && !recorded.is_doubtful()
            && recorded.path.notes.is_empty()
            && recorded.path.answers.is_empty()
            && !own().any(|event| event.is_failure() || event.kind == EventKind::Concretized);
        if !is_plain {
            return;
        }
        let setup: Vec<TermId> = of_phase(PHASE_SETUP)
            .filter_map(|event| event.condition)
            .collect();
        let mut decisive = None;
        for condition in own().filter_map(|event| event.condition) {
            let is_open = !self.is_implied(workspace, &setup, condition, &recorded.input);
            if is_open && decisive.replace(condition).is_some() {
                return;
            }
        }
        if let Some(condition) = decisive {
            let lesson = workspace.terms.not(condition);
            self.implied.insert(lesson);
            self.open.clear();
            self.conditions.push(lesson);
            workspace.solver.assume_always(&[lesson]);
        }
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

    /// Is there an input for all conditions and the goal that keeps to the lessons? `base` makes the conditions true.
    pub fn ask(
        &self,
        workspace: &mut Workspace,
        conditions: &[TermId],
        goal: TermId,
        base: &Input,
    ) -> Solution {
        let lessons = self.conditions.iter().copied();
        let (kept, broken): (Vec<TermId>, Vec<TermId>) =
            lessons.partition(|&lesson| workspace.holds(&[lesson], base));
        let all = [conditions, &kept].concat();
        let mut goal = goal;
        for lesson in broken {
            goal = workspace.terms.and(goal, lesson);
        }
        workspace.ask(&all, goal, base)
    }
}
