//! Partial paths that cannot be taken, for people: which decision, and whether the precondition is
//! why.

use std::mem;
use std::time::Duration;

use nearmiss_abi::event::PHASE_FUNCTION;
use nearmiss_judge::steps;
use nearmiss_results::{Infeasible, Step};
use nearmiss_sites::Sites;
use nearmiss_trace::Event;

use crate::build::Programs;
use crate::conditions;
use crate::explorer::{DeadEnd, Explorer};
use crate::workspace::{Solution, Workspace};

/// The maximum of dead ends for which it is asked whether the precondition is why.
const EXPLAINED: usize = 256;

/// Of the time that finding dead ends took, what asking why may take: one part in so many.
const EXPLAINING_PART: u32 = 4;

/// Explains the dead ends of an exploration that might take `time`, and took `spent`.
pub fn explain(
    explorer: &mut Explorer,
    programs: &Programs,
    (time, spent): (Duration, Duration),
) -> Vec<Infeasible> {
    let dead_ends = mem::take(&mut explorer.tree.infeasible);
    let has_precondition = explorer.precondition.restricts();
    let workspace = &mut *explorer.workspace;
    let budget = workspace.budget.of_finishing(time);
    let budget = budget.within(spent / EXPLAINING_PART);
    // The exploration's own solver has learnt what admissible inputs are like.
    let fresh = workspace.solver.fresh();
    let learnt = mem::replace(&mut workspace.solver, fresh);
    let mut explained = Vec::with_capacity(dead_ends.len());
    for (position, dead_end) in dead_ends.iter().enumerate() {
        let asks = has_precondition && position < EXPLAINED && !budget.is_exhausted();
        let precondition = asks && is_possible_otherwise(workspace, dead_end);
        let plan = programs.plan.as_ref();
        explained.push(Infeasible {
            path: partial_path(&workspace.sites, dead_end),
            condition: conditions::words(&workspace.terms, plan, dead_end.fork.way.goal),
            precondition,
        });
    }
    workspace.solver = learnt;
    explained
}

/// Whether inputs take a dead end that the precondition does not accept.
fn is_possible_otherwise(workspace: &mut Workspace, dead_end: &DeadEnd) -> bool {
    let DeadEnd { visit, fork } = dead_end;
    let conditions = &visit.conditions[..fork.before];
    let solution = workspace.ask(conditions, fork.way.goal, &visit.input);
    matches!(solution, Solution::Input(_))
}

/// The function's steps up to a dead end, and the one that cannot be taken.
fn partial_path(sites: &Sites, dead_end: &DeadEnd) -> Vec<Step> {
    let events = &dead_end.visit.events;
    let own = |event: &&Event| event.phase == PHASE_FUNCTION && event.is_step();
    let before = events[..dead_end.fork.event].iter().filter(own);
    let last = steps::other(
        sites,
        &events[dead_end.fork.event],
        dead_end.fork.way.choice,
    );
    let mut path: Vec<Step> = before.map(|event| steps::taken(sites, event)).collect();
    path.push(last);
    path
}
