//! Queries about any set of constraints, in any order: all paths of a function. Incremental by
//! assumptions.
//!
//! A [`crate::Session`] belongs to one path, and its solver asserts constraints for good. Exploring
//! all paths of a function makes queries about thousands of paths that share their beginnings, and
//! about a precondition under each of them. Here all terms lie in one arena, every constraint is
//! blasted once into one growing SAT instance, and a query is a set of assumptions: whatever the
//! solver has learnt on one path serves the next.

use std::sync::Arc;
use std::time::Instant;

use nearmiss_expr::support::Supports;
use nearmiss_expr::{Inputs, TermId, Terms, digest};

use crate::answers::{Answers, Key};
use crate::front::Front;
use crate::query::{Limits, Policy, Query, Reply};
use crate::slice::set;
use crate::stack::Stack;
use crate::statistics::Statistics;

/// Queries about sets of constraints over one arena of terms.
pub struct TreeSession {
    stack: Stack,
    front: Front,
    supports: Supports,
    /// What holds in every query.
    always: Vec<TermId>,
}

/// How much is remembered: answers, and bytes of inputs in them.
const ROOM: usize = 1 << 23;

impl TreeSession {
    pub(crate) fn new(stack: Stack) -> TreeSession {
        // Terms are known by their numbers in this arena, which mean nothing in another.
        let answers = Arc::new(Answers::with_room(ROOM));
        TreeSession {
            front: Front::new(stack.assemble_for_assumptions(), Some(answers)),
            stack,
            supports: Supports::new(),
            always: Vec::new(),
        }
    }

    /// A session of the same kind that knows nothing yet.
    pub fn fresh(&self) -> TreeSession {
        TreeSession::new(self.stack.clone())
    }

    /// These constraints hold in every query from now on, which must still have them among its
    /// constraints. A solver that asserts them for good need not consider the rest: ranges of
    /// inputs make narrow numbers of wide ones.
    pub fn assume_always(&mut self, constraints: &[TermId]) {
        self.always.extend(constraints);
    }

    /// Forgets everything but what always holds, the answers and the statistics.
    pub fn renew(&mut self) {
        (self.front).replace_solver(self.stack.assemble_for_assumptions());
    }

    /// Is there an input that makes all constraints and the goal true? `base` makes the constraints
    /// true: bytes that the goal has nothing to do with stay as they are there. The model has the
    /// bytes that were decided.
    pub fn query(
        &mut self,
        terms: &mut Terms,
        constraints: &[TermId],
        goal: TermId,
        base: &dyn Inputs,
        limits: &Limits,
    ) -> Reply {
        let start = Instant::now();
        if let Some(reply) = Front::constant(terms, goal) {
            return self.front.count(start, reply);
        }
        let slice = set::slice(&mut self.supports, terms, constraints, goal);
        let query = Query {
            constraints: &slice.constraints,
            goal,
            fixed: &[],
            bytes: &slice.bytes,
            recorded: base,
            policy: Policy::Assumptions {
                always: &self.always,
            },
            effort: limits.effort(),
        };
        let recalled = (self.front).recall(limits, || key(&slice.constraints, goal));
        let reply = self.front.answer(terms, &query, &recalled, limits);
        self.front.count(start, reply)
    }

    /// What the layers have done so far.
    pub fn statistics(&self) -> &Statistics {
        self.front.statistics()
    }
}

/// The name of a query: terms of one arena have one number each. An input found from one base
/// decides all bytes of the slice, so it serves every other base.
fn key(constraints: &[TermId], goal: TermId) -> Key {
    let number = |id: &TermId| id.index() as u128 + 1;
    let constraints: Vec<u128> = constraints.iter().map(number).collect();
    let constraints = digest::of_numbers(&constraints);
    Key {
        query: digest::of_numbers(&[constraints, number(&goal)]),
        recorded: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Answer, Layer};
    use nearmiss_expr::{InputByte, Op};

    struct Bench {
        terms: Terms,
        session: TreeSession,
    }

    impl Bench {
        fn new() -> Bench {
            Bench {
                terms: Terms::new(),
                session: Stack::default().tree(),
            }
        }

        fn less(&mut self, a: u32, b: u32) -> TermId {
            let [a, b] = [a, b].map(|offset| {
                let byte = InputByte { channel: 0, offset };
                self.terms.input(byte)
            });
            self.terms.binary(Op::Ult, a, b)
        }

        fn query(&mut self, constraints: &[TermId], goal: TermId, base: &dyn Inputs) -> Answer {
            let limits = Limits::default();
            self.session
                .query(&mut self.terms, constraints, goal, base, &limits)
                .answer
        }
    }

    fn rising(byte: InputByte) -> u8 {
        byte.offset as u8
    }

    #[test]
    fn constraints_hold_for_one_query_only() {
        let mut bench = Bench::new();
        let (ab, bc, ca) = (bench.less(0, 1), bench.less(1, 2), bench.less(2, 0));
        assert_eq!(bench.query(&[ab, bc], ca, &rising), Answer::Unsat);
        let Answer::Sat(model) = bench.query(&[ab], ca, &rising) else {
            panic!("0 < 1 and 2 < 0 can be had");
        };
        let input = model.over(&rising);
        let value = |offset| input.byte(InputByte { channel: 0, offset });
        assert!(value(0) < value(1) && value(2) < value(0));
        assert_eq!(bench.query(&[bc, ab], ca, &rising), Answer::Unsat);
        let known = bench.session.statistics().layer(Layer::Known).queries();
        assert_eq!(known, 1, "the order does not matter");
    }

    #[test]
    fn what_has_nothing_to_do_with_the_goal_stays() {
        let mut bench = Bench::new();
        let (far, near) = (bench.less(7, 8), bench.less(1, 0));
        let Answer::Sat(model) = bench.query(&[far], near, &rising) else {
            panic!("1 < 0 can be had");
        };
        assert!(model.iter().all(|(byte, _)| byte.offset < 2));
    }

    #[test]
    fn what_always_holds_outlasts_the_solver() {
        let mut bench = Bench::new();
        let (ab, ba, cb) = (bench.less(0, 1), bench.less(1, 0), bench.less(2, 1));
        bench.session.assume_always(&[ab]);
        assert_eq!(bench.query(&[ab], ba, &rising), Answer::Unsat);
        bench.session.renew();
        let Answer::Sat(model) = bench.query(&[ab], cb, &rising) else {
            panic!("0 < 1 and 2 < 1 can be had");
        };
        let input = model.over(&rising);
        let value = |offset| input.byte(InputByte { channel: 0, offset });
        assert!(value(0) < value(1) && value(2) < value(1));
    }
}
