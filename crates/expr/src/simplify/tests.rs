//! Every rule against the evaluator, on random terms.

use std::collections::HashMap;

use nearmiss_abi::op::{Op, ResultWidth};

use super::{Draft, all_rules};
use crate::evaluate::Evaluator;
use crate::node::{InputByte, TermId};
use crate::print::expression;
use crate::terms::Terms;
use crate::testing::{Random, random_term};

/// A random draft with this operation, over operands that are likely to be of use to a rule.
fn random_draft(random: &mut Random, terms: &mut Terms, op: Op) -> Draft {
    let width = *random.pick(&[1, 2, 7, 8, 16, 24, 32, 64, 128]);
    let a = random_term(random, terms, width, 3);
    match op {
        Op::Concat if random.below(4) == 0 => {
            let whole = random_term(random, terms, 24, 1);
            let (high, low) = (terms.extract(whole, 8, 16), terms.extract(whole, 0, 8));
            Draft::new(op, 24, high).with_b(low)
        }
        Op::Concat => {
            let width = *random.pick(&[1, 3, 8, 16, 32]);
            let high = random_term(random, terms, width, 3);
            let low = *random.pick(&[1, 5, 8, 24, 32]);
            let low = random_term(random, terms, low, 3);
            Draft::new(op, terms.width(high) + terms.width(low), high).with_b(low)
        }
        Op::Extract => {
            let low = random.below(width);
            let taken = 1 + random.below(width - low);
            Draft::new(op, taken, a).with_number(low)
        }
        Op::ZExt | Op::SExt => Draft::new(op, width + random.below(129 - width), a),
        Op::Ite => {
            let condition = random_term(random, terms, 1, 3);
            let then = random_term(random, terms, width, 2);
            let otherwise = match random.below(6) {
                0 => then,
                1 => terms.ite(condition, then, a),
                _ => random_term(random, terms, width, 2),
            };
            Draft::new(op, width, condition)
                .with_b(then)
                .with_c(otherwise)
        }
        Op::Read => {
            let snapshot = terms.snapshot(vec![1, 2, 3, 250, 250, 9]);
            let index = random_term(random, terms, 64, 2);
            Draft::new(op, 16, index).with_number(snapshot.0)
        }
        op => random_operation(random, terms, op, a),
    }
}

fn random_operation(random: &mut Random, terms: &mut Terms, op: Op, a: TermId) -> Draft {
    let width = terms.width(a);
    let a = match random.below(4) {
        0 => constant_around(random, terms, op, a),
        _ => a,
    };
    let b = match random.below(6) {
        0 => a,
        1 => {
            let pick = random.below(2) as usize;
            let operand = terms.operands(a).nth(pick);
            operand
                .filter(|&operand| terms.width(operand) == width)
                .unwrap_or(a)
        }
        _ => random_term(random, terms, width, 3),
    };
    let result = match op.result_width() {
        ResultWidth::Operand => width,
        _ => 1,
    };
    if op.arity() == 1 {
        return Draft::new(op, result, a);
    }
    let (a, b) = if random.below(2) == 0 { (a, b) } else { (b, a) };
    Draft::new(op, result, a).with_b(b)
}

/// The same operation of `a` and a constant where that has the width of `a`, or a choice
/// between constants.
fn constant_around(random: &mut Random, terms: &mut Terms, op: Op, a: TermId) -> TermId {
    let width = terms.width(a);
    let first = random_term(random, terms, width, 0);
    if op.result_width() == ResultWidth::Operand && op.arity() == 2 {
        return terms.binary(op, a, first);
    }
    let second = random_term(random, terms, width, 0);
    let condition = random_term(random, terms, 1, 2);
    terms.ite(condition, first, second)
}

#[test]
fn every_rule_keeps_the_value() {
    let mut random = Random::new(1);
    let mut rare = Vec::new();
    for rule in all_rules() {
        let mut answers = 0;
        for round in 0..40_000 {
            let mut terms = Terms::new();
            let op = *random.pick(rule.ops);
            let draft = random_draft(&mut random, &mut terms, op);
            let plain = terms.make_plain(&draft);
            let Some(simple) = (rule.apply)(&mut terms, &draft) else {
                continue;
            };
            answers += 1;
            assert_eq!(terms.width(plain), terms.width(simple), "{}", rule.name);
            for _ in 0..8 {
                let salt = random.next();
                let inputs = |byte: InputByte| Random::new(salt ^ byte.offset as u64).byte();
                let mut evaluator = Evaluator::new();
                let expected = evaluator.evaluate(&terms, &inputs, plain);
                let found = evaluator.evaluate(&terms, &inputs, simple);
                assert_eq!(
                    expected,
                    found,
                    "{}: {} is not {}",
                    rule.name,
                    expression(&terms, plain, 6),
                    expression(&terms, simple, 6)
                );
            }
            if answers >= 100 || round > 5_000 && answers >= 20 {
                break;
            }
        }
        if answers < 20 {
            rare.push((rule.name, answers));
        }
    }
    assert!(rare.is_empty(), "hardly tested: {rare:?}");
}

#[test]
fn names_are_unique() {
    let mut seen = HashMap::new();
    for rule in all_rules() {
        assert!(seen.insert(rule.name, ()).is_none(), "{}", rule.name);
    }
}
