//! Linked into the user's own program, as their compiler made it: captures what it takes to run a
//! process again, and nothing else. No labels, no shadow memory, no instrumentation.
//!
//! Functions of libc are taken over by the linker's `--wrap`:
//!
//! ```text
//!  program: call fgets  ─►  __wrap_fgets: jmp *now       now = the real fgets, as linked
//!                                                              __nm_captures_fgets, once captured
//! ```
//!
//! Each wrapped function is a [row](rows) of its own, in an object file of its own (`libc/capture/row.S`),
//! so that a static program gets only those that it calls. A process that is not captured jumps
//! through a pointer, as it would to any function of a shared library.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`start`] | what happens before `main`, and at the end |
//! | [`rows`] | the wrapped functions of this program or library, and switching them over |
//! | [`own`] | functions of libc's names that are the program's own |
//! | [`real`], [`called`], [`wraps`] | the functions: real, watched on their way, and as rows name them |
//! | [`variadic`], [`scan`] | functions whose arguments are handed on unseen, or scanned in C |
#![cfg_attr(not(test), no_std)]

mod called;
mod own;
mod real;
mod rows;
mod scan;
mod start;
mod variadic;
mod wraps;

/// A panic cannot be reported and must not unwind into the program; nothing here is meant to panic,
/// so a trap is the most honest end.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: a trap has no preconditions.
    unsafe { core::arch::asm!("ud2", options(noreturn, nomem, nostack)) }
}
