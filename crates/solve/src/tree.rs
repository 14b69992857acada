//! Questions about any set of conditions, in any order: the solver of an exploration.
//!
//! A [`crate::Session`] belongs to one path, and its solver is told conditions for good. Exploring all
//! paths of a function asks about thousands of paths that share their beginnings, and about a
//! precondition under each of them. Here all terms lie in one arena, every condition is blasted
//! once into one growing SAT instance, and a question is a set of assumptions: whatever the solver
//! has learnt on one path serves the next.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use nearmiss_expr::support::{InputSet, Supports};
use nearmiss_expr::{Evaluator, InputByte, Inputs, TermId, Terms};

use crate::back::{BitwuzlaSolver, byte_literals};
use crate::blast::{Bit, Blaster, Interrupted};
use crate::layers::satisfies;
use crate::question::{Answer, Effort, Limits, Model, Question, Reason, Solver};

/// Answers questions about sets of conditions over one arena of terms.
pub struct TreeSolver {
    blaster: Blaster,
    supports: Supports,
    evaluator: Evaluator,
    /// What holds in every question.
    always: Vec<TermId>,
    /// What was asked before, by the slice and the goal.
    known: HashMap<u128, Known>,
    /// What has been done.
    pub figures: TreeFigures,
}

#[derive(Clone)]
enum Known {
    Sat(Model),
    Unsat,
}

/// How many questions there were, and what they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeFigures {
    /// Questions.
    pub questions: u64,
    /// Those that a solver worked on.
    pub solved: u64,
    /// Those that were asked before.
    pub known: u64,
    /// Those that nobody could answer in time.
    pub unknown: u64,
    /// Models that did not satisfy their question: errors of nearmiss.
    pub wrong: u64,
    /// The time of all of them.
    pub time: Duration,
}

/// The part of a set of conditions that a goal has to do with.
struct Slice {
    conditions: Vec<TermId>,
    bytes: InputSet,
}

/// The quick solver gives up after so many conflicts, and Bitwuzla gets the rest of the time.
const QUICK_CONFLICTS: u32 = 20_000;
/// How much is tried for a nearer model.
const NEARER_CONFLICTS: u32 = 200;
/// Numbers lie at multiples of this, their lowest byte first.
const NUMBER_SIZE: u32 = 4;
/// An instance that has grown beyond this is begun anew: old paths weigh on each propagation.
const MOST_CLAUSES: usize = 3_000_000;
/// Most answers that are remembered.
const MOST_KNOWN: usize = 1 << 20;

impl Default for TreeSolver {
    fn default() -> TreeSolver {
        TreeSolver::new()
    }
}

impl TreeSolver {
    /// Knows nothing.
    pub fn new() -> TreeSolver {
        TreeSolver {
            blaster: Blaster::new(),
            supports: Supports::new(),
            evaluator: Evaluator::new(),
            always: Vec::new(),
            known: HashMap::new(),
            figures: TreeFigures::default(),
        }
    }

    /// These conditions hold in every question from now on, which must still have them among its
    /// conditions. A solver that is told so for good need not consider the rest: ranges of inputs
    /// make narrow numbers of wide ones.
    pub fn assume_always(&mut self, terms: &Terms, conditions: &[TermId]) {
        self.always.extend(conditions);
        self.tell_always(terms, self.always.len() - conditions.len());
    }

    /// Forgets everything but what always holds, and the answers.
    pub fn renew(&mut self, terms: &Terms) {
        self.blaster = Blaster::new();
        self.tell_always(terms, 0);
    }

    fn tell_always(&mut self, terms: &Terms, first: usize) {
        let deadline = Instant::now() + Duration::from_secs(1);
        for &condition in &self.always[first..] {
            let zero = |_: InputByte| 0;
            let bit = (self.blaster).condition(terms, &zero, condition, deadline);
            if let Ok(bit) = bit {
                self.blaster.gates.clause(&[bit]);
                self.blaster.assume(terms, condition);
            }
        }
    }

    /// Is there an input that makes all conditions and the goal true? `base` makes the conditions
    /// true: bytes that the goal has nothing to do with stay as they are there. The model has the
    /// bytes that were decided.
    pub fn ask(
        &mut self,
        terms: &mut Terms,
        conditions: &[TermId],
        goal: TermId,
        base: &dyn Inputs,
        limits: &Limits,
    ) -> Answer {
        let start = Instant::now();
        let answer = self.answer(terms, conditions, goal, base, limits);
        self.figures.questions += 1;
        self.figures.unknown += u64::from(matches!(answer, Answer::Unknown(_)));
        self.figures.time += start.elapsed();
        answer
    }

    fn answer(
        &mut self,
        terms: &mut Terms,
        conditions: &[TermId],
        goal: TermId,
        base: &dyn Inputs,
        limits: &Limits,
    ) -> Answer {
        match terms.as_constant(goal) {
            Some(1) => return Answer::Sat(Model::new()),
            Some(_) => return Answer::Unsat,
            None => {}
        }
        let slice = self.slice(terms, conditions, goal);
        let bytes = self.supports.bytes(slice.bytes);
        let key = key(&slice.conditions, goal);
        let question = Question {
            path: &slice.conditions,
            asked: 0,
            goal,
            fixed: &[],
            bytes: &bytes,
            recorded: base,
            effort: limits.effort(),
        };
        match self.known.get(&key) {
            Some(Known::Unsat) => {
                self.figures.known += 1;
                return Answer::Unsat;
            }
            Some(Known::Sat(model)) if satisfies(&mut self.evaluator, terms, &question, model) => {
                self.figures.known += 1;
                return Answer::Sat(model.clone());
            }
            _ => {}
        }
        self.figures.solved += 1;
        let answer = self.checked(terms, &question);
        self.remember(key, &answer);
        answer
    }

    /// Solves, and believes no model that was not evaluated.
    fn checked(&mut self, terms: &mut Terms, question: &Question<'_>) -> Answer {
        let answer = self.solve(terms, question);
        match &answer {
            Answer::Sat(model) if !satisfies(&mut self.evaluator, terms, question, model) => {
                self.figures.wrong += 1;
                Answer::Unknown(Reason::WrongModel)
            }
            _ => answer,
        }
    }

    /// The quick solver, then Bitwuzla.
    fn solve(&mut self, terms: &mut Terms, question: &Question<'_>) -> Answer {
        if self.blaster.gates.clause_count() > MOST_CLAUSES {
            self.renew(terms);
        }
        match self.solve_quickly(terms, question) {
            Ok(answer) => answer,
            Err(Interrupted::TooLarge) => Answer::Unknown(Reason::TooLarge),
            Err(Interrupted::Timeout) if Instant::now() < question.effort.deadline => {
                BitwuzlaSolver::new().solve(terms, question).answer
            }
            Err(Interrupted::Timeout) => Answer::Unknown(Reason::Timeout),
        }
    }

    fn solve_quickly(
        &mut self,
        terms: &Terms,
        question: &Question<'_>,
    ) -> Result<Answer, Interrupted> {
        let Effort { deadline, .. } = question.effort;
        let mut assumptions = Vec::with_capacity(question.path.len() + 1);
        for &condition in question.path.iter().chain([&question.goal]) {
            let recorded = question.recorded;
            let bit = self
                .blaster
                .condition(terms, recorded, condition, deadline)?;
            match bit.known() {
                Some(true) => {}
                Some(false) => return Ok(Answer::Unsat),
                None => assumptions.push(bit.literal()),
            }
        }
        let sat = &mut self.blaster.gates.sat;
        match sat.check(assumptions.clone(), Some(QUICK_CONFLICTS), deadline) {
            Some(true) => Ok(Answer::Sat(self.nearer(question, assumptions))),
            Some(false) => Ok(Answer::Unsat),
            None => Err(Interrupted::Timeout),
        }
    }

    /// A model of what was just found to have one: if possible, one in which numbers differ from
    /// the base in their lowest bytes only. Small numbers are easier to read, and loops that they
    /// bound are shorter.
    fn nearer(&mut self, question: &Question<'_>, mut assumptions: Vec<i32>) -> Model {
        let model = self.model(question.bytes);
        let is_high = |byte: &InputByte| !byte.offset.is_multiple_of(NUMBER_SIZE);
        let base = question.recorded;
        let changes = |&(byte, value): &(InputByte, u8)| is_high(&byte) && base.byte(byte) != value;
        if !model.iter().any(|change| changes(&change)) {
            return model;
        }
        for byte in question.bytes.iter().copied().filter(is_high) {
            let bits = self.blaster.input(byte).unwrap_or_default();
            assumptions.extend(byte_literals(bits, base.byte(byte)));
        }
        let deadline = question.effort.deadline;
        let sat = &mut self.blaster.gates.sat;
        match sat.check(assumptions, Some(NEARER_CONFLICTS), deadline) {
            Some(true) => self.model(question.bytes),
            _ => model,
        }
    }

    fn model(&self, bytes: &[InputByte]) -> Model {
        let sat = &self.blaster.gates.sat;
        let value = |bits: &[Bit]| {
            let bits = bits.iter().rev();
            bits.fold(0, |value, bit| {
                value << 1 | u8::from(sat.value(bit.literal()))
            })
        };
        let decided = |&byte: &InputByte| Some((byte, value(self.blaster.input(byte)?)));
        bytes.iter().filter_map(decided).collect()
    }

    fn remember(&mut self, key: u128, answer: &Answer) {
        let known = match answer {
            Answer::Sat(model) => Known::Sat(model.clone()),
            Answer::Unsat => Known::Unsat,
            Answer::Unknown(_) => return,
        };
        if self.known.len() < MOST_KNOWN {
            self.known.insert(key, known);
        }
    }

    /// The conditions that share input bytes with the goal, directly or through others.
    fn slice(&mut self, terms: &Terms, conditions: &[TermId], goal: TermId) -> Slice {
        let mut bytes = self.supports.of(terms, goal);
        let mut left: Vec<(TermId, InputSet)> = (conditions.iter())
            .filter(|&&condition| terms.as_constant(condition).is_none())
            .map(|&condition| (condition, self.supports.of(terms, condition)))
            .collect();
        let mut slice = Vec::new();
        loop {
            let before = slice.len();
            // From the end: what matters most is near the goal.
            let mut apart = Vec::with_capacity(left.len());
            for (condition, set) in left.into_iter().rev() {
                if self.supports.intersects(bytes, set) {
                    bytes = self.supports.union(bytes, set);
                    slice.push(condition);
                } else {
                    apart.push((condition, set));
                }
            }
            apart.reverse();
            left = apart;
            if slice.len() == before {
                break;
            }
        }
        slice.sort_unstable();
        slice.dedup();
        Slice {
            conditions: slice,
            bytes,
        }
    }
}

/// The name of a question: terms of one arena have one number each.
fn key(conditions: &[TermId], goal: TermId) -> u128 {
    let number = |id: &TermId| id.index() as u128 + 1;
    let conditions: Vec<u128> = conditions.iter().map(number).collect();
    let conditions = nearmiss_expr::digest::of_numbers(&conditions);
    nearmiss_expr::digest::of_numbers(&[conditions, number(&goal)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_expr::Op;

    struct Bench {
        terms: Terms,
        solver: TreeSolver,
    }

    impl Bench {
        fn new() -> Bench {
            Bench {
                terms: Terms::new(),
                solver: TreeSolver::new(),
            }
        }

        fn less(&mut self, a: u32, b: u32) -> TermId {
            let [a, b] = [a, b].map(|offset| {
                let byte = InputByte { channel: 0, offset };
                self.terms.input(byte)
            });
            self.terms.binary(Op::Ult, a, b)
        }

        fn ask(&mut self, conditions: &[TermId], goal: TermId, base: &dyn Inputs) -> Answer {
            let limits = Limits::default();
            self.solver
                .ask(&mut self.terms, conditions, goal, base, &limits)
        }
    }

    fn rising(byte: InputByte) -> u8 {
        byte.offset as u8
    }

    #[test]
    fn conditions_hold_for_one_question_only() {
        let mut bench = Bench::new();
        let (ab, bc, ca) = (bench.less(0, 1), bench.less(1, 2), bench.less(2, 0));
        assert_eq!(bench.ask(&[ab, bc], ca, &rising), Answer::Unsat);
        let Answer::Sat(model) = bench.ask(&[ab], ca, &rising) else {
            panic!("0 < 1 and 2 < 0 can be had");
        };
        let input = model.over(&rising);
        let value = |offset| input.byte(InputByte { channel: 0, offset });
        assert!(value(0) < value(1) && value(2) < value(0));
        assert_eq!(bench.ask(&[bc, ab], ca, &rising), Answer::Unsat);
        assert_eq!(bench.solver.figures.known, 1, "the order does not matter");
    }

    #[test]
    fn what_has_nothing_to_do_with_the_goal_stays() {
        let mut bench = Bench::new();
        let (far, near) = (bench.less(7, 8), bench.less(1, 0));
        let Answer::Sat(model) = bench.ask(&[far], near, &rising) else {
            panic!("1 < 0 can be had");
        };
        assert!(model.iter().all(|(byte, _)| byte.offset < 2));
    }
}
