//! Which functions without control flow of their own call functions of the program.

use nearmiss_abi::model::PREFIX;

/// Functions of the C library that call functions of the program.
const CALL_BACK: &[&str] = &[
    "bsearch",
    "bsearch_r",
    "call_once",
    "dl_iterate_phdr",
    "exit",
    "ftw",
    "ftw64",
    "glob",
    "glob64",
    "kill",
    "lfind",
    "lsearch",
    "nftw",
    "nftw64",
    "pthread_exit",
    "pthread_once",
    "qsort",
    "qsort_r",
    "quick_exit",
    "raise",
    "scandir",
    "scandir64",
    "tdelete",
    "tdestroy",
    "tfind",
    "thrd_exit",
    "tsearch",
    "twalk",
    "twalk_r",
];

/// Functions that keep what they are given, to be called later.
const REGISTER: &[&str] = &[
    "__cxa_atexit",
    "at_quick_exit",
    "atexit",
    "clone",
    "fopencookie",
    "makecontext",
    "on_exit",
    "pthread_atfork",
    "pthread_create",
    "pthread_key_create",
    "register_printf_function",
    "register_printf_specifier",
    "sigaction",
    "signal",
    "sigset",
    "sysv_signal",
    "thrd_create",
    "timer_create",
    "tss_create",
];

/// Functions that go on where a context was kept.
const JUMPS: &[&str] = &[
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "setcontext",
    "__builtin_longjmp",
];

/// Functions that keep a context, and return once more when it is gone back to.
const CONTEXTS: &[&str] = &[
    "setjmp",
    "_setjmp",
    "__sigsetjmp",
    "sigsetjmp",
    "getcontext",
    "vfork",
    "__builtin_setjmp",
];

/// Whether what a function of the C library does is known.
pub fn is_known(name: &str) -> bool {
    let name = unmodelled(name);
    // Ours, and what the harness asks the sanitizers of the twin.
    let ours = ["__nm_", "nearmiss_", "__asan_"];
    let is_ours = ours.iter().any(|prefix| name.starts_with(prefix));
    is_ours || calls_back(name) || is_of_library(name, plain(name))
}

/// Whether it calls functions of the program that it is given, or was given.
pub fn calls_back(name: &str) -> bool {
    let name = unmodelled(name);
    CALL_BACK.contains(&name) || CALL_BACK.contains(&plain(name)) || registers(name)
}

/// Whether it keeps a function that others call later: at a signal, at the end, in another thread, or where
/// a stream is read.
pub fn registers(name: &str) -> bool {
    let name = unmodelled(name);
    REGISTER.contains(&name) || REGISTER.contains(&plain(name))
}

/// The name without what the C library's headers put around it.
fn plain(name: &str) -> &str {
    let plain = name
        .trim_start_matches("__isoc99_")
        .trim_start_matches("__");
    plain.strip_suffix("_chk").unwrap_or(plain)
}

/// The function that a model of the runtime stands for.
pub(crate) fn unmodelled(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

fn is_of_library(name: &str, plain: &str) -> bool {
    use nearmiss_abi::library::state;
    let is_context = jumps(name) || keeps_context(name);
    is_context || state(name).is_some() || state(plain).is_some()
}

/// Whether a call of it goes on where a context was kept.
pub fn jumps(name: &str) -> bool {
    JUMPS.contains(&unmodelled(name))
}

/// Whether a call of it may return more than once.
pub fn keeps_context(name: &str) -> bool {
    CONTEXTS.contains(&unmodelled(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_known() {
        for name in [
            "qsort",
            "atexit",
            "exit",
            "__bsearch_chk",
            "__nm_model_qsort",
        ] {
            assert!(calls_back(name) && is_known(name), "{name}");
        }
        for name in [
            "printf",
            "__printf_chk",
            "memcpy",
            "malloc",
            "longjmp",
            "strtol",
        ] {
            assert!(!calls_back(name) && is_known(name), "{name}");
        }
        assert!(!is_known("sqlite3_exec"));
        assert!(registers("signal") && !registers("qsort"));
    }
}
