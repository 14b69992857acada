//! The layers, in front of solvers that say what the test wants them to.

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use common::byte;
use nearmiss_expr::{InputByte, Op, TermId, Terms};
use nearmiss_solve::layers::{
    Checked, ConstantGoals, Differential, Escalate, Instances, RangeBounds, RecentModels, Share,
    UnsatCores,
};
use nearmiss_solve::question::{Effort, Question, Reply};
use nearmiss_solve::{Answer, Layer, Model, Reason, Solver};

/// Always says the same and counts how often it was asked.
struct Says {
    answer: Answer,
    asked: Rc<Cell<u32>>,
}

impl Says {
    fn new(answer: Answer) -> (Box<Says>, Rc<Cell<u32>>) {
        let asked = Rc::new(Cell::new(0));
        let says = Says {
            answer,
            asked: asked.clone(),
        };
        (Box::new(says), asked)
    }
}

impl Solver for Says {
    fn solve(&mut self, _: &mut Terms, _: &Question<'_>) -> Reply {
        self.asked.set(self.asked.get() + 1);
        Reply::new(self.answer.clone(), Layer::External)
    }
}

fn recorded(_: InputByte) -> u8 {
    3
}

fn question<'a>(path: &'a [TermId], goal: TermId, bytes: &'a [InputByte]) -> Question<'a> {
    Question {
        path,
        asked: 0,
        goal,
        fixed: &[],
        bytes,
        recorded: &recorded,
        effort: Effort {
            deadline: Instant::now() + Duration::from_secs(5),
            conflicts: None,
        },
    }
}

/// Terms, and the first input byte compared with a number.
fn comparison(op: Op, value: u128) -> (Terms, TermId) {
    let mut terms = Terms::new();
    let term = compare(&mut terms, op, value);
    (terms, term)
}

fn compare(terms: &mut Terms, op: Op, value: u128) -> TermId {
    let (input, value) = (terms.input(byte(0)), terms.constant(8, value));
    terms.binary(op, input, value)
}

#[test]
fn a_wrong_model_is_not_believed() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let bytes = [byte(0)];
    for (value, expected) in [
        (9, Answer::Sat(Model::from_iter([(byte(0), 9)]))),
        (8, Answer::Unknown(Reason::WrongModel)),
    ] {
        let (liar, _) = Says::new(Answer::Sat(Model::from_iter([(byte(0), value)])));
        let reply = Checked::new(liar).solve(&mut terms, &question(&[], goal, &bytes));
        assert_eq!(reply.answer, expected);
    }
}

#[test]
fn a_model_that_moves_a_fixed_byte_is_wrong() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let (says, _) = Says::new(Answer::Sat(Model::from_iter([(byte(0), 9)])));
    let bytes = [byte(0)];
    let question = Question {
        fixed: &[(byte(0), 3)],
        ..question(&[], goal, &bytes)
    };
    let reply = Checked::new(says).solve(&mut terms, &question);
    assert_eq!(reply.answer, Answer::Unknown(Reason::WrongModel));
}

#[test]
fn disagreement_is_no_answer() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let (yes, _) = Says::new(Answer::Sat(Model::new()));
    let (no, _) = Says::new(Answer::Unsat);
    let reply = Differential::new(yes, no).solve(&mut terms, &question(&[], goal, &[]));
    assert_eq!(reply.answer, Answer::Unknown(Reason::Disagreement));
}

#[test]
fn models_answer_later_questions() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let weaker = compare(&mut terms, Op::Ne, 3);
    let recorded_will_do = compare(&mut terms, Op::Ult, 4);
    let stronger = compare(&mut terms, Op::Eq, 10);
    let bytes = [byte(0)];
    let (says, asked) = Says::new(Answer::Sat(Model::from_iter([(byte(0), 9)])));
    let mut models = RecentModels::new(says);
    let mut by = |goal| models.solve(&mut terms, &question(&[], goal, &bytes)).by;
    assert_eq!(by(recorded_will_do), Layer::Models);
    assert_eq!(by(goal), Layer::External);
    assert_eq!(by(weaker), Layer::Models);
    assert_eq!(by(stronger), Layer::External);
    assert_eq!(asked.get(), 2);
}

#[test]
fn models_that_leave_the_path_are_dropped() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let weaker = compare(&mut terms, Op::Ne, 3);
    let small = compare(&mut terms, Op::Ult, 5);
    let bytes = [byte(0)];
    let (says, _) = Says::new(Answer::Sat(Model::from_iter([(byte(0), 9)])));
    let mut models = RecentModels::new(says);
    let mut by = |path: &[TermId], goal| models.solve(&mut terms, &question(path, goal, &bytes)).by;
    assert_eq!(by(&[], goal), Layer::External);
    assert_eq!(by(&[], weaker), Layer::Models);
    assert_eq!(by(&[small], weaker), Layer::External);
}

#[test]
fn cores_refute_larger_questions_only() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let path: Vec<TermId> = (4..7)
        .map(|bound| compare(&mut terms, Op::Ult, bound))
        .collect();
    let (says, _) = Says::new(Answer::Unsat);
    let mut cores = UnsatCores::new(says);
    let mut by = |path: &[TermId]| cores.solve(&mut terms, &question(path, goal, &[])).by;
    assert_eq!(by(&path[..2]), Layer::External);
    assert_eq!(by(&path), Layer::Cores);
    assert_eq!(by(&path[1..]), Layer::External);
}

#[test]
fn ranges_and_constants_need_no_solver() {
    let (mut terms, small) = comparison(Op::Ult, 10);
    let large = compare(&mut terms, Op::Ult, 200);
    let too_large = terms.not(large);
    let never = terms.truth(false);
    let bytes = [byte(0)];
    let (says, asked) = Says::new(Answer::Unsat);
    let mut solver = ConstantGoals::new(Box::new(RangeBounds::new(says)));
    let mut by = |goal| {
        solver
            .solve(&mut terms, &question(&[small], goal, &bytes))
            .by
    };
    assert_eq!(by(never), Layer::Constant);
    assert_eq!(by(too_large), Layer::Ranges);
    assert_eq!(asked.get(), 0);
}

#[test]
fn the_strong_solver_gets_what_the_quick_one_leaves() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let share = Share {
        conflicts: 10,
        part: 2,
    };
    let strong: fn() -> Box<dyn Solver> = || Says::new(Answer::Unsat).0;
    let (tired, _) = Says::new(Answer::Unknown(Reason::Timeout));
    let reply = Escalate::new(tired, share, strong).solve(&mut terms, &question(&[], goal, &[]));
    assert_eq!(reply.answer, Answer::Unsat);
    let model = Answer::Sat(Model::from_iter([(byte(0), 9)]));
    let (quick, _) = Says::new(model.clone());
    let reply = Escalate::new(quick, share, strong).solve(&mut terms, &question(&[], goal, &[]));
    assert_eq!(reply.answer, model);
}

#[test]
fn each_group_of_bytes_has_an_instance() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let made = Rc::new(Cell::new(0));
    let count = made.clone();
    let mut solver = Instances::new(Box::new(move || {
        count.set(count.get() + 1);
        Says::new(Answer::Unsat).0
    }));
    let mut made_after = |offsets: &[u32]| {
        let bytes: Vec<InputByte> = offsets.iter().copied().map(byte).collect();
        solver.solve(&mut terms, &question(&[], goal, &bytes));
        made.get()
    };
    assert_eq!(made_after(&[0, 1]), 1);
    assert_eq!(made_after(&[2]), 2);
    assert_eq!(made_after(&[1]), 2);
    assert_eq!(made_after(&[0, 1, 2]), 2);
    assert_eq!(made_after(&[2, 3]), 2);
    assert_eq!(made_after(&[4]), 3);
}
