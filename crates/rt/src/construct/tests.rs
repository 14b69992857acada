//! Random operations: a term must have the value that the program has.

use super::*;
use crate::runtime::testing::Scratch;

/// What the program would have: a value of some width, perhaps with a label.
#[derive(Clone, Copy)]
struct Value {
    label: Label,
    width: u32,
    value: u128,
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

fn any_operation(runtime: &mut Scratch, random: &mut Random, a: Value, b: Value) -> Value {
    let labels = [a.label, b.label];
    let values = [a.value as u64, b.value as u64];
    let wider = (a.width + random.below((129 - a.width) as usize) as u32).min(128);
    let low = random.below(a.width as usize) as u32;
    let part = 1 + random.below((a.width - low) as usize) as u32;
    let (label, width, value) = match random.below(6) {
        0 => (runtime.zero_extend(a.label, wider), wider, a.value),
        1 => {
            let value = nearmiss_abi::op::signed(a.value, a.width) as u128;
            let label = runtime.sign_extend(a.label, wider);
            (label, wider, truncate(value, wider))
        }
        2 => {
            let label = runtime.extract(a.label, low, part);
            (label, part, truncate(a.value >> low, part))
        }
        3 if a.width == b.width && a.width <= 64 => {
            let label = runtime.concatenate_operands(a.width, labels, values);
            (label, 2 * a.width, a.value << a.width | b.value)
        }
        4 if a.width == b.width => {
            let truth = random.below(2) == 1;
            let condition =
                runtime.intern(Term::new(Op::Input, 1, 9, truth as u32, 0), truth as u128);
            let label = runtime.choose(a.width, (condition, truth), labels, values);
            (label, a.width, if truth { a.value } else { b.value })
        }
        _ => {
            let op = Op::ALL[random.below(Op::ALL.len())];
            let Some(value) = evaluate(op, a.width, a.value, b.value) else {
                return a;
            };
            if a.width != b.width {
                return b;
            }
            let label = runtime.operate(op, a.width, labels, values);
            let bit = op.result_width() == ResultWidth::Bit;
            (label, if bit { 1 } else { a.width }, value)
        }
    };
    Value {
        label,
        width,
        value,
    }
}

#[test]
fn every_term_has_the_value_that_the_program_has() {
    let mut runtime = Scratch::new();
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut pool = Vec::new();
    for offset in 0..16 {
        let value = [0, 1, 0x7f, 0x80, 0xff, 7][random.below(6)];
        let label = runtime.intern(Term::new(Op::Input, 8, 0, offset, 0), value);
        let width = 8;
        pool.push(Value {
            label,
            width,
            value,
        });
        pool.push(Value {
            label: 0,
            width,
            value,
        });
    }
    let mut symbolic = 0;
    for _ in 0..100_000 {
        let (a, b) = (
            pool[random.below(pool.len())],
            pool[random.below(pool.len())],
        );
        let result = any_operation(&mut runtime, &mut random, a, b);
        if result.label != 0 {
            symbolic += 1;
            assert_eq!(runtime.width(result.label), result.width);
            assert_eq!(runtime.value(result.label), result.value);
        } else if result.width > 64 {
            // A wide value without a label would have to be made a constant first.
            continue;
        }
        let place = random.below(400);
        if place < pool.len() {
            pool[place] = result;
        } else {
            pool.push(result);
        }
    }
    assert!(symbolic > 30_000, "{symbolic}");
}
