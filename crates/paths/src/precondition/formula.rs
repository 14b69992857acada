//! The precondition as one formula that is known beforehand ([`nearmiss_merge`]): no call of it is
//! needed to answer a query.
//!
//! The formula is made from the precondition's code, not from its runs; so runs have to agree with it. Before
//! it is used, the precondition is called on an input that keeps to the setup, and on one for each part of the
//! formula that breaks that part (the first ones, and as long as there is time). Later the first answers and
//! one of several later ones are checked.

use std::time::{Duration, Instant};

use nearmiss_abi::server::MODE_PRECONDITION;
use nearmiss_expr::{TermId, Terms};
use nearmiss_harness::ACCEPTED;
use nearmiss_merge::Judge;
use nearmiss_sites::program::Program;
use nearmiss_solve::{Answer, Deadline, Limits, TreeSession};

use super::{Calls, PartialPath, Precondition, Summary};
use crate::error::ExploreError;
use crate::input::Input;
use crate::workspace::{Solution, Workspace};

/// A formula that inputs have to keep to.
pub struct Formula {
    parts: Vec<TermId>,
    /// Calls of the precondition.
    pub calls: u64,
    answers: u64,
}

/// The name of the channel that a harness reads.
const CHANNEL: &[u8] = b"input";
/// How much CPU time making the formula may take, and how much trying it: a busy machine must not change what is done.
const MAKING_TIME: Duration = Duration::from_secs(2);
/// The most that either may take on the clock.
const LONGEST_MAKING: Duration = Duration::from_secs(20);
/// Larger formulas would be slower than calls.
const MAX_TERMS: usize = 200_000;
/// Parts of the formula that are tried before it is used.
const TRIED_PARTS: usize = 24;
/// How many answers are checked at first, and of how many later one is.
const CHECKED_AT_FIRST: u64 = 16;
const CHECKED_LATER: u64 = 16;

impl Precondition for Formula {
    fn admit(
        &mut self,
        workspace: &mut Workspace,
        path: &PartialPath,
    ) -> Result<Solution, ExploreError> {
        let mut all = path.conditions.to_vec();
        all.extend(&self.parts);
        let input = match workspace.ask(&all, path.goal, path.base) {
            Solution::Input(input) => input,
            Solution::Infeasible => return Ok(Solution::Infeasible),
            Solution::Unknown => return Ok(Solution::Unknown),
        };
        self.answers += 1;
        let is_checked =
            self.answers <= CHECKED_AT_FIRST || self.answers.is_multiple_of(CHECKED_LATER);
        if is_checked && !self.is_accepted(workspace, &input)? {
            return Err(ExploreError::WrongPrecondition);
        }
        Ok(Solution::Input(input))
    }

    fn calls(&self) -> Calls {
        Calls {
            calls: self.calls,
            paths: 0,
        }
    }
}

impl Formula {
    /// The formula of the harness's precondition. `None` if there is none, or if runs do not agree.
    pub fn make(
        workspace: &mut Workspace,
        program: &Program,
        setup: &[TermId],
        valid: &Input,
    ) -> Result<Option<Formula>, ExploreError> {
        let request = nearmiss_merge::Request {
            program,
            mode: MODE_PRECONDITION,
            channel: workspace.channels.named(CHANNEL, 0),
            accepted: ACCEPTED,
        };
        let mut judge = Solver {
            solver: &mut workspace.solver,
            setup,
            input: valid,
            end: making_deadline(),
        };
        let before = workspace.terms.len();
        let parts = nearmiss_merge::acceptance(&request, &mut workspace.terms, &mut judge);
        let Ok(parts) = parts else {
            return Ok(None);
        };
        if workspace.terms.len() - before > MAX_TERMS {
            return Ok(None);
        }
        let mut formula = Formula {
            parts,
            calls: 0,
            answers: 0,
        };
        let agrees = formula.agrees(workspace, setup, valid)?;
        if agrees {
            workspace.solver.assume_always(&formula.parts);
        }
        // What was made of terms before is wider than it need be now.
        workspace.solver.renew();
        Ok(agrees.then_some(formula))
    }

    /// Whether the precondition rejects inputs that break one part.
    fn agrees(
        &mut self,
        workspace: &mut Workspace,
        setup: &[TermId],
        valid: &Input,
    ) -> Result<bool, ExploreError> {
        let end = making_deadline();
        for part in self.parts.clone().into_iter().take(TRIED_PARTS) {
            if end.is_over() {
                break;
            }
            let broken = workspace.terms.not(part);
            if let Solution::Input(input) = workspace.ask(setup, broken, valid)
                && self.is_accepted(workspace, &input)?
            {
                return Ok(false);
            }
        }
        let said = workspace.holds(&self.parts, valid);
        Ok(said == self.is_accepted(workspace, valid)?)
    }

    fn is_accepted(
        &mut self,
        workspace: &mut Workspace,
        input: &Input,
    ) -> Result<bool, ExploreError> {
        let recorded = workspace.run(MODE_PRECONDITION, input)?;
        self.calls += 1;
        Ok(recorded.is_accepted())
    }

    /// Is there an admissible input that makes the goal true, where no other is known yet?
    pub fn admit_first(
        &mut self,
        workspace: &mut Workspace,
        summary: &Summary,
        mut goal: TermId,
    ) -> Result<Solution, ExploreError> {
        for &part in &self.parts {
            goal = workspace.terms.and(goal, part);
        }
        let path = PartialPath {
            conditions: &summary.setup,
            goal,
            base: &summary.valid,
        };
        self.admit(workspace, &path)
    }
}

/// Asks a solver whether inputs that keep to the setup can meet conditions.
struct Solver<'a> {
    solver: &'a mut TreeSession,
    setup: &'a [TermId],
    input: &'a Input,
    end: Deadline,
}

fn making_deadline() -> Deadline {
    Deadline::after(MAKING_TIME, Instant::now() + LONGEST_MAKING)
}

impl Judge for Solver<'_> {
    fn may_hold(&mut self, terms: &mut Terms, conditions: &[TermId]) -> Option<bool> {
        if self.end.is_over() {
            return None;
        }
        let Some((&goal, before)) = conditions.split_last() else {
            return Some(true);
        };
        let all = [self.setup, before].concat();
        let limits = Limits::until(self.end.left(), Instant::now() + LONGEST_MAKING);
        let reply = (self.solver).query(terms, &all, goal, self.input, &limits);
        Some(reply.answer != Answer::Unsat)
    }
}
