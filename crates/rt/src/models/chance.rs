//! Functions whose answers differ from run to run: the real one is called, then its answer is
//! captured or replaced ([`crate::chance`]). They move no labels.
//!
//! On `unsafe`: each function asks what the real one asks.
#![allow(clippy::missing_safety_doc)]

use crate::called::chances::Time;
use crate::{chance_functions, syscall_function};

use super::captured::{declare, export};
use super::children::read_by_kernel;
use crate::chance;
use crate::turn;

mod real {
    use super::{Time, chance_functions, declare, syscall_function};

    chance_functions! { declare }
    syscall_function! { declare }
}

mod called {
    use crate::called::chances;
    use crate::define_chance;

    use super::{Time, chance_functions, real, syscall_function};

    chance_functions! { define_chance }
    syscall_function! { define_chance }
}

chance_functions! { export }

/// System calls by their numbers.
#[unsafe(export_name = "__nm_model_syscall")]
pub unsafe extern "C" fn syscall(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> i64 {
    const READS: [i64; 4] = [0, 17, 19, 295];
    if READS.contains(&number) {
        turn::with((), |runtime| read_by_kernel(runtime, a as i32));
    }
    // SAFETY: see the module's comment.
    unsafe { called::syscall(number, a, b, c, d, e, f) }
}

/// Random bytes came from a function whose model is in C (`libc/random.c`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_chance_random(name: *const u8, to: *mut u8, size: usize) {
    if chance::is_on() && size > 0 {
        // SAFETY: see the module's comment; the name ends with a zero.
        unsafe { chance::random(crate::system::text(name), to, size) };
    }
}
