//! Nearest answers change one byte where one is enough, and else no more than they must.

mod common;

use common::{Random, byte, condition, limits};
use nearmiss_expr::{Evaluator, InputByte, Inputs, Op, TermId, Terms};
use nearmiss_solve::{Answer, Model, Stack};

const BYTES: u32 = 3;

/// Whether changing no more than two bytes of the recorded input makes all conditions true.
fn is_enough(
    terms: &Terms,
    recorded: &dyn Inputs,
    conditions: &[TermId],
    changed: &[InputByte],
) -> bool {
    assert!(changed.len() <= 2);
    let mut evaluator = Evaluator::new();
    (0..1u32 << (8 * changed.len())).any(|values| {
        let inputs = |byte: InputByte| match changed.iter().position(|&other| other == byte) {
            Some(position) => values.to_le_bytes()[position],
            None => recorded.byte(byte),
        };
        evaluator.reset();
        conditions
            .iter()
            .all(|&condition| evaluator.holds(terms, &inputs, condition))
    })
}

fn assert_minimal(terms: &Terms, recorded: &dyn Inputs, conditions: &[TermId], model: &Model) {
    let changed: Vec<InputByte> = model.iter().map(|(byte, _)| byte).collect();
    for (byte, value) in model.iter() {
        assert_ne!(recorded.byte(byte), value, "only changed bytes");
        let others: Vec<InputByte> = changed.iter().copied().filter(|&b| b != byte).collect();
        assert!(!is_enough(terms, recorded, conditions, &others), "{byte:?}");
    }
    if changed.len() > 1 {
        for offset in 0..BYTES {
            assert!(!is_enough(terms, recorded, conditions, &[byte(offset)]));
        }
    }
}

#[test]
fn changes_are_minimal() {
    let mut random = Random::new(21);
    let mut by_size = [0; 4];
    for _ in 0..80 {
        let mut terms = Terms::new();
        let bytes: Vec<u8> = (0..BYTES).map(|_| random.next() as u8).collect();
        let recorded = |byte: InputByte| bytes[byte.offset as usize];
        let mut session = Stack::default().session(&recorded);
        let mut evaluator = Evaluator::new();
        let mut conditions = Vec::new();
        for _ in 0..2 {
            let condition = condition(&mut terms, &mut random, BYTES, 5);
            let truth = evaluator.holds(&terms, &recorded, condition);
            let taken = terms.holds(condition, truth);
            session.assume(&terms, taken);
            conditions.push(taken);
        }
        let goal = entangled(&mut terms, &mut random);
        conditions.push(goal);
        let near = session.query_near(&mut terms, goal, &limits(60)).answer;
        match session.query_nearest(&mut terms, goal, &limits(60)).answer {
            Answer::Sat(model) => {
                let Answer::Sat(near) = near else {
                    panic!("{near:?} where there is an answer");
                };
                let mut evaluator = Evaluator::new();
                for model in [&model, &near] {
                    evaluator.reset();
                    let input = model.over(&recorded);
                    assert!(model.iter().all(|(byte, value)| recorded(byte) != value));
                    for &condition in &conditions {
                        assert!(evaluator.holds(&terms, &input, condition));
                    }
                }
                assert_minimal(&terms, &recorded, &conditions, &model);
                by_size[model.len()] += 1;
            }
            Answer::Unsat => assert_eq!(near, Answer::Unsat),
            Answer::Unknown(reason) => panic!("{reason:?}"),
        }
    }
    assert!(
        by_size.iter().skip(1).all(|&count| count > 2),
        "{by_size:?}"
    );
}

/// A goal that may need several bytes at once.
fn entangled(terms: &mut Terms, random: &mut Random) -> TermId {
    let mut goal = condition(terms, random, BYTES, 3);
    for offset in 0..1 + random.below(BYTES as usize) as u32 {
        let (input, mask) = (terms.input(byte(offset)), terms.constant(8, 0x30));
        let masked = terms.binary(Op::And, input, mask);
        let wanted = terms.constant(8, u128::from(random.next() as u8 & 0x30));
        let equal = terms.eq(masked, wanted);
        goal = if random.below(4) == 0 {
            terms.or(goal, equal)
        } else {
            terms.and(goal, equal)
        };
    }
    goal
}

#[test]
fn printable_and_close_values_are_preferred() {
    let mut terms = Terms::new();
    let recorded = |_: InputByte| b'5';
    let (input, eight) = (terms.input(byte(0)), terms.constant(8, b'8'.into()));
    let goal = terms.binary(Op::Ule, eight, input);
    let mut session = Stack::default().session(&recorded);
    let answer = session.query_nearest(&mut terms, goal, &limits(10)).answer;
    assert_eq!(answer, Answer::Sat(Model::from_iter([(byte(0), b'8')])));
}

/// So many terms that values are not tried out by evaluation, and two bytes that must change.
#[test]
fn large_queries_are_left_to_the_solver() {
    let mut terms = Terms::new();
    let recorded = |byte: InputByte| (byte.offset % 7) as u8;
    let mut sum = terms.constant(16, 0);
    for offset in 0..300 {
        let input = terms.input(byte(offset));
        let wide = terms.zext(input, 16);
        let mixed = terms.binary(Op::Xor, wide, sum);
        let three = terms.constant(16, 3);
        let scaled = terms.binary(Op::Mul, wide, three);
        sum = terms.binary(Op::Add, mixed, scaled);
    }
    let (x, y) = (terms.input(byte(10)), terms.input(byte(20)));
    let total = terms.binary(Op::Add, x, y);
    let wanted = terms.constant(8, 250);
    let together = terms.eq(total, wanted);
    let limit = terms.constant(8, 200);
    let small = terms.binary(Op::Ult, x, limit);
    let other_small = terms.binary(Op::Ult, y, limit);
    let mut session = Stack::default().session(&recorded);
    session.assume(&terms, small);
    session.assume(&terms, other_small);
    let zero = terms.constant(16, 0);
    let moving = terms.binary(Op::Ne, sum, zero);
    let goal = terms.and(together, moving);
    let Answer::Sat(model) = session.query_nearest(&mut terms, goal, &limits(60)).answer else {
        panic!("there is one");
    };
    let changed: Vec<u32> = model.iter().map(|(byte, _)| byte.offset).collect();
    assert_eq!(changed, [10, 20]);
}
