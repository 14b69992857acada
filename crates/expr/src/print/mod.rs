//! Terms as text: for people, and as SMT-LIB 2.

mod expression;
mod smt;

pub use expression::expression;
pub use smt::smt;
