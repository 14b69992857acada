//! What runs inside somebody else's program, whether that records or is only captured: the base of
//! the recording runtime (`rt`) and of the archive that captures (`rt-capture`).
//!
//! No `std`, no heap, raw system calls (they leave `errno` alone), nothing printed. The functions of
//! libc that are captured are tables of macros ([`called`]): whoever takes one names the real
//! functions in a module `real` of its own.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`system`], [`text`], [`auxiliary`] | what the standard library would have been for |
//! | [`files`], [`streams`], [`vectors`] | the C library's layouts and flags |
//! | [`capture`] | what a process needs to be run again |
//! | [`chance`] | clocks, random numbers, process numbers: captured, and given again |
//! | [`called`] | libc's functions, watched on their way |
#![cfg_attr(not(test), no_std)]

pub mod auxiliary;
pub mod called;
pub mod capture;
pub mod chance;
pub mod files;
pub mod streams;
pub mod system;
pub mod text;
pub mod vectors;
