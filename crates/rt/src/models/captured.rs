//! Functions that have a model only to be captured: those that use paths, and those that read
//! from streams behind the back of the others. Labels go nowhere here: whoever gives these
//! functions symbolic data is told so as for any function without a model.

use crate::{directory_functions, making_functions, path_functions, refill_functions};

/// Declares the real functions of a table.
macro_rules! declare {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $($clause:tt)* })*) => {
        unsafe extern "C" {
            $(pub fn $name($($argument: $type),*) -> $result;)*
        }
    };
}
pub(super) use declare;

/// Exports models that are the functions of a table and no more.
macro_rules! export {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $($clause:tt)* })*) => { $(
        #[doc = concat!("Captures, and does `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for the real function.
        #[unsafe(export_name = concat!("__nm_model_", stringify!($name)))]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: as promised by the caller.
            unsafe { called::$name($($argument),*) }
        }
    )* };
}
pub(super) use export;

use crate::streams::File;

mod real {
    use super::{File, directory_functions, making_functions, path_functions, refill_functions};

    path_functions! { declare }
    directory_functions! { declare }
    making_functions! { declare }
    refill_functions! { declare }
}

mod called {
    use crate::{define_directories, define_making, define_paths, define_streams};

    use super::{
        File, directory_functions, making_functions, path_functions, real, refill_functions,
    };

    path_functions! { define_paths }
    directory_functions! { define_directories }
    making_functions! { define_making }
    refill_functions! { define_streams }
}

path_functions! { export }
directory_functions! { export }
making_functions! { export }
refill_functions! { export }
