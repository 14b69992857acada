//! The interprocedural control-flow graph of a program: what may come after what, and how far a target is.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`graph`] | the flows of all units as one graph; calls through pointers by type |
//! | `builder` | how that is made of what each unit says |
//! | [`callbacks`] | which functions of the C library call back |
//! | `foreign` | whether what a program calls changes memory only |
//! | [`outside`] | what a function depends on that is no argument of it |
//! | [`guide`] | the way to a target, for whoever runs the program |
//! | [`distance`] | the least number of decisions from each node to a target, through steps in order |
//!
//! The graph has every edge that an execution can take, so what it says cannot be reached cannot. It has
//! more: a function that returns may return to each of its callers, a call through a pointer may call
//! each function whose address is taken.

mod builder;
pub mod callbacks;
pub mod distance;
mod foreign;
pub mod graph;
pub mod guide;
pub mod outside;

pub use distance::{Distances, Goal};
pub use foreign::changes_memory_only;
pub use graph::{FlowGraph, FlowNode, KnownSite};
pub use guide::{Guide, Passed};
pub use outside::Outside;
