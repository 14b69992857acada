//! Models of libc functions: `abi::model` has the table, one file here is one header of C.
//!
//! A model calls the real function once, with the same arguments, and then moves labels; it
//! leaves `errno` as the real function left it. Where the process does not record it is the
//! real function, watched on its way if the process is captured ([`called`]).

mod called;
mod captured;
mod chance;
mod children;
mod fcntl;
mod mman;
mod output;
pub mod real;
mod socket;
mod stat;
mod stdio;
mod stdio_buffer;
pub mod stdio_flow;
mod stdio_getline;
mod stdio_input;
mod stdio_position;
mod stdlib;
mod string;
mod support;
mod unistd;

/// Defines a model:
///
/// ```text
/// model! {
///     fn name(argument: type, …) -> result;
///     before |runtime, call| …;            // what must be known before the call
///     after |runtime, call, before, result| …
/// }
/// ```
///
/// Either may be left out (`after` then has no argument `before`).
/// `before` and `after` run on the runtime's state; between them the real function runs
/// without any lock of the runtime's.
macro_rules! model {
    (
        fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;
        before |$runtime_before:pat_param, $call_before:pat_param| $before:expr;
        after |$runtime:pat_param, $call:pat_param, $known:pat_param, $returned:pat_param| $after:expr
    ) => {
        #[doc = concat!("The model of `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for the real function.
        #[allow(non_snake_case)]
        #[unsafe(export_name = concat!("__nm_model_", stringify!($name)))]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            if !$crate::turn::recording() {
                // SAFETY: as promised by the caller.
                return unsafe { $crate::models::called::$name($($argument),*) };
            }
            #[allow(unused_variables)]
            let function = $name as *const () as u64;
            let call = $crate::calls::Call::take(function);
            let known = $crate::turn::with(Default::default(), |$runtime_before| {
                let $call_before = &call;
                $before
            });
            // SAFETY: as promised by the caller.
            let returned = unsafe { $crate::models::called::$name($($argument),*) };
            $crate::turn::with((), |$runtime| {
                let ($call, $known, $returned) = (&call, known, returned);
                $after;
            });
            returned
        }
    };
    (
        fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;
        after |$runtime:pat_param, $call:pat_param, $returned:pat_param| $after:expr
    ) => {
        $crate::models::model! {
            fn $name($($argument: $type),*) $(-> $result)?;
            before |_, _| ();
            after |$runtime, $call, (), $returned| $after
        }
    };
    (
        fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;
        before |$runtime:pat_param, $call:pat_param| $before:expr
    ) => {
        $crate::models::model! {
            fn $name($($argument: $type),*) $(-> $result)?;
            before |$runtime, $call| $before;
            after |_, _, (), _| {}
        }
    };
}

pub(crate) use model;
pub use stdio::{flags_of, follow};
pub use stdio_input::source_of;
