//! The SMT solver Bitwuzla and the SAT solver CaDiCaL beneath it, compiled by our build script
//! and wrapped as far as `nearmiss-solve` needs them.
//!
//! Both are used incrementally: what is asserted stays, what is assumed holds for one check.
//! A check ends at a deadline without an answer.

pub mod bitvector;
pub mod deadline;
pub mod sat;

// Links the objects of CaDiCaL, behind ours.
use cadical as _;

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

pub use deadline::{Deadline, thread_time};

/// Set from outside when no answer is wanted any more.
static INTERRUPTION: OnceLock<&'static AtomicBool> = OnceLock::new();

/// From now on every check also ends without an answer when `flag` is set. The first flag counts.
pub fn interrupt_by(flag: &'static AtomicBool) {
    let _ = INTERRUPTION.set(flag);
}

fn is_interrupted() -> bool {
    let flag = INTERRUPTION.get();
    flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// The callback that both solvers poll while they search: whether it is time to stop.
extern "C" fn past_deadline(state: *mut c_void) -> c_int {
    // SAFETY: `state` is the deadline that the caller of the solver keeps alive during the
    // call, and nothing writes to it.
    let deadline = unsafe { &*state.cast::<Deadline>() };
    c_int::from(deadline.is_over() || is_interrupted())
}
