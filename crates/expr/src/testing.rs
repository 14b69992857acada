//! Random terms for the tests of this crate.

use nearmiss_abi::op::{Op, ResultWidth, truncate};

use crate::node::{InputByte, TermId};
use crate::terms::Terms;

/// A small deterministic generator (xorshift, seeded through a multiplication).
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random((seed ^ 0x5851_f42d_4c95_7f2d).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * bound as u64) >> 32) as u32
    }

    /// A byte, often an extreme one.
    pub fn byte(&mut self) -> u8 {
        match self.below(4) {
            0 => *self.pick(&[0, 1, 2, 127, 128, 254, 255]),
            _ => self.next() as u8,
        }
    }

    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u32) as usize]
    }
}

/// A constant, often one that rules look for.
fn random_constant(random: &mut Random, terms: &mut Terms, width: u32) -> TermId {
    let wide = (random.next() as u128) << 64 | random.next() as u128;
    let exponent = random.below(width);
    let value = match random.below(9) {
        0 => 0,
        1 => 1,
        2 => u128::MAX,
        3 => 1 << exponent,
        4 => (1 << exponent) - 1,
        5 => !((1 << exponent) - 1),
        6 => random.below(300) as u128,
        7 => (random.below(300) as u128).wrapping_neg(),
        _ => wide,
    };
    terms.constant(width, truncate(value, width))
}

/// A leaf or an extended leaf of a width.
fn random_leaf(random: &mut Random, terms: &mut Terms, width: u32) -> TermId {
    if random.below(3) == 0 {
        return random_constant(random, terms, width);
    }
    let input = terms.input(InputByte {
        channel: 0,
        offset: random.below(4),
    });
    if width < 8 {
        let low = random.below(9 - width);
        return terms.extract(input, low, width);
    }
    if random.below(2) == 0 {
        terms.zext(input, width)
    } else {
        terms.sext(input, width)
    }
}

const OPERATIONS: &[Op] = &[
    Op::Add,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::Neg,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Not,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::CtPop,
    Op::CtLz,
    Op::CtTz,
];

const PREDICATES: &[Op] = &[
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

/// A random term of this width, at most `depth` operations deep.
pub(crate) fn random_term(
    random: &mut Random,
    terms: &mut Terms,
    width: u32,
    depth: u32,
) -> TermId {
    if depth == 0 || random.below(6) == 0 {
        return random_leaf(random, terms, width);
    }
    if width == 1 && random.below(4) != 0 {
        return random_predicate(random, terms, depth);
    }
    match random.below(10) {
        0..=4 => {
            let op = *random.pick(OPERATIONS);
            random_binary(random, terms, op, width, depth)
        }
        5 => {
            let a = random_term(random, terms, 1 + random.0 as u32 % width, depth - 1);
            terms.zext(a, width)
        }
        6 => {
            let a = random_term(random, terms, 1 + random.0 as u32 % width, depth - 1);
            terms.sext(a, width)
        }
        7 if width > 1 => {
            let split = 1 + random.below(width - 1);
            let high = random_term(random, terms, width - split, depth - 1);
            let low = random_term(random, terms, split, depth - 1);
            terms.concat(high, low)
        }
        8 if width < 100 => {
            let a = random_term(random, terms, width + 8, depth - 1);
            let low = random.below(9);
            terms.extract(a, low, width)
        }
        _ => {
            let condition = random_predicate(random, terms, depth);
            let then = random_term(random, terms, width, depth - 1);
            let otherwise = random_term(random, terms, width, depth - 1);
            terms.ite(condition, then, otherwise)
        }
    }
}

/// A random condition.
pub(crate) fn random_predicate(random: &mut Random, terms: &mut Terms, depth: u32) -> TermId {
    let op = *random.pick(PREDICATES);
    let width = *random.pick(&[1, 8, 16, 32, 64]);
    random_binary(random, terms, op, width, depth.max(1))
}

fn random_binary(random: &mut Random, terms: &mut Terms, op: Op, width: u32, depth: u32) -> TermId {
    let a = random_term(random, terms, width, depth - 1);
    if op.arity() == 1 {
        return terms.unary(op, a);
    }
    debug_assert_ne!(op.result_width(), ResultWidth::Stated);
    let b = random_term(random, terms, width, depth - 1);
    terms.binary(op, a, b)
}
