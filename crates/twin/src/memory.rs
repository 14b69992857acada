//! What a memory twin needs: every function that may write to the program's memory is known to
//! MemorySanitizer.
//!
//! MemorySanitizer believes what it sees written. A function without instrumentation fills a buffer
//! unseen, and reading that would be a false alarm. So each name that the program's own code leaves open
//! is looked at:
//!
//! | a name is | because |
//! | --- | --- |
//! | defined in the twin | a unit of the program, or an interceptor of MemorySanitizer's |
//! | wrapped | `libc/unwritten.c` or another file of the replay archive says what is written |
//! | in an object with [`WRITES_NOTHING`] | it ends the run |
//! | in [`NEUTRAL`] | it writes to no memory of the program, or only where something was |
//! | anything else | not known: there is no memory twin, and the report says so |

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSymbol};

use crate::TwinError;
use crate::arguments::Argument;

/// Functions that the memory twin is linked with `--wrap` for, besides those of every twin.
pub const WRAPPED: &[&str] = &[
    "malloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "memalign",
    "valloc",
    "pvalloc",
    "posix_memalign",
    "write",
    "pwrite",
    "pwrite64",
    "writev",
    "fwrite",
    "send",
    "sendto",
    "sendmsg",
    "strtok_r",
    "realpath",
    "fgetpos",
    "fgetpos64",
    "statx",
    "fcntl",
    "fcntl64",
    "setvbuf",
    "setbuf",
    "setbuffer",
    "re_compile_pattern",
    "re_compile_fastmap",
    "re_search",
    "re_match",
    "re_set_registers",
    "nanosleep",
    "clock_nanosleep",
    "timegm",
    "dlopen",
];

/// Functions and variables of the C library that MemorySanitizer does not intercept and need not: they
/// write to no memory of the program, or only to what the program had written, and call no function
/// of the program that has arguments. Memory that they allocate themselves counts as written.
const NEUTRAL: &str = "
    __nm_call_excluded __nm_call_is_boundary
    ctype_b_loc ctype_tolower_loc ctype_toupper_loc ctype_get_mb_cur_max
    isalpha isdigit isalnum isspace isupper islower ispunct isprint isxdigit iscntrl isgraph isblank
    isascii toascii tolower toupper htonl htons ntohl ntohs
    errno_location h_errno_location
    opendir fdopendir closedir dirfd rewinddir seekdir telldir alphasort versionsort
    open openat creat posix_fadvise posix_fallocate fallocate
    getopt getopt_long getopt_long_only optarg optind opterr optopt
    abs labs llabs imaxabs div ldiv lldiv imaxdiv
    bind_textdomain_codeset bindtextdomain dcgettext dcngettext dgettext dngettext gettext ngettext
    localeconv newlocale duplocale freelocale nl_langinfo setlocale textdomain uselocale
    _nl_msg_cat_cntr iconv_open iconv_close
    basename xpg_basename dirname
    acos acosf acosl acosh asin asinf asinl asinh atan atanf atanl atan2 atan2f atan2l atanh cbrt cbrtf
    ceil ceilf ceill copysign cos cosf cosl cosh erf erfc exp expf expl exp2 exp2f expm1 fabs fabsf fabsl
    fdim floor floorf floorl fma fmaf fmax fmaxf fmin fminf fmod fmodf fmodl hypot hypotf ilogb j0 j1 jn
    ldexp ldexpf ldexpl llrint llrintf llround llroundf log logf logl log10 log10f log1p log2 log2f logb
    lrint lrintf lround lroundf nearbyint nextafter pow powf powl remainder rint rintf rintl round roundf
    roundl scalbn scalbln sin sinf sinl sinh sqrt sqrtf sqrtl tan tanf tanl tanh tgamma trunc truncf truncl
    y0 y1 yn isnan isinf finite signbit signbitf signbitl fpclassify fpclassifyf fpclassifyl signgam
    feclearexcept fetestexcept feraiseexcept fegetround fesetround
    pthread_cond_broadcast pthread_cond_destroy pthread_cond_init pthread_cond_signal pthread_cond_wait
    pthread_cond_timedwait pthread_detach pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock
    pthread_mutex_trylock pthread_mutex_unlock pthread_once pthread_self pthread_equal pthread_getspecific
    pthread_setspecific pthread_key_delete pthread_rwlock_init pthread_rwlock_destroy pthread_rwlock_rdlock
    pthread_rwlock_wrlock pthread_rwlock_unlock pthread_kill pthread_exit pthread_cancel pthread_yield
    sched_yield sem_wait sem_post sem_destroy
    endgrent endpwent setgrent setpwent
    hcreate hdestroy insque remque
    kill killpg raise longjmp _longjmp siglongjmp longjmp_chk setjmp _setjmp sigsetjmp sigaddset sigdelset
    sigismember sigsuspend siginterrupt psignal alarm pause
    fopen freopen fdopen fclose fcloseall getc fgetc getchar ungetc fseek fseeko rewind fsetpos ftell ftello
    puts fputs fputc putc putchar fwrite clearerr feof ferror fflush fileno flockfile funlockfile
    ftrylockfile pclose popen perror tmpfile remove rename renameat getw putw overflow uflow fpurge fpending
    freadahead freading fwriting fbufsize flbf fsetlocking fputws fputwc putwc putwchar ungetwc fgetwc getwc
    getwchar fwide stdin stdout stderr
    IO_getc IO_putc
    Exit quick_exit free cfree atoi atol atoll atof exit _exit abort atexit at_quick_exit clearenv getenv
    secure_getenv setenv putenv unsetenv mkdtemp mkostemp mkostemps mkstemp mkstemps mktemp rand srand
    rand_r random srandom drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48 system malloc_usable_size
    malloc_trim mblen mbrlen mbsinit assert_fail assert_perror_fail assert stack_chk_fail chk_fail
    fortify_fail getpt grantpt unlockpt ptsname environ _environ progname progname_full
    program_invocation_name program_invocation_short_name
    ffs ffsl ffsll strerror strsignal strerrordesc_np strerrorname_np strverscmp strfry strcoll rawmemchr
    madvise mlock munlock mlockall munlockall mprotect msync munmap shm_open shm_unlink
    bind connect listen shutdown setsockopt freeaddrinfo gai_strerror hstrerror herror select
    chmod fchmod fchmodat futimens utimensat utime utimes futimes lutimes mkdir mkdirat mkfifo mkfifoat
    mknod mknodat umask
    setpriority getpriority setrlimit
    closelog err error error_at_line errx openlog setlogmask syslog verr verrx vsyslog vwarn vwarnx warn
    warnx error_print_progname error_message_count error_one_per_line
    clock clock_settime difftime setitimer settimeofday sleep usleep tzset timezone daylight
    tzname
    close dup dup2 dup3 lseek ftruncate truncate access faccessat euidaccess eaccess chdir fchdir chroot
    chown fchown fchownat lchown link linkat symlink symlinkat unlink unlinkat rmdir execv execve execvp
    execvpe execl execle execlp fexecve vfork daemon nice sync syncfs fsync fdatasync flock lockf
    getdtablesize getegid geteuid getgid getuid getpagesize getpgid getpgrp getpid gettid getsid getlogin
    setegid seteuid setgid setpgid setregid setreuid setuid setresuid setresgid setsid setgroups initgroups
    isatty pathconf fpathconf sysconf tcsetattr tcgetpgrp tcsetpgrp tcflush tcdrain tcsendbreak cfgetospeed
    cfgetispeed cfsetospeed cfsetispeed ttyname ctermid getauxval gnu_get_libc_version
    sendfile copy_file_range splice inotify_init inotify_add_watch inotify_rm_watch
    btowc wctob wcwidth wcswidth iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint
    iswpunct iswspace iswupper iswxdigit iswctype towlower towupper towctrans wctrans wctype wcschr wcsrchr
    wcscmp wcsncmp wcscoll wcscasecmp wcsncasecmp wcsspn wcscspn wcspbrk wcsstr wmemchr wmemcmp
    fnmatch regfree re_syntax_options re_set_syntax
    dlclose dlerror
    printf vprintf fprintf vfprintf dprintf vdprintf
    futimesat rpmatch renameat2 libc_current_sigrtmax libc_current_sigrtmin fdelt globfree pselect endmntent
    setmntent hasmntopt posix_spawnattr_init posix_spawnattr_destroy posix_spawnattr_setflags
    posix_spawn_file_actions_init posix_spawn_file_actions_destroy posix_spawn_file_actions_adddup2
    yywrap
";

/// Names that the linker and the compiler make.
const MADE: &[&str] = &[
    "_GLOBAL_OFFSET_TABLE_",
    "__tls_get_addr",
    "__dso_handle",
    // What a harness asks AddressSanitizer, if it is there: here it is not.
    "__asan_region_is_poisoned",
    // And what it asks the recording.
    "__nm_extent",
];

/// A plain object that defines this name writes to no memory of the program: stubs of functions that no file
/// defines, which end the run.
pub const WRITES_NOTHING: &str = "__nearmiss_writes_nothing";

/// Wrapped for another reason, and what they write is not known in general.
const UNKNOWN: &[&str] = &["syscall"];

/// Libraries in which the functions of [`NEUTRAL`] are. That of flex has `yywrap`, and a `main`.
const SYSTEM: &[&str] = &[
    "c", "m", "pthread", "dl", "rt", "util", "gcc", "gcc_s", "fl", "l",
];

/// Why a program that is linked so can have no memory twin, if so.
pub fn refusal_of_link(arguments: &[Argument], twins: &[(PathBuf, PathBuf)]) -> Option<String> {
    arguments.iter().find_map(|argument| match argument {
        Argument::Library(name) if SYSTEM.contains(&name.as_str()) => None,
        Argument::Library(name) => Some(format!("-l{name} is not instrumented")),
        Argument::File(path) if twins.iter().any(|(_, twin)| twin == path) => None,
        Argument::File(path) if is_empty_archive(path) || writes_nothing(path) => None,
        Argument::File(path) => Some(format!("{} is not instrumented", path.display())),
        Argument::Clang(_) | Argument::Linker(_) => None,
    })
}

/// Whether nothing is left of an archive without its instrumented members.
fn is_empty_archive(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    object::read::archive::ArchiveFile::parse(&*bytes)
        .is_ok_and(|archive| archive.members().next().is_none())
}

/// Whether an object says of itself that it writes to no memory of the program.
fn writes_nothing(path: &Path) -> bool {
    names(path, |is_undefined| !is_undefined)
        .is_ok_and(|names| names.iter().any(|name| name == WRITES_NOTHING))
}

/// The first function, by name, that units call and of which is not known what it writes; `images` are
/// the linked twins, and `wrapped` the functions that they are linked with `--wrap` for.
pub fn unknown_function(
    objects: &[PathBuf],
    images: &[PathBuf],
    wrapped: &[&str],
) -> Result<Option<String>, TwinError> {
    let mut open = BTreeSet::new();
    for object in objects {
        open.extend(names(object, |is_undefined| is_undefined)?);
    }
    let mut defined = BTreeSet::new();
    for image in images {
        defined.extend(names(image, |is_undefined| !is_undefined)?);
    }
    let is_unknown = |name: &&String| {
        let name = name.as_str();
        UNKNOWN.contains(&name)
            || !defined.contains(name) && !wrapped.contains(&name) && !is_neutral(name)
    };
    Ok(open.iter().find(is_unknown).cloned())
}

/// The names of a file's symbols that are undefined, or those that are not.
fn names(path: &Path, wanted: impl Fn(bool) -> bool) -> Result<Vec<String>, TwinError> {
    let bytes = fs::read(path).map_err(|error| TwinError::file(path, error))?;
    let file = object::File::parse(&*bytes).map_err(|_| TwinError::NotElf(path.to_path_buf()))?;
    let symbols = file
        .symbols()
        .filter(|symbol| wanted(symbol.is_undefined()));
    let names = symbols.filter_map(|symbol| symbol.name().ok().map(str::to_string));
    Ok(names.filter(|name| !name.is_empty()).collect())
}

/// Whether a name of the C library, or a variant of one, writes nothing that has to be known.
fn is_neutral(name: &str) -> bool {
    let is_listed = |name: &str| NEUTRAL.split_whitespace().any(|one| one == name);
    if MADE.contains(&name) || is_listed(name) {
        return true;
    }
    let mut plain = name;
    for prefix in ["__isoc99_", "__isoc23_", "__", "_"] {
        if let Some(rest) = plain.strip_prefix(prefix) {
            plain = rest;
            break;
        }
    }
    let endings = ["", "_chk", "_unlocked", "64", "_l", "_2"];
    let mut plains = endings
        .iter()
        .filter_map(|ending| plain.strip_suffix(ending));
    plains.any(is_listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writes_to_the_program_is_not_neutral() {
        for name in [
            "puts",
            "__ctype_b_loc",
            "fopen64",
            "putc_unlocked",
            "__errno_location",
            "_exit",
            "__assert_fail",
            "__printf_chk_none_of_ours_",
        ] {
            assert_eq!(
                is_neutral(name),
                name != "__printf_chk_none_of_ours_",
                "{name}"
            );
        }
        // These fill memory of the program, or call its functions.
        for name in [
            "deflate",
            "_obstack_newchunk",
            "nftw",
            "regexec",
            "read",
            "lsearch",
            "mbrtowc",
        ] {
            assert!(!is_neutral(name), "{name}");
        }
    }

    #[test]
    fn names_stand_once() {
        let mut known = BTreeSet::new();
        let names = NEUTRAL.split_whitespace().chain(MADE.iter().copied());
        for name in names.chain(UNKNOWN.iter().copied()) {
            assert!(known.insert(name), "{name}");
        }
    }

    #[test]
    fn only_the_system_is_linked_in() {
        let arguments = |words: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_string).collect();
            crate::arguments::read(&words)
        };
        assert_eq!(
            refusal_of_link(&arguments("-O2 -lm -lpthread -lfl"), &[]),
            None
        );
        let refused = refusal_of_link(&arguments("-lm -lz"), &[]);
        assert_eq!(refused.as_deref(), Some("-lz is not instrumented"));
        let refused = refusal_of_link(&arguments("/no/such.o"), &[]);
        assert_eq!(refused.as_deref(), Some("/no/such.o is not instrumented"));
    }
}
