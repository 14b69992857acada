//! Random small queries: the truth by trying every input, against every back end and the
//! whole stack.

mod common;

use common::{Random, byte, condition, limits};
use nearmiss_expr::{Evaluator, InputByte, TermId, Terms};
use nearmiss_solve::{Answer, Backend, Layer, Stack};

/// Whether some value of the first two bytes makes all conditions true.
fn brute_force(terms: &Terms, conditions: &[TermId]) -> bool {
    let mut evaluator = Evaluator::new();
    (0..=u16::MAX).any(|input| {
        let inputs = move |byte: InputByte| input.to_le_bytes()[byte.offset as usize];
        evaluator.reset();
        conditions
            .iter()
            .all(|&condition| evaluator.holds(terms, &inputs, condition))
    })
}

#[test]
fn answers_are_true() {
    let shared = Stack::shared(Backend::default());
    let stacks = [
        Stack::default(),
        Stack::bare(Backend::BitBlaster),
        Stack::bare(Backend::Bitwuzla),
        Stack::new(Backend::Differential),
        shared.clone(),
        // Knows the answers of the one before.
        shared,
    ];
    let mut random = Random::new(11);
    let (mut satisfiable, mut unsatisfiable, mut known) = (0, 0, 0);
    for round in 0..60 {
        let mut terms = Terms::new();
        let recorded_value = random.next() as u16;
        let recorded = move |byte: InputByte| recorded_value.to_le_bytes()[byte.offset as usize];
        let mut evaluator = Evaluator::new();
        let path: Vec<TermId> = (0..3)
            .map(|_| {
                let condition = condition(&mut terms, &mut random, 2, 6);
                let truth = evaluator.holds(&terms, &recorded, condition);
                terms.holds(condition, truth)
            })
            .collect();
        let goal = condition(&mut terms, &mut random, 2, 8);
        let whole = [&path[..], &[goal]].concat();
        let expected = brute_force(&terms, &whole);
        for stack in &stacks {
            let mut session = stack.session(&recorded);
            for &condition in &path {
                session.assume(&terms, condition);
            }
            match session.query(&mut terms, goal, &limits(60)).answer {
                Answer::Sat(_) => assert!(expected, "{round}: {:?} sat", stack.backend),
                Answer::Unsat => assert!(!expected, "{round}: {:?} unsat", stack.backend),
                Answer::Unknown(reason) => panic!("{round}: {:?} {reason:?}", stack.backend),
            }
            known += session.statistics().layer(Layer::Known).queries();
        }
        *if expected {
            &mut satisfiable
        } else {
            &mut unsatisfiable
        } += 1;
    }
    assert!(
        satisfiable > 10 && unsatisfiable > 5,
        "{satisfiable} {unsatisfiable}"
    );
    // All but those whose goal is a constant.
    assert!((40..=60).contains(&known), "{known}");
}

/// One session with slices and layers, against a query of its own for every whole prefix.
#[test]
fn a_session_with_slices_equals_the_whole_path() {
    let mut random = Random::new(12);
    for round in 0..12 {
        let mut terms = Terms::new();
        let bytes: Vec<u8> = (0..8).map(|_| random.next() as u8).collect();
        let recorded = |byte: InputByte| bytes[byte.offset as usize];
        let mut session = Stack::default().session(&recorded);
        let mut evaluator = Evaluator::new();
        let mut path = Vec::new();
        for step in 0..12 {
            let condition = condition_over_neighbours(&mut terms, &mut random);
            let truth = evaluator.holds(&terms, &recorded, condition);
            let taken = terms.holds(condition, truth);
            let goal = terms.not(taken);
            let found = session.query(&mut terms, goal, &limits(60)).answer;
            let expected = whole_path(&mut terms, &recorded, &path, goal);
            match (&found, &expected) {
                (Answer::Sat(model), Answer::Sat(_)) => {
                    let input = model.over(&recorded);
                    let mut evaluator = Evaluator::new();
                    let whole = path.iter().chain([&goal]);
                    for &condition in whole {
                        assert!(evaluator.holds(&terms, &input, condition), "{round} {step}");
                    }
                }
                (Answer::Unsat, Answer::Unsat) => {}
                _ => panic!("{round} {step}: {found:?}, whole path: {expected:?}"),
            }
            session.assume(&terms, taken);
            path.push(taken);
        }
        assert_eq!(session.statistics().queries(), 12);
    }
}

/// One tree session for many paths that share constraints, against the truth; every back end.
#[test]
fn a_tree_session_equals_the_truth_on_every_path() {
    let mut random = Random::new(13);
    for backend in [
        Backend::Escalate,
        Backend::BitBlaster,
        Backend::Bitwuzla,
        Backend::Differential,
    ] {
        let mut terms = Terms::new();
        let mut session = Stack::new(backend.clone()).tree();
        let pool: Vec<TermId> = (0..6)
            .map(|_| condition(&mut terms, &mut random, 2, 4))
            .collect();
        let (mut satisfiable, mut unsatisfiable) = (0, 0);
        for round in 0..24 {
            if round == 12 {
                session.renew();
            }
            let base_value = random.next() as u16;
            let base = move |byte: InputByte| base_value.to_le_bytes()[byte.offset as usize];
            let mut evaluator = Evaluator::new();
            let mut path = Vec::new();
            for _ in 0..2 {
                let decision = random.pick(&pool);
                let truth = evaluator.holds(&terms, &base, decision);
                path.push(terms.holds(decision, truth));
            }
            let decision = random.pick(&pool);
            let taken = evaluator.holds(&terms, &base, decision);
            let goal = terms.holds(decision, !taken);
            let whole = [&path[..], &[goal]].concat();
            let expected = brute_force(&terms, &whole);
            let reply = session.query(&mut terms, &path, goal, &base, &limits(60));
            match reply.answer {
                Answer::Sat(model) => {
                    let input = model.over(&base);
                    evaluator.reset();
                    let mut all = whole.iter();
                    assert!(
                        all.all(|&one| evaluator.holds(&terms, &input, one)),
                        "{round}"
                    );
                    assert!(expected, "{round}: {backend:?} sat");
                    satisfiable += 1;
                }
                Answer::Unsat => {
                    assert!(!expected, "{round}: {backend:?} unsat");
                    unsatisfiable += 1;
                }
                Answer::Unknown(reason) => panic!("{round}: {backend:?} {reason:?}"),
            }
        }
        assert!(
            satisfiable > 2 && unsatisfiable > 2,
            "{satisfiable} {unsatisfiable}"
        );
        assert_eq!(session.statistics().queries(), 24);
    }
}

fn whole_path(
    terms: &mut Terms,
    recorded: &dyn nearmiss_expr::Inputs,
    path: &[TermId],
    goal: TermId,
) -> Answer {
    let goal = path
        .iter()
        .fold(goal, |all, &condition| terms.and(all, condition));
    let mut session = Stack::bare(Backend::BitBlaster).session(recorded);
    session.query(terms, goal, &limits(60)).answer
}

/// A condition over two of eight bytes that are side by side.
fn condition_over_neighbours(terms: &mut Terms, random: &mut Random) -> TermId {
    let first = random.below(7) as u32;
    let (a, b) = (terms.input(byte(first)), terms.input(byte(first + 1)));
    let op = random.pick(&[
        nearmiss_expr::Op::Add,
        nearmiss_expr::Op::Mul,
        nearmiss_expr::Op::Xor,
    ]);
    let sum = terms.binary(op, a, b);
    let bound = terms.constant(8, u128::from(random.next() as u8));
    let compare = random.pick(&[
        nearmiss_expr::Op::Ult,
        nearmiss_expr::Op::Slt,
        nearmiss_expr::Op::Eq,
    ]);
    terms.binary(compare, sum, bound)
}
