//! Making terms. Each has its value in this run; a few rewrites that save many terms are
//! done here, the rest is left to the engine, which sees more.
//!
//! A label of 0 stands for a concrete value: it is what a function here returns when the
//! result does not depend on input, or when nothing can be recorded any more.

mod structure;
mod sums;
#[cfg(test)]
mod tests;

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::{Op, ResultWidth, truncate};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label, TERM_LENGTH, Term};

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
        if self.depends_on_lengths(&term) {
            term.flags |= TERM_LENGTH;
        }
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

    /// Whether a new term depends on lengths of inputs, and on nothing else.
    fn depends_on_lengths(&self, term: &Term) -> bool {
        let Some(op) = Op::from_code(term.op) else {
            return false;
        };
        if op == Op::Input {
            return self.inputs.is_length(term.a);
        }
        let mut any = false;
        for operand in [term.a, term.b, term.c].into_iter().take(op.arity()) {
            if self.trace.term(operand).flags & TERM_LENGTH != 0 {
                any = true;
            } else if !self.is_constant(operand) {
                return false;
            }
        }
        any
    }

    /// Whether a term depends on lengths of inputs, and on nothing else.
    pub fn is_length(&self, label: Label) -> bool {
        self.trace.term(label).flags & TERM_LENGTH != 0
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
        if let Some(simple) = self.simplify_sum(op, a, b) {
            return simple;
        }
        if self.is_no_question(op, a, b) {
            return CONCRETE;
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
    /// match: `x + 0`, `x - 0`, `x | 0`, `x ^ 0`, `x * 1`, shifts by 0 → result: `x`
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
            Op::Mul if a_constant && a.value == 1 => Some(b.label),
            Op::Mul if b_constant && b.value == 1 => Some(a.label),
            Op::Add | Op::Or | Op::Xor if zero_a => Some(b.label),
            Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::LShr | Op::AShr if zero_b => {
                Some(a.label)
            }
            _ => None,
        }
    }
}
