//! The functions that capture, under the names that rows have for them. The tables are all that says
//! which functions are wrapped: the list for the linker is made of these names.
#![allow(non_snake_case)]

use nearmiss_rt_base::called::chances::Time;
use nearmiss_rt_base::chance;
use nearmiss_rt_base::streams::File;
use nearmiss_rt_base::vectors::{IoVector, Message};
use nearmiss_rt_base::{
    byte_functions, chance_functions, directory_functions, ending_functions, executing_functions,
    item_functions, making_functions, opening_functions, path_functions, random_functions,
    reading_functions, receiving_functions, refill_functions, starting_functions, stream_functions,
    syscall_function, vector_functions,
};

use crate::called;
use crate::rows::{When, switch};

/// Exports the functions of a table; `then` comes after each.
macro_rules! export {
    ($then:expr, $(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $($clause:tt)* })*) => { $(
        #[doc = concat!("Captures, and does `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for the real function.
        #[allow(clippy::let_unit_value)]
        #[unsafe(export_name = concat!("__nm_captures_", stringify!($name)))]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller.
            let result = unsafe { called::$name($($argument),*) };
            $then;
            result
        }
    )* };
}

macro_rules! plainly {
    ($($rows:tt)*) => { export! { (), $($rows)* } };
}

/// What is read from a random device is captured from now on.
macro_rules! with_devices {
    ($($rows:tt)*) => { export! { if chance::has_devices() { switch(When::Reading) }, $($rows)* } };
}

opening_functions! { with_devices }
path_functions! { plainly }
directory_functions! { plainly }
making_functions! { plainly }
executing_functions! { plainly }
starting_functions! { plainly }
ending_functions! { plainly }
chance_functions! { plainly }
random_functions! { plainly }
syscall_function! { plainly }
reading_functions! { plainly }
receiving_functions! { plainly }
vector_functions! { plainly }
stream_functions! { plainly }
refill_functions! { plainly }
byte_functions! { plainly }
item_functions! { plainly }
