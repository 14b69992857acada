//! The language of `--require`: conditions that hold for all inputs, written as C without a branch.
//!
//! ```text
//!  forall i in 0..n-1: t[i] <= t[i+1]
//!     ─► lex ─► parse ─► Expression ─► write ─► ((0 >= n - 1) | (t0 <= t1)) & ((1 >= n - 1) | (t1 <= t2)) & …
//! ```
//!
//! Expressions are C's, over parameters, globals and their elements, with C's precedence and types,
//! except that what overflows wraps, and that bounds of quantifiers are signed (`0..n-1` for a
//! `size_t n`). Besides there are `a => b` (if a then b), `count(t)` (how many
//! elements there are), `strlen(s)`, and `forall i in LOW..HIGH: …` and `exists`, where HIGH itself does not count
//! (with `..=` it does). What C leaves undefined (an element that is not there, a null pointer, a
//! division by zero, a shift by too much) makes the requirement, or this turn of a quantifier, not
//! hold, unless `&&`, `||` or `=>` keeps it from being looked at.
//!
//! The C text reads the staging, where every element has its place whether it is there or not. So it
//! may compute everything and choose by `&` and `|`: the harness must not branch on inputs.
//!
//! | module | what it does |
//! | --- | --- |
//! | `lex` | text → words |
//! | `parse` | words → [`Expression`] |
//! | `types` | int, unsigned, long, unsigned long: conversions and literals |
//! | `values` | which values a part may have: bounds of quantifiers, constants |
//! | `write` | an expression → C; `arithmetic`, `places`, `lengths` and `truth` are its parts |

mod arithmetic;
#[cfg(test)]
mod evaluate;
mod lengths;
mod lex;
mod parse;
mod places;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
mod truth;
mod types;
mod values;
mod write;

use crate::{HarnessError, Operands};
use types::CType;

/// Looks at the syntax only: what can be said before anything is known of the function.
pub fn check(text: &str) -> Result<(), HarnessError> {
    parse::parse(text)
        .map(drop)
        .map_err(|trouble| trouble.shown(text))
}

/// The requirement as an expression in C that is 0 or 1 and has no branch.
pub fn write(text: &str, operands: &dyn Operands) -> Result<String, HarnessError> {
    parse::parse(text)
        .and_then(|expression| write::write(&expression, operands))
        .map_err(|trouble| trouble.shown(text))
}

/// A part of a requirement, and where it begins.
#[derive(Clone, Debug, PartialEq)]
struct Expression {
    node: Node,
    at: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(i128, CType),
    Null,
    Place(Place),
    Count(Place),
    Length(Place),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    Quantifier(Box<Quantifier>),
}

/// `t[i].x`: a name and the way from there. A name alone may be a quantifier's variable.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    name: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Member(String),
    Arrow(String),
    Index(Expression),
    /// `*p`; `(*p).x` is an arrow.
    Target,
}

#[derive(Clone, Debug, PartialEq)]
struct Quantifier {
    /// `forall`, not `exists`.
    every: bool,
    variable: String,
    low: Expression,
    high: Expression,
    /// `..=`
    inclusive: bool,
    body: Expression,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unary {
    Plus,
    Minus,
    Complement,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Implies,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trouble {
    at: usize,
    message: String,
}

impl Trouble {
    fn new(at: usize, message: impl Into<String>) -> Trouble {
        Trouble {
            at,
            message: message.into(),
        }
    }

    /// With the requirement, and a mark under the place.
    fn shown(&self, text: &str) -> HarnessError {
        // A mark needs one line, and a column for each character.
        let line = text.replace(char::is_whitespace, " ");
        let before = line.get(..self.at).unwrap_or(&line).chars().count();
        HarnessError(format!(
            "--require: {}\n  {line}\n  {}^",
            self.message,
            " ".repeat(before)
        ))
    }
}
