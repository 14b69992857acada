//! Making terms. Each has its value in this run; a few rewrites that save many terms are
//! done here, the rest is left to the engine, which sees more.
//!
//! A label of 0 stands for a concrete value: it is what a function here returns when the
//! result does not depend on input, or when nothing can be recorded any more.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::{MAX_WIDTH, Op, ResultWidth, truncate};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label, Term};

use crate::evaluate::{evaluate, mask};
use crate::runtime::Runtime;
use crate::terms::Slot;

/// An operand: a term, or (label 0) a concrete value.
#[derive(Clone, Copy)]
struct Operand {
    label: Label,
    value: u128,
}

impl Runtime {
    /// How wide a term is.
    #[inline(always)]
    pub fn width(&self, label: Label) -> u32 {
        self.trace.term(label).width as u32
    }

    /// The value of a term in this run.
    #[inline(always)]
    pub fn value(&self, label: Label) -> u128 {
        let term = self.trace.term(label);
        let low = term.value as u128;
        if term.width <= 64 {
            low
        } else {
            // SAFETY: one word per possible label is mapped.
            low | (unsafe { self.uppers.add(label as usize).read() } as u128) << 64
        }
    }

    /// Whether a term is a constant.
    #[inline(always)]
    pub fn is_constant(&self, label: Label) -> bool {
        self.trace.term(label).op == Op::Const as u8
    }

    /// The label of this term, old or new; 0 if it cannot be recorded.
    #[inline(never)]
    pub fn intern(&mut self, term: Term, value: u128) -> Label {
        self.intern_here(term, value)
    }

    /// As [`Runtime::intern`], expanded in place: the term stays in registers.
    #[inline(always)]
    fn intern_here(&mut self, mut term: Term, value: u128) -> Label {
        term.value = value as u64;
        let slot = match self.table.find(&self.trace, &term) {
            Slot::Known(label) => return label,
            Slot::Free(slot) => slot,
        };
        match self.trace.append_term(&term) {
            Ok(label) => {
                if term.width > 64 {
                    // SAFETY: one word per possible label is mapped.
                    unsafe { self.uppers.add(label as usize).write((value >> 64) as u64) };
                }
                if !self.table.insert(&self.trace, slot, label) {
                    self.stop(NoteKind::Limit);
                }
                label
            }
            Err(full) => {
                self.stop_full(full);
                CONCRETE
            }
        }
    }

    /// A constant.
    pub fn constant(&mut self, width: u32, value: u128) -> Label {
        let value = truncate(value, width);
        self.intern_here(Term::constant(width, value), value)
    }

    /// The label, if it is what the program has: of this width and value. A label that does
    /// not fit would make the path a lie; it is dropped, and noted.
    #[inline(always)]
    pub fn trusted(&mut self, label: Label, width: u32, value: u64) -> Label {
        if label == CONCRETE {
            return CONCRETE;
        }
        let term = self.trace.term(label);
        if term.width as u32 == width && term.value == value & mask(width) {
            label
        } else {
            self.distrust(label, width)
        }
    }

    #[cold]
    fn distrust(&mut self, label: Label, width: u32) -> Label {
        let kind = if self.width(label) == width {
            NoteKind::Overwritten
        } else {
            NoteKind::Operation
        };
        self.trace.note(kind, SiteId::NONE, 1);
        CONCRETE
    }

    fn operand(&self, label: Label, width: u32, value: u64) -> Operand {
        let value = if label == CONCRETE {
            truncate(value as u128, width)
        } else {
            self.value(label)
        };
        Operand { label, value }
    }

    /// The operand as a term.
    fn term_of(&mut self, operand: Operand, width: u32) -> Label {
        if operand.label == CONCRETE {
            self.constant(width, operand.value)
        } else {
            operand.label
        }
    }

    /// A unary or binary operation on operands of `width` bits.
    #[inline]
    pub fn operate(&mut self, op: Op, width: u32, labels: [Label; 2], values: [u64; 2]) -> Label {
        let unary = op.arity() == 1;
        let a = self.trusted(labels[0], width, values[0]);
        let b = if unary {
            CONCRETE
        } else {
            self.trusted(labels[1], width, values[1])
        };
        if a | b == CONCRETE {
            return CONCRETE;
        }
        let a = self.operand(a, width, values[0]);
        let b = self.operand(b, width, values[1]);
        let Some(value) = evaluate(op, width, a.value, b.value) else {
            return self.no_such_operation();
        };
        if let Some(simple) = self.simplify(op, a, b) {
            return simple;
        }
        let a = self.term_of(a, width);
        let b = if unary { 0 } else { self.term_of(b, width) };
        let result = match op.result_width() {
            ResultWidth::Bit => 1,
            _ => width,
        };
        self.intern_here(Term::new(op, result, a, b, 0), value)
    }

    /// Notes that something has no term.
    #[cold]
    pub fn no_such_operation(&mut self) -> Label {
        self.trace.note(NoteKind::Operation, SiteId::NONE, 1);
        CONCRETE
    }

    /// match: `x & 0`, `x * 0`; both operands constant → result: concrete
    /// match: `x + 0`, `x - 0`, `x | 0`, `x ^ 0`, shifts by 0 → result: `x`
    #[inline(always)]
    fn simplify(&self, op: Op, a: Operand, b: Operand) -> Option<Label> {
        let constant =
            |operand: Operand| operand.label == CONCRETE || self.is_constant(operand.label);
        let (a_constant, b_constant) = (constant(a), constant(b));
        if a_constant && (b_constant || op.arity() == 1) {
            return Some(CONCRETE);
        }
        let zero_a = a_constant && a.value == 0;
        let zero_b = b_constant && b.value == 0;
        match op {
            Op::And | Op::Mul if zero_a || zero_b => Some(CONCRETE),
            Op::Add | Op::Or | Op::Xor if zero_a => Some(b.label),
            Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::LShr | Op::AShr if zero_b => {
                Some(a.label)
            }
            _ => None,
        }
    }

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
        let value = truncate(nearmiss_abi::op::signed(self.value(a), from) as u128, width);
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
