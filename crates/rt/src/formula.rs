//! Formulas over addresses and sizes: 64-bit words and truths, symbolic or not.
//!
//! What is concrete stays concrete, so that a condition that no input can change is seen to be
//! one.

use nearmiss_abi::op::Op;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::evaluate::evaluate;
use crate::runtime::Runtime;

/// An address or a size.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The term, of 64 bits; 0: it is concrete.
    pub label: Label,
    /// The value in this run.
    pub value: u64,
}

impl Word {
    /// A word that does not depend on input.
    pub const fn concrete(value: u64) -> Word {
        Word {
            label: CONCRETE,
            value,
        }
    }

    /// Whether it depends on input.
    pub const fn is_symbolic(self) -> bool {
        self.label != CONCRETE
    }
}

/// A condition.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// The term, of one bit; 0: it is concrete.
    pub label: Label,
    /// Whether it holds in this run.
    pub holds: bool,
}

impl Truth {
    /// Always so.
    pub const fn concrete(holds: bool) -> Truth {
        Truth {
            label: CONCRETE,
            holds,
        }
    }
}

impl Runtime {
    /// The word with this label, if the label is what the program has.
    pub fn word(&mut self, label: Label, value: u64) -> Word {
        let label = self.trusted(label, 64, value);
        let label = if self.is_constant(label) {
            CONCRETE
        } else {
            label
        };
        Word { label, value }
    }

    /// An operation on two words.
    pub fn calculate(&mut self, op: Op, a: Word, b: Word) -> Word {
        let label = self.operate(op, 64, [a.label, b.label], [a.value, b.value]);
        let value = evaluate(op, 64, a.value as u128, b.value as u128).unwrap_or(0) as u64;
        Word { label, value }
    }

    /// A comparison or another predicate of two words.
    pub fn relate(&mut self, op: Op, a: Word, b: Word) -> Truth {
        let word = self.calculate(op, a, b);
        Truth {
            label: word.label,
            holds: word.value != 0,
        }
    }

    /// `a` and `b`.
    pub fn both(&mut self, a: Truth, b: Truth) -> Truth {
        self.connect(Op::And, a, b)
    }

    /// `a` or `b`.
    pub fn either(&mut self, a: Truth, b: Truth) -> Truth {
        self.connect(Op::Or, a, b)
    }

    /// match: `x and true`, `x or false` → result: `x`
    /// match: `x and false`, `x or true` → result: the concrete one
    fn connect(&mut self, op: Op, a: Truth, b: Truth) -> Truth {
        let neutral = op == Op::And;
        for (one, other) in [(a, b), (b, a)] {
            if one.label == CONCRETE {
                return if one.holds == neutral { other } else { one };
            }
        }
        let label = self.operate(op, 1, [a.label, b.label], [a.holds as u64, b.holds as u64]);
        let holds = if op == Op::And {
            a.holds & b.holds
        } else {
            a.holds | b.holds
        };
        Truth { label, holds }
    }

    /// Not `a`.
    pub fn opposite(&mut self, a: Truth) -> Truth {
        let label = self.operate(Op::Not, 1, [a.label, CONCRETE], [a.holds as u64, 0]);
        Truth {
            label,
            holds: !a.holds,
        }
    }
}
