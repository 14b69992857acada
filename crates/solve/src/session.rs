//! A session: the questions about one path, in the order of the path.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use nearmiss_expr::support::Part;
use nearmiss_expr::{Evaluator, InputByte, Inputs, TermId, Terms};

use crate::answers::{Answers, Key};
use crate::layers::satisfies;
use crate::nearest;
use crate::question::{Answer, Effort, Layer, Limits, Model, Reply, Solver};
use crate::slice::{Slice, Slices};
use crate::statistics::Statistics;

/// The questions about one path. Conditions only come in; a question about a prefix of the path
/// is asked before the rest of it is assumed. All calls are about one arena of terms.
pub struct Session<'a> {
    recorded: &'a dyn Inputs,
    slices: Slices<'a>,
    solver: Box<dyn Solver>,
    /// What is known from other paths.
    answers: Option<Arc<Answers>>,
    evaluator: Evaluator,
    statistics: Statistics,
    /// Some condition is constantly false: the path cannot be taken.
    contradictory: bool,
}

/// Which answer is wanted: any, or the nearest. An answer to the one is none to the other.
const ANY: u8 = 0;
const NEAREST: u8 = 1;

impl<'a> Session<'a> {
    pub(crate) fn new(
        solver: Box<dyn Solver>,
        recorded: &'a dyn Inputs,
        answers: Option<Arc<Answers>>,
    ) -> Session<'a> {
        Session {
            recorded,
            slices: Slices::new(recorded),
            solver,
            answers,
            evaluator: Evaluator::new(),
            statistics: Statistics::default(),
            contradictory: false,
        }
    }

    /// A session that knows the same conditions from here on, and goes its own way then.
    pub(crate) fn fork(&self, solver: Box<dyn Solver>) -> Session<'a> {
        Session {
            slices: self.slices.unasked(),
            contradictory: self.contradictory,
            ..Session::new(solver, self.recorded, self.answers.clone())
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
        self.ask_with(terms, goal, &[], limits)
    }

    /// The same, where some bytes shall have certain values.
    pub fn ask_with(
        &mut self,
        terms: &mut Terms,
        goal: TermId,
        fixed: &[(InputByte, u8)],
        limits: &Limits,
    ) -> Answer {
        let key = self.key(terms, goal, fixed, ANY);
        if let Some(answer) = self.look_up(terms, key, (goal, fixed), limits) {
            return answer;
        }
        let answer = self.ask_group(terms, goal, fixed, limits.effort());
        self.tell(key, &answer, limits);
        answer
    }

    /// The same, and the answer is as close to the recorded input as can be found: if changing
    /// one byte is enough, one byte; else no changed byte can stay as it was recorded (while
    /// time lasts). The model has only changed bytes.
    pub fn ask_nearest(&mut self, terms: &mut Terms, goal: TermId, limits: &Limits) -> Answer {
        let key = self.key(terms, goal, &[], NEAREST);
        if let Some(answer) = self.look_up(terms, key, (goal, &[]), limits) {
            return answer;
        }
        let slice = self.slices.slice(terms, goal);
        let goal_bytes = self.slices.bytes(terms, goal);
        let effort = limits.effort();
        let answer = nearest::find(self, terms, &slice, &goal_bytes, goal, effort);
        // With more time there might be a nearer one.
        if Instant::now() < effort.deadline {
            self.tell(key, &answer, limits);
        }
        answer
    }

    /// The name of a question, if somebody may know its answer.
    fn key(
        &mut self,
        terms: &Terms,
        goal: TermId,
        fixed: &[(InputByte, u8)],
        purpose: u8,
    ) -> Option<Key> {
        let is_open = !self.contradictory && terms.as_constant(goal).is_none();
        (is_open && self.answers.is_some()).then(|| self.slices.key(terms, goal, fixed, purpose))
    }

    /// What is known from another path. An input is evaluated before it is believed.
    fn look_up(
        &mut self,
        terms: &Terms,
        key: Option<Key>,
        (goal, fixed): (TermId, &[(InputByte, u8)]),
        limits: &Limits,
    ) -> Option<Answer> {
        let start = Instant::now();
        let answer = self.answers.as_ref()?.look_up(key?, limits.time)?;
        if let Answer::Sat(model) = &answer {
            let sliced = self.slices.sliced(terms, goal);
            let slice = self.slices.view(&sliced);
            let question = slice.question(self.recorded, goal, fixed, limits.effort());
            if !satisfies(&mut self.evaluator, terms, &question, model) {
                return None;
            }
        }
        let reply = Reply::new(answer, Layer::Known);
        self.statistics.record(&reply, start.elapsed());
        Some(reply.answer)
    }

    fn tell(&self, key: Option<Key>, answer: &Answer, limits: &Limits) {
        if let (Some(answers), Some(key)) = (&self.answers, key) {
            answers.tell(key, answer, limits.time);
        }
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

    /// Asks about the slice of a goal where it lies.
    fn ask_group(
        &mut self,
        terms: &mut Terms,
        goal: TermId,
        fixed: &[(InputByte, u8)],
        effort: Effort,
    ) -> Answer {
        self.answer(terms, goal, |session, terms| {
            let sliced = session.slices.sliced(terms, goal);
            let slice = session.slices.view(&sliced);
            let question = slice.question(session.recorded, goal, fixed, effort);
            let reply = session.solver.solve(terms, &question);
            // Nobody looks at the conditions where the goal is constantly false.
            if terms.as_constant(goal).is_none() {
                session.slices.was_asked(&sliced);
            }
            reply
        })
    }

    /// Asks about a slice that was made before.
    pub(crate) fn ask_slice(
        &mut self,
        terms: &mut Terms,
        slice: &Slice,
        goal: TermId,
        fixed: &[(InputByte, u8)],
        effort: Effort,
    ) -> Answer {
        self.answer(terms, goal, |session, terms| {
            let slice = slice.view();
            let question = slice.question(session.recorded, goal, fixed, effort);
            session.solver.solve(terms, &question)
        })
    }

    /// Counts what an answer takes; `solve` is called where a solver is needed for it.
    fn answer(
        &mut self,
        terms: &mut Terms,
        goal: TermId,
        solve: impl FnOnce(&mut Session<'a>, &mut Terms) -> Reply,
    ) -> Answer {
        let start = Instant::now();
        let reply = match self.without_solver(terms, goal) {
            Some(reply) => reply,
            None => solve(self, terms),
        };
        self.statistics.record(&reply, start.elapsed());
        reply.answer
    }

    /// What no solver is needed for.
    fn without_solver(&self, terms: &Terms, goal: TermId) -> Option<Reply> {
        let answer = match (self.contradictory, terms.as_constant(goal)) {
            (true, _) => Answer::Unsat,
            (false, Some(1)) => Answer::Sat(Model::new()),
            _ => return None,
        };
        Some(Reply::new(answer, Layer::Constant))
    }
}
