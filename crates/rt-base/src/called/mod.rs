//! Functions of libc that are captured, as tables, and what is done on their way.
//!
//! A table is a macro that hands its rows to another one:
//!
//! ```text
//! fn NAME(ARGUMENT: TYPE, …) -> RESULT { CLAUSE }
//! ```
//!
//! The macro `define_…` beside a table makes of each row a function of that name, which calls
//! `real::NAME` of the module in which it is used. Others make declarations or exports of the same
//! rows, and leave the clause alone.
//!
//! | table | defined by | clause |
//! | --- | --- | --- |
//! | [`opening_functions`](crate::opening_functions) | `define_opening` | how the path is used, its directory, the path |
//! | [`path_functions`](crate::path_functions) | `define_paths` | the same, once for each path |
//! | [`directory_functions`](crate::directory_functions) | `define_directories` | the function that captures |
//! | [`making_functions`](crate::making_functions) | `define_making` | the name that was made |
//! | [`reading_functions`](crate::reading_functions) | `define_reading` | descriptor and buffer |
//! | [`receiving_functions`](crate::receiving_functions) | `define_receiving` | descriptor, buffer, size, flags |
//! | [`vector_functions`](crate::vector_functions) | `define_vectors` | descriptor, vectors, count, whether bytes are taken |
//! | [`stream_functions`](crate::stream_functions), [`refill_functions`](crate::refill_functions) | `define_streams` | the stream, and what it gave |
//! | [`byte_functions`](crate::byte_functions) | `define_bytes` | the stream |
//! | [`item_functions`](crate::item_functions) | `define_items` | buffer, room, size, count, stream |
//! | [`executing_functions`](crate::executing_functions), [`starting_functions`](crate::starting_functions) | `define_executing` | the path, if it is one |
//! | [`ending_functions`](crate::ending_functions) | `define_ending` | the status |
//! | [`chance_functions`](crate::chance_functions), [`random_functions`](crate::random_functions) | `define_chance` | what the program gets for what it would have got |
//!
//! On `unsafe`: each function asks what the real one asks.

pub mod chances;
mod opening;
mod paths;
mod processes;
mod reading;
mod streams;

pub use opening::{PathResult, use_of_flags, use_of_mode, use_of_question};
pub use paths::{list_roots, list_start};
pub use reading::MSG_PEEK;
pub use streams::own_line;
