//! The layers, in front of solvers that say what the test wants them to.

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use common::byte;
use nearmiss_expr::{InputByte, Op, TermId, Terms};
use nearmiss_solve::layers::{
    Checked, Differential, Escalate, Instances, OneByte, RangeBounds, RecentModels, Share,
    SmallNumbers, UnsatCores,
};
use nearmiss_solve::query::{Effort, Policy, Query, Reply};
use nearmiss_solve::{Answer, Layer, Limits, Model, Reason, Solver};

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
    fn solve(&mut self, _: &mut Terms, _: &Query<'_>) -> Reply {
        self.asked.set(self.asked.get() + 1);
        Reply::new(self.answer.clone(), Layer::External)
    }
}

fn recorded(_: InputByte) -> u8 {
    3
}

fn query<'a>(path: &'a [TermId], goal: TermId, bytes: &'a [InputByte]) -> Query<'a> {
    Query {
        constraints: path,
        goal,
        fixed: &[],
        bytes,
        recorded: &recorded,
        policy: Policy::Prefix { seen: 0 },
        effort: Effort {
            deadline: Limits::time(Duration::from_secs(5)).deadline(),
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
        let reply = Checked::new(liar).solve(&mut terms, &query(&[], goal, &bytes));
        assert_eq!(reply.answer, expected);
    }
}

#[test]
fn a_model_that_moves_a_fixed_byte_is_wrong() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let (says, _) = Says::new(Answer::Sat(Model::from_iter([(byte(0), 9)])));
    let bytes = [byte(0)];
    let query = Query {
        fixed: &[(byte(0), 3)],
        ..query(&[], goal, &bytes)
    };
    let reply = Checked::new(says).solve(&mut terms, &query);
    assert_eq!(reply.answer, Answer::Unknown(Reason::WrongModel));
}

/// On a path whose constraints tie all bytes together, the bytes of the goal are tried, wherever they are, and
/// constraints on them hold.
#[test]
fn one_byte_of_the_goal_is_tried() {
    let mut terms = Terms::new();
    let inputs: Vec<TermId> = (0..100).map(|at| terms.input(byte(at))).collect();
    let forbidden = terms.constant(8, 0x62);
    let mut path: Vec<TermId> = Vec::new();
    for pair in inputs.windows(2) {
        let both = terms.binary(Op::Xor, pair[0], pair[1]);
        path.push(terms.binary(Op::Ne, both, forbidden));
    }
    let letter = terms.constant(8, 0x60);
    let goal = terms.binary(Op::Ult, letter, inputs[20]);
    let bytes: Vec<InputByte> = (0..100).map(byte).collect();
    let (says, asked) = Says::new(Answer::Unknown(Reason::Timeout));
    let mut one_byte = OneByte::new(says);
    let reply = one_byte.solve(&mut terms, &query(&path, goal, &bytes));
    // 0x61 would make the exclusive or with its neighbours, which are 3, what is forbidden.
    let expected = Model::from_iter([(byte(20), 0x62)]);
    assert_eq!(
        (reply.answer, reply.layer),
        (Answer::Sat(expected), Layer::OneByte)
    );
    assert_eq!(asked.get(), 0);
    let fixed = [(byte(20), 3)];
    let query = Query {
        fixed: &fixed,
        ..query(&path, goal, &bytes)
    };
    assert_eq!(one_byte.solve(&mut terms, &query).layer, Layer::External);
}

#[test]
fn disagreement_is_no_answer() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let (yes, _) = Says::new(Answer::Sat(Model::new()));
    let (no, _) = Says::new(Answer::Unsat);
    let reply = Differential::new(yes, no).solve(&mut terms, &query(&[], goal, &[]));
    assert_eq!(reply.answer, Answer::Unknown(Reason::Disagreement));
}

#[test]
fn models_answer_later_queries() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let weaker = compare(&mut terms, Op::Ne, 3);
    let recorded_will_do = compare(&mut terms, Op::Ult, 4);
    let stronger = compare(&mut terms, Op::Eq, 10);
    let bytes = [byte(0)];
    let (says, asked) = Says::new(Answer::Sat(Model::from_iter([(byte(0), 9)])));
    let mut models = RecentModels::new(says);
    let mut by = |goal| models.solve(&mut terms, &query(&[], goal, &bytes)).layer;
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
    let mut by = |path: &[TermId], goal| models.solve(&mut terms, &query(path, goal, &bytes)).layer;
    assert_eq!(by(&[], goal), Layer::External);
    assert_eq!(by(&[], weaker), Layer::Models);
    assert_eq!(by(&[small], weaker), Layer::External);
}

#[test]
fn cores_refute_larger_queries_only() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let path: Vec<TermId> = (4..7)
        .map(|bound| compare(&mut terms, Op::Ult, bound))
        .collect();
    let (says, _) = Says::new(Answer::Unsat);
    let mut cores = UnsatCores::new(says);
    let mut by = |path: &[TermId]| cores.solve(&mut terms, &query(path, goal, &[])).layer;
    assert_eq!(by(&path[..2]), Layer::External);
    assert_eq!(by(&path), Layer::Cores);
    assert_eq!(by(&path[1..]), Layer::External);
}

#[test]
fn ranges_need_no_solver() {
    let (mut terms, small) = comparison(Op::Ult, 10);
    let large = compare(&mut terms, Op::Ult, 200);
    let too_large = terms.not(large);
    let bytes = [byte(0)];
    let (says, asked) = Says::new(Answer::Unsat);
    let mut solver = RangeBounds::new(says);
    let mut by = |goal| {
        solver
            .solve(&mut terms, &query(&[small], goal, &bytes))
            .layer
    };
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
    let reply = Escalate::new(tired, share, strong).solve(&mut terms, &query(&[], goal, &[]));
    assert_eq!(reply.answer, Answer::Unsat);
    let model = Answer::Sat(Model::from_iter([(byte(0), 9)]));
    let (quick, _) = Says::new(model.clone());
    let reply = Escalate::new(quick, share, strong).solve(&mut terms, &query(&[], goal, &[]));
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
        solver.solve(&mut terms, &query(&[], goal, &bytes));
        made.get()
    };
    assert_eq!(made_after(&[0, 1]), 1);
    assert_eq!(made_after(&[2]), 2);
    assert_eq!(made_after(&[1]), 2);
    assert_eq!(made_after(&[0, 1, 2]), 2);
    assert_eq!(made_after(&[2, 3]), 2);
    assert_eq!(made_after(&[4]), 3);
}

/// A query whose constraints hold for this once, with what always holds.
fn by_assumptions<'a>(query: Query<'a>, always: &'a [TermId]) -> Query<'a> {
    Query {
        policy: Policy::Assumptions { always },
        ..query
    }
}

#[test]
fn by_assumptions_only_what_always_holds_narrows_ranges() {
    let (mut terms, small) = comparison(Op::Ult, 10);
    let large = compare(&mut terms, Op::Ult, 200);
    let too_large = terms.not(large);
    let bytes = [byte(0)];
    let (says, _) = Says::new(Answer::Unsat);
    let mut solver = RangeBounds::new(says);
    let mut layer = |constraints: &[TermId], always: &[TermId]| {
        let query = by_assumptions(query(constraints, too_large, &bytes), always);
        solver.solve(&mut terms, &query).layer
    };
    assert_eq!(layer(&[small], &[]), Layer::External);
    assert_eq!(layer(&[], &[]), Layer::External, "it held for one query");
    assert_eq!(layer(&[small], &[small]), Layer::Ranges);
}

#[test]
fn by_assumptions_models_are_kept_for_other_paths() {
    let (mut terms, goal) = comparison(Op::Eq, 9);
    let small = compare(&mut terms, Op::Ult, 5);
    let weaker = compare(&mut terms, Op::Ne, 3);
    let bytes = [byte(0)];
    let (says, _) = Says::new(Answer::Sat(Model::from_iter([(byte(0), 9)])));
    let mut models = RecentModels::new(says);
    let mut layer = |constraints: &[TermId], goal| {
        let query = by_assumptions(query(constraints, goal, &bytes), &[]);
        models.solve(&mut terms, &query).layer
    };
    assert_eq!(layer(&[], goal), Layer::External);
    assert_eq!(layer(&[small], weaker), Layer::External);
    assert_eq!(layer(&[], weaker), Layer::Models);
}

/// Gives one model where nothing is fixed, another where something is.
struct Two {
    free: Model,
    fixed: Answer,
}

impl Solver for Two {
    fn solve(&mut self, _: &mut Terms, query: &Query<'_>) -> Reply {
        let answer = match query.fixed {
            [] => Answer::Sat(self.free.clone()),
            fixed => {
                assert_eq!(fixed, [(byte(1), 3)], "the high byte, as recorded");
                self.fixed.clone()
            }
        };
        Reply::new(answer, Layer::External)
    }
}

#[test]
fn small_numbers_are_preferred_where_there_are_some() {
    let (mut terms, goal) = comparison(Op::Ne, 3);
    let bytes = [byte(0), byte(1)];
    let large = Model::from_iter([(byte(0), 3), (byte(1), 9)]);
    let small = Model::from_iter([(byte(0), 9), (byte(1), 3)]);
    for (free, fixed, expected) in [
        (&large, Answer::Sat(small.clone()), &small),
        (&large, Answer::Unsat, &large),
        (&small, Answer::Sat(large.clone()), &small),
    ] {
        let free = free.clone();
        let mut solver = SmallNumbers::new(Box::new(Two { free, fixed }));
        let reply = solver.solve(&mut terms, &query(&[], goal, &bytes));
        assert_eq!(reply.answer, Answer::Sat(expected.clone()));
    }
}
