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
    /// Where: the innermost frames that have a source line. Empty if it does not say.
    pub places: Vec<Place>,
    /// The sentence.
    pub text: String,
    /// Whether the first kind is what happened, and the others what it may be mistaken for.
    pub is_precise: bool,
}

/// A place that a complaint names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// The function; empty if unknown.
    pub function: String,
}

impl Place {
    /// Whether this is that line of that file.
    pub fn is_at(&self, file: &str, line: u32) -> bool {
        self.line == line && same_file(&self.file, file)
    }
}

impl Complaint {
    /// Whether this is about a failure of this kind at this place.
    pub fn is_about(&self, kind: Kind, file: &str, line: u32) -> bool {
        self.kinds.contains(&kind) && (self.places.is_empty() || self.names(file, line))
    }

    /// Whether it names this place.
    pub fn names(&self, file: &str, line: u32) -> bool {
        self.places.iter().any(|place| place.is_at(file, line))
    }

    /// What happened, if that can pass for a failure of kind `predicted`: a memory error that
    /// was predicted as one kind may show as another.
    pub fn as_kind(&self, predicted: Kind) -> Option<Kind> {
        let contained = self.kinds.contains(&predicted).then_some(predicted);
        let mut memory = self.kinds.iter().copied().filter(|kind| is_memory(*kind));
        match (is_memory(predicted), self.is_precise) {
            (false, _) => contained,
            (true, true) => memory.next(),
            (true, false) => contained.or(memory.next()),
        }
    }
}

/// Whether a kind of failure is a misuse of memory.
pub fn is_memory(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::OutOfBoundsRead
            | Kind::OutOfBoundsWrite
            | Kind::NullDereference
            | Kind::UseAfterFree
            | Kind::DoubleFree
            | Kind::InvalidFree
    )
}

/// Whether two names may be of one file: compilers and debuggers name it from different
/// directories.
pub fn same_file(one: &str, other: &str) -> bool {
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
    let (column, number) = (parts.next()?, parts.next()?);
    let file = parts.next()?;
    let kinds = UNDEFINED.iter().find(|(start, _)| words.starts_with(start));
    Some(Complaint {
        kinds: kinds.map_or(Vec::new(), |(_, kinds)| kinds.to_vec()),
        places: vec![Place {
            file: file.to_string(),
            line: number.parse().ok()?,
            column: column.parse().unwrap_or(0),
            function: String::new(),
        }],
        text: words.to_string(),
        is_precise: false,
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
        places: vec![Place {
            file: file.to_string(),
            line: numbered(parts[at])?,
            function: parts.get(at + 1).map_or("", |name| name.trim()).to_string(),
            column: 0,
        }],
        text: line[before.len() + 2..].to_string(),
        is_precise: true,
    })
}

/// Frames of a stack trace that are looked at: the innermost may be the sanitizer's own.
const FRAMES: usize = 8;

/// What AddressSanitizer calls an allocation that it does not make. The program goes on with a
/// null pointer, or would with another allocator: no failure.
const REFUSED_ALLOCATIONS: &[&str] = &[
    "allocation-size-too-big",
    "calloc-overflow",
    "reallocarray-overflow",
    "pvalloc-overflow",
    "out-of-memory",
    "rss-limit-exceeded",
];

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
    if REFUSED_ALLOCATIONS.contains(&name) || words.starts_with("requested allocation size") {
        return None;
    }
    let kinds = match name {
        "heap-use-after-free" | "stack-use-after-return" | "stack-use-after-scope" => {
            vec![Kind::UseAfterFree]
        }
        "attempting" if words.contains("double-free") => vec![Kind::DoubleFree],
        "attempting" | "alloc-dealloc-mismatch" | "bad-free" => vec![Kind::InvalidFree],
        "SEGV" if words.contains("unknown address 0x00000000") => {
            vec![Kind::NullDereference, Kind::Crash, access]
        }
        "SEGV" | "BUS" => vec![Kind::Crash, access],
        "FPE" => vec![Kind::DivisionByZero, Kind::SignedOverflow, Kind::Crash],
        "ILL" | "TRAP" | "ABRT" => vec![Kind::Abort, Kind::Crash],
        "stack-overflow" => vec![Kind::Crash],
        _ if name == "negative-size-param" || name.ends_with("-param-overlap") => {
            // The check that failed is one of the whole call: it would do both.
            vec![Kind::OutOfBoundsWrite, Kind::OutOfBoundsRead]
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
        text: format!("AddressSanitizer: {}", without_addresses(words)),
        is_precise: !name.contains("-param"),
    })
}

/// `#1 0x55d in main /src/x.c:9:12`; `None` for a frame without a source line.
fn place_of_frame(frame: &str) -> Option<Place> {
    let (_, after) = frame.split_once(" in ")?;
    let (function, place) = after.split_once(" ")?;
    let mut parts: Vec<&str> = place.split(':').collect();
    let mut column = 0;
    while parts.len() > 1 {
        let last = parts.pop()?.parse::<u32>().ok()?;
        // The last number is the column if there is another before it.
        if parts.last()?.parse::<u32>().is_err() {
            return Some(Place {
                file: parts.join(":"),
                line: last,
                column,
                function: function.to_string(),
            });
        }
        column = last;
    }
    None
}

/// A sentence up to the addresses, which are others in every run and tell nobody anything.
fn without_addresses(words: &str) -> &str {
    let ends = [" on address 0x", " (pc 0x", " at pc 0x"];
    let cut = ends.iter().filter_map(|end| words.find(end)).min();
    cut.map_or(words, |cut| &words[..cut])
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
        is_precise: false,
    })
}

#[cfg(test)]
mod tests;
