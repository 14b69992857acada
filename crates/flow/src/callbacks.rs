//! Which functions without control flow of their own call functions of the program.

use nearmiss_abi::model::PREFIX;

/// Functions of the C library that call functions of the program.
const CALL_BACK: &[&str] = &[
    "argp_parse",
    "bsearch",
    "bsearch_r",
    "call_once",
    "dl_iterate_phdr",
    "error",
    "error_at_line",
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
    "__cxa_thread_atexit_impl",
    "aio_read",
    "aio_write",
    "at_quick_exit",
    "atexit",
    "bsd_signal",
    "clone",
    "fopencookie",
    "getaddrinfo_a",
    "lio_listio",
    "makecontext",
    "mq_notify",
    "on_exit",
    "pthread_atfork",
    "pthread_create",
    "pthread_key_create",
    "register_printf_function",
    "register_printf_specifier",
    "sigaction",
    "signal",
    "sigset",
    "sigvec",
    "sysv_signal",
    "thrd_create",
    "timer_create",
    "tss_create",
];

/// Those of them that are given what a signal calls.
const SIGNALS: &[&str] = &[
    "bsd_signal",
    "sigaction",
    "signal",
    "sigset",
    "sigvec",
    "sysv_signal",
    "timer_create",
];

/// Functions that start a thread.
const THREADS: &[&str] = &[
    "aio_read",
    "aio_write",
    "clone",
    "getaddrinfo_a",
    "lio_listio",
    "mq_notify",
    "pthread_create",
    "thrd_create",
    "timer_create",
];

/// Functions that go on where a context was kept.
const JUMPS: &[&str] = &[
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "setcontext",
    "swapcontext",
    "llvm.eh.sjlj.longjmp",
];

/// Functions that keep a context, and return once more when it is gone back to.
const CONTEXTS: &[&str] = &[
    "setjmp",
    "_setjmp",
    "__sigsetjmp",
    "sigsetjmp",
    "getcontext",
    "swapcontext",
    "vfork",
    "llvm.eh.sjlj.setjmp",
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

/// Whether what it is given may be called when a signal arrives, at any point of the program.
pub fn takes_signals(name: &str) -> bool {
    SIGNALS.contains(&plain(unmodelled(name)))
}

/// Whether a function of this type may be what a signal calls: its first parameter, if any, is the signal's
/// number.
pub fn may_handle_signals(of_type: &str) -> bool {
    let parameters = of_type.split_once('(').map_or("", |(_, rest)| rest);
    ["i32", ")", "..."]
        .iter()
        .any(|first| parameters.starts_with(first))
}

/// Whether it starts another thread.
pub fn starts_threads(name: &str) -> bool {
    THREADS.contains(&plain(unmodelled(name)))
}

/// Whether a function of the program that has this name takes the place of one of the C library's.
pub fn is_replaced(name: &str) -> bool {
    use nearmiss_abi::library::state;
    !name.starts_with(PREFIX) && state(name).is_some()
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
        for (of_type, may) in [
            ("void (i32)", true),
            ("void (i32, ptr, ptr)", true),
            ("void ()", true),
            ("i32 (ptr, ptr)", false),
        ] {
            assert_eq!(may_handle_signals(of_type), may, "{of_type}");
        }
        assert!(takes_signals("__sysv_signal") && !takes_signals("atexit"));
        assert!(is_replaced("malloc") && !is_replaced("__nm_model_malloc"));
        assert!(!is_known("sqlite3_exec"));
        assert!(registers("signal") && !registers("qsort"));
    }
}
