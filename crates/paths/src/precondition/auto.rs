//! Whichever suits: the formula of the precondition's code; where there is none a summary that grows,
//! unless exploring the precondition again each time is quicker.
//!
//! A summary is best where the precondition has few paths, or where a path that is known decides many
//! queries. If nearly every partial path needs a path of the precondition that was not known, its formula
//! only grows, and the late treatment is quicker. This is not known beforehand; so both are measured. After
//! a number of partial paths a few are given to the late treatment; if those took clearly less time, it
//! stays with it, else the next trial comes after twice as many.
//!
//! Calls of the precondition are cheap beside queries, and what is known of it makes queries easier. So
//! it learns on the side: a few calls at once, then as many as there were partial paths, each time their
//! number has doubled.

use std::time::{Duration, Instant};

use nearmiss_sites::program::Program;

use super::formula::Formula;
use super::late::Late;
use super::summary::Summary;
use super::{Calls, PartialPath, Precondition};
use crate::error::ExploreError;
use crate::workspace::{Solution, Workspace};

/// A formula, or a summary and a rival.
pub struct Auto {
    formula: Option<Formula>,
    summary: Summary,
    late: Late,
    turn: Turn,
    /// Partial paths between two trials.
    interval: u32,
    /// What the summary has taken since the last trial.
    by_summary: Measured,
    /// What the late treatment has taken in this trial.
    by_late: Measured,
    /// The summary's calls at the last trial.
    calls_before: u64,
    /// Partial paths so far, and when it learns next.
    admitted: u64,
    next_lesson: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Summary,
    Trial,
    /// For good.
    Late,
}

#[derive(Clone, Copy, Default)]
struct Measured {
    time: Duration,
    count: u32,
}

impl Measured {
    fn add(&mut self, time: Duration) {
        self.time += time;
        self.count += 1;
    }

    fn mean(&self) -> Duration {
        self.time / self.count.max(1)
    }
}

/// Calls of the first and of the longest lesson.
const FIRST_LESSON: u64 = 16;
const LAST_LESSON: u64 = 256;
/// How long a lesson may take.
const LESSON_TIME: Duration = Duration::from_millis(500);
/// Partial paths before the first trial.
const FIRST_TRIAL: u32 = 64;
/// Partial paths of a trial.
const TRIAL: u32 = 4;

impl Precondition for Auto {
    fn admit(
        &mut self,
        workspace: &mut Workspace,
        path: &PartialPath,
    ) -> Result<Solution, ExploreError> {
        if let Some(formula) = &mut self.formula {
            return match path.conditions.is_empty() {
                true => formula.admit_first(workspace, &self.summary, path.goal),
                false => formula.admit(workspace, path),
            };
        }
        self.learn(workspace)?;
        let start = Instant::now();
        // The summary knows an input to begin with.
        let is_late = self.turn != Turn::Summary && !path.conditions.is_empty();
        let admitted = match is_late {
            true => self.late.admit(workspace, path),
            false => self.summary.admit(workspace, path),
        };
        let measured = match is_late {
            true => &mut self.by_late,
            false => &mut self.by_summary,
        };
        measured.add(start.elapsed());
        let before = self.turn;
        self.take_turns();
        if self.turn == Turn::Late && before != Turn::Late {
            // Large formulas that are not queried any more weigh on every query.
            workspace.solver.renew();
        }
        admitted
    }

    fn calls(&self) -> Calls {
        let by_formula = self.formula.as_ref().map_or(0, |formula| formula.calls);
        Calls {
            calls: self.summary.calls.calls + self.late.calls.calls + by_formula,
            paths: self.summary.calls.paths.max(self.late.calls.paths),
        }
    }
}

impl Auto {
    /// Begins with the formula, if there is one, else with the summary.
    pub fn new(
        workspace: &mut Workspace,
        summary: Summary,
        program: Option<&Program>,
    ) -> Result<Auto, ExploreError> {
        let (setup, valid) = (&summary.setup, &summary.valid);
        let formula = match program {
            Some(program) => Formula::make(workspace, program, setup, valid)?,
            None => None,
        };
        Ok(Auto {
            formula,
            calls_before: summary.calls.calls,
            summary,
            late: Late::default(),
            turn: Turn::Summary,
            interval: FIRST_TRIAL,
            by_summary: Measured::default(),
            by_late: Measured::default(),
            admitted: 0,
            next_lesson: 0,
        })
    }

    /// Whether the precondition's code is a formula.
    pub fn has_formula(&self) -> bool {
        self.formula.is_some()
    }

    fn learn(&mut self, workspace: &mut Workspace) -> Result<(), ExploreError> {
        self.admitted += 1;
        if self.admitted <= self.next_lesson || self.turn != Turn::Summary {
            return Ok(());
        }
        let calls = self.admitted.clamp(FIRST_LESSON, LAST_LESSON);
        self.next_lesson = self.admitted.max(FIRST_LESSON) * 2;
        self.summary
            .learn(workspace, calls, Instant::now() + LESSON_TIME)
    }

    fn take_turns(&mut self) {
        match self.turn {
            Turn::Summary if self.by_summary.count >= self.interval => {
                // A summary that is hardly asked for more has won.
                let calls = self.summary.calls.calls - self.calls_before;
                if calls > u64::from(self.interval / 4) && !self.summary.is_complete {
                    self.turn = Turn::Trial;
                    self.by_late = Measured::default();
                } else {
                    self.restart();
                }
            }
            Turn::Trial if self.by_late.count >= TRIAL => {
                if self.by_late.mean() * 3 < self.by_summary.mean() * 2 {
                    self.turn = Turn::Late;
                } else {
                    self.restart();
                }
            }
            _ => {}
        }
    }

    fn restart(&mut self) {
        self.turn = Turn::Summary;
        self.interval = self.interval.saturating_mul(2);
        self.by_summary = Measured::default();
        self.calls_before = self.summary.calls.calls;
    }
}
