//! The part of LLVM's C API that the instrumentation uses, as small copyable handles.
//!
//! Everything `unsafe` of this crate is in this module. The handles are plain pointers into
//! one module of one context that lives until the process ends; a handle of an erased
//! instruction must not be used again, which is the caller's care as in C++.

// SAFETY of every block below: handles point into the one module, which lives until the process
// ends, and the types of operands fit, which the verifier checks before anything is written.
#![allow(clippy::undocumented_unsafe_blocks)]

mod builder;
mod debug;
mod module;
mod types;
mod value;

pub use builder::Builder;
pub use debug::{Field, SourceType};
pub use module::{Linkage, Module};
pub use types::Type;
pub use value::{Block, Opcode, Predicate, Value};

use std::ffi::CString;

/// A C string for the API; names never contain a zero byte.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "?")).expect("zero bytes were replaced")
}
