//! A program that is forked for every run, in the world of a test: `libc/main.c` stops before `main` and
//! forks, this keeps what a run records apart from what the others did. `abi::forks` has the words of both sides.
//!
//! The arguments and standard input of the server are those of no run: they are looked at when a run
//! begins. Its environment is that of all runs.

use core::sync::atomic::{AtomicBool, Ordering};

use crate::trace::Kept;
use crate::turn;

/// Whether this process is to be forked, or was.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The trace as it is before a run. Written once, while there is one thread, and read by runs only.
static mut KEPT: Option<Kept> = None;

/// This process is to be forked.
pub fn set_asked() {
    ASKED.store(true, Ordering::Relaxed);
}

/// Whether what the process was given is not what its runs are given.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Called by the server before its first run.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_forks_keep() {
    let kept = turn::with(None, |runtime| {
        // Every run would ask for them.
        runtime.know_globals();
        runtime.trace.keep()
    });
    // SAFETY: there is one thread, and no run yet.
    unsafe { KEPT = kept };
}

/// Called by a run that waits for what it is given.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_forks_wait() {
    turn::with((), |runtime| {
        runtime.trace.populate();
        runtime.forget_in_children();
        turn::forget_in_children();
    });
}

/// Called by a run that was given its arguments and descriptors.
///
/// # Safety
/// `argv` has `argc` texts, and a null behind them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_forks_begin(argc: i32, argv: *const *mut u8, stdin_size: u64) {
    // SAFETY: nothing writes it any more.
    let kept = unsafe { (&raw const KEPT).as_ref() };
    turn::with((), |runtime| {
        if let Some(Some(kept)) = kept {
            runtime.trace.put_back(kept);
        }
        runtime.options.stdin = (stdin_size != nearmiss_abi::forks::UNKNOWN).then_some(stdin_size);
        // SAFETY: as promised by the caller.
        unsafe { runtime.take_arguments(argc, argv) };
        runtime.open_stdin();
        runtime.kept.notice_standard();
    });
}
