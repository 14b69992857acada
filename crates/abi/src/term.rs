//! A recorded term: 24 bytes, named by its label.
//!
//! ```text
//!  0        1        2        4            8            12           16                     24
//!  | op u8  | width  | flags  | a u32      | b u32      | c u32      | value u64            |
//! ```
//!
//! `a`, `b`, `c` are the operation's operands (see [`crate::op`]: labels, or numbers for
//! leaves, `Extract` and `Read`). `value` is what the term was in the recorded run (the low 64
//! bits of a wide one). Terms are hash-consed: no two have the same first 16 bytes (constants:
//! and the same value). Operands have smaller labels than the terms made of them.

use crate::op::Op;

/// Names a term: its position in the table of terms. 0 names none, that is, a concrete value.
pub type Label = u32;

/// The label of a concrete value.
pub const CONCRETE: Label = 0;

/// Labels have this many bits, so that a shadow word has room for a byte number.
pub const LABEL_BITS: u32 = 28;

/// A term as it lies in the trace.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Term {
    /// The code of the operation.
    pub op: u8,
    /// Bits of the result, 1 to 128.
    pub width: u8,
    /// Bits of `TERM_*`.
    pub flags: u16,
    /// First operand.
    pub a: u32,
    /// Second operand.
    pub b: u32,
    /// Third operand.
    pub c: u32,
    /// The value in the recorded run, its low 64 bits.
    pub value: u64,
}

/// The term depends on nothing but lengths of inputs ([`crate::channel::ChannelKind::Length`]).
pub const TERM_LENGTH: u16 = 1;
/// A choice by the length of an input: what its second and third operand are made of is looked at
/// only for inputs that are long enough for it.
pub const TERM_CHOSEN: u16 = 2;

/// Bytes of a term.
pub const TERM_SIZE: usize = 24;
const _: () = assert!(core::mem::size_of::<Term>() == TERM_SIZE);

impl Term {
    /// A term without its value.
    pub const fn new(op: Op, width: u32, a: u32, b: u32, c: u32) -> Term {
        Term {
            op: op as u8,
            width: width as u8,
            flags: 0,
            a,
            b,
            c,
            value: 0,
        }
    }

    /// A constant of up to 128 bits.
    pub const fn constant(width: u32, value: u128) -> Term {
        let upper = (value >> 64) as u64;
        let mut term = Term::new(Op::Const, width, 0, upper as u32, (upper >> 32) as u32);
        term.value = value as u64;
        term
    }

    /// The value of a constant.
    pub const fn constant_value(&self) -> u128 {
        let upper = self.b as u64 | (self.c as u64) << 32;
        (upper as u128) << 64 | self.value as u128
    }
}

/// The shadow of one byte of memory: which byte of which term it holds. 0: it is concrete.
///
/// The low [`LABEL_BITS`] are the term's label, the upper four the number of the byte in it.
/// A store of a term thus makes no new terms; a load of what was stored finds it whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct ShadowWord(pub u32);

impl ShadowWord {
    /// A concrete byte.
    pub const CONCRETE: ShadowWord = ShadowWord(0);

    /// Byte number `byte` (0 is the least significant) of the term `label`.
    pub const fn new(label: Label, byte: u32) -> ShadowWord {
        ShadowWord(label | byte << LABEL_BITS)
    }

    /// The term.
    pub const fn label(self) -> Label {
        self.0 & ((1 << LABEL_BITS) - 1)
    }

    /// Which byte of it.
    pub const fn byte(self) -> u32 {
        self.0 >> LABEL_BITS
    }
}
