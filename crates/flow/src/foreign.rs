//! What a program calls that it does not define, and whether that changes memory of the process only.
//!
//! A process whose memory is put back can make the same run again only if nothing else was changed:
//! files, descriptors, mappings, signals, threads belong to the kernel. The list says what is allowed, so a function
//! that was forgotten costs time and is no error.

use std::collections::BTreeSet;

use nearmiss_sites::flow::{FlowCall, UnitFlow};

use crate::callbacks::unmodelled;
use crate::outside::Bodies;

/// Functions of the C library that change memory of the process, if anything. Output is among them where it goes
/// nowhere, as under a server; the ends of a process are seen by the server.
const MEMORY_ONLY: &str = "\
    memchr memcmp memcpy memccpy memmem memmove mempcpy memrchr memset explicit_bzero bcmp bcopy bzero rawmemchr \
    strcasecmp strcasestr strcat strchr strchrnul strcmp strcoll strcpy strcspn strdup strlen strncasecmp strncat strncmp \
    strncpy strndup strnlen strpbrk strrchr strsep strspn strstr strtok strtok_r strverscmp strxfrm stpcpy stpncpy strlcpy \
    strlcat index rindex ffs ffsl ffsll swab basename \
    isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit toascii tolower \
    toupper ctype_b_loc ctype_tolower_loc ctype_toupper_loc ctype_get_mb_cur_max errno_location \
    malloc calloc realloc reallocarray free abs labs llabs imaxabs div ldiv lldiv atoi atol atoll atof strtol strtoll strtoul \
    strtoull strtoimax strtoumax strtod strtof strtold qsort bsearch lfind lsearch a64l htonl htons ntohl ntohs \
    acos asin atan atan2 cbrt ceil copysign cos cosh exp exp2 expm1 fabs floor fmax fmin fmod frexp hypot ldexp llround log log10 \
    log1p log2 lrint lround modf nearbyint pow rint round sin sinh sqrt tan tanh trunc fpclassify isinf isnan signbit \
    isinff isnanf fpclassifyf signbitf ceilf floorf fabsf sqrtf powf fmodf roundf truncf \
    sprintf snprintf vsprintf vsnprintf asprintf vasprintf sscanf vsscanf printf fprintf vprintf vfprintf puts fputs fputc putc \
    putchar fwrite fflush ferror feof clearerr \
    wcslen wcscmp wcsncmp wcscpy wcsncpy wcschr wcsrchr wmemcpy wmemset wmemcmp btowc wctob iswalpha iswdigit iswspace \
    iswalnum towlower towupper \
    assert_fail abort exit _Exit _exit stack_chk_fail fentry";

/// What starts these is ours, the compiler's, or a sanitizer's.
const OWN: &[&str] = &[
    "__nm_",
    "nearmiss_",
    "klee_",
    "__VERIFIER_",
    "llvm.",
    "__ubsan_handle_",
    "__asan_",
    "__nearmiss_",
];

/// Whether whatever `function` of these units may call, wherever its calls may lead, changes nothing but memory of
/// the process.
pub fn changes_memory_only(units: &[UnitFlow], function: &str) -> bool {
    let names = called(units, function);
    !names.is_empty() && names.iter().all(|name| is_memory_only(name))
}

/// The names that are called, or whose address is taken, and that no unit defines; `function` is one of them if it
/// has no body.
fn called(units: &[UnitFlow], function: &str) -> BTreeSet<String> {
    let bodies = Bodies::of(units);
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut work: Vec<usize> = bodies.named(function, None).collect();
    if work.is_empty() {
        names.insert(function.to_string());
    }
    while let Some(number) = work.pop() {
        if !seen.insert(number) {
            continue;
        }
        let (unit, body) = bodies.all[number];
        for call in body.blocks.iter().flat_map(|block| &block.calls) {
            match call {
                FlowCall::Named(name) => {
                    let before = work.len();
                    work.extend(bodies.named(name, Some(unit)));
                    if work.len() == before {
                        names.insert(name.clone());
                    }
                }
                FlowCall::Pointer(ty) => work.extend(bodies.of_type(ty)),
                FlowCall::Mark(_) => {}
            }
        }
    }
    let pointed = units.iter().flat_map(|unit| &unit.pointed);
    names.extend(pointed.filter(|name| !bodies.has(name)).cloned());
    names
}

fn is_memory_only(name: &str) -> bool {
    let is_own = |name: &str| OWN.iter().any(|prefix| name.starts_with(prefix));
    let plain = unmodelled(name);
    let is_listed = |name: &str| MEMORY_ONLY.split_whitespace().any(|listed| listed == name);
    is_listed(plain) || is_listed(without_headers(plain)) || is_own(plain)
}

/// The name without what the C library's headers put around it.
fn without_headers(name: &str) -> &str {
    let name = name
        .trim_start_matches("__isoc99_")
        .trim_start_matches("__isoc23_");
    let name = name.trim_start_matches("__");
    name.strip_suffix("_chk").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_sites::flow::{FlowBlock, FunctionFlow};

    fn unit(bodies: &[(&str, &[&str])]) -> UnitFlow {
        let body = |&(name, calls): &(&str, &[&str])| FunctionFlow {
            name: name.into(),
            blocks: vec![FlowBlock {
                calls: calls
                    .iter()
                    .map(|name| FlowCall::Named(name.to_string()))
                    .collect(),
                ..FlowBlock::default()
            }],
            ..FunctionFlow::default()
        };
        UnitFlow {
            unit: 1,
            functions: bodies.iter().map(body).collect(),
            ..UnitFlow::default()
        }
    }

    #[test]
    fn all_that_may_be_called_counts() {
        let library = [
            "__nm_model_strlen",
            "__memcpy_chk",
            "__isoc99_sscanf",
            "abort",
        ];
        let main = ("main", &["nearmiss_symbolic", "f"][..]);
        let harmless = unit(&[main, ("f", &library), ("apart", &["fork"])]);
        assert!(changes_memory_only(&[harmless], "main"));
        for name in ["dup", "__nm_model_fopen", "unknown", "mmap", "signal"] {
            let asks = unit(&[main, ("f", &["g"]), ("g", &[name])]);
            assert!(!changes_memory_only(&[asks], "main"), "{name}");
        }
    }

    #[test]
    fn a_pointer_may_lead_to_whatever_was_taken() {
        let taker = UnitFlow {
            pointed: vec!["open".into()],
            ..unit(&[("main", &["nearmiss_symbolic"])])
        };
        assert!(!changes_memory_only(&[taker], "main"));
        assert!(!changes_memory_only(&[], "main"), "its code is not known");
    }
}
