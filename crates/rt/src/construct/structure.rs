//! Terms that take values apart and put them together: casts, parts, choices.

use nearmiss_abi::op::{MAX_WIDTH, Op, signed, truncate};
use nearmiss_abi::term::{CONCRETE, Label, Term};

use crate::runtime::Runtime;

impl Runtime {
    /// `high` above `low`, given as terms.
    ///
    /// match: `concat(0, x)` → result: `zext(x)`
    pub fn concatenate(&mut self, high: Label, low: Label) -> Label {
        let (high_width, low_width) = (self.width(high), self.width(low));
        let width = high_width + low_width;
        if high == CONCRETE || low == CONCRETE || width > MAX_WIDTH {
            return CONCRETE;
        }
        if self.is_constant(high) && self.value(high) == 0 {
            return self.zero_extend(low, width);
        }
        let value = self.value(high) << low_width | self.value(low);
        self.intern(Term::new(Op::Concat, width, high, low, 0), value)
    }

    /// `Concat` as the hook has it: two operands of one width, either may be concrete.
    pub fn concatenate_operands(
        &mut self,
        width: u32,
        labels: [Label; 2],
        values: [u64; 2],
    ) -> Label {
        let a = self.trusted(labels[0], width, values[0]);
        let b = self.trusted(labels[1], width, values[1]);
        if a | b == CONCRETE {
            return CONCRETE;
        }
        let a = self.operand(a, width, values[0]);
        let b = self.operand(b, width, values[1]);
        let a = self.term_of(a, width);
        let b = self.term_of(b, width);
        self.concatenate(a, b)
    }

    /// match: `zext(zext(x))` → result: `zext(x)`
    pub fn zero_extend(&mut self, a: Label, width: u32) -> Label {
        let inner = *self.trace.term(a);
        if a == CONCRETE || inner.width as u32 == width || self.is_constant(a) {
            return self.resized_constant(a, width, self.value(a));
        }
        let operand = if inner.op == Op::ZExt as u8 {
            inner.a
        } else {
            a
        };
        let value = self.value(a);
        self.intern(Term::new(Op::ZExt, width, operand, 0, 0), value)
    }

    /// Sign extension.
    pub fn sign_extend(&mut self, a: Label, width: u32) -> Label {
        let from = self.width(a);
        if a == CONCRETE {
            return CONCRETE;
        }
        let value = truncate(signed(self.value(a), from) as u128, width);
        if from == width || self.is_constant(a) {
            return self.resized_constant(a, width, value);
        }
        self.intern(Term::new(Op::SExt, width, a, 0, 0), value)
    }

    /// A term that needs no extension, or a constant that is simply another one.
    fn resized_constant(&mut self, a: Label, width: u32, value: u128) -> Label {
        if a == CONCRETE || self.width(a) == width {
            a
        } else {
            self.constant(width, value)
        }
    }

    /// `width` bits of `a` from bit `low` on.
    ///
    /// match: all of `x` → result: `x`
    /// match: bits of `extract(x)`, of one side of `concat(x, y)`, of `x` in `zext(x)` or
    /// `sext(x)` → result: bits of `x` (or `y`)
    /// match: bits above `x` in `zext(x)`, bits of a constant → result: concrete
    pub fn extract(&mut self, mut a: Label, mut low: u32, width: u32) -> Label {
        loop {
            let term = *self.trace.term(a);
            let end = low + width;
            if a == CONCRETE || end > term.width as u32 || self.is_constant(a) {
                return CONCRETE;
            }
            if end - low == term.width as u32 {
                return a;
            }
            let inner = match Op::from_code(term.op) {
                Some(Op::Extract) => Some((term.a, low + term.b)),
                Some(Op::Concat) => {
                    let middle = self.width(term.b);
                    if end <= middle {
                        Some((term.b, low))
                    } else if low >= middle {
                        Some((term.a, low - middle))
                    } else {
                        None
                    }
                }
                Some(Op::ZExt) if low >= self.width(term.a) => return CONCRETE,
                Some(Op::ZExt | Op::SExt) if end <= self.width(term.a) => Some((term.a, low)),
                _ => None,
            };
            let Some(inner) = inner else {
                if low == 0
                    && let Some(sum) = self.extract_from_sum(a, width)
                {
                    return sum;
                }
                let value = truncate(self.value(a) >> low, width);
                return self.intern(Term::new(Op::Extract, width, a, low, 0), value);
            };
            (a, low) = inner;
        }
    }

    /// The term as one of `width` bits: its low bits, or zeros above it.
    pub fn resize(&mut self, a: Label, width: u32) -> Label {
        let from = self.width(a);
        if from == width {
            a
        } else if from < width {
            self.zero_extend(a, width)
        } else {
            self.extract(a, 0, width)
        }
    }

    /// `condition ? a : b`.
    pub fn choose(
        &mut self,
        width: u32,
        (condition, truth): (Label, bool),
        labels: [Label; 2],
        values: [u64; 2],
    ) -> Label {
        let a = self.trusted(labels[0], width, values[0]);
        let b = self.trusted(labels[1], width, values[1]);
        let condition = self.trusted(condition, 1, truth as u64);
        if condition == CONCRETE || self.is_constant(condition) {
            return if truth { a } else { b };
        }
        let a = self.operand(a, width, values[0]);
        let b = self.operand(b, width, values[1]);
        if a.label == b.label && a.value == b.value {
            return a.label;
        }
        let value = if truth { a.value } else { b.value };
        let a = self.term_of(a, width);
        let b = self.term_of(b, width);
        self.intern(Term::new(Op::Ite, width, condition, a, b), value)
    }

    /// The term as a condition: itself if it is one bit wide, else whether it is not zero.
    ///
    /// match: `zext(x) != 0` with `x` one bit wide → result: `x`
    pub fn truth(&mut self, label: Label) -> Label {
        let term = *self.trace.term(label);
        if label == CONCRETE || term.width == 1 {
            return label;
        }
        if term.op == Op::ZExt as u8 && self.width(term.a) == 1 {
            return term.a;
        }
        let width = term.width as u32;
        let value = self.value(label);
        let zero = self.constant(width, 0);
        self.intern(Term::new(Op::Ne, 1, label, zero, 0), (value != 0) as u128)
    }
}
