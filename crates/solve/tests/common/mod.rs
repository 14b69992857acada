//! What the tests share: random numbers and random terms, the same in every run.
#![allow(dead_code, reason = "each test uses its part")]

use std::time::Duration;

use nearmiss_abi::op::ResultWidth;
use nearmiss_expr::{InputByte, Op, TermId, Terms};
use nearmiss_solve::Limits;

/// A generator of random numbers (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A value of `width` bits; edge cases are as likely as others.
    pub fn value(&mut self, width: u32) -> u128 {
        let full = u128::MAX >> (128 - width);
        let any = (u128::from(self.next()) << 64 | u128::from(self.next())) & full;
        match self.below(8) {
            0 => 0,
            1 => 1 & full,
            2 => full,
            3 => 1 << (width - 1),
            4 => full >> 1,
            5 => any & 0xff & full,
            _ => any,
        }
    }
}

pub fn limits(seconds: u64) -> Limits {
    Limits::time(Duration::from_secs(seconds))
}

pub fn byte(offset: u32) -> InputByte {
    InputByte { channel: 0, offset }
}

/// `width` bits of input from a byte on, little-endian.
pub fn word(terms: &mut Terms, start: u32, width: u32) -> TermId {
    let count = width.div_ceil(8);
    let mut whole = terms.input(byte(start));
    for offset in 1..count {
        let above = terms.input(byte(start + offset));
        whole = terms.concat(above, whole);
    }
    terms.extract(whole, 0, width)
}

/// The operations on two operands of one width, and the unary ones.
pub fn operations() -> impl Iterator<Item = Op> {
    let stated = |op: &Op| op.result_width() != ResultWidth::Stated;
    Op::ALL.iter().copied().filter(stated)
}

pub fn apply(terms: &mut Terms, op: Op, a: TermId, b: TermId) -> TermId {
    if op.arity() == 1 {
        terms.unary(op, a)
    } else {
        terms.binary(op, a, b)
    }
}

/// A conjunction of one-bit terms.
pub fn conjunction(terms: &mut Terms, parts: &[TermId]) -> TermId {
    let start = terms.truth(true);
    parts.iter().fold(start, |all, &part| terms.and(all, part))
}

/// A random one-bit term over the first `bytes` input bytes.
pub fn condition(terms: &mut Terms, random: &mut Random, bytes: u32, size: usize) -> TermId {
    let mut pool: Vec<TermId> = (0..bytes).map(|offset| terms.input(byte(offset))).collect();
    for _ in 0..size {
        let made = random_term(terms, random, &pool);
        pool.push(made);
    }
    let a = random.pick(&pool[pool.len() / 2..]);
    let b = random.pick(&pool);
    let (a, b) = same_width(terms, random, a, b);
    let op = random.pick(&[Op::Eq, Op::Ne, Op::Ult, Op::Ule, Op::Slt, Op::Sle]);
    if random.below(3) == 0 {
        let constant = random.value(terms.width(a));
        let constant = terms.constant(terms.width(a), constant);
        return terms.binary(op, a, constant);
    }
    terms.binary(op, a, b)
}

fn random_term(terms: &mut Terms, random: &mut Random, pool: &[TermId]) -> TermId {
    let (a, b) = (random.pick(pool), random.pick(pool));
    let width = terms.width(a);
    match random.below(10) {
        0 => {
            let low = random.below(width as usize) as u32;
            let kept = 1 + random.below((width - low) as usize) as u32;
            terms.extract(a, low, kept)
        }
        1 if width < 24 => terms.zext(a, width + 8),
        2 if width < 24 => terms.sext(a, width + 5),
        3 if width + terms.width(b) <= 24 => terms.concat(a, b),
        4 => {
            let (then, otherwise) = same_width(terms, random, a, b);
            let condition = terms.binary(Op::Ult, then, otherwise);
            terms.ite(condition, then, otherwise)
        }
        5 => {
            let bytes: Vec<u8> = (0..1 + random.below(20))
                .map(|_| random.next() as u8)
                .collect();
            let snapshot = terms.snapshot(bytes);
            let index = terms.zext(a, 64);
            let read_width = random.pick(&[8, 16]);
            terms.read(index, snapshot, read_width)
        }
        6 => {
            let constant = random.value(width);
            let constant = terms.constant(width, constant);
            random_operation(terms, random, a, constant)
        }
        _ => {
            let (a, b) = same_width(terms, random, a, b);
            random_operation(terms, random, a, b)
        }
    }
}

fn random_operation(terms: &mut Terms, random: &mut Random, a: TermId, b: TermId) -> TermId {
    let all: Vec<Op> = operations().collect();
    let op = random.pick(&all);
    apply(terms, op, a, b)
}

/// Both as wide as the wider one.
fn same_width(terms: &mut Terms, random: &mut Random, a: TermId, b: TermId) -> (TermId, TermId) {
    let width = terms.width(a).max(terms.width(b));
    let mut widen = |id: TermId| match random.below(2) {
        0 => terms.zext(id, width),
        _ => terms.sext(id, width),
    };
    (widen(a), widen(b))
}
