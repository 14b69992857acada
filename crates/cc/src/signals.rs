//! Ending as clang ends when a signal comes, but with the temporary files gone.
//!
//! A signal from a terminal reaches our child as well; one that is sent to us alone is passed
//! on. Either way the child ends, we notice, clean up, and then die of the same signal.

use std::sync::atomic::{AtomicI32, Ordering};

/// The child that runs now, or 0.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// The signal that came, or 0.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

const HANDLED: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

extern "C" fn on_signal(signal: libc::c_int) {
    CAUGHT.store(signal, Ordering::SeqCst);
    let child = CHILD.load(Ordering::SeqCst);
    if child > 0 {
        // SAFETY: `kill` may be called in a signal handler; at worst the child is gone.
        unsafe { libc::kill(child, signal) };
    }
}

/// From here on the signals that end a program only end our children.
pub fn install() {
    for signal in HANDLED {
        let handler = on_signal as extern "C" fn(libc::c_int);
        // SAFETY: the handler only touches atomics and calls `kill`. A signal that our caller
        // made us ignore (nohup) stays ignored. Children do not inherit handlers.
        unsafe {
            let before = libc::signal(signal, handler as libc::sighandler_t);
            if before == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}

/// Says which child runs now; 0 if none does.
pub fn set_child(process: u32) {
    CHILD.store(process as i32, Ordering::SeqCst);
}

/// The signal that came, if one did.
pub fn caught() -> Option<i32> {
    Some(CAUGHT.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
}

/// Ends the process by this signal; if that is not possible, gives the status a shell would.
pub fn die_by(signal: i32) -> i32 {
    // SAFETY: resets a disposition and sends a signal to ourselves.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    128 + signal
}
