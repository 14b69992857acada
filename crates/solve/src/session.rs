//! A session: the questions about one path, in the order of the path.

use std::collections::HashSet;
use std::time::Instant;

use nearmiss_expr::support::Part;
use nearmiss_expr::{InputByte, Inputs, TermId, Terms};

use crate::nearest;
use crate::question::{Answer, Effort, Layer, Limits, Model, Question, Reply, Solver};
use crate::slice::{Slice, Slices};
use crate::statistics::Statistics;

/// The questions about one path. Conditions only come in; a question about a prefix of the path
/// is asked before the rest of it is assumed. All calls are about one arena of terms.
pub struct Session<'a> {
    recorded: &'a dyn Inputs,
    slices: Slices,
    solver: Box<dyn Solver>,
    statistics: Statistics,
    /// Some condition is constantly false: the path cannot be taken.
    contradictory: bool,
}

impl<'a> Session<'a> {
    pub(crate) fn new(solver: Box<dyn Solver>, recorded: &'a dyn Inputs) -> Session<'a> {
        Session {
            recorded,
            slices: Slices::new(),
            solver,
            statistics: Statistics::default(),
            contradictory: false,
        }
    }

    /// The path goes on: a one-bit term that is true from here on. The recorded input makes it
    /// true.
    pub fn assume(&mut self, terms: &Terms, condition: TermId) {
        match terms.as_constant(condition) {
            Some(value) => self.contradictory |= value == 0,
            None => self.slices.add(terms, condition),
        }
    }

    /// Is there an input that takes the path so far and makes the goal true?
    pub fn ask(&mut self, terms: &mut Terms, goal: TermId, limits: &Limits) -> Answer {
        let slice = self.slices.slice(terms, goal);
        self.ask_slice(terms, &slice, goal, &[], limits.effort())
    }

    /// The same, where some bytes shall have certain values.
    pub fn ask_with(
        &mut self,
        terms: &mut Terms,
        goal: TermId,
        fixed: &[(InputByte, u8)],
        limits: &Limits,
    ) -> Answer {
        let slice = self.slices.slice(terms, goal);
        self.ask_slice(terms, &slice, goal, fixed, limits.effort())
    }

    /// The same, and the answer is as close to the recorded input as can be found: if changing
    /// one byte is enough, one byte; else no changed byte can stay as it was recorded (while
    /// time lasts). The model has only changed bytes.
    pub fn ask_nearest(&mut self, terms: &mut Terms, goal: TermId, limits: &Limits) -> Answer {
        let slice = self.slices.slice(terms, goal);
        let goal_bytes = self.slices.bytes(terms, goal);
        nearest::find(self, terms, &slice, &goal_bytes, goal, limits.effort())
    }

    /// The part of the path that matters for a goal.
    pub fn slice(&mut self, terms: &Terms, goal: TermId) -> Slice {
        self.slices.slice(terms, goal)
    }

    /// Which of these bytes may have to change for a goal.
    pub fn related(&mut self, terms: &Terms, goal: TermId, bytes: &[InputByte]) -> Vec<bool> {
        self.slices.related(terms, goal, bytes)
    }

    /// The input bytes that a term depends on, but for those in parts of its set of bytes that
    /// were seen before. In no particular order.
    pub fn new_bytes(
        &mut self,
        terms: &Terms,
        id: TermId,
        seen: &mut HashSet<Part>,
    ) -> Vec<InputByte> {
        self.slices.new_bytes(terms, id, seen)
    }

    /// What the layers have done so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The recorded input.
    pub fn recorded(&self) -> &'a dyn Inputs {
        self.recorded
    }

    pub(crate) fn ask_slice(
        &mut self,
        terms: &mut Terms,
        slice: &Slice,
        goal: TermId,
        fixed: &[(InputByte, u8)],
        effort: Effort,
    ) -> Answer {
        let start = Instant::now();
        let question = Question {
            path: &slice.conditions,
            goal,
            fixed,
            bytes: &slice.bytes,
            recorded: self.recorded,
            effort,
        };
        let reply = if self.contradictory {
            Reply::new(Answer::Unsat, Layer::Constant)
        } else if terms.as_constant(goal) == Some(1) {
            Reply::new(Answer::Sat(Model::new()), Layer::Constant)
        } else {
            self.solver.solve(terms, &question)
        };
        self.statistics.record(&reply, start.elapsed());
        reply.answer
    }
}
