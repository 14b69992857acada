//! Sums of a term and a constant stay short.
//!
//! Counters and pointers that start at an input's length are stepped in loops; each step on
//! top of the last would be a chain as long as the loop. So a sum is kept as one term and one
//! constant, and what two sums have in common cancels: `(n + 1) - 1` is `n`, and the distance
//! of two pointers into one string of unknown length is a number.

use nearmiss_abi::op::{MAX_WIDTH, Op, signed, truncate};
use nearmiss_abi::term::{CONCRETE, Label, TERM_LENGTH};

use super::Operand;
use crate::runtime::Runtime;

/// A term plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The term; 0: the sum is the constant.
    pub base: Label,
    /// What is added, as a value of the term's width.
    pub offset: u128,
}

impl Runtime {
    /// A term taken apart: `x + c`, `c + x` and `x - c` have the base `x`.
    pub fn sum(&self, label: Label) -> Sum {
        let term = *self.trace.term(label);
        let width = term.width as u32;
        let (base, offset) = match Op::from_code(term.op) {
            Some(Op::Add) if self.is_constant(term.b) => (term.a, self.value(term.b)),
            Some(Op::Add) if self.is_constant(term.a) => (term.b, self.value(term.a)),
            Some(Op::Sub) if self.is_constant(term.b) => {
                (term.a, self.value(term.b).wrapping_neg())
            }
            Some(Op::Const) => (CONCRETE, self.value(label)),
            _ => (label, 0),
        };
        let offset = truncate(offset, width.max(1));
        Sum { base, offset }
    }

    fn sum_of(&self, operand: Operand) -> Sum {
        if operand.label == CONCRETE {
            Sum {
                base: CONCRETE,
                offset: operand.value,
            }
        } else {
            self.sum(operand.label)
        }
    }

    /// `base + offset` as a term; a base of 0 is a concrete value, so the result is, too.
    pub fn plus(&mut self, base: Label, offset: u128) -> Label {
        let width = self.width(base);
        if base == CONCRETE {
            return CONCRETE;
        }
        let inner = self.sum(base);
        let offset = truncate(inner.offset.wrapping_add(offset), width);
        if offset == 0 || inner.base == CONCRETE {
            return inner.base;
        }
        let negative = signed(offset, width) < 0 && offset != 1 << (width - 1);
        let (op, constant) = if negative {
            (Op::Sub, truncate(offset.wrapping_neg(), width))
        } else {
            (Op::Add, offset)
        };
        let value = match op {
            Op::Sub => self.value(inner.base).wrapping_sub(constant),
            _ => self.value(inner.base).wrapping_add(constant),
        };
        let constant = self.constant(width, constant);
        let term = nearmiss_abi::term::Term::new(op, width, inner.base, constant, 0);
        self.intern(term, truncate(value, width))
    }

    /// match: `(x + c) + d` → result: `x + (c + d)`
    /// match: `(x + c) - (x + d)` → result: concrete
    /// match: `(x + y + c) - (x + d)` → result: `y + (c - d)`
    pub(super) fn simplify_sum(&mut self, op: Op, a: Operand, b: Operand) -> Option<Label> {
        if op != Op::Add && op != Op::Sub {
            return None;
        }
        let (first, second) = (self.sum_of(a), self.sum_of(b));
        match op {
            Op::Add if second.base == CONCRETE && first.offset != 0 => {
                Some(self.plus(a.label, second.offset))
            }
            Op::Add if first.base == CONCRETE && second.offset != 0 => {
                Some(self.plus(b.label, first.offset))
            }
            Op::Sub if second.base == CONCRETE && first.offset != 0 => {
                Some(self.plus(a.label, second.offset.wrapping_neg()))
            }
            Op::Sub if first.base == CONCRETE || second.base == CONCRETE => None,
            Op::Sub if first.base == second.base => Some(CONCRETE),
            Op::Sub => {
                let sum = *self.trace.term(first.base);
                let rest = match Op::from_code(sum.op) {
                    Some(Op::Add) if sum.a == second.base => sum.b,
                    Some(Op::Add) if sum.b == second.base => sum.a,
                    _ => return None,
                };
                Some(self.plus(rest, first.offset.wrapping_sub(second.offset)))
            }
            _ => None,
        }
    }

    /// match: `zext(n) < c`, `zext(n) <= c` with `c` larger than any `n` → result: concrete
    ///
    /// Only for lengths: models ask for the smaller of a length and `SIZE_MAX`. Where a byte is
    /// compared to `EOF`, the branch says that the byte was read, which the engine wants to know.
    pub(super) fn is_no_question(&self, op: Op, a: Operand, b: Operand) -> bool {
        if !matches!(op, Op::Ult | Op::Ule) || !self.is_length(a.label) {
            return false;
        }
        let term = *self.trace.term(a.label);
        let constant = b.label == CONCRETE || self.is_constant(b.label);
        constant && term.op == Op::ZExt as u8 && b.value >> self.width(term.a).min(127) != 0
    }

    /// match: the low `width` bits of `ext(x) + c`, which depends on lengths only, with `x` of
    /// that width → result: `x + c`
    ///
    /// Programs keep lengths as `int` and compute with `size_t`, to and fro.
    pub(super) fn extract_from_sum(&mut self, label: Label, width: u32) -> Option<Label> {
        if self.trace.term(label).flags & TERM_LENGTH == 0 || width > MAX_WIDTH {
            return None;
        }
        let sum = self.sum(label);
        let base = *self.trace.term(sum.base);
        let extended = base.op == Op::ZExt as u8 || base.op == Op::SExt as u8;
        if sum.offset == 0 || !extended || self.width(base.a) != width {
            return None;
        }
        Some(self.plus(base.a, truncate(sum.offset, width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::testing::Scratch;
    use nearmiss_abi::term::Term;

    fn input(runtime: &mut Scratch, offset: u32, value: u8) -> Label {
        let byte = runtime.intern(Term::new(Op::Input, 8, 0, offset, 0), value as u128);
        runtime.zero_extend(byte, 32)
    }

    #[test]
    fn steps_of_a_counter_make_no_chain() {
        let mut runtime = Scratch::new();
        let n = input(&mut runtime, 0, 5);
        let mut counter = n;
        for step in 0..10 {
            counter = runtime.operate(Op::Add, 32, [counter, 0], [5 + step, 1]);
            let sum = runtime.sum(counter);
            assert_eq!((sum.base, sum.offset), (n, step as u128 + 1));
        }
        for step in (0..10).rev() {
            counter = runtime.operate(Op::Sub, 32, [counter, 0], [6 + step, 1]);
        }
        assert_eq!(counter, n);
        let less = runtime.operate(Op::Add, 32, [n, 0], [5, 0xffff_fffe]);
        let less = runtime.operate(Op::Add, 32, [0, less], [1, 3]);
        assert_eq!(runtime.value(less), 4);
        assert_eq!(runtime.trace.term(less).op, Op::Sub as u8);
    }

    #[test]
    fn what_two_sums_share_cancels() {
        let mut runtime = Scratch::new();
        let (n, m) = (input(&mut runtime, 0, 5), input(&mut runtime, 1, 7));
        let a = runtime.operate(Op::Add, 32, [n, 0], [5, 100]);
        let b = runtime.operate(Op::Add, 32, [n, 0], [5, 30]);
        assert_eq!(runtime.operate(Op::Sub, 32, [a, b], [105, 35]), CONCRETE);
        let both = runtime.operate(Op::Add, 32, [n, m], [5, 7]);
        let both = runtime.operate(Op::Add, 32, [both, 0], [12, 40]);
        let rest = runtime.operate(Op::Sub, 32, [both, b], [52, 35]);
        assert_eq!(
            runtime.sum(rest),
            Sum {
                base: m,
                offset: 10
            }
        );
        let different = runtime.operate(Op::Sub, 32, [a, m], [105, 7]);
        assert_eq!(runtime.trace.term(different).op, Op::Sub as u8);
    }
}
