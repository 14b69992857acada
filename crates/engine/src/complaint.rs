//! What sanitizers, `assert` and the kernel say about a failure.
//!
//! Each sentence of a program's standard error that tells of a failure becomes a
//! [`Complaint`]: what went wrong, and where if it says so.
//!
//! ```text
//! x.c:3:9: runtime error: signed integer overflow: …                         UBSan
//! ==7==ERROR: AddressSanitizer: heap-buffer-overflow on address …            ASan
//! READ of size 4 at 0x602… thread T0
//!     #0 0x55d… in main /src/x.c:9:12
//! prog: x.c:5: main: Assertion `n < 4' failed.                               glibc
//! ```

use nearmiss_abi::check::Kind;
use nearmiss_sandbox::Ended;

/// One failure that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What went wrong: any of these.
    pub kinds: Vec<Kind>,
    /// Where: file and line of the innermost frames. Empty if it does not say.
    pub places: Vec<(String, u32)>,
    /// The sentence.
    pub text: String,
}

impl Complaint {
    /// Whether this is about a failure of this kind at this place.
    pub fn is_about(&self, kind: Kind, file: &str, line: u32) -> bool {
        let here = |place: &(String, u32)| place.1 == line && same_file(&place.0, file);
        self.kinds.contains(&kind) && (self.places.is_empty() || self.places.iter().any(here))
    }
}

/// Whether two names may be of one file: compilers and debuggers name it from different
/// directories.
fn same_file(one: &str, other: &str) -> bool {
    let parts = |name: &str| -> Vec<String> {
        name.split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .map(str::to_string)
            .collect()
    };
    let (one, other) = (parts(one), parts(other));
    // What leads up and down again in the longer one does not matter.
    let common = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    common >= 1
        && (common == one.len().min(other.len())
            || one.contains(&"..".into())
            || other.contains(&"..".into()))
}

/// All complaints of a program that has ended.
pub fn complaints(stderr: &[u8], ended: Ended) -> Vec<Complaint> {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let complaint = undefined_behaviour(line)
            .or_else(|| assertion(line))
            .or_else(|| address_sanitizer(line, &lines[number + 1..]));
        found.extend(complaint);
    }
    found.extend(death(ended));
    found
}

/// How a sentence of UBSan starts, and what it is about.
const UNDEFINED: &[(&str, &[Kind])] = &[
    ("signed integer overflow", &[Kind::SignedOverflow]),
    ("unsigned integer overflow", &[Kind::UnsignedOverflow]),
    ("division by zero", &[Kind::DivisionByZero]),
    ("division of", &[Kind::SignedOverflow, Kind::DivisionByZero]),
    (
        "negation of",
        &[Kind::SignedOverflow, Kind::UnsignedOverflow],
    ),
    ("shift exponent", &[Kind::Shift]),
    ("left shift of", &[Kind::Shift]),
    ("right shift of", &[Kind::Shift]),
    ("implicit conversion", &[Kind::Truncation]),
    ("index", &[Kind::OutOfBoundsRead, Kind::OutOfBoundsWrite]),
    (
        "addition of unsigned offset",
        &[Kind::OutOfBoundsRead, Kind::OutOfBoundsWrite],
    ),
    (
        "subtraction of unsigned offset",
        &[Kind::OutOfBoundsRead, Kind::OutOfBoundsWrite],
    ),
    (
        "pointer index expression",
        &[Kind::OutOfBoundsRead, Kind::OutOfBoundsWrite],
    ),
    (
        "applying",
        &[
            Kind::NullDereference,
            Kind::OutOfBoundsRead,
            Kind::OutOfBoundsWrite,
        ],
    ),
    (
        "variable length array bound",
        &[Kind::OutOfBoundsRead, Kind::OutOfBoundsWrite],
    ),
    ("null pointer", &[Kind::NullDereference]),
    ("load of null pointer", &[Kind::NullDereference]),
    ("store to null pointer", &[Kind::NullDereference]),
    (
        "member access within null pointer",
        &[Kind::NullDereference],
    ),
    (
        "reference binding to null pointer",
        &[Kind::NullDereference],
    ),
    ("member call on null pointer", &[Kind::NullDereference]),
    ("load of address", &[Kind::OutOfBoundsRead]),
    ("store to address", &[Kind::OutOfBoundsWrite]),
    ("execution reached an unreachable", &[Kind::Abort]),
    (
        "execution reached the end of a value-returning function",
        &[Kind::Abort],
    ),
    ("passing zero to", &[Kind::Abort]),
];

/// `file:line:column: runtime error: …`.
fn undefined_behaviour(line: &str) -> Option<Complaint> {
    let (place, words) = line.split_once(": runtime error: ")?;
    let mut parts = place.rsplitn(3, ':');
    let (_column, number) = (parts.next()?, parts.next()?);
    let file = parts.next()?;
    let kinds = UNDEFINED.iter().find(|(start, _)| words.starts_with(start));
    Some(Complaint {
        kinds: kinds.map_or(Vec::new(), |(_, kinds)| kinds.to_vec()),
        places: vec![(file.to_string(), number.parse().ok()?)],
        text: words.to_string(),
    })
}

/// ``prog: file:line: function: Assertion `…' failed.``, as glibc has it.
fn assertion(line: &str) -> Option<Complaint> {
    let (before, _) = line.split_once(": Assertion `")?;
    if !line.trim_end().ends_with("' failed.") {
        return None;
    }
    let numbered = |part: &str| part.trim().parse::<u32>().ok();
    let parts: Vec<&str> = before.split(':').collect();
    let at = parts.iter().position(|part| numbered(part).is_some())?;
    let file = parts.get(at.checked_sub(1)?)?.trim();
    Some(Complaint {
        kinds: vec![Kind::Assertion, Kind::Abort],
        places: vec![(file.to_string(), numbered(parts[at])?)],
        text: line[before.len() + 2..].to_string(),
    })
}

/// Frames of a stack trace that are looked at: the innermost may be the sanitizer's own.
const FRAMES: usize = 8;

fn address_sanitizer(line: &str, rest: &[&str]) -> Option<Complaint> {
    let (_, words) = line.split_once("ERROR: AddressSanitizer: ")?;
    let writes = rest.iter().take(4).any(|line| {
        line.starts_with("WRITE of size") || line.contains("caused by a WRITE memory access")
    });
    let access = if writes {
        Kind::OutOfBoundsWrite
    } else {
        Kind::OutOfBoundsRead
    };
    let name = words.split([' ', ':']).next().unwrap_or_default();
    let kinds = match name {
        "heap-use-after-free" | "stack-use-after-return" | "stack-use-after-scope" => {
            vec![Kind::UseAfterFree]
        }
        "attempting" if words.contains("double-free") => vec![Kind::DoubleFree],
        "attempting" => vec![Kind::InvalidFree],
        "SEGV" if words.contains("unknown address 0x00000000") => {
            vec![Kind::NullDereference, Kind::Crash, access]
        }
        "SEGV" | "BUS" => vec![Kind::Crash, access],
        "FPE" => vec![Kind::DivisionByZero, Kind::SignedOverflow, Kind::Crash],
        "ILL" | "TRAP" | "ABRT" => vec![Kind::Abort, Kind::Crash],
        "stack-overflow" => vec![Kind::Crash],
        "negative-size-param" | "memcpy-param-overlap" | "strcpy-param-overlap" => {
            vec![Kind::OutOfBoundsRead, Kind::OutOfBoundsWrite]
        }
        _ if name.ends_with("overflow") || name.ends_with("underflow") => vec![access],
        _ => vec![access, Kind::Crash],
    };
    let frames = rest
        .iter()
        .skip_while(|line| !line.trim_start().starts_with("#0 "))
        .take_while(|line| line.trim_start().starts_with('#'));
    Some(Complaint {
        kinds,
        places: frames
            .take(FRAMES)
            .filter_map(|frame| place_of_frame(frame))
            .collect(),
        text: format!("AddressSanitizer: {words}"),
    })
}

/// `#1 0x55d in main /src/x.c:9:12`; `None` for a frame without a source line.
fn place_of_frame(frame: &str) -> Option<(String, u32)> {
    let (_, after) = frame.split_once(" in ")?;
    let (_, place) = after.split_once(" ")?;
    let mut parts: Vec<&str> = place.split(':').collect();
    while parts.len() > 1 {
        let last = parts.pop()?.parse::<u32>().ok()?;
        // The last number is the column if there is another before it.
        if parts.last()?.parse::<u32>().is_err() {
            return Some((parts.join(":"), last));
        }
    }
    None
}

/// Death by a signal, which says nothing of the place.
fn death(ended: Ended) -> Option<Complaint> {
    let Ended::Signal(signal) = ended else {
        return None;
    };
    let (kinds, name) = match signal {
        4 => (vec![Kind::Abort, Kind::Crash], "SIGILL"),
        5 => (vec![Kind::Abort, Kind::Crash], "SIGTRAP"),
        6 => (vec![Kind::Abort, Kind::Assertion], "SIGABRT"),
        7 => (vec![Kind::Crash], "SIGBUS"),
        8 => (
            vec![Kind::DivisionByZero, Kind::SignedOverflow, Kind::Crash],
            "SIGFPE",
        ),
        11 => (vec![Kind::NullDereference, Kind::Crash], "SIGSEGV"),
        _ => return None,
    };
    Some(Complaint {
        kinds,
        places: Vec::new(),
        text: format!("killed by {name}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Complaint {
        let mut found = complaints(text.as_bytes(), Ended::Exited(1));
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn undefined_behaviour_is_understood() {
        let found = one(
            "src/a.c:12:7: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'\n",
        );
        assert!(found.is_about(Kind::SignedOverflow, "src/a.c", 12));
        assert!(found.is_about(Kind::SignedOverflow, "/home/me/src/a.c", 12));
        assert!(!found.is_about(Kind::SignedOverflow, "src/a.c", 13));
        assert!(!found.is_about(Kind::Shift, "src/a.c", 12));
        assert!(!found.is_about(Kind::SignedOverflow, "src/ba.c", 12));
        let cases = [
            (
                "index 12 out of bounds for type 'int[10]'",
                Kind::OutOfBoundsWrite,
            ),
            (
                "shift exponent 32 is too large for 32-bit type 'int'",
                Kind::Shift,
            ),
            ("division by zero", Kind::DivisionByZero),
            (
                "division of -2147483648 by -1 cannot be represented in type 'int'",
                Kind::SignedOverflow,
            ),
            ("load of null pointer of type 'int'", Kind::NullDereference),
            (
                "execution reached an unreachable program point",
                Kind::Abort,
            ),
        ];
        for (words, kind) in cases {
            assert!(
                one(&format!("a.c:1:1: runtime error: {words}")).is_about(kind, "a.c", 1),
                "{words}"
            );
        }
    }

    #[test]
    fn assertions_are_understood() {
        let found = one("./prog: x.c:5: main: Assertion `n < 4 && \"a: b\"' failed.\n");
        assert!(found.is_about(Kind::Assertion, "./x.c", 5));
        assert_eq!(found.text, "Assertion `n < 4 && \"a: b\"' failed.");
    }

    const ASAN: &str = "\
=================================================================
==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000018 at pc 0x55d bp 0x7ff sp 0x7fe
WRITE of size 4 at 0x602000000018 thread T0
    #0 0x55d2f in __asan_memcpy (/tmp/twin+0x9f)
    #1 0x55d30 in fill /home/me/src/x.c:9:12
    #2 0x55d31 in main /home/me/src/x.c:20:3

0x602000000018 is located 0 bytes after 8-byte region
allocated by thread T0 here:
    #0 0x4 in malloc (/tmp/twin+0x1)
    #1 0x5 in main /home/me/src/x.c:19:3
";

    #[test]
    fn address_errors_are_understood() {
        let found = one(ASAN);
        assert!(found.is_about(Kind::OutOfBoundsWrite, "src/x.c", 9));
        assert!(found.is_about(Kind::OutOfBoundsWrite, "src/x.c", 20));
        assert!(!found.is_about(Kind::OutOfBoundsWrite, "src/x.c", 19));
        assert!(!found.is_about(Kind::OutOfBoundsRead, "src/x.c", 9));
        let freed = one("==1==ERROR: AddressSanitizer: attempting double-free on 0x6: \n");
        assert!(freed.is_about(Kind::DoubleFree, "any.c", 1));
    }

    #[test]
    fn deaths_are_understood() {
        let found = complaints(b"", Ended::Signal(6));
        assert!(found[0].is_about(Kind::Assertion, "x.c", 1));
        assert!(complaints(b"all is well\n", Ended::Exited(0)).is_empty());
        assert!(complaints(b"", Ended::Signal(9)).is_empty());
    }

    #[test]
    fn garbage_is_no_complaint() {
        for line in [
            ": runtime error: ",
            "x: runtime error: y",
            ": Assertion `' failed.",
            "#0  in ",
        ] {
            complaints(line.as_bytes(), Ended::Exited(0));
        }
        assert_eq!(place_of_frame("#0 0x1 in f a.c:x"), None);
    }
}
