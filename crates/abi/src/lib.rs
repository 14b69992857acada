//! The words that the compiler, the runtime and the engine share.
//!
//! Three programs that never run in one process must agree to the bit: the instrumented
//! program (through `rt`), the compiler that writes calls to it (`instrument`), and the
//! engine that reads what it recorded (`trace`). Everything they agree on stands here and
//! nowhere else, with no dependency and no `std`, so that it can be linked into any program.
//!
//! | module | what is agreed |
//! | --- | --- |
//! | [`op`] | the operations a term may have: one row each, with its evaluator |
//! | [`term`] | the 24 bytes of a recorded term, and the labels that name terms |
//! | [`event`] | the 16 bytes of a recorded event: branches, checks, what was fixed |
//! | [`note`] | what was lost, where and how often |
//! | [`trace`] | the layout of the trace file as a whole |
//! | [`channel`] | where input bytes come from |
//! | [`dead_ends`] | where a run that is after a target need not go on |
//! | [`site`] | how a place in the program is numbered |
//! | [`check`] | the kinds of failure |
//! | [`hook`] | the functions that instrumented code calls |
//! | [`model`] | the libc functions that have a model in the runtime |
//! | [`signature`] | the types of a call in one word, and whether a model can take it |
//! | [`forks`] | how a program is forked for every run in the world of a test |
//! | [`server`] | how a program that is started once is asked for many runs |
//! | [`shadow`] | shadow memory and the per-thread words |
//! | [`environment`] | the environment variables that steer a recording |
//! | [`boundary`] | calls from test code into the code under test |
//! | [`capture`] | what a captured process leaves behind so that it can be run again |
//! | [`chance`] | clocks, random numbers and process numbers, given again in later runs |
#![no_std]

pub mod boundary;
pub mod capture;
pub mod chance;
pub mod channel;
pub mod check;
pub mod dead_ends;
pub mod environment;
pub mod event;
pub mod forks;
pub mod hook;
pub mod library;
pub mod model;
pub mod note;
pub mod op;
pub mod server;
pub mod shadow;
pub mod signature;
pub mod site;
pub mod term;
pub mod trace;

/// Changes whenever an object file, a runtime and an engine of different ages would
/// misunderstand each other. It is part of every section header and of the trace header.
pub const ABI_VERSION: u32 = 9;
