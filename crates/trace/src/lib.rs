//! A recorded trace file, read as a path of events over terms.
//!
//! Reading has three steps, each a module:
//!
//! 1. [`raw`]: bytes to records. A file that is no trace of this version is refused; a file
//!    that ends early gives fewer records.
//! 2. `verify`: each term is evaluated once under the recorded input. From the first term that
//!    makes no sense (unknown operation, operands that are not smaller, widths that do not
//!    fit) on, terms are *unusable*, and the path ends before the first event that needs one.
//!    A term whose value is not the recorded one is *inconsistent*: what is made of it is not
//!    used, and the events about it are dropped and counted.
//! 3. [`path`]: the events that are left, each with the condition that it puts on the input;
//!    the condition, simplified, is evaluated once more.
//!
//! [`dump`] prints any trace, [`build`] makes one by hand for tests.

mod alternatives;
mod binding;
pub mod build;
mod channel;
pub mod dump;
mod implied;
mod import;
pub mod path;
pub mod raw;
mod switch;
mod verify;
mod word;

pub use alternatives::{Alternative, LeadsTo, alternatives};
pub use binding::Bindings;
pub use channel::{Channel, Piece, Recorded, padding};
pub use path::{Arena, End, Event, Hint, LengthBound, Reading, RecordedPath, State};
pub use raw::{Answer, RawTrace, ReadError};
pub use word::Word;
