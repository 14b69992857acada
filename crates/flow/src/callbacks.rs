//! Which functions without control flow of their own call functions of the program.

use nearmiss_abi::model::PREFIX;

/// Functions of the C library that call what they are given, now or later.
const CALL_BACK: &[&str] = &[
    "atexit",
    "at_quick_exit",
    "bsearch",
    "bsearch_r",
    "call_once",
    "clone",
    "dl_iterate_phdr",
    "exit",
    "fopencookie",
    "ftw",
    "ftw64",
    "getopt_long",
    "glob",
    "glob64",
    "hsearch_r",
    "lfind",
    "lsearch",
    "makecontext",
    "mtx_init",
    "nftw",
    "nftw64",
    "on_exit",
    "pthread_atfork",
    "pthread_create",
    "pthread_exit",
    "pthread_key_create",
    "pthread_once",
    "qsort",
    "qsort_r",
    "quick_exit",
    "raise",
    "kill",
    "register_printf_function",
    "scandir",
    "scandir64",
    "sigaction",
    "signal",
    "sigset",
    "swapcontext",
    "sysv_signal",
    "tdelete",
    "tdestroy",
    "tfind",
    "thrd_create",
    "thrd_exit",
    "timer_create",
    "tsearch",
    "twalk",
    "twalk_r",
    "tss_create",
    "error",
    "__cxa_atexit",
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

/// Whether a function that is no part of the program's units may call any whose address is taken. What is
/// not known as a function of the C library may.
pub fn may_call_back(name: &str) -> bool {
    let name = unmodelled(name);
    if name.starts_with("__nm_") || name.starts_with("nearmiss_") {
        return false;
    }
    let plain = name
        .trim_start_matches("__isoc99_")
        .trim_start_matches("__");
    let plain = plain.strip_suffix("_chk").unwrap_or(plain);
    CALL_BACK.contains(&name) || CALL_BACK.contains(&plain) || !is_of_library(name, plain)
}

/// The function that a model of the runtime stands for.
fn unmodelled(name: &str) -> &str {
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
    fn what_is_not_known_may_call_back() {
        for name in ["qsort", "atexit", "sqlite3_exec", "exit", "__bsearch_chk"] {
            assert!(may_call_back(name), "{name}");
        }
        for name in [
            "printf",
            "__printf_chk",
            "memcpy",
            "malloc",
            "longjmp",
            "strtol",
        ] {
            assert!(!may_call_back(name), "{name}");
        }
    }
}
