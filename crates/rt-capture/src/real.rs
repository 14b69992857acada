//! The real functions, where the rows of this program or library have them.
//!
//! On `unsafe`: each function here asks what the real one asks. It is called by the function that
//! captures, and that only after its row was switched over.
#![allow(non_snake_case, clippy::missing_safety_doc)]

use nearmiss_rt_base::called::chances::Time;
use nearmiss_rt_base::streams::File;
use nearmiss_rt_base::vectors::{IoVector, Message};
use nearmiss_rt_base::{
    byte_functions, chance_functions, directory_functions, ending_functions, executing_functions,
    item_functions, making_functions, opening_functions, path_functions, random_functions,
    reading_functions, receiving_functions, refill_functions, starting_functions, stream_functions,
    syscall_function, vector_functions,
};

use crate::rows::{Place, When};

unsafe extern "C" {
    /// libc's variable.
    pub static stdin: *mut File;
}

/// Calls the real function of each row of a table.
macro_rules! places {
    ($when:expr, $(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $($clause:tt)* })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            #[unsafe(export_name = concat!("__nm_place_", stringify!($name)))]
            static PLACE: Place = Place::new($when, stringify!($name));
            type Real = unsafe extern "C" fn($($type),*) -> $result;
            // SAFETY: see the module's comment.
            unsafe {
                let real: Real = core::mem::transmute(PLACE.real());
                real($($argument),*)
            }
        }
    )* };
}

macro_rules! at_once {
    ($($rows:tt)*) => { places! { When::Captured, $($rows)* } };
}

macro_rules! for_reading {
    ($($rows:tt)*) => { places! { When::Reading, $($rows)* } };
}

opening_functions! { at_once }
path_functions! { at_once }
directory_functions! { at_once }
making_functions! { at_once }
executing_functions! { at_once }
starting_functions! { at_once }
ending_functions! { at_once }
chance_functions! { at_once }
random_functions! { at_once }
syscall_function! { at_once }
reading_functions! { for_reading }
receiving_functions! { for_reading }
vector_functions! { for_reading }
stream_functions! { for_reading }
refill_functions! { for_reading }
byte_functions! { for_reading }
item_functions! { for_reading }
