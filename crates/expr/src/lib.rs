//! Bit-vector terms: build, simplify, evaluate, bound, print.
//!
//! A recorded path is a list of conditions over input bytes. Here is what they are made of:
//!
//! | module | what it does |
//! | --- | --- |
//! | [`terms`] | the arena: every term once, simplified when it is made |
//! | `simplify` | the rewrite rules, one small function each |
//! | [`evaluate`] | the value of terms under an assignment of the input bytes |
//! | [`partial`] | the same while some bytes have no value yet |
//! | [`columns`] | the same under many assignments at once |
//! | [`excerpt`] | a few terms in an arena of their own |
//! | [`digest`] | names of terms that hold beyond their arena |
//! | [`support`] | which input bytes a term depends on |
//! | [`range`] | which values a term can have, also under the conditions of a path |
//! | [`lower`] | composite operations as basic ones, for solvers |
//! | [`print`] | terms as text: for people, and as SMT-LIB 2 |
//!
//! Terms are graphs of up to millions of nodes and as deep, so nothing in this crate recurses
//! over them: loops use the order of [`TermId`]s (operands are smaller than what is made of
//! them) or a stack of their own.

pub mod columns;
pub mod digest;
pub mod evaluate;
pub mod excerpt;
pub mod lower;
mod node;
pub mod one_changed;
pub mod partial;
pub mod print;
pub mod range;
mod simplify;
mod store;
pub mod support;
pub mod terms;
#[cfg(test)]
mod testing;

pub use columns::Columns;
pub use digest::Digests;
pub use evaluate::{Assignment, Evaluator, Inputs};
pub use excerpt::excerpt;
pub use lower::Lowering;
pub use nearmiss_abi::op::Op;
pub use node::{InputByte, Node, Operands, SnapshotId, TermId};
pub use one_changed::OneChanged;
pub use partial::{Partial, PartialEvaluator};
pub use range::{Range, Ranges};
pub use support::{InputSet, Supports};
pub use terms::Terms;
