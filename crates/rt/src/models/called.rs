//! The functions that models call: libc's, but watched on their way where the process is
//! captured ([`crate::called`]). What is defined here stands for the function of the
//! same name in [`real`].
//!
//! On `unsafe`: each function here asks what the real one asks.
#![allow(missing_docs, non_snake_case, clippy::missing_safety_doc)]

use crate::{
    byte_functions, define_bytes, define_ending, define_executing, define_items, define_opening,
    define_reading, define_receiving, define_streams, define_vectors, ending_functions,
    executing_functions, item_functions, opening_functions, reading_functions, receiving_functions,
    stream_functions, vector_functions,
};

use super::real;
pub use super::real::*;
pub use super::stdio_flow::fdopen;
use crate::chance;
use crate::streams::File;

opening_functions! { define_opening }
executing_functions! { define_executing }
ending_functions! { define_ending }
reading_functions! { define_reading }
receiving_functions! { define_receiving }
vector_functions! { define_vectors }
stream_functions! { define_streams }
byte_functions! { define_bytes }
item_functions! { define_items }

#[inline(always)]
pub unsafe fn fork() -> i32 {
    let number = chance::before_fork();
    // SAFETY: see the module's comment.
    let child = unsafe { real::fork() };
    if child == 0 {
        chance::in_child(number);
    }
    child
}
