//! The late treatment by calls: for each partial path of the function, the precondition is explored under
//! that path's constraints until it accepts an input, or has no path left. What its rejections teach about all accepted
//! inputs is kept for the next partial paths.

use std::collections::HashSet;
use std::rc::Rc;

use nearmiss_abi::event::{EventKind, PHASE_FUNCTION};
use nearmiss_abi::server::MODE_PRECONDITION;
use nearmiss_expr::TermId;
use nearmiss_search::{Node, Trail};
use nearmiss_trace::{LeadsTo, alternatives};

use super::lessons::Lessons;
use super::{Calls, PartialPath, Precondition};
use crate::concretized::{Another, ConcretizedValues};
use crate::error::ExploreError;
use crate::input::Input;
use crate::workspace::{RecordedRun, Solution, Workspace};

/// The late treatment.
#[derive(Debug, Default)]
pub struct Late {
    /// What was asked of the precondition.
    pub calls: Calls,
    /// The ends of all its paths, over all partial paths of the function.
    ends: HashSet<Node>,
    /// What its rejections teach, where all queries are the late treatment's own.
    lessons: Option<Lessons>,
}

/// The maximum of calls for one partial path; beyond, the answer is not known.
const MAX_CALLS: u64 = 100_000;

/// A partial path of the precondition that was not queried yet.
struct Pending {
    call: Rc<Call>,
    /// How many of the call's conditions come before it.
    before: usize,
    goal: Goal,
}

/// What an input needs to take a partial path.
#[derive(Clone, Copy)]
enum Goal {
    /// This.
    Way(TermId),
    /// Another value than those that were met at this node.
    AnotherValue(Node),
}

/// What is known of the precondition's tree under one partial path of the function.
#[derive(Default)]
struct Known {
    decided: HashSet<Node>,
    concretized: ConcretizedValues,
    /// Something could not be decided.
    doubtful: bool,
}

/// A call of the precondition that rejected.
struct Call {
    input: Input,
    conditions: Vec<TermId>,
}

impl Precondition for Late {
    fn admit(
        &mut self,
        workspace: &mut Workspace,
        path: &PartialPath,
    ) -> Result<Solution, ExploreError> {
        let mut next = match self.ask(workspace, path.conditions, path.goal, path.base) {
            Solution::Input(input) => input,
            Solution::Infeasible => return Ok(Solution::Infeasible),
            Solution::Unknown => return Ok(Solution::Unknown),
        };
        let partial_path = path.conditions.iter().copied().chain([path.goal]);
        let partial_path: Vec<TermId> = partial_path.collect();
        let mut known = Known::default();
        let mut pending = Vec::new();
        for _ in 0..MAX_CALLS {
            if workspace.budget.is_exhausted() {
                break;
            }
            let recorded = workspace.run(MODE_PRECONDITION, &next)?;
            self.calls.calls += 1;
            workspace.learn_setup(&recorded);
            let (call, ways) = self.walk(workspace, &recorded, &partial_path, &mut known);
            self.learn(workspace, &recorded)?;
            if recorded.is_accepted() {
                return Ok(Solution::Input(recorded.input));
            }
            let call = Rc::new(call);
            pending.extend(ways.into_iter().map(|(before, goal)| Pending {
                call: call.clone(),
                before,
                goal,
            }));
            match self.next_input(workspace, &mut pending, &mut known) {
                Some(input) => next = input,
                None if known.doubtful => return Ok(Solution::Unknown),
                None => return Ok(Solution::Infeasible),
            }
        }
        Ok(Solution::Unknown)
    }

    fn calls(&self) -> Calls {
        self.calls
    }
}

impl Late {
    /// One that learns from rejections: each query about admissible inputs has to be its own.
    pub fn learning() -> Late {
        Late {
            lessons: Some(Lessons::default()),
            ..Late::default()
        }
    }

    /// Learns from a call, and from others that decide otherwise somewhere on its way.
    fn learn(
        &mut self,
        workspace: &mut Workspace,
        recorded: &RecordedRun,
    ) -> Result<(), ExploreError> {
        let Some(lessons) = &mut self.lessons else {
            return Ok(());
        };
        lessons.learn(workspace, recorded);
        while !workspace.budget.is_exhausted()
            && let Some(input) = lessons.probe(workspace, recorded)
        {
            let probe = workspace.run(MODE_PRECONDITION, &input)?;
            self.calls.calls += 1;
            lessons.learn(workspace, &probe);
        }
        Ok(())
    }

    /// Is there an input for all conditions and the goal that keeps to what was learnt? `base` makes the conditions true.
    fn ask(
        &self,
        workspace: &mut Workspace,
        conditions: &[TermId],
        goal: TermId,
        base: &Input,
    ) -> Solution {
        match &self.lessons {
            Some(lessons) => lessons.ask(workspace, conditions, goal, base),
            None => workspace.ask(conditions, goal, base),
        }
    }

    /// The conditions of a call, behind those of the partial path, and its other ways that are new,
    /// each with how many conditions come before it.
    fn walk(
        &mut self,
        workspace: &mut Workspace,
        recorded: &RecordedRun,
        partial_path: &[TermId],
        known: &mut Known,
    ) -> (Call, Vec<(usize, Goal)>) {
        let mut conditions = partial_path.to_vec();
        let mut found = Vec::new();
        let mut trail = Trail::root(0);
        let events = recorded.path.events.iter();
        for event in events.take_while(|event| event.phase < PHASE_FUNCTION) {
            for way in alternatives(&mut workspace.terms, &workspace.sites, event) {
                let is_new = known.decided.insert(trail.way(event.site.0, way.choice));
                if is_new && way.leads_to == LeadsTo::Path {
                    found.push((conditions.len(), Goal::Way(way.goal)));
                }
            }
            if let (EventKind::Concretized, Some(condition)) = (event.kind, event.condition)
                && known.concretized.meet(trail.node(), condition)
            {
                found.push((conditions.len(), Goal::AnotherValue(trail.node())));
            }
            known.decided.insert(trail.go(event.site.0, event.choice));
            conditions.extend(event.condition);
        }
        known.doubtful |= recorded.is_doubtful();
        self.calls.paths += u64::from(self.ends.insert(trail.node()));
        let input = recorded.input.clone();
        (Call { input, conditions }, found)
    }

    /// An input for the deepest partial path that has one.
    fn next_input(
        &self,
        workspace: &mut Workspace,
        pending: &mut Vec<Pending>,
        known: &mut Known,
    ) -> Option<Input> {
        while let Some(Pending { call, before, goal }) = pending.pop() {
            let goal = match goal {
                Goal::Way(goal) => goal,
                Goal::AnotherValue(node) => {
                    match known.concretized.another(&mut workspace.terms, node) {
                        Another::Goal(goal) => goal,
                        Another::TooMany => {
                            known.doubtful = true;
                            continue;
                        }
                    }
                }
            };
            match self.ask(workspace, &call.conditions[..before], goal, &call.input) {
                Solution::Input(input) => return Some(input),
                Solution::Infeasible => {}
                Solution::Unknown => known.doubtful = true,
            }
        }
        None
    }
}
