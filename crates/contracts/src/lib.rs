//! What must hold when a function is called: formulas over its parameters, and the file that keeps them.
//!
//! ```text
//!  bounds(dest) > strlen(src) && (end == NULL || bounds(end) >= 1)
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | [`formula`] | formulas and the terms they are made of |
//! | [`parse`] | text → formula |
//! | [`print`] | formula → text, C, ACSL, CBMC, what `explore --require` reads |
//! | [`code`] | a precondition as a C function, assertions, ACSL, clauses for CBMC |
//! | [`place`] | `p->data[2].size`, taken apart |
//! | [`file`](mod@file) | `nearmiss.contracts`: one block a function |

pub mod code;
pub mod file;
pub mod formula;
pub mod parse;
pub mod place;
pub mod print;

pub use file::{Contract, Subject, merge, read, write};
pub use formula::{Attribute, Comparison, Formula, Term};
pub use parse::{ContractError, parse};
