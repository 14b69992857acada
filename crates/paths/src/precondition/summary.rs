//! The precondition as a formula that grows.
//!
//! What the precondition says depends on its inputs alone, so its execution tree is the same under
//! every partial path of the function, and a path of it that was met once never has to be gone
//! through again. The tree is kept as two formulas: *accepted*, the inputs that take a known path
//! which accepts, and *possible*, those and all that take no known path.
//!
//! ```text
//!  partial path ∧ possible  has no solution  ─► infeasible
//!                           has one that is accepted, or there is an accepted one beside it  ─► admissible
//!                           else             ─► the precondition is called on it: one more known path
//! ```
//!
//! A precondition that is a conjunction becomes just that conjunction, condition by condition, as
//! the function's paths ask for them; its parts are posted one by one, so that those which have
//! nothing to do with a query stay out of it. [`Summary::learn`] goes through the tree
//! beforehand.

use std::time::Instant;

use nearmiss_abi::event::{EventKind, PHASE_FUNCTION, PHASE_SETUP};
use nearmiss_abi::op::Op;
use nearmiss_abi::server::MODE_PRECONDITION;
use nearmiss_expr::{TermId, Terms};
use nearmiss_trace::{Event, LeadsTo, alternatives};

use super::{Calls, PartialPath, Precondition};
use crate::error::ExploreError;
use crate::input::Input;
use crate::workspace::{RecordedRun, Solution, Workspace};

/// What is known of a precondition.
pub struct Summary {
    /// What was asked of the precondition.
    pub calls: Calls,
    nodes: Vec<Node>,
    /// The conditions of the setup, which hold for all inputs.
    pub setup: Vec<TermId>,
    /// An input that keeps to the setup.
    pub valid: Input,
    /// Something about it is not known for certain: a recording stopped, or contradicts itself.
    doubtful: bool,
    /// There is no other path.
    pub is_complete: bool,
    /// The solver assumes it.
    is_assumed: bool,
}

/// A node of the precondition's execution tree.
struct Node {
    /// The ways from here, of which one is taken: the last stands for all that the others leave
    /// over. None: it accepts or rejects, or no run has been here.
    ways: Vec<Child>,
    accepted: TermId,
    possible: TermId,
}

/// A way at a node.
struct Child {
    choice: u64,
    condition: TermId,
    /// Where it leads; `None`: no run has been there.
    node: Option<usize>,
}

/// The choice that stands for all values that were not met.
const REST: u64 = u64::MAX;
/// The maximum of calls for one partial path; beyond, the answer is not known.
const MAX_CALLS: u64 = 100_000;
/// Rounds in which an input is looked for that keeps to what the setup assumes.
const MAX_ASSUMPTIONS: usize = 1000;

impl Precondition for Summary {
    fn admit(
        &mut self,
        workspace: &mut Workspace,
        path: &PartialPath,
    ) -> Result<Solution, ExploreError> {
        // Accepted inputs only come from here, so the base is one of them, or there was no query yet.
        let (setup, valid) = (self.setup.clone(), self.valid.clone());
        let path = if path.conditions.is_empty() {
            &PartialPath {
                conditions: &setup,
                goal: path.goal,
                base: &valid,
            }
        } else {
            path
        };
        for _ in 0..MAX_CALLS {
            if workspace.budget.is_exhausted() {
                break;
            }
            let possible = self.nodes[0].possible;
            let input = match ask_among(workspace, possible, path) {
                Solution::Input(input) => input,
                Solution::Infeasible if self.doubtful => return Ok(Solution::Unknown),
                Solution::Infeasible => return Ok(Solution::Infeasible),
                Solution::Unknown => return Ok(Solution::Unknown),
            };
            let accepted = self.nodes[0].accepted;
            if workspace.holds(&[accepted], &input) {
                return Ok(Solution::Input(input));
            }
            match ask_among(workspace, accepted, path) {
                Solution::Input(input) => return Ok(Solution::Input(input)),
                Solution::Unknown => return Ok(Solution::Unknown),
                Solution::Infeasible => {}
            }
            let recorded = self.call(workspace, &input)?;
            if recorded.is_accepted() {
                return Ok(Solution::Input(recorded.input));
            }
        }
        Ok(Solution::Unknown)
    }

    fn calls(&self) -> Calls {
        self.calls
    }
}

impl Summary {
    /// Knows nothing but the setup. `None` if no input keeps to what is assumed there.
    pub fn start(
        workspace: &mut Workspace,
        first: &Input,
    ) -> Result<Option<Summary>, ExploreError> {
        let mut next = first.clone();
        for _ in 0..MAX_ASSUMPTIONS {
            let recorded = workspace.run(MODE_PRECONDITION, &next)?;
            workspace.learn_setup(&recorded);
            let events = &recorded.path.events;
            let setup = events.iter().take_while(|event| event.phase == PHASE_SETUP);
            let setup: Vec<Event> = setup.copied().collect();
            let broken = |event: &Event| event.kind == EventKind::Assume && !event.truth;
            let Some(position) = setup.iter().position(broken) else {
                return Ok(Some(Summary::knowing(workspace, &setup, recorded)));
            };
            let conditions: Vec<TermId> = conditions(&setup[..position]).collect();
            let Some(way) = alternatives(&mut workspace.terms, &workspace.sites, &setup[position])
                .first()
                .copied()
            else {
                return Ok(None);
            };
            match workspace.ask(&conditions, way.goal, &recorded.input) {
                Solution::Input(input) => next = input,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    fn knowing(workspace: &mut Workspace, setup: &[Event], recorded: RecordedRun) -> Summary {
        let [accepted, possible] = [false, true].map(|truth| workspace.terms.truth(truth));
        let mut summary = Summary {
            calls: Calls::default(),
            nodes: vec![Node {
                ways: Vec::new(),
                accepted,
                possible,
            }],
            setup: conditions(setup).collect(),
            valid: recorded.input.clone(),
            doubtful: false,
            is_complete: false,
            is_assumed: false,
        };
        summary.grow(workspace, &recorded);
        summary
    }

    /// Goes through paths of the precondition that no query asked for, up to this number of calls. Once
    /// all are known, the solver assumes them.
    pub fn learn(
        &mut self,
        workspace: &mut Workspace,
        calls: u64,
        end: Instant,
    ) -> Result<(), ExploreError> {
        for _ in 0..calls {
            if self.is_complete || Instant::now() >= end || workspace.budget.is_exhausted() {
                break;
            }
            let goal = self.unknown_region(workspace);
            let (setup, valid) = (self.setup.clone(), self.valid.clone());
            match workspace.ask(&setup, goal, &valid) {
                Solution::Input(input) => {
                    self.call(workspace, &input)?;
                }
                Solution::Infeasible => self.is_complete = !self.doubtful,
                Solution::Unknown => break,
            }
        }
        if self.is_complete && !self.is_assumed {
            // What admissible inputs are like holds in every query from now on.
            let parts = conjuncts(&workspace.terms, self.nodes[0].possible);
            workspace.solver.assume_always(&parts);
            // What was made of terms before is wider than it need be now.
            workspace.solver.renew();
            self.is_assumed = true;
        }
        Ok(())
    }

    /// The inputs about which nothing is known.
    fn unknown_region(&self, workspace: &mut Workspace) -> TermId {
        let Node {
            accepted, possible, ..
        } = self.nodes[0];
        let not_accepted = workspace.terms.not(accepted);
        workspace.terms.and(possible, not_accepted)
    }

    fn call(
        &mut self,
        workspace: &mut Workspace,
        input: &Input,
    ) -> Result<RecordedRun, ExploreError> {
        let recorded = workspace.run(MODE_PRECONDITION, input)?;
        self.grow(workspace, &recorded);
        Ok(recorded)
    }

    /// One more path is known.
    fn grow(&mut self, workspace: &mut Workspace, recorded: &RecordedRun) {
        self.calls.calls += 1;
        self.doubtful |= recorded.is_doubtful();
        let mut here = 0;
        let mut passed = vec![0];
        let known = self.nodes.len();
        let events = recorded.path.events.iter();
        let own = |event: &&Event| event.phase > PHASE_SETUP && event.phase < PHASE_FUNCTION;
        for event in events.filter(own) {
            let Some(condition) = event.condition else {
                continue;
            };
            if self.nodes[here].ways.is_empty() {
                self.decide(workspace, here, event, condition);
            }
            here = self.enter(workspace, here, event, condition);
            passed.push(here);
        }
        let is_new = self.nodes.len() > known || self.calls.calls == 1;
        self.calls.paths += u64::from(is_new);
        let accepts = recorded.is_accepted();
        let truth = workspace.terms.truth(accepts);
        let end = &mut self.nodes[here];
        (end.accepted, end.possible) = (truth, truth);
        for node in passed.into_iter().rev().skip(1) {
            self.renew(&mut workspace.terms, node);
        }
    }

    /// A node that no run had been at decides as the event says.
    fn decide(&mut self, workspace: &mut Workspace, node: usize, event: &Event, condition: TermId) {
        let mut ways = vec![Child {
            choice: event.choice,
            condition,
            node: None,
        }];
        for way in alternatives(&mut workspace.terms, &workspace.sites, event) {
            let fails = way.leads_to == LeadsTo::Failure;
            ways.push(Child {
                choice: way.choice,
                condition: way.goal,
                // A precondition that fails does not accept.
                node: fails.then(|| self.add_end(workspace, false)),
            });
        }
        // A value that was concretized has others, and it is not known how many.
        if event.kind == EventKind::Concretized {
            ways.push(Child {
                choice: REST,
                condition: workspace.terms.not(condition),
                node: None,
            });
        }
        self.nodes[node].ways = ways;
    }

    /// The node that the event leads to.
    fn enter(
        &mut self,
        workspace: &mut Workspace,
        node: usize,
        event: &Event,
        condition: TermId,
    ) -> usize {
        let ways = &mut self.nodes[node].ways;
        let known = ways.iter().position(|way| way.choice == event.choice);
        let place = known.unwrap_or_else(|| {
            // One more value of those that were left over.
            ways.insert(
                ways.len() - 1,
                Child {
                    choice: event.choice,
                    condition,
                    node: None,
                },
            );
            ways.len() - 2
        });
        if let Some(known) = ways[place].node {
            return known;
        }
        let next = self.nodes.len();
        self.nodes[node].ways[place].node = Some(next);
        let [accepted, possible] = [false, true].map(|truth| workspace.terms.truth(truth));
        self.nodes.push(Node {
            ways: Vec::new(),
            accepted,
            possible,
        });
        next
    }

    /// A node at which the precondition has accepted or rejected.
    fn add_end(&mut self, workspace: &mut Workspace, accepts: bool) -> usize {
        let truth = workspace.terms.truth(accepts);
        self.nodes.push(Node {
            ways: Vec::new(),
            accepted: truth,
            possible: truth,
        });
        self.nodes.len() - 1
    }

    /// The formulas of a node, made of those of its ways.
    fn renew(&mut self, terms: &mut Terms, node: usize) {
        let [mut accepted, mut possible] = [terms.truth(false), terms.truth(false)];
        let unknown = (terms.truth(false), terms.truth(true));
        let ways = &self.nodes[node].ways;
        // A choice of two is one condition and its opposite.
        for (position, way) in ways.iter().enumerate().rev() {
            let (there_accepted, there_possible) = match way.node {
                Some(child) => (self.nodes[child].accepted, self.nodes[child].possible),
                None => unknown,
            };
            if position + 1 == ways.len() {
                (accepted, possible) = (there_accepted, there_possible);
            } else {
                accepted = terms.ite(way.condition, there_accepted, accepted);
                possible = terms.ite(way.condition, there_possible, possible);
            }
        }
        let renewed = &mut self.nodes[node];
        (renewed.accepted, renewed.possible) = (accepted, possible);
    }
}

/// Asks among the inputs that a formula describes. If `base` is one of them, the formula's parts are
/// conditions like any other, and those that have nothing to do with the goal need not be looked at.
fn ask_among(workspace: &mut Workspace, formula: TermId, path: &PartialPath) -> Solution {
    let &PartialPath {
        conditions,
        goal,
        base,
    } = path;
    if workspace.holds(&[formula], base) {
        let parts = conjuncts(&workspace.terms, formula);
        let all: Vec<TermId> = parts
            .into_iter()
            .chain(conditions.iter().copied())
            .collect();
        return workspace.ask(&all, goal, base);
    }
    let goal = workspace.terms.and(goal, formula);
    workspace.ask(conditions, goal, base)
}

fn conditions(events: &[Event]) -> impl Iterator<Item = TermId> + '_ {
    events.iter().filter_map(|event| event.condition)
}

/// The parts of a conjunction.
fn conjuncts(terms: &Terms, term: TermId) -> Vec<TermId> {
    let mut parts = Vec::new();
    let mut stack = vec![term];
    while let Some(top) = stack.pop() {
        match terms.op(top) {
            Op::And if terms.width(top) == 1 => stack.extend(terms.operands(top)),
            _ => parts.push(top),
        }
    }
    parts
}
