//! Formulas that are printed, read again and evaluated agree with the terms they were made of.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nearmiss_contracts::{Formula, Term, parse};
use nearmiss_expr::{Evaluator, InputByte, Op, TermId, Terms};
use nearmiss_hoist::clock::Clock;
use nearmiss_hoist::condition::Condition;
use nearmiss_hoist::inputs::{Bytes, Input, Role, View, value_of};
use nearmiss_hoist::simplify::simplify;
use nearmiss_hoist::translate::Translator;
use nearmiss_hoist::{Variable, words};

/// A small generator of random numbers: the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

fn input(place: &str, role: Role, signed: bool, bytes: u32) -> Input {
    Input {
        place: place.into(),
        role,
        signed,
        bytes,
    }
}

fn inputs() -> Vec<Input> {
    vec![
        input("i", Role::Value, true, 4),
        input("n", Role::Value, false, 4),
        input("c", Role::Value, true, 1),
        input("s", Role::Elements, true, 1),
        input("p", Role::Bounds, false, 4),
        input("p", Role::Null, false, 1),
    ]
}

/// All bytes of an input (or of one of its elements) as a term.
fn word(terms: &mut Terms, inputs: &[Input], number: u32, element: u32) -> TermId {
    let bytes = inputs[number as usize].bytes;
    let byte = |offset| InputByte {
        channel: number,
        offset: element * bytes + offset,
    };
    let low = terms.input(byte(0));
    (1..bytes).fold(low, |low, offset| {
        let high = terms.input(byte(offset));
        terms.concat(high, low)
    })
}

/// A random word of 32 or 64 bits.
fn random_word(
    terms: &mut Terms,
    inputs: &[Input],
    dice: &mut Dice,
    width: u32,
    depth: u32,
) -> TermId {
    if depth == 0 {
        let number = dice.roll(6) as u32;
        let element = if number == 3 { dice.roll(4) as u32 } else { 0 };
        let leaf = match dice.roll(3) {
            0 => return terms.constant(width, u128::from(dice.roll(41)).wrapping_sub(20)),
            _ => word(terms, inputs, number.min(4), element),
        };
        let signed = inputs[number.min(4) as usize].signed;
        if terms.width(leaf) == width {
            return leaf;
        }
        return match signed {
            true => terms.sext(leaf, width),
            false => terms.zext(leaf, width),
        };
    }
    let next =
        |terms: &mut Terms, dice: &mut Dice| random_word(terms, inputs, dice, width, depth - 1);
    let a = next(terms, dice);
    match dice.roll(7) {
        0 | 1 => {
            let b = next(terms, dice);
            terms.binary(Op::Add, a, b)
        }
        2 => {
            let b = next(terms, dice);
            terms.binary(Op::Sub, a, b)
        }
        3 => {
            let b = terms.constant(width, 1 << dice.roll(4));
            terms.binary(Op::Mul, a, b)
        }
        4 => {
            let low = terms.extract(a, 0, 8);
            terms.zext(low, width)
        }
        5 => {
            let (b, condition) = (next(terms, dice), random_truth(terms, inputs, dice, 0));
            terms.ite(condition, a, b)
        }
        _ => terms.unary(Op::Neg, a),
    }
}

const COMPARISONS: [Op; 12] = [
    Op::Eq,
    Op::Ne,
    Op::Ult,
    Op::Ule,
    Op::Slt,
    Op::Sle,
    Op::SAddOverflow,
    Op::UAddOverflow,
    Op::SSubOverflow,
    Op::USubOverflow,
    Op::SMulOverflow,
    Op::UMulOverflow,
];

fn random_truth(terms: &mut Terms, inputs: &[Input], dice: &mut Dice, depth: u32) -> TermId {
    match dice.roll(6) {
        0 if depth > 0 => {
            let a = random_truth(terms, inputs, dice, depth - 1);
            let b = random_truth(terms, inputs, dice, depth - 1);
            let op = [Op::And, Op::Or, Op::Xor, Op::Eq][dice.roll(4) as usize];
            terms.binary(op, a, b)
        }
        1 => {
            let null = word(terms, inputs, 5, 0);
            let zero = terms.constant(8, 0);
            terms.binary(Op::Eq, null, zero)
        }
        _ => {
            let width = if dice.roll(2) == 0 { 32 } else { 64 };
            let a = random_word(terms, inputs, dice, width, depth);
            let b = random_word(terms, inputs, dice, width, 0);
            let op = COMPARISONS[dice.roll(12) as usize];
            terms.binary(op, a, b)
        }
    }
}

/// Random values of all inputs, many of them small or at the ends of their ranges.
fn random_values(inputs: &[Input], dice: &mut Dice) -> HashMap<Variable, i128> {
    let mut values = HashMap::new();
    for (number, input) in inputs.iter().enumerate() {
        for element in 0..4 {
            let (low, high) = input.range();
            let value = match dice.roll(4) {
                0 => low + i128::from(dice.roll(4)),
                1 => high - i128::from(dice.roll(4)),
                2 => i128::from(dice.roll(48)) - 20,
                _ => low + i128::from(dice.roll(1 << 32)) % (high - low + 1),
            };
            let variable = Variable {
                input: number as u32,
                element,
            };
            values.insert(variable, value.clamp(low, high));
        }
    }
    values
}

fn byte_of(inputs: &[Input], values: &HashMap<Variable, i128>, byte: InputByte) -> u8 {
    let size = inputs[byte.channel as usize].bytes;
    let variable = Variable {
        input: byte.channel,
        element: byte.offset / size,
    };
    (values[&variable] >> (8 * (byte.offset % size))) as u8
}

#[test]
fn conditions_and_their_words_agree_with_terms() {
    let inputs = inputs();
    let bytes = Bytes {
        channels: (0..6).map(|it| (it, it)).collect(),
        ..Bytes::default()
    };
    let view = View {
        inputs: &inputs,
        bytes: &bytes,
    };
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut said, mut printed) = (0, 0);
    for _ in 0..4000 {
        let mut terms = Terms::new();
        let before = random_truth(&mut terms, &inputs, &mut dice, 1);
        let id = random_truth(&mut terms, &inputs, &mut dice, 2);
        let mut translator = Translator::new(&terms, view);
        let Some(assumed) = translator.condition(before) else {
            continue;
        };
        translator.assume(&assumed);
        let Some(condition) = translator.condition(id) else {
            continue;
        };
        said += 1;
        let range = |variable| view.range(variable);
        let formulas: Option<Vec<Formula>> = condition.clauses(&range).and_then(|clauses| {
            let formulas = clauses.iter().map(|it| words::formula(it, &inputs));
            formulas.collect()
        });
        let read = formulas.map(|it| parse(&Formula::All(it).to_string()).unwrap());
        printed += u32::from(read.is_some());
        for _ in 0..24 {
            let values = random_values(&inputs, &mut dice);
            let recorded = |byte| byte_of(&inputs, &values, byte);
            let holds = |id| Evaluator::new().holds(&terms, &recorded, id);
            let value = |variable| values[&variable];
            assert_eq!(assumed.evaluate(&value), holds(before));
            if !holds(before) {
                continue;
            }
            assert_eq!(condition.evaluate(&value), holds(id), "{condition:?}");
            if let Some(read) = &read {
                let of = |term: &Term| length_or(&inputs, term, &value);
                assert_eq!(read.evaluate(&of) != 0, holds(id), "{read}");
            }
        }
    }
    assert!(said > 2000 && printed > 1500, "{said} {printed}");
}

/// As [`value_of`], with lengths of the string of four characters.
fn length_or(inputs: &[Input], term: &Term, value: &dyn Fn(Variable) -> i128) -> i128 {
    value_of(inputs, term, value).unwrap_or_else(|| {
        let at = |element: u32| value(Variable { input: 3, element });
        (0..4).find(|it| at(*it) == 0).unwrap_or(4).into()
    })
}

#[test]
fn what_is_simpler_says_the_same() {
    let inputs = inputs();
    let range = |variable: Variable| inputs[variable.input as usize].range();
    let mut dice = Dice(77);
    for _ in 0..60 {
        let mut clauses = Vec::new();
        for _ in 0..6 {
            let mut parts = Vec::new();
            for _ in 0..3 {
                let variable = |dice: &mut Dice| Variable {
                    input: dice.roll(2) as u32,
                    element: 0,
                };
                let one = nearmiss_hoist::Linear::variable(variable(&mut dice));
                let two = nearmiss_hoist::Linear::variable(variable(&mut dice));
                let sum = one.plus(dice.roll(3) as i128 - 1, &two).unwrap();
                let low = i128::from(dice.roll(12)) - 4;
                parts.push(match dice.roll(2) {
                    0 => Condition::between(&sum, Some(low), Some(low + 3), &range),
                    _ => Condition::between(&sum, None, Some(low), &range),
                });
            }
            let more = Condition::any(parts).clauses(&range).unwrap();
            let site = nearmiss_abi::site::SiteId(7);
            clauses.extend(more.into_iter().map(|it| (it, site)));
        }
        let go_on = AtomicBool::new(false);
        let clock = Clock::new(Duration::from_secs(20), &go_on);
        let simple = simplify(clauses.clone(), &inputs, clock);
        assert_eq!(simple.left_out, 0);
        for _ in 0..400 {
            let values = random_values(&inputs, &mut dice);
            let value = |variable| values[&variable];
            let holds = |clauses: &[(nearmiss_hoist::condition::Clause, _)]| {
                clauses.iter().all(|(clause, _)| {
                    let mut literals = clause.iter();
                    literals.any(|(sum, set)| set.contains(sum.evaluate(&value)))
                })
            };
            assert_eq!(holds(&clauses), holds(&simple.clauses));
        }
    }
}
