//! The SMT solver Bitwuzla and the SAT solver CaDiCaL beneath it, compiled by our build script
//! and wrapped as far as `nearmiss-solve` needs them.
//!
//! Both are used incrementally: what is asserted stays, what is assumed holds for one check.
//! A check ends at a deadline without an answer.

pub mod bitvector;
pub mod sat;

// Links the objects of CaDiCaL, behind ours.
use cadical as _;

use std::ffi::{c_int, c_void};
use std::time::Instant;

/// The callback that both solvers poll while they search: whether it is time to stop.
extern "C" fn past_deadline(state: *mut c_void) -> c_int {
    // SAFETY: `state` is the deadline that the caller of the solver keeps alive during the
    // call, and nobody writes to it.
    let deadline = unsafe { &*state.cast::<Instant>() };
    c_int::from(Instant::now() >= *deadline)
}
