//! One function per row of `abi::hook`, called by the entry points in [`crate::entry`].
//!
//! Each unpacks its arguments and does its work on the runtime's state, if there is a
//! recording to work on.

use nearmiss_abi::event::EventKind;
use nearmiss_abi::op::{MAX_WIDTH, Op};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::calls;
use crate::events::note_kind;
use crate::runtime::{self, Runtime};
use crate::table_read::Access;

/// Counts the hook and does its work.
#[inline(always)]
fn hook<R>(otherwise: R, work: impl FnOnce(&mut Runtime) -> R) -> R {
    runtime::with(otherwise, |runtime| {
        runtime.trace.count_hook();
        work(runtime)
    })
}

fn valid_width(width: u32) -> bool {
    (1..=MAX_WIDTH).contains(&width)
}

pub extern "C" fn keep_arguments(buffer: u64) {
    // SAFETY: instrumented code passes its own buffer of that size.
    unsafe { calls::keep_arguments(buffer as *mut u32) };
}

pub extern "C" fn va_start(list: u64, buffer: u64, fixed: u32) {
    hook((), |runtime| {
        // SAFETY: instrumented code passes what it has just initialised.
        unsafe {
            runtime.label_variadic(
                list as *const calls::VaList,
                buffer as *const u32,
                fixed as usize,
            );
        }
    });
}
