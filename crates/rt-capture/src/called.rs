//! The functions, watched on their way ([`nearmiss_rt_base::called`]).
//!
//! On `unsafe`: each function here asks what the real one asks.
#![allow(non_snake_case, clippy::missing_safety_doc)]

use nearmiss_rt_base::called::chances::{self, Time};
use nearmiss_rt_base::streams::File;
use nearmiss_rt_base::vectors::{IoVector, Message};
use nearmiss_rt_base::{
    byte_functions, chance_functions, define_bytes, define_chance, define_directories,
    define_ending, define_executing, define_items, define_making, define_opening, define_paths,
    define_reading, define_receiving, define_streams, define_vectors, directory_functions,
    ending_functions, executing_functions, item_functions, making_functions, opening_functions,
    path_functions, random_functions, reading_functions, receiving_functions, refill_functions,
    starting_functions, stream_functions, syscall_function, vector_functions,
};

use crate::real;

opening_functions! { define_opening }
path_functions! { define_paths }
directory_functions! { define_directories }
making_functions! { define_making }
executing_functions! { define_executing }
starting_functions! { define_executing }
ending_functions! { define_ending }
chance_functions! { define_chance }
random_functions! { define_chance }
syscall_function! { define_chance }
reading_functions! { define_reading }
receiving_functions! { define_receiving }
vector_functions! { define_vectors }
stream_functions! { define_streams }
refill_functions! { define_streams }
byte_functions! { define_bytes }
item_functions! { define_items }
