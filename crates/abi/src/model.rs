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
    /// Whether it reads or writes (or frees) memory that its arguments point to in an amount that
    /// the type does not tell: a call of it is sensitive, see [`crate::shadow::SummaryWords`].
    pub touches_memory: bool,
}

/// Where a model is implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `crates/rt`.
    Runtime,
    /// `libc/`.
    C,
    /// `crates/rt`, but only to be captured: labels get lost as in any function without a model.
    Capture,
}

/// The prefix of model symbols.
pub const PREFIX: &str = "__nm_model_";

const fn rust(name: &'static str, signature: &'static str) -> Model {
    Model {
        name,
        signature,
        place: Place::Runtime,
        touches_memory: false,
    }
}

const fn c(name: &'static str, signature: &'static str) -> Model {
    Model {
        name,
        signature,
        place: Place::C,
        touches_memory: false,
    }
}

const fn captured(name: &'static str, signature: &'static str) -> Model {
    Model {
        name,
        signature,
        place: Place::Capture,
        touches_memory: false,
    }
}

/// Whether this symbol is of a model that labels get lost in.
pub fn only_captures(symbol: &str) -> bool {
    symbol.strip_prefix(PREFIX).is_some_and(|name| {
        let mut models = MODELS.iter();
        models.any(|model| model.place == Place::Capture && model.name == name)
    })
}

const fn touches(model: Model) -> Model {
    Model {
        touches_memory: true,
        ..model
    }
}

/// The model of this libc function.
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.name == name)
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
    touches(rust("read", "lipl")),
    touches(rust("pread", "lipll")),
    touches(rust("pread64", "lipll")),
    touches(rust("readv", "lipi")),
    touches(rust("__read_chk", "lipll")),
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
    touches(rust("recv", "lipli")),
    touches(rust("recvfrom", "liplipp")),
    touches(rust("recvmsg", "lipi")),
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
    touches(rust("fread", "lpllp")),
    touches(rust("fread_unlocked", "lpllp")),
    touches(rust("fgets", "ppip")),
    touches(rust("fgets_unlocked", "ppip")),
    touches(rust("__fgets_chk", "pplip")),
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
    touches(rust("realloc", "ppl")),
    touches(rust("reallocarray", "ppll")),
    rust("aligned_alloc", "pll"),
    rust("memalign", "pll"),
    rust("valloc", "pl"),
    rust("posix_memalign", "ipll"),
    touches(rust("free", "vp")),
    // string.h: memory that moves.
    touches(rust("memcpy", "pppl")),
    touches(rust("memmove", "pppl")),
    touches(rust("memset", "ppil")),
    touches(rust("__memcpy_chk", "pppll")),
    touches(rust("__memmove_chk", "pppll")),
    touches(rust("__memset_chk", "ppill")),
    touches(rust("mempcpy", "pppl")),
    touches(rust("__mempcpy_chk", "pppll")),
    touches(rust("bcopy", "vppl")),
    touches(rust("bzero", "vpl")),
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
    touches(c("strlen", "lp")),
    touches(c("strnlen", "lpl")),
    touches(c("strcmp", "ipp")),
    touches(c("strncmp", "ippl")),
    touches(c("strcasecmp", "ipp")),
    touches(c("strncasecmp", "ippl")),
    touches(c("memcmp", "ippl")),
    touches(c("strchr", "ppi")),
    touches(c("strrchr", "ppi")),
    touches(c("memchr", "ppil")),
    touches(c("strstr", "ppp")),
    touches(c("strspn", "lpp")),
    touches(c("strcspn", "lpp")),
    touches(c("strpbrk", "ppp")),
    touches(c("strcpy", "ppp")),
    touches(c("strncpy", "pppl")),
    touches(c("strcat", "ppp")),
    touches(c("strncat", "pppl")),
    touches(c("stpcpy", "ppp")),
    touches(c("strdup", "pp")),
    touches(c("strndup", "ppl")),
    touches(c("stpncpy", "pppl")),
    touches(c("__strdup", "pp")),
    touches(c("__strndup", "ppl")),
    touches(c("memccpy", "pppil")),
    touches(c("swab", "vppl")),
    touches(c("bcmp", "ippl")),
    touches(c("__memcmpeq", "ippl")),
    touches(c("strcoll", "ipp")),
    touches(c("strxfrm", "lppl")),
    touches(c("strchrnul", "ppi")),
    touches(c("memrchr", "ppil")),
    touches(c("rawmemchr", "ppi")),
    touches(c("__rawmemchr", "ppi")),
    touches(c("strcasestr", "ppp")),
    touches(c("memmem", "pplpl")),
    touches(c("index", "ppi")),
    touches(c("rindex", "ppi")),
    touches(c("basename", "pp")),
    touches(c("__xpg_basename", "pp")),
    touches(c("strtok", "ppp")),
    touches(c("strtok_r", "pppp")),
    touches(c("__strtok_r", "pppp")),
    touches(c("strsep", "ppp")),
    touches(c("__strcpy_chk", "pppl")),
    touches(c("__stpcpy_chk", "pppl")),
    touches(c("__strncpy_chk", "pppll")),
    touches(c("__stpncpy_chk", "pppll")),
    touches(c("__strcat_chk", "pppl")),
    touches(c("__strncat_chk", "pppll")),
    touches(c("strlcpy", "lppl")),
    touches(c("strlcat", "lppl")),
    // strings.h: the rest of it.
    touches(c("strcasecmp_l", "ippp")),
    touches(c("strncasecmp_l", "ipplp")),
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
    touches(c("atoi", "ip")),
    touches(c("atol", "lp")),
    touches(c("atoll", "lp")),
    touches(c("strtol", "lppi")),
    touches(c("strtoll", "lppi")),
    touches(c("strtoul", "lppi")),
    touches(c("strtoull", "lppi")),
    touches(c("strtoimax", "lppi")),
    touches(c("strtoumax", "lppi")),
    touches(c("strtoq", "lppi")),
    touches(c("strtouq", "lppi")),
    touches(c("strtod", "dpp")),
    touches(c("strtof", "fpp")),
    touches(c("strtold", "xpp")),
    touches(c("atof", "dp")),
    touches(c("__isoc23_strtol", "lppi")),
    touches(c("__isoc23_strtoul", "lppi")),
    touches(c("__isoc23_strtoll", "lppi")),
    touches(c("__isoc23_strtoull", "lppi")),
    touches(c("__isoc23_strtoimax", "lppi")),
    touches(c("__isoc23_strtoumax", "lppi")),
    // stdlib.h: functions that call back.
    touches(c("qsort", "vpllp")),
    touches(c("qsort_r", "vpllpp")),
    touches(c("bsearch", "pppllp")),
    // search.h.
    touches(c("lfind", "pppplp")),
    touches(c("lsearch", "pppplp")),
    // getopt.h.
    c("getopt", "iipp"),
    c("__posix_getopt", "iipp"),
    c("getopt_long", "iipppp"),
    c("getopt_long_only", "iipppp"),
    // wchar.h, wctype.h: what depends on the locale.
    touches(c("mbrtowc", "lpplp")),
    touches(c("mbrlen", "lplp")),
    touches(c("mbtowc", "ippl")),
    touches(c("mblen", "ipl")),
    c("wcrtomb", "lpip"),
    c("btowc", "ii"),
    c("wctob", "ii"),
    touches(c("wcslen", "lp")),
    touches(c("wcscpy", "ppp")),
    touches(c("wcscat", "ppp")),
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
    touches(c("sprintf", "ipp.")),
    touches(c("snprintf", "iplp.")),
    touches(c("vsprintf", "ippp")),
    touches(c("vsnprintf", "iplpp")),
    c("asprintf", "ipp."),
    c("vasprintf", "ippp"),
    touches(c("__sprintf_chk", "ipilp.")),
    touches(c("__snprintf_chk", "iplilp.")),
    touches(c("__vsprintf_chk", "ipilpp")),
    touches(c("__vsnprintf_chk", "iplilpp")),
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
    touches(c("fwrite", "lpllp")),
    touches(c("fwrite_unlocked", "lpllp")),
    touches(c("write", "lipl")),
    // stdio.h: formatted input.
    touches(c("sscanf", "ipp.")),
    touches(c("fscanf", "ipp.")),
    touches(c("scanf", "ip.")),
    touches(c("vsscanf", "ippp")),
    touches(c("vfscanf", "ippp")),
    touches(c("vscanf", "ipp")),
    touches(c("__isoc99_sscanf", "ipp.")),
    touches(c("__isoc99_fscanf", "ipp.")),
    touches(c("__isoc99_scanf", "ip.")),
    touches(c("__isoc99_vsscanf", "ippp")),
    touches(c("__isoc99_vfscanf", "ippp")),
    touches(c("__isoc99_vscanf", "ipp")),
    // Only to be captured: paths, and streams that macros of libc refill.
    captured("creat", "ipi"),
    captured("creat64", "ipi"),
    captured("__open_2", "ipi"),
    captured("__open64_2", "ipi"),
    captured("__openat_2", "iipi"),
    captured("__openat64_2", "iipi"),
    captured("opendir", "pp"),
    captured("fdopendir", "pi"),
    captured("scandir", "ipppp"),
    captured("scandir64", "ipppp"),
    captured("scandirat", "iipppp"),
    captured("scandirat64", "iipppp"),
    captured("access", "ipi"),
    captured("euidaccess", "ipi"),
    captured("eaccess", "ipi"),
    captured("faccessat", "iipii"),
    captured("readlink", "lppl"),
    captured("__readlink_chk", "lppll"),
    captured("readlinkat", "lippl"),
    captured("__readlinkat_chk", "lippll"),
    captured("unlink", "ip"),
    captured("unlinkat", "iipi"),
    captured("rmdir", "ip"),
    captured("link", "ipp"),
    captured("linkat", "iipipi"),
    captured("symlink", "ipp"),
    captured("symlinkat", "ipip"),
    captured("chdir", "ip"),
    captured("chown", "ipii"),
    captured("lchown", "ipii"),
    captured("fchownat", "iipiii"),
    captured("truncate", "ipl"),
    captured("truncate64", "ipl"),
    captured("pathconf", "lpi"),
    captured("remove", "ip"),
    captured("rename", "ipp"),
    captured("renameat", "iipip"),
    captured("renameat2", "iipipi"),
    captured("mkdir", "ipi"),
    captured("mkdirat", "iipi"),
    captured("mkfifo", "ipi"),
    captured("mkfifoat", "iipi"),
    captured("mknod", "ipil"),
    captured("mknodat", "iipil"),
    captured("chmod", "ipi"),
    captured("fchmodat", "iipii"),
    captured("__xstat", "iipp"),
    captured("__xstat64", "iipp"),
    captured("__lxstat", "iipp"),
    captured("__lxstat64", "iipp"),
    captured("__fxstatat", "iiippi"),
    captured("__fxstatat64", "iiippi"),
    captured("statfs", "ipp"),
    captured("statfs64", "ipp"),
    captured("statvfs", "ipp"),
    captured("statvfs64", "ipp"),
    captured("utime", "ipp"),
    captured("utimes", "ipp"),
    captured("lutimes", "ipp"),
    captured("futimesat", "iipp"),
    captured("utimensat", "iippi"),
    captured("realpath", "ppp"),
    captured("__realpath_chk", "pppl"),
    captured("canonicalize_file_name", "pp"),
    captured("ftw", "ippi"),
    captured("ftw64", "ippi"),
    captured("nftw", "ippii"),
    captured("nftw64", "ippii"),
    captured("mkstemp", "ip"),
    captured("mkstemp64", "ip"),
    captured("mkostemp", "ipi"),
    captured("mkostemp64", "ipi"),
    captured("mkstemps", "ipi"),
    captured("mkstemps64", "ipi"),
    captured("mkostemps", "ipii"),
    captured("mkostemps64", "ipii"),
    captured("mkdtemp", "pp"),
    captured("glob", "ipipp"),
    captured("glob64", "ipipp"),
    captured("fts_open", "ppip"),
    captured("__uflow", "ip"),
    captured("__underflow", "ip"),
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
