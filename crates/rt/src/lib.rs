//! Linked into the tested program: shadow memory, inputs, libc wrappers, the trace writer.
//!
//! Everything here runs inside somebody else's program, between any two of its instructions.
//! So: no `std`, no heap, raw system calls (they leave `errno` alone), nothing printed, and
//! libc is called only by [`models`] and for the addresses of its own tables.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`entry`] | the symbols that instrumented code sees, in assembly |
//! | [`hooks`] | one function per row of `abi::hook` |
//! | [`turn`] | who may work on the state, and whether the process records |
//! | [`runtime`] | the one state, and when recording stops |
//! | [`start`] | what happens before `main` |
//! | [`shadow`] | which byte of memory holds which byte of which term |
//! | [`trace`] | the trace file |
//! | [`terms`], [`construct`], [`evaluate`] | hash-consed terms and how they are made |
//! | [`memory`], [`symbolic`], [`snapshots`], [`calls`], [`events`] | what the hooks do |
//! | [`objects`], [`modules`], [`heap`] | which memory is one object |
//! | [`bounds`], [`pointers`], [`formula`] | checks of bounds |
//! | [`lengths`], [`extent`], [`arrivals`] | how long inputs are, as inputs of their own |
//! | [`strict`] | accesses at concrete addresses, in explorations |
//! | [`moving`] | accesses at addresses that move with the length of an input |
//! | [`input`], [`files`], [`streams`], [`flows`] | where input bytes come from |
//! | [`system`], [`processes`], [`text`], [`list`] | what the standard library would have been for |
//! | [`models`] | the libc functions that move labels |
//! | [`capture`] | what a process needs to be run again, without recording it |
//! | [`chance`] | clocks, random numbers, process numbers: captured, and given again |
//! | [`boundary`] | the data of calls from test code as inputs |
//! | [`hoist`], [`contracts`] | calls whose preconditions are to be found; checks of contracts |
//! | [`harness`], [`replay`] | `nearmiss_symbolic`, `nearmiss_assume` and their relatives |
//! | [`dead_ends`] | a run for a target ends where it cannot come there any more |
//! | [`server`] | many runs of one process, each in a child of its own |
#![cfg_attr(not(test), no_std)]

mod answers;
mod arrivals;
mod boundary;
mod bounds;
mod buffers;
mod calls;
mod compared;
mod construct;
mod contracts;
mod dead_ends;
mod dispatch;
mod entry;
mod evaluate;
mod events;
mod extent;
mod files;
mod flows;
mod foreign;
mod forks;
mod formula;
mod harness;
mod heap;
mod hoist;
mod hooks;
mod input;
mod kept;
mod lengths;
mod libraries;
mod list;
mod memory;
mod models;
mod modules;
mod moving;
mod objects;
mod options;
mod pointers;
mod processes;
mod replay;
mod runtime;
mod server;
mod shadow;
mod snapshots;
mod start;
mod streams;
mod strict;
mod symbolic;
mod terms;
mod thread;
mod trace;
mod turn;

// The sources of `rt-base` are compiled as part of this crate: what another crate has for others is
// visible outside the archive, and each library of the tested program would show it.
#[path = "../../rt-base/src/auxiliary.rs"]
#[allow(dead_code)]
mod auxiliary;
#[path = "../../rt-base/src/files.rs"]
mod base_files;
#[path = "../../rt-base/src/streams.rs"]
mod base_streams;
#[path = "../../rt-base/src/called/mod.rs"]
#[allow(dead_code)]
mod called;
#[path = "../../rt-base/src/capture/mod.rs"]
#[allow(unused_imports)]
#[allow(dead_code)]
mod capture;
#[path = "../../rt-base/src/chance.rs"]
#[allow(dead_code)]
mod chance;
#[path = "../../rt-base/src/system.rs"]
mod system;
#[path = "../../rt-base/src/text.rs"]
mod text;
#[path = "../../rt-base/src/vectors.rs"]
mod vectors;

/// The runtime has no way to report a panic and must not unwind into the program; nothing in
/// it is meant to panic, so a trap is the most honest end.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: a trap has no preconditions.
    unsafe { core::arch::asm!("ud2", options(noreturn, nomem, nostack)) }
}
