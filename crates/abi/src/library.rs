//! What is known about the functions of the C library, by header.
//!
//! A function of [`crate::model::MODELS`] has a model. Of the others some lose nothing
//! although they have none, because what they are given cannot come back to the program (output,
//! messages, how long to sleep), or because they are given nothing; some are known to answer with concrete data whatever they are given, and
//! calls of those with symbolic data are noted as calls of any unknown function are.

use crate::model::{MODELS, Model, Place};

/// How calls of a library function are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// A model in Rust, part of the runtime.
    Rust,
    /// A model in C, instrumented as recorders are.
    C,
    /// No model; what it gives back, or keeps, is concrete. Symbolic data given to it is noted as
    /// lost.
    Concrete,
    /// No model and none needed: it loses nothing.
    Harmless,
}

impl State {
    /// Every state.
    pub const ALL: &'static [State] = &[State::Rust, State::C, State::Concrete, State::Harmless];

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            State::Rust => "rust",
            State::C => "c",
            State::Concrete => "concrete",
            State::Harmless => "harmless",
        }
    }

    /// What it means, for a person.
    pub const fn words(self) -> &'static str {
        match self {
            State::Rust => "modelled in Rust",
            State::C => "modelled in C",
            State::Concrete => "concrete",
            State::Harmless => "harmless",
        }
    }
}

/// A header of the C library.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Its name: `stdio.h`.
    pub name: &'static str,
    /// Functions that have a model.
    modelled: &'static str,
    concrete: &'static str,
    harmless: &'static str,
}

impl Header {
    /// Its functions that are known, sorted by name within a state.
    pub fn functions(&self) -> impl Iterator<Item = (&'static str, State)> + '_ {
        let name = self.name;
        let has_no_row = |function: &&str| modelled().all(|model| model.name != *function);
        let names = move |names: &'static str| names.split_whitespace().filter(has_no_row);
        let rows = modelled().map(|model| (model.name, model_state(model.place)));
        rows.filter(move |(function, _)| header_of(function) == Some(name))
            .chain(names(self.concrete).map(|function| (function, State::Concrete)))
            .chain(names(self.harmless).map(|function| (function, State::Harmless)))
    }
}

/// What is known about the function with this name, which is what the linker sees.
pub fn state(function: &str) -> Option<State> {
    if let Some(model) = modelled().find(|model| model.name == function) {
        return Some(model_state(model.place));
    }
    let plain = plain(function);
    HEADERS.iter().find_map(|header| {
        let is_in = |names: &str| {
            names
                .split_whitespace()
                .any(|name| name == function || name == plain)
        };
        if is_in(header.harmless) {
            Some(State::Harmless)
        } else if is_in(header.concrete) {
            Some(State::Concrete)
        } else {
            None
        }
    })
}

/// Headers whose functions answer by what they are given and what that leads to, and by nothing else.
const BY_ARGUMENTS: &[&str] = &[
    "arpa/inet.h",
    "ctype.h",
    "errno.h",
    "getopt.h",
    "inttypes.h",
    "libgen.h",
    "math.h",
    "string.h",
    "strings.h",
];

/// The same of other headers, which have others too.
const ALSO_BY_ARGUMENTS: &str = "lfind lsearch tfind tdelete longjmp _longjmp siglongjmp _setjmp setjmp sigsetjmp sigaddset \
    sigdelset sigemptyset sigfillset sigismember sscanf sprintf snprintf vsscanf vsprintf vsnprintf _Exit quick_exit free \
    atoi atol atoll strtol strtoll strtoul strtoull strtoq strtouq qsort qsort_r bsearch atof strtod strtof strtold \
    abs div labs ldiv llabs lldiv ecvt fcvt gcvt rand_r abort assert_fail exit cxa_atexit asctime asctime_r difftime gmtime \
    gmtime_r timegm strftime strptime _exit execv swprintf swscanf vswprintf";

/// What wide and multi-byte strings have in front of their names.
const WIDE: &[&str] = &["btow", "isw", "mb", "tow", "wc", "wm"];

/// Whether what a function answers depends on nothing but what it is given, and what that leads to. The C library's
/// others, and all that are not known, ask the system, which may answer otherwise.
pub fn answers_by_arguments(function: &str) -> bool {
    let plain = plain(function);
    let is_it = |name: &str| name == function || name == plain;
    let has = |header: &&Header| {
        let lists = [header.modelled, header.concrete, header.harmless];
        let mut names = lists.into_iter().flat_map(str::split_whitespace);
        names.any(is_it)
    };
    ALSO_BY_ARGUMENTS.split_whitespace().any(is_it)
        || WIDE.iter().any(|prefix| plain.starts_with(prefix))
        || HEADERS
            .iter()
            .filter(|header| BY_ARGUMENTS.contains(&header.name))
            .any(|it| has(&it))
}

/// The header that declares a modelled function.
pub fn header_of(function: &str) -> Option<&'static str> {
    let plain = plain(function);
    let declares = |header: &&Header| {
        let mut names = header.modelled.split_whitespace();
        names.any(|name| name == function || name == plain)
    };
    HEADERS.iter().find(declares).map(|header| header.name)
}

/// The models that labels do not get lost in.
fn modelled() -> impl Iterator<Item = &'static Model> {
    MODELS.iter().filter(|model| model.place != Place::Capture)
}

const fn model_state(place: Place) -> State {
    match place {
        Place::Runtime | Place::Capture => State::Rust,
        Place::C => State::C,
    }
}

/// The name in the header of what the linker sees: without what fortified, standard-specific,
/// unlocked and 64-bit variants add.
fn plain(function: &str) -> &str {
    let mut name = function;
    for prefix in ["__isoc99_", "__isoc23_", "__posix_", "__xpg_", "__", "_IO_"] {
        if let Some(rest) = name.strip_prefix(prefix) {
            name = rest;
            break;
        }
    }
    for suffix in ["_chk", "_unlocked", "64", "_internal", "_l"] {
        name = name.strip_suffix(suffix).unwrap_or(name);
    }
    name
}

/// The headers, sorted by name.
pub const HEADERS: &[Header] = &[
    Header {
        name: "arpa/inet.h",
        modelled: "htonl htons ntohl ntohs",
        concrete: "inet_addr inet_aton inet_ntoa inet_ntop inet_pton",
        harmless: "",
    },
    Header {
        name: "ctype.h",
        modelled: "isalpha isdigit isalnum isspace isupper islower ispunct isprint isxdigit \
                   iscntrl isgraph isblank isascii toascii tolower toupper",
        concrete: "",
        harmless: "ctype_b_loc ctype_tolower_loc ctype_toupper_loc ctype_get_mb_cur_max",
    },
    Header {
        name: "dirent.h",
        modelled: "",
        concrete: "opendir fdopendir readdir readdir_r scandir",
        harmless: "alphasort closedir dirfd rewinddir seekdir telldir",
    },
    Header {
        name: "errno.h",
        modelled: "",
        concrete: "",
        harmless: "errno_location",
    },
    Header {
        name: "fcntl.h",
        modelled: "open openat fcntl",
        concrete: "creat",
        harmless: "posix_fadvise posix_fallocate",
    },
    Header {
        name: "getopt.h",
        modelled: "getopt getopt_long getopt_long_only",
        concrete: "",
        harmless: "",
    },
    Header {
        name: "inttypes.h",
        modelled: "strtoimax strtoumax",
        concrete: "imaxabs imaxdiv",
        harmless: "",
    },
    Header {
        name: "langinfo.h, libintl.h, locale.h",
        modelled: "",
        concrete: "bind_textdomain_codeset bindtextdomain dcgettext dcngettext dgettext dngettext \
                   gettext ngettext newlocale nl_langinfo setlocale textdomain",
        harmless: "localeconv freelocale uselocale",
    },
    Header {
        name: "libgen.h",
        modelled: "basename",
        concrete: "dirname",
        harmless: "",
    },
    Header {
        name: "math.h",
        modelled: "",
        concrete: "acos asin atan atan2 ceil cos cosh exp exp2 fabs floor fmod frexp ldexp log \
                   log10 log2 lrint lround modf nearbyint pow rint round sin sinh sqrt tan tanh \
                   trunc",
        harmless: "",
    },
    Header {
        name: "pthread.h",
        modelled: "pthread_create pthread_join pthread_exit",
        concrete: "",
        harmless: "pthread_cond_broadcast pthread_cond_destroy pthread_cond_init \
                   pthread_cond_signal pthread_cond_wait pthread_detach pthread_mutex_destroy \
                   pthread_mutex_init pthread_mutex_lock pthread_mutex_trylock \
                   pthread_mutex_unlock pthread_once pthread_self",
    },
    Header {
        name: "pwd.h, grp.h",
        modelled: "",
        concrete: "getgrgid getgrnam getpwnam getpwuid",
        harmless: "endgrent endpwent getgrent getpwent setgrent setpwent",
    },
    Header {
        name: "search.h",
        modelled: "lfind lsearch",
        concrete: "hsearch hsearch_r tfind tsearch tdelete",
        harmless: "hcreate hcreate_r hdestroy hdestroy_r insque remque tdestroy twalk",
    },
    Header {
        name: "setjmp.h, signal.h",
        modelled: "longjmp _longjmp siglongjmp",
        concrete: "kill raise sigaction sigaddset sigdelset sigismember signal sigprocmask",
        harmless: "_setjmp setjmp sigemptyset sigfillset sigsetjmp",
    },
    Header {
        name: "stdio.h",
        modelled: "fopen freopen fdopen fclose fread fgets getc fgetc getchar ungetc getline \
                   getdelim fseek fseeko rewind fsetpos sscanf fscanf scanf vsscanf vfscanf \
                   vscanf sprintf snprintf vsprintf vsnprintf asprintf vasprintf printf fprintf \
                   dprintf vprintf vfprintf vdprintf puts fputs fwrite fputc putc putchar ftell ftello \
                   gets setbuf setbuffer setvbuf",
        concrete: "fmemopen fscanf_l getw open_memstream overflow popen remove rename \
                   renameat tempnam tmpnam uflow",
        harmless: "clearerr fbufsize feof ferror fflush fgetpos fileno flbf flockfile fpending \
                   fpurge freadable freading fsetlocking fwritable fwriting \
                   ftrylockfile funlockfile pclose perror setlinebuf tmpfile",
    },
    Header {
        name: "stdlib.h",
        modelled: "_Exit quick_exit malloc calloc realloc reallocarray free aligned_alloc \
                   posix_memalign memalign valloc atoi atol atoll strtol strtoll strtoul strtoull \
                   strtoq strtouq qsort qsort_r bsearch atof strtod strtof strtold mblen mbtowc \
                   setenv putenv",
        concrete: "abs canonicalize_file_name div ecvt erand48 fcvt gcvt getenv initstate labs \
                   ldiv llabs lldiv mbstowcs mkdtemp mkostemp mkstemp rand_r realpath \
                   secure_getenv setstate srand srand48 srandom system unsetenv wcstombs wctomb",
        harmless: "abort assert_fail at_quick_exit atexit clearenv cxa_atexit drand48 exit \
                   getloadavg malloc_usable_size mrand48 rand random",
    },
    Header {
        name: "string.h",
        modelled: "memcpy memmove memset mempcpy memccpy memcmp memcmpeq memchr memrchr rawmemchr \
                   memmem strlen strnlen strcmp strncmp strcoll strxfrm strchr strrchr strchrnul \
                   strstr strcasestr strspn strcspn strpbrk strcpy strncpy strcat strncat stpcpy \
                   stpncpy strdup strndup strtok strtok_r strsep strlcpy strlcat bcmp swab \
                   explicit_bzero",
        concrete: "memfrob strerror strerror_r strerrordesc_np strerrorname_np strfry strrev \
                   strsignal strverscmp",
        harmless: "",
    },
    Header {
        name: "strings.h",
        modelled: "strcasecmp strncasecmp bcopy bzero index rindex ffs ffsl ffsll",
        concrete: "",
        harmless: "",
    },
    Header {
        name: "sys/mman.h",
        modelled: "mmap munmap",
        concrete: "mremap",
        harmless: "madvise mlock mprotect msync munlock",
    },
    Header {
        name: "sys/socket.h, netdb.h, poll.h",
        modelled: "recv recvfrom recvmsg accept accept4 socketpair socket send sendto sendmsg",
        concrete: "bind connect getaddrinfo gethostbyname getservbyname setsockopt",
        harmless: "freeaddrinfo gai_strerror getpeername getsockname getsockopt listen poll select \
                   shutdown",
    },
    Header {
        name: "sys/stat.h",
        modelled: "stat fstat lstat fstatat statx",
        concrete: "chmod fchmod fchmodat futimens fxstat fxstatat lxstat mkdir mkdirat mkfifo \
                   mkfifoat mknod umask utimensat xstat",
        harmless: "",
    },
    Header {
        name: "sys/wait.h, sys/resource.h",
        modelled: "",
        concrete: "setpriority setrlimit",
        harmless: "getpriority getrlimit getrusage wait wait3 wait4 waitid waitpid",
    },
    Header {
        name: "syslog.h, err.h, error.h",
        modelled: "",
        concrete: "",
        harmless: "closelog err error error_at_line errx openlog setlogmask syslog verr verrx \
                   vsyslog vwarn vwarnx warn warnx",
    },
    Header {
        name: "time.h, sys/time.h",
        modelled: "",
        concrete: "alarm asctime asctime_r clock_settime ctime ctime_r difftime gmtime gmtime_r \
                   localtime localtime_r mktime setitimer settimeofday strftime strptime timegm \
                   timelocal utime utimes",
        harmless: "clock clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep time \
                   tzset",
    },
    Header {
        name: "unistd.h, sys/uio.h",
        modelled: "close dup dup2 dup3 read pread readv write fork pipe pipe2 _exit execv execve \
                   execvp execvpe fexecve pwrite writev lseek",
        concrete: "access chdir chown chroot confstr ctermid euidaccess execl execlp faccessat \
                   fchown fchownat ftruncate getlogin lchown link linkat nice pathconf readlink \
                   readlinkat rmdir setegid seteuid setgid setpgid setregid setreuid setuid \
                   symlink symlinkat tcsetattr truncate unlink unlinkat vfork",
        harmless: "fchdir fdatasync fsync get_current_dir_name getcwd getdtablesize getegid \
                   geteuid getgid getgroups gethostname getpagesize getpgid getpgrp getpid \
                   getppid getsid getuid isatty pause setsid sleep sync sysconf tcgetattr \
                   tcgetpgrp ttyname usleep",
    },
    Header {
        name: "wchar.h, wctype.h",
        modelled: "btowc wctob mbrtowc mbrlen wcwidth wcrtomb wcslen wcscpy wcscat iswalnum \
                   iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct \
                   iswspace iswupper iswxdigit towlower towupper",
        concrete: "fgetwc fgetws fputwc fputws fwprintf getwc getwchar iswctype mbsnrtowcs \
                   mbsrtowcs putwc swprintf swscanf towctrans ungetwc vfwprintf vswprintf \
                   wcscasecmp wcschr wcscmp wcscoll wcscspn wcsdup wcsftime wcsncasecmp wcsncat \
                   wcsncmp wcsncpy wcsnlen wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstok \
                   wcstol wcstoul wcswidth wcsxfrm wctrans wctype wmemchr wmemcmp wmemcpy wmemmove \
                   wmemset",
        harmless: "fwide mbsinit putwchar vwprintf wprintf",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_a_header() {
        for model in modelled() {
            assert!(
                header_of(model.name).is_some(),
                "{}: add it to HEADERS",
                model.name
            );
        }
    }

    #[test]
    fn what_is_called_modelled_is() {
        for header in HEADERS {
            for name in header.modelled.split_whitespace() {
                let has_row =
                    |model: &crate::model::Model| model.name == name || plain(model.name) == name;
                assert!(modelled().any(has_row), "{name}");
            }
        }
    }

    #[test]
    fn headers_are_sorted_and_names_stand_once() {
        for pair in HEADERS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{}", pair[1].name);
        }
        let lists = |header: &'static Header| [header.modelled, header.concrete, header.harmless];
        let all = || {
            HEADERS
                .iter()
                .flat_map(lists)
                .flat_map(str::split_whitespace)
        };
        for name in all() {
            let count = all().filter(|other| *other == name).count();
            assert_eq!(count, 1, "{name}");
        }
    }

    #[test]
    fn some_answers_are_the_systems() {
        for name in [
            "strlen",
            "__sprintf_chk",
            "wcslen",
            "__isoc99_sscanf",
            "__ctype_b_loc",
        ] {
            assert!(answers_by_arguments(name), "{name}");
        }
        for name in [
            "printf",
            "fclose",
            "getpagesize",
            "pthread_mutex_lock",
            "sqlite3_exec",
        ] {
            assert!(!answers_by_arguments(name), "{name}");
        }
    }

    #[test]
    fn variants_are_known_by_their_plain_names() {
        assert_eq!(state("printf_of_my_own"), None);
        assert_eq!(state("__errno_location"), Some(State::Harmless));
        assert_eq!(state("fflush_unlocked"), Some(State::Harmless));
        assert_eq!(state("strftime"), Some(State::Concrete));
        assert_eq!(state("malloc"), Some(State::Rust));
        assert_eq!(header_of("__isoc99_sscanf"), Some("stdio.h"));
        assert_eq!(header_of("__strcpy_chk"), Some("string.h"));
        assert_eq!(header_of("fopen64"), Some("stdio.h"));
    }
}
