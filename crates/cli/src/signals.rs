//! Ctrl-C: the first time stops the work and reports what is there, the second time ends it.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first signal.
pub static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn stop(_: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// Catches the first `SIGINT` and `SIGTERM`.
pub fn install() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores to an atomic; the structure is plain data, zero
        // where it is not set. Without SA_RESTART, so that a read from a pipe gives up.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = stop as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESETHAND;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
