//! Ctrl-C and what comes before us: the first signal stops the work and reports what is there,
//! the next one ends it.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Set by the first signal. Whoever has dealt with it takes it back: a suite that was stopped is
/// still looked at.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// Set by `SIGTERM`, which nobody but us has got: the suite is to end too.
pub static TERMINATE: AtomicBool = AtomicBool::new(false);

/// When the first signal came, in milliseconds of the monotonic clock.
static STOPPED_AT: AtomicI64 = AtomicI64::new(0);

/// A signal that comes so soon behind the first is the same one: `timeout` sends it to us and then to our group.
const SAME: i64 = 300;

extern "C" fn stop(signal: libc::c_int) {
    if signal == libc::SIGTERM {
        TERMINATE.store(true, Ordering::Relaxed);
    }
    let now = milliseconds();
    if !STOP.swap(true, Ordering::Relaxed) {
        STOPPED_AT.store(now, Ordering::Relaxed);
    } else if now - STOPPED_AT.load(Ordering::Relaxed) >= SAME {
        // SAFETY: both functions may be called in a handler.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

fn milliseconds() -> i64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: may be called in a handler, and writes to a place of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// Catches `SIGINT` and `SIGTERM`, unless we were started without them (`nohup`, `&`).
pub fn install() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores to atomics and ends the process; the structure is plain
        // data, zero where it is not set. Without SA_RESTART, so that a read from a pipe gives up.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action);
            if action.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            action = std::mem::zeroed();
            action.sa_sigaction = stop as *const () as libc::sighandler_t;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Sends this process a signal.
pub fn send_to_self(signal: libc::c_int) {
    // SAFETY: no more than any other process could do.
    unsafe { libc::raise(signal) };
}

/// What `SIGPIPE` did before Rust's own start changed it.
static BROKEN_PIPES_IGNORED: AtomicBool = AtomicBool::new(false);

/// Whether we were started with `SIGPIPE` ignored: then a suite must be too, or tests that look at
/// broken pipes see something else than without us.
pub fn broken_pipes_were_ignored() -> bool {
    BROKEN_PIPES_IGNORED.load(Ordering::Relaxed)
}

extern "C" fn look_at_broken_pipes() {
    // SAFETY: asks only; the structure is plain data.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), &mut action);
        let ignored = action.sa_sigaction == libc::SIG_IGN;
        BROKEN_PIPES_IGNORED.store(ignored, Ordering::Relaxed);
    }
}

// Rust ignores SIGPIPE before `main`; only a constructor comes before that.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_AT_BROKEN_PIPES: extern "C" fn() = look_at_broken_pipes;
