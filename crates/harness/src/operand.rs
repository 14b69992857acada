//! What an expression over the inputs may name, and how the harness's C file spells it.
//!
//! The expressions of `--require` are written by [`crate::require`], which knows nothing of
//! layouts: it asks for operands by the names that the user wrote.

use crate::HarnessError;

/// A number among the inputs, as the harness reads it: from the staging, before any block is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// An expression in C that has its value and its promoted type; no branch, no side effect.
    pub text: String,
    /// Whether its type has negative numbers.
    pub signed: bool,
    /// Bits of its type; fewer than the type has for a bit-field.
    pub bits: u32,
    /// The smallest and the largest value that it may have: what ranges and sizes leave of its type.
    /// That is how often `forall i in 0..n` is unrolled.
    pub values: (i128, i128),
}

/// Gives operands their places.
pub trait Operands {
    /// The number that is called so: `n`, `t[3]`, `p->next->value`, `p[0]` (for `*p`), `s.x`,
    /// `matrix[1][2]`; also a constant of an enumeration.
    fn number(&self, path: &str) -> Result<Operand, HarnessError>;

    /// How many elements the array or block has at most: `t[0]` to `t[most - 1]` have places.
    fn most(&self, path: &str) -> Result<u64, HarnessError>;

    /// How many elements it has in this input; an error for a string, whose zero says it.
    fn count(&self, path: &str) -> Result<Operand, HarnessError>;

    /// Whether a pointer is null in this input: a number that is 0 or 1. An error for what is no
    /// pointer.
    fn is_null(&self, path: &str) -> Result<Operand, HarnessError>;
}
