//! Numbers of a few values against the bit-blaster: differences, orders and tables.

mod common;

use common::{Random, limits};
use nearmiss_expr::{Evaluator, InputByte, Inputs, Op, TermId, Terms};
use nearmiss_solve::{Answer, Backend, Layer, Stack, TreeSession};

/// Numbers of four bytes.
fn number(terms: &mut Terms, position: u32) -> TermId {
    let bytes: Vec<TermId> = (0..4)
        .map(|k| {
            let offset = 4 * position + k;
            terms.input(InputByte { channel: 0, offset })
        })
        .collect();
    let low = terms.concat(bytes[1], bytes[0]);
    let high = terms.concat(bytes[3], bytes[2]);
    terms.concat(high, low)
}

fn compare(terms: &mut Terms, op: Op, a: TermId, value: u128) -> TermId {
    let value = terms.constant(32, value);
    terms.binary(op, a, value)
}

/// `numbers[index]`, as a recording has it where all elements are input.
fn element(terms: &mut Terms, numbers: &[TermId], index: TermId) -> TermId {
    let mut element = numbers[0];
    for (position, &other) in numbers.iter().enumerate().skip(1) {
        let is_it = compare(terms, Op::Eq, index, position as u128);
        element = terms.ite(is_it, other, element);
    }
    element
}

/// One of the numbers is this one.
fn is_somewhere(terms: &mut Terms, numbers: &[TermId], value: u128) -> TermId {
    let mut condition = terms.truth(false);
    for &number in numbers {
        let is_here = compare(terms, Op::Eq, number, value);
        condition = terms.or(condition, is_here);
    }
    condition
}

fn random_condition(terms: &mut Terms, random: &mut Random, numbers: &[TermId]) -> TermId {
    if random.below(5) == 0 {
        let value = random.below(6) as u128;
        let first = random.below(3);
        return is_somewhere(terms, &numbers[first..], value);
    }
    let mut pick = |terms: &mut Terms| {
        let any = random.pick(numbers);
        match random.below(3) {
            0 => element(terms, numbers, any),
            1 => {
                let one = terms.constant(32, random.below(3) as u128);
                terms.binary(Op::Add, any, one)
            }
            _ => any,
        }
    };
    let (a, b) = (pick(terms), pick(terms));
    let op = random.pick(&[Op::Eq, Op::Ne, Op::Ne, Op::Slt, Op::Ule]);
    let condition = terms.binary(op, a, b);
    if random.below(4) == 0 {
        let other = compare(terms, Op::Eq, numbers[0], random.below(4) as u128);
        return terms.or(condition, other);
    }
    condition
}

fn is_answer(terms: &Terms, conditions: &[TermId], input: &dyn Inputs) -> bool {
    let mut evaluator = Evaluator::new();
    let mut all = conditions.iter();
    all.all(|&condition| evaluator.holds(terms, input, condition))
}

fn ranged(terms: &mut Terms, numbers: &[TermId]) -> Vec<TermId> {
    let count = numbers.len() as u128;
    let below = |&number: &TermId| compare(terms, Op::Ult, number, count);
    numbers.iter().map(below).collect()
}

fn zero(_: InputByte) -> u8 {
    0
}

#[test]
fn random_conditions_have_the_same_answers() {
    let mut random = Random::new(23);
    let (mut sat, mut unsat, mut by_domains) = (0, 0, 0);
    for round in 0..40 {
        let mut terms = Terms::new();
        // Makes the conditions of the path true, as a recorded input does.
        let values = [(); 5].map(|()| random.below(5) as u8);
        let base = |byte: InputByte| match byte.offset % 4 {
            0 => values[byte.offset as usize / 4],
            _ => 0,
        };
        let numbers: Vec<TermId> = (0..5).map(|k| number(&mut terms, k)).collect();
        let always = ranged(&mut terms, &numbers);
        let mut sessions: [TreeSession; 2] =
            [Stack::default(), Stack::bare(Backend::BitBlaster)].map(|stack| stack.tree());
        for session in &mut sessions {
            session.assume_always(&always);
        }
        for _ in 0..6 {
            let count = 1 + random.below(9);
            let mut conditions = always.clone();
            for _ in 0..count {
                let condition = random_condition(&mut terms, &mut random, &numbers);
                let truth = Evaluator::new().holds(&terms, &base, condition);
                conditions.push(terms.holds(condition, truth));
            }
            let goal = random_condition(&mut terms, &mut random, &numbers);
            let answers = sessions
                .each_mut()
                .map(|session| session.query(&mut terms, &conditions, goal, &base, &limits(60)));
            by_domains += u32::from(answers[0].layer == Layer::Domains);
            match (&answers[0].answer, &answers[1].answer) {
                (Answer::Sat(model), Answer::Sat(_)) => {
                    let all = [&conditions[..], &[goal]].concat();
                    assert!(is_answer(&terms, &all, &model.over(&base)), "{round}");
                    sat += 1;
                }
                (Answer::Unsat, Answer::Unsat) => unsat += 1,
                others => panic!("{round}: {others:?}"),
            }
        }
    }
    assert!(sat > 40 && unsat > 15, "{sat} {unsat}");
    assert!(by_domains > 150, "{by_domains}");
}

#[test]
fn more_numbers_than_values_cannot_differ() {
    let mut terms = Terms::new();
    let numbers: Vec<TermId> = (0..12).map(|k| number(&mut terms, k)).collect();
    let mut conditions: Vec<TermId> = Vec::new();
    for &number in &numbers {
        conditions.push(compare(&mut terms, Op::Ult, number, 11));
    }
    let mut session = Stack::default().tree();
    session.assume_always(&conditions);
    for (position, &one) in numbers.iter().enumerate() {
        for &other in &numbers[..position] {
            conditions.push(terms.binary(Op::Ne, one, other));
        }
    }
    let goal = conditions.pop().unwrap();
    let reply = session.query(&mut terms, &conditions, goal, &zero, &limits(60));
    assert_eq!((reply.answer, reply.layer), (Answer::Unsat, Layer::Domains));
}

/// Where each of as many values is to be somewhere, no two numbers are equal.
#[test]
fn each_value_somewhere_leaves_none_twice() {
    let mut terms = Terms::new();
    let numbers: Vec<TermId> = (0..9).map(|k| number(&mut terms, k)).collect();
    let mut always = ranged(&mut terms, &numbers);
    for value in 0..9 {
        always.push(is_somewhere(&mut terms, &numbers, value));
    }
    let mut session = Stack::default().tree();
    session.assume_always(&always);
    for position in 1..9 {
        let goal = terms.binary(Op::Eq, numbers[0], numbers[position]);
        let reply = session.query(&mut terms, &always, goal, &zero, &limits(60));
        assert_eq!((reply.answer, reply.layer), (Answer::Unsat, Layer::Domains));
    }
}

/// After a while all permutations are in a table.
#[test]
fn random_queries_about_permutations_have_the_same_answers() {
    for by_places in [false, true] {
        permutations_have_the_same_answers(by_places);
    }
}

/// They are said to be permutations by what differs, or by what is somewhere.
fn permutations_have_the_same_answers(by_places: bool) {
    let mut random = Random::new(29);
    let (mut sat, mut unsat) = (0, 0);
    let mut terms = Terms::new();
    let numbers: Vec<TermId> = (0..5).map(|k| number(&mut terms, k)).collect();
    let mut always = ranged(&mut terms, &numbers);
    for (position, &one) in numbers.iter().enumerate() {
        if by_places {
            always.push(is_somewhere(&mut terms, &numbers, position as u128));
            continue;
        }
        for &other in &numbers[..position] {
            always.push(terms.binary(Op::Ne, one, other));
        }
    }
    let base = |byte: InputByte| match byte.offset % 4 {
        0 => (byte.offset as u8 / 4 + 2) % 5,
        _ => 0,
    };
    let mut sessions: [TreeSession; 2] =
        [Stack::default(), Stack::bare(Backend::BitBlaster)].map(|stack| stack.tree());
    for session in &mut sessions {
        session.assume_always(&always);
    }
    for round in 0..300 {
        let mut conditions = always.clone();
        for _ in 0..2 + random.below(8) {
            let condition = random_condition(&mut terms, &mut random, &numbers);
            let truth = Evaluator::new().holds(&terms, &base, condition);
            conditions.push(terms.holds(condition, truth));
        }
        let goal = random_condition(&mut terms, &mut random, &numbers);
        let answers = sessions
            .each_mut()
            .map(|session| session.query(&mut terms, &conditions, goal, &base, &limits(60)));
        match (&answers[0].answer, &answers[1].answer) {
            (Answer::Sat(model), Answer::Sat(_)) => {
                let all = [&conditions[..], &[goal]].concat();
                assert!(is_answer(&terms, &all, &model.over(&base)), "{round}");
                sat += 1;
            }
            (Answer::Unsat, Answer::Unsat) => unsat += 1,
            others => panic!("{round}: {others:?}"),
        }
        let layer = answers[0].layer;
        let is_early = round < 80 || matches!(layer, Layer::Constant | Layer::Known);
        assert!(is_early || layer == Layer::Domains, "{round}: {layer:?}");
    }
    assert!(sat > 60 && unsat > 40, "{sat} {unsat}");
}

/// A digest of one byte is hard for bits; a byte has 256 values.
#[test]
fn one_byte_is_tried() {
    let mut terms = Terms::new();
    let byte = terms.input(InputByte {
        channel: 0,
        offset: 0,
    });
    let mut mixed = terms.zext(byte, 32);
    let factor = terms.constant(32, 0x846c_a68b);
    let shift = terms.constant(32, 15);
    for _ in 0..12 {
        mixed = terms.binary(Op::Mul, mixed, factor);
        let high = terms.binary(Op::LShr, mixed, shift);
        mixed = terms.binary(Op::Xor, mixed, high);
    }
    let wanted = Evaluator::new().evaluate(&terms, &|_| 177, mixed);
    let goal = compare(&mut terms, Op::Eq, mixed, wanted);
    let session = &mut Stack::default().session(&zero);
    let reply = session.query(&mut terms, goal, &limits(60));
    assert_eq!(reply.layer, Layer::Domains);
    let Answer::Sat(model) = reply.answer else {
        panic!("177 is an answer");
    };
    assert!(is_answer(&terms, &[goal], &model.over(&zero)));
}

/// A condition on up to three bytes, as programs have them that compare byte by byte.
fn byte_condition(terms: &mut Terms, random: &mut Random, bytes: &[TermId]) -> TermId {
    let constant = terms.constant(8, random.value(8));
    let [a, b, c] = [(); 3].map(|()| random.pick(bytes));
    let left = match random.below(6) {
        0 => a,
        1 => terms.binary(Op::Xor, a, b),
        2 => terms.binary(Op::Add, a, constant),
        3 => terms.binary(Op::And, a, constant),
        4 => {
            let difference = terms.binary(Op::Sub, a, b);
            terms.binary(Op::Add, difference, c)
        }
        _ => terms.binary(Op::Mul, a, constant),
    };
    let right = terms.constant(8, random.value(8));
    let op = random.pick(&[Op::Eq, Op::Eq, Op::Ult, Op::Ule, Op::Slt]);
    let condition = terms.binary(op, left, right);
    if random.below(3) == 0 {
        let other = terms.binary(Op::Ule, b, constant);
        return terms.and(condition, other);
    }
    condition
}

/// Paths over bytes: all layers against the bit-blaster alone.
#[test]
fn random_bytes_have_the_same_answers() {
    let mut random = Random::new(41);
    let (mut sat, mut unsat) = (0, 0);
    let mut layers = std::collections::BTreeMap::<Layer, u32>::new();
    for round in 0..300 {
        let mut terms = Terms::new();
        let bytes: Vec<TermId> = (0..5)
            .map(|offset| terms.input(InputByte { channel: 0, offset }))
            .collect();
        let values = [(); 5].map(|()| random.value(8) as u8);
        let recorded = |byte: InputByte| values[byte.offset as usize];
        let (layered, bare) = (Stack::default(), Stack::bare(Backend::BitBlaster));
        let mut sessions = [&layered, &bare].map(|stack| stack.session(&recorded));
        for _ in 0..8 {
            let goal = byte_condition(&mut terms, &mut random, &bytes);
            let replies = sessions
                .each_mut()
                .map(|session| session.query(&mut terms, goal, &limits(60)));
            *layers.entry(replies[0].layer).or_default() += 1;
            match (&replies[0].answer, &replies[1].answer) {
                (Answer::Sat(_), Answer::Sat(_)) => sat += 1,
                (Answer::Unsat, Answer::Unsat) => unsat += 1,
                others => panic!("{round}: {others:?} by {:?}", replies[0].layer),
            }
            let truth = Evaluator::new().holds(&terms, &recorded, goal);
            let fact = terms.holds(goal, truth);
            for session in &mut sessions {
                session.assume(&terms, fact);
            }
        }
    }
    assert!(sat > 200 && unsat > 200, "{sat} {unsat}");
    let by = |layer| layers.get(&layer).copied().unwrap_or(0);
    assert!(by(Layer::Domains) > 20, "{layers:?}");
}

/// A scanner's state goes through a table with each byte: the last byte decides, and is found by evaluation.
#[test]
fn one_byte_of_a_long_path_is_found() {
    let mut terms = Terms::new();
    let table: Vec<u8> = (0..=255u8).map(|at| at.wrapping_mul(37)).collect();
    let table = terms.snapshot(table);
    let recorded = |byte: InputByte| byte.offset as u8;
    let mut state = terms.constant(8, 1);
    let mut session = Stack::default().session(&recorded);
    for offset in 0..120 {
        let byte = terms.input(InputByte { channel: 0, offset });
        let mixed = terms.binary(Op::Xor, state, byte);
        let index = terms.zext(mixed, 64);
        state = terms.read(index, table, 8);
        let value = Evaluator::new().evaluate(&terms, &recorded, state);
        let [same, next] = [value, value ^ 1].map(|value| terms.constant(8, value));
        if offset == 119 {
            let goal = terms.eq(state, next);
            let reply = session.query(&mut terms, goal, &limits(60));
            let is_found = matches!(&reply.answer, Answer::Sat(model) if is_answer(&terms, &[goal], &model.over(&recorded)));
            assert!(is_found && reply.layer == Layer::OneByte, "{reply:?}");
        }
        let stays = terms.eq(state, same);
        session.assume(&terms, stays);
    }
}
