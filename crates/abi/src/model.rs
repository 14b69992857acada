//! The libc functions that have a model.
//!
//! A call of a function of this table, if the caller declares it with this signature, is
//! turned into a call of `__nm_model_<name>`, which does what the function does and moves the
//! labels. Models obey the same rules as instrumented functions: they take argument labels
//! from and leave result labels in the thread's words. Some are Rust in `rt` (those that bring
//! input in or move memory), some C in `libc/`, compiled by `nearmiss cc` itself.

/// A row: a libc function and its signature.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// The name in libc.
    pub name: &'static str,
    /// Result and arguments, one letter each: `v` void, `i` 32-bit integer, `l` 64-bit
    /// integer, `p` pointer, `f`, `d`, `x` float, double, long double; a final `.` stands for
    /// variadic.
    pub signature: &'static str,
    /// Who implements it.
    pub place: Place,
}

/// Where a model is implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `crates/rt`.
    Runtime,
    /// `libc/`.
    C,
}

/// The prefix of model symbols.
pub const PREFIX: &str = "__nm_model_";

const fn rust(name: &'static str, signature: &'static str) -> Model {
    Model {
        name,
        signature,
        place: Place::Runtime,
    }
}

const fn c(name: &'static str, signature: &'static str) -> Model {
    Model {
        name,
        signature,
        place: Place::C,
    }
}

/// Every model.
pub const MODELS: &[Model] = &[
    // fcntl.h, unistd.h, sys/uio.h, sys/mman.h: input by descriptors.
    rust("open", "ipi."),
    rust("open64", "ipi."),
    rust("openat", "iipi."),
    rust("openat64", "iipi."),
    rust("close", "ii"),
    rust("dup", "ii"),
    rust("dup2", "iii"),
    rust("read", "lipl"),
    rust("pread", "lipll"),
    rust("pread64", "lipll"),
    rust("readv", "lipi"),
    rust("__read_chk", "lipll"),
    rust("dup3", "iiii"),
    rust("fcntl", "iii."),
    rust("fcntl64", "iii."),
    rust("pipe", "ip"),
    rust("pipe2", "ipi"),
    // sys/socket.h.
    rust("socket", "iiii"),
    rust("socketpair", "iiiip"),
    rust("accept", "iipp"),
    rust("accept4", "iippi"),
    rust("recv", "lipli"),
    rust("recvfrom", "liplipp"),
    rust("recvmsg", "lipi"),
    rust("mmap", "ppliiil"),
    rust("mmap64", "ppliiil"),
    rust("munmap", "ipl"),
    // sys/stat.h: how large inputs are.
    rust("stat", "ipp"),
    rust("stat64", "ipp"),
    rust("lstat", "ipp"),
    rust("lstat64", "ipp"),
    rust("fstat", "iip"),
    rust("fstat64", "iip"),
    rust("fstatat", "iippi"),
    rust("fstatat64", "iippi"),
    rust("statx", "iipiip"),
    // stdio.h: input by streams.
    rust("fopen", "ppp"),
    rust("fopen64", "ppp"),
    rust("freopen", "pppp"),
    rust("freopen64", "pppp"),
    rust("fdopen", "pip"),
    rust("fclose", "ip"),
    rust("fread", "lpllp"),
    rust("fread_unlocked", "lpllp"),
    rust("fgets", "ppip"),
    rust("fgets_unlocked", "ppip"),
    rust("__fgets_chk", "pplip"),
    rust("getc", "ip"),
    rust("fgetc", "ip"),
    rust("_IO_getc", "ip"),
    rust("getc_unlocked", "ip"),
    rust("fgetc_unlocked", "ip"),
    rust("getchar", "i"),
    rust("getchar_unlocked", "i"),
    rust("ungetc", "iip"),
    rust("getline", "lppp"),
    rust("getdelim", "lppip"),
    rust("__getdelim", "lppip"),
    rust("fseek", "ipli"),
    rust("fseeko", "ipli"),
    rust("fseeko64", "ipli"),
    rust("rewind", "vp"),
    rust("fsetpos", "ipp"),
    rust("fsetpos64", "ipp"),
    // stdlib.h: memory that changes hands.
    rust("malloc", "pl"),
    rust("calloc", "pll"),
    rust("realloc", "ppl"),
    rust("reallocarray", "ppll"),
    rust("aligned_alloc", "pll"),
    rust("memalign", "pll"),
    rust("valloc", "pl"),
    rust("posix_memalign", "ipll"),
    rust("free", "vp"),
    // string.h: memory that moves.
    rust("memcpy", "pppl"),
    rust("memmove", "pppl"),
    rust("memset", "ppil"),
    rust("__memcpy_chk", "pppll"),
    rust("__memmove_chk", "pppll"),
    rust("__memset_chk", "ppill"),
    rust("mempcpy", "pppl"),
    rust("__mempcpy_chk", "pppll"),
    rust("bcopy", "vppl"),
    rust("bzero", "vpl"),
    // unistd.h: processes.
    rust("fork", "i"),
    rust("_exit", "vi"),
    rust("_Exit", "vi"),
    rust("quick_exit", "vi"),
    rust("execve", "ippp"),
    rust("execv", "ipp"),
    rust("execvp", "ipp"),
    rust("execvpe", "ippp"),
    rust("fexecve", "iipp"),
    // string.h: functions that look at bytes.
    c("strlen", "lp"),
    c("strnlen", "lpl"),
    c("strcmp", "ipp"),
    c("strncmp", "ippl"),
    c("strcasecmp", "ipp"),
    c("strncasecmp", "ippl"),
    c("memcmp", "ippl"),
    c("strchr", "ppi"),
    c("strrchr", "ppi"),
    c("memchr", "ppil"),
    c("strstr", "ppp"),
    c("strspn", "lpp"),
    c("strcspn", "lpp"),
    c("strpbrk", "ppp"),
    c("strcpy", "ppp"),
    c("strncpy", "pppl"),
    c("strcat", "ppp"),
    c("strncat", "pppl"),
    c("stpcpy", "ppp"),
    c("strdup", "pp"),
    c("strndup", "ppl"),
    c("stpncpy", "pppl"),
    c("__strdup", "pp"),
    c("__strndup", "ppl"),
    c("memccpy", "pppil"),
    c("swab", "vppl"),
    c("bcmp", "ippl"),
    c("__memcmpeq", "ippl"),
    c("strcoll", "ipp"),
    c("strxfrm", "lppl"),
    c("strchrnul", "ppi"),
    c("memrchr", "ppil"),
    c("rawmemchr", "ppi"),
    c("__rawmemchr", "ppi"),
    c("strcasestr", "ppp"),
    c("memmem", "pplpl"),
    c("index", "ppi"),
    c("rindex", "ppi"),
    c("basename", "pp"),
    c("__xpg_basename", "pp"),
    c("strtok", "ppp"),
    c("strtok_r", "pppp"),
    c("__strtok_r", "pppp"),
    c("strsep", "ppp"),
    c("__strcpy_chk", "pppl"),
    c("__stpcpy_chk", "pppl"),
    c("__strncpy_chk", "pppll"),
    c("__stpncpy_chk", "pppll"),
    c("__strcat_chk", "pppl"),
    c("__strncat_chk", "pppll"),
    c("strlcpy", "lppl"),
    c("strlcat", "lppl"),
    // strings.h: the rest of it.
    c("strcasecmp_l", "ippp"),
    c("strncasecmp_l", "ipplp"),
    c("ffs", "ii"),
    c("ffsl", "il"),
    c("ffsll", "il"),
    // ctype.h.
    c("isalpha", "ii"),
    c("isdigit", "ii"),
    c("isalnum", "ii"),
    c("isspace", "ii"),
    c("isupper", "ii"),
    c("islower", "ii"),
    c("ispunct", "ii"),
    c("isprint", "ii"),
    c("isxdigit", "ii"),
    c("iscntrl", "ii"),
    c("isgraph", "ii"),
    c("isblank", "ii"),
    c("tolower", "ii"),
    c("toupper", "ii"),
    c("isascii", "ii"),
    c("toascii", "ii"),
    c("isalpha_l", "iip"),
    c("isdigit_l", "iip"),
    c("isalnum_l", "iip"),
    c("isspace_l", "iip"),
    c("isupper_l", "iip"),
    c("islower_l", "iip"),
    c("ispunct_l", "iip"),
    c("isprint_l", "iip"),
    c("isxdigit_l", "iip"),
    c("iscntrl_l", "iip"),
    c("isgraph_l", "iip"),
    c("isblank_l", "iip"),
    c("tolower_l", "iip"),
    c("toupper_l", "iip"),
    c("__tolower_l", "iip"),
    c("__toupper_l", "iip"),
    // stdlib.h: conversions.
    c("atoi", "ip"),
    c("atol", "lp"),
    c("atoll", "lp"),
    c("strtol", "lppi"),
    c("strtoll", "lppi"),
    c("strtoul", "lppi"),
    c("strtoull", "lppi"),
    c("strtoimax", "lppi"),
    c("strtoumax", "lppi"),
    c("strtoq", "lppi"),
    c("strtouq", "lppi"),
    c("strtod", "dpp"),
    c("strtof", "fpp"),
    c("strtold", "xpp"),
    c("atof", "dp"),
    c("__isoc23_strtol", "lppi"),
    c("__isoc23_strtoul", "lppi"),
    c("__isoc23_strtoll", "lppi"),
    c("__isoc23_strtoull", "lppi"),
    c("__isoc23_strtoimax", "lppi"),
    c("__isoc23_strtoumax", "lppi"),
    // stdlib.h: functions that call back.
    c("qsort", "vpllp"),
    c("qsort_r", "vpllpp"),
    c("bsearch", "pppllp"),
    // search.h.
    c("lfind", "pppplp"),
    c("lsearch", "pppplp"),
    // getopt.h.
    c("getopt", "iipp"),
    c("__posix_getopt", "iipp"),
    c("getopt_long", "iipppp"),
    c("getopt_long_only", "iipppp"),
    // wchar.h, wctype.h: what depends on the locale.
    c("mbrtowc", "lpplp"),
    c("mbrlen", "lplp"),
    c("mbtowc", "ippl"),
    c("mblen", "ipl"),
    c("wcrtomb", "lpip"),
    c("btowc", "ii"),
    c("wctob", "ii"),
    c("wcslen", "lp"),
    c("wcscpy", "ppp"),
    c("wcscat", "ppp"),
    c("wcwidth", "ii"),
    c("towlower", "ii"),
    c("towupper", "ii"),
    c("iswalnum", "ii"),
    c("iswalpha", "ii"),
    c("iswblank", "ii"),
    c("iswcntrl", "ii"),
    c("iswdigit", "ii"),
    c("iswgraph", "ii"),
    c("iswlower", "ii"),
    c("iswprint", "ii"),
    c("iswpunct", "ii"),
    c("iswspace", "ii"),
    c("iswupper", "ii"),
    c("iswxdigit", "ii"),
    // stdio.h: printing into buffers.
    c("sprintf", "ipp."),
    c("snprintf", "iplp."),
    c("vsprintf", "ippp"),
    c("vsnprintf", "iplpp"),
    c("asprintf", "ipp."),
    c("vasprintf", "ippp"),
    c("__sprintf_chk", "ipilp."),
    c("__snprintf_chk", "iplilp."),
    c("__vsprintf_chk", "ipilpp"),
    c("__vsnprintf_chk", "iplilpp"),
    c("__asprintf_chk", "ipip."),
    c("__vasprintf_chk", "ipipp"),
    // stdio.h, unistd.h: output.
    c("printf", "ip."),
    c("fprintf", "ipp."),
    c("dprintf", "iip."),
    c("vprintf", "ipp"),
    c("vfprintf", "ippp"),
    c("vdprintf", "iipp"),
    c("__printf_chk", "iip."),
    c("__fprintf_chk", "ipip."),
    c("__dprintf_chk", "iiip."),
    c("__vprintf_chk", "iipp"),
    c("__vfprintf_chk", "ipipp"),
    c("__vdprintf_chk", "iiipp"),
    c("puts", "ip"),
    c("fputs", "ipp"),
    c("fputs_unlocked", "ipp"),
    c("fwrite", "lpllp"),
    c("fwrite_unlocked", "lpllp"),
    c("write", "lipl"),
    // stdio.h: formatted input.
    c("sscanf", "ipp."),
    c("fscanf", "ipp."),
    c("scanf", "ip."),
    c("vsscanf", "ippp"),
    c("vfscanf", "ippp"),
    c("vscanf", "ipp"),
    c("__isoc99_sscanf", "ipp."),
    c("__isoc99_fscanf", "ipp."),
    c("__isoc99_scanf", "ip."),
    c("__isoc99_vsscanf", "ippp"),
    c("__isoc99_vfscanf", "ippp"),
    c("__isoc99_vscanf", "ipp"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_signatures_well_formed() {
        for (index, model) in MODELS.iter().enumerate() {
            assert!(
                MODELS[..index].iter().all(|other| other.name != model.name),
                "{}",
                model.name
            );
            let letters = model.signature.strip_suffix('.').unwrap_or(model.signature);
            assert!(
                letters.chars().all(|letter| "vilpfdx".contains(letter)),
                "{}",
                model.name
            );
        }
    }
}
