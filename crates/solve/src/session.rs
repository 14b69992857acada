//! A session: the queries about one path, in the order of the path. Incremental by prefix.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use nearmiss_expr::support::Part;
use nearmiss_expr::{InputByte, Inputs, Node, Op, TermId, Terms};

use crate::answers::Answers;
use crate::front::{Front, Recalled};
use crate::nearest::{self, Nearness};
use crate::query::{Answer, Effort, Layer, Limits, Reply, Solver};
use crate::slice::{Slice, Slices};
use crate::statistics::Statistics;

/// The queries about one path. Constraints only come in; a query about a prefix of the path
/// is made before the rest of it is assumed. All calls are about one arena of terms.
pub struct Session<'a> {
    recorded: &'a dyn Inputs,
    slices: Slices<'a>,
    front: Front,
    /// Some constraint is constantly false: the path cannot be taken.
    contradictory: bool,
}

/// Which answer is wanted: any, the nearest, or a near one. An answer to the one is none to the others.
const ANY: u8 = 0;
const NEAREST: u8 = 1;
const NEAR: u8 = 2;

impl<'a> Session<'a> {
    pub(crate) fn new(
        solver: Box<dyn Solver>,
        recorded: &'a dyn Inputs,
        answers: Option<Arc<Answers>>,
    ) -> Session<'a> {
        Session {
            recorded,
            slices: Slices::new(recorded),
            front: Front::new(solver, answers),
            contradictory: false,
        }
    }

    /// A session that knows the same constraints from here on, and goes its own way then.
    pub(crate) fn fork(&self, solver: Box<dyn Solver>) -> Session<'a> {
        Session {
            slices: self.slices.unseen(),
            contradictory: self.contradictory,
            ..Session::new(solver, self.recorded, self.front.answers())
        }
    }

    /// The path goes on: a one-bit term that is true from here on. The recorded input makes it
    /// true.
    pub fn assume(&mut self, terms: &Terms, constraint: TermId) {
        // A conjunction is several constraints: bytes that are only in different ones are no slice.
        let mut parts = vec![constraint];
        let mut seen = HashSet::new();
        while let Some(part) = parts.pop() {
            if !seen.insert(part) {
                continue;
            }
            match terms.node(part) {
                Node::Binary { op: Op::And, a, b } => parts.extend([b, a]),
                Node::Const { value, .. } => self.contradictory |= value == 0,
                _ => self.slices.add(terms, part),
            }
        }
    }

    /// Is there an input that takes the path so far and makes the goal true?
    pub fn query(&mut self, terms: &mut Terms, goal: TermId, limits: &Limits) -> Reply {
        self.query_with(terms, goal, &[], limits)
    }

    /// The same, where some bytes shall have certain values.
    pub fn query_with(
        &mut self,
        terms: &mut Terms,
        goal: TermId,
        fixed: &[(InputByte, u8)],
        limits: &Limits,
    ) -> Reply {
        let start = Instant::now();
        if let Some(reply) = self.constant(terms, goal) {
            return self.front.count(start, reply);
        }
        let recalled = self.recall(terms, goal, fixed, (ANY, limits));
        if let Some(reply) = recalled.certain() {
            return self.front.count(start, reply);
        }
        let sliced = self.slices.sliced(terms, goal);
        let view = self.slices.view(&sliced);
        let query = view.query(self.recorded, goal, fixed, limits.effort());
        let reply = self.front.answer(terms, &query, &recalled, limits);
        if reply.layer != Layer::Known {
            self.slices.was_queried(&sliced);
        }
        self.front.count(start, reply)
    }

    /// The same, and the answer is as close to the recorded input as can be found: if changing
    /// one byte is enough, one byte; else no changed byte can stay as it was recorded (while
    /// time lasts). The model has only changed bytes.
    pub fn query_nearest(&mut self, terms: &mut Terms, goal: TermId, limits: &Limits) -> Reply {
        self.query_towards(terms, goal, Nearness::Nearest, limits)
    }

    /// The same with one query: what changes is brought back by evaluation alone.
    pub fn query_near(&mut self, terms: &mut Terms, goal: TermId, limits: &Limits) -> Reply {
        self.query_towards(terms, goal, Nearness::Near, limits)
    }

    fn query_towards(
        &mut self,
        terms: &mut Terms,
        goal: TermId,
        nearness: Nearness,
        limits: &Limits,
    ) -> Reply {
        let start = Instant::now();
        let purpose = match nearness {
            Nearness::Nearest => NEAREST,
            Nearness::Near => NEAR,
        };
        if let Some(reply) = self.constant(terms, goal) {
            return self.front.count(start, reply);
        }
        let recalled = self.recall(terms, goal, &[], (purpose, limits));
        if let Some(reply) = recalled.certain() {
            return self.front.count(start, reply);
        }
        let slice = self.slices.slice(terms, goal);
        let effort = limits.effort();
        let query = slice.view().query(self.recorded, goal, &[], effort);
        if let Some(reply) = self.front.confirm(terms, &query, &recalled) {
            return self.front.count(start, reply);
        }
        let goal_bytes = self.slices.bytes(terms, goal);
        // Counts the queries that it takes.
        let mut reply = nearest::find(self, terms, &slice, &goal_bytes, (goal, nearness), effort);
        reply.time = start.elapsed();
        // With more time there might be a nearer one.
        if !effort.deadline.is_over() {
            self.front.remember(&recalled, &reply.answer, limits);
        }
        reply
    }

    /// What another session of the stack knows of a query.
    fn recall(
        &mut self,
        terms: &Terms,
        goal: TermId,
        fixed: &[(InputByte, u8)],
        (purpose, limits): (u8, &Limits),
    ) -> Recalled {
        let slices = &mut self.slices;
        (self.front).recall(limits, || slices.key(terms, goal, fixed, purpose))
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
        self.front.statistics()
    }

    /// The recorded input.
    pub fn recorded(&self) -> &'a dyn Inputs {
        self.recorded
    }

    /// A query about a slice that was made before; `nearest` makes several of them.
    pub(crate) fn query_slice(
        &mut self,
        terms: &mut Terms,
        slice: &Slice,
        goal: TermId,
        fixed: &[(InputByte, u8)],
        effort: Effort,
    ) -> Reply {
        let start = Instant::now();
        let query = slice.view().query(self.recorded, goal, fixed, effort);
        let reply = self.front.solve(terms, &query);
        self.front.count(start, reply)
    }

    /// What no slice is needed for.
    fn constant(&self, terms: &Terms, goal: TermId) -> Option<Reply> {
        if self.contradictory {
            return Some(Reply::new(Answer::Unsat, Layer::Constant));
        }
        Front::constant(terms, goal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stack;

    #[test]
    fn a_conjunction_ties_no_bytes_together() {
        let mut terms = Terms::new();
        let newline = terms.constant(8, b'\n'.into());
        let bytes = [0, 1, 2].map(|offset| terms.input(InputByte { channel: 0, offset }));
        let differ = bytes.map(|byte| terms.binary(Op::Ne, byte, newline));
        let all = differ.into_iter().reduce(|all, one| terms.and(all, one));
        let recorded = |_: InputByte| b'a';
        let mut session = Stack::default().session(&recorded);
        session.assume(&terms, all.unwrap());
        let slice = session.slice(&terms, differ[1]);
        assert_eq!(slice.constraints, [differ[1]]);
        let goal = terms.eq(bytes[1], newline);
        let reply = session.query(&mut terms, goal, &Limits::default());
        assert_eq!(reply.answer, Answer::Unsat);
    }
}
