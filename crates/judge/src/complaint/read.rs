//! Complaints read from what a program wrote to its standard error, and from how it ended.

use nearmiss_abi::check::Kind;
use nearmiss_sandbox::Ended;

use super::memory::{UNSURE, unwritten};
use super::{Complaint, Place, is_memory};

/// All complaints of a program that has ended.
pub fn complaints(stderr: &[u8], ended: Ended) -> Vec<Complaint> {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<Complaint> = Vec::new();
    let mut is_sure = true;
    for (number, line) in lines.iter().enumerate() {
        is_sure &= *line != UNSURE;
        let rest = &lines[number + 1..];
        let complaint = undefined_behaviour(line, rest)
            .or_else(|| assertion(line))
            .or_else(|| address_sanitizer(line, rest))
            .or_else(|| unwritten(line, rest).filter(|_| is_sure));
        let Some(new) = complaint else {
            continue;
        };
        match same_failure(&found, &new) {
            Some(known) => found[known].take_in(&new),
            None => found.push(new),
        }
    }
    found.extend(death(ended));
    found
}

/// What is said of a program that never ends.
const ENDLESS: &str =
    "the program never ends: it comes back to the very state in which it was before";

/// What was said by a program that never ends and was sent `SIGABRT`: where that is.
pub fn endless(mut said: Vec<Complaint>) -> Vec<Complaint> {
    let is_sent = |complaint: &Complaint| complaint.text.starts_with("AddressSanitizer: ABRT");
    let last = said.iter().rposition(is_sent);
    let place = last.map(|at| said.swap_remove(at));
    let place = place.map(|complaint| Complaint {
        kinds: vec![Kind::Hang],
        text: ENDLESS.into(),
        object: String::new(),
        is_precise: true,
        ..complaint
    });
    place.into_iter().collect()
}

/// Which of the earlier complaints of a run AddressSanitizer's is about too: what UBSan said of an access
/// before, an assertion before `abort`. Of several on a line it is that at its own column.
fn same_failure(found: &[Complaint], later: &Complaint) -> Option<usize> {
    let there = later.stack.first()?;
    let is_it = |known: &Complaint| {
        let Some(place) = known.places.first() else {
            return false;
        };
        // An assertion may be written as a function of its own, which aborts.
        let ends_both = known.kinds.contains(&Kind::Abort) && later.kinds.contains(&Kind::Abort);
        let frames = &later.stack[..if ends_both { later.stack.len() } else { 1 }];
        frames
            .iter()
            .any(|frame| frame.is_at(&place.file, place.line))
            && is_one(known, later)
    };
    let column = |known: &Complaint| known.places.first().map_or(0, |place| place.column);
    let fits: Vec<usize> = (0..found.len()).filter(|at| is_it(&found[*at])).collect();
    let exact = fits.iter().find(|at| column(&found[**at]) == there.column);
    match (
        later.text.starts_with("AddressSanitizer"),
        exact,
        fits.as_slice(),
    ) {
        (false, _, _) => None,
        (true, Some(exact), _) => Some(*exact),
        (true, None, [only]) => Some(*only),
        _ => None,
    }
}

/// Whether two sentences about one line can be about one failure.
fn is_one(known: &Complaint, later: &Complaint) -> bool {
    let both = |kind: Kind| known.kinds.contains(&kind) && later.kinds.contains(&kind);
    let is_access = |one: &Complaint| one.kinds.iter().any(|kind| is_memory(*kind));
    let is_death = later.kinds.contains(&Kind::Crash);
    is_access(known) && (is_access(later) || is_death)
        || both(Kind::Abort)
        || both(Kind::DivisionByZero)
}

impl Complaint {
    /// Takes in what AddressSanitizer says about the same failure: it knows more of it.
    fn take_in(&mut self, later: &Complaint) {
        let column = later.stack.first().map_or(0, |frame| frame.column);
        if let Some(first) = self.places.first_mut().filter(|first| first.column == 0) {
            first.column = column;
        }
        self.stack = later.stack.clone();
        self.object = later.object.clone();
        let precise = later
            .kinds
            .first()
            .filter(|_| later.is_precise && !self.is_precise);
        if let Some(precise) = precise.filter(|kind| self.kinds.contains(kind)) {
            // Which of the kinds that UBSan leaves open it is.
            self.kinds.retain(|kind| kind != precise);
            self.kinds.insert(0, *precise);
        }
    }
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
    ("precondition of", &[Kind::Precondition]),
    ("execution reached an unreachable", &[Kind::Abort]),
    (
        "execution reached the end of a value-returning function",
        &[Kind::Abort],
    ),
    ("passing zero to", &[Kind::Abort]),
];

/// `file:line:column: runtime error: …`, and the stack behind it.
fn undefined_behaviour(line: &str, rest: &[&str]) -> Option<Complaint> {
    let (place, words) = line.split_once(": runtime error: ")?;
    let mut parts = place.rsplitn(3, ':');
    let (column, number) = (parts.next()?, parts.next()?);
    let file = parts.next()?;
    let kinds = UNDEFINED.iter().find(|(start, _)| words.starts_with(start));
    // The stack follows at once, or behind one line of explanation.
    let stack: Vec<Place> = match rest.iter().take(4).any(|line| is_frame(line)) {
        true => frames(rest).filter_map(place_of_frame).collect(),
        false => Vec::new(),
    };
    let mut place = Place {
        file: file.to_string(),
        line: number.parse().ok()?,
        column: column.parse().unwrap_or(0),
        function: String::new(),
    };
    if let Some(frame) = stack
        .first()
        .filter(|frame| frame.is_at(&place.file, place.line))
    {
        place.function = frame.function.clone();
    }
    Some(Complaint {
        kinds: kinds.map_or(Vec::new(), |(_, kinds)| kinds.to_vec()),
        places: vec![place],
        stack,
        // `int[4]`: two arrays of one type at one place are one.
        object: String::new(),
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
        stack: Vec::new(),
        object: String::new(),
        text: line[before.len() + 2..].to_string(),
        is_precise: true,
    })
}

/// Frames of a stack trace that are looked at: the innermost may be the sanitizer's own.
pub(super) const FRAMES: usize = 8;

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
        "SEGV" | "BUS" | "FPE" if is_sent(rest) => vec![Kind::Crash],
        "SEGV" if is_near_null(words) => vec![Kind::NullDereference, Kind::Crash, access],
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
    let stack: Vec<Place> = frames(rest).filter_map(place_of_frame).collect();
    Some(Complaint {
        kinds,
        places: frames(rest)
            .take(FRAMES)
            .filter_map(place_of_frame)
            .collect(),
        stack,
        object: object(rest),
        text: match is_sent(rest) {
            true => format!("AddressSanitizer: {name}"),
            false => format!("AddressSanitizer: {}", without_addresses(words)),
        },
        is_precise: !name.contains("-param"),
    })
}

/// The frames of the first stack trace in these lines.
pub(super) fn frames<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let lines = lines.iter().copied();
    lines
        .skip_while(|line| !line.trim_start().starts_with("#0 "))
        .take_while(|line| is_frame(line))
}

fn is_frame(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// The functions that send a signal.
const SENDERS: [&str; 9] = [
    "raise",
    "gsignal",
    "kill",
    "killpg",
    "tgkill",
    "sigqueue",
    "pthread_kill",
    "__pthread_kill",
    "__pthread_kill_implementation",
];

/// Whether a signal was sent, and not caused by an instruction: a frame above the program's own says so.
fn is_sent(rest: &[&str]) -> bool {
    let above = frames(rest).take_while(|frame| place_of_frame(frame).is_none());
    let mut functions = above.filter_map(|frame| frame.split_once(" in ")?.1.split(' ').next());
    functions.any(|name| {
        let name = name.split('@').next().unwrap_or_default();
        SENDERS.contains(&name)
    })
}

/// Whether a bad address is that of a null pointer, or of a member or element of what it points to.
fn is_near_null(words: &str) -> bool {
    const NEAR: u64 = 1 << 16;
    let digits = words
        .split_once("unknown address 0x")
        .map(|(_, after)| after);
    let digits = digits.and_then(|after| after.split([' ', ')']).next());
    let address = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    address.is_some_and(|address| address < NEAR)
}

/// Which memory AddressSanitizer says an access is about.
fn object(rest: &[&str]) -> String {
    let about = rest.iter().take(80).position(|line| {
        line.contains(" is located ") && (line.contains("region [") || line.contains("variable '"))
            || line.contains(" <== Memory access at offset ")
    });
    let Some(about) = about else {
        return String::new();
    };
    let line = rest[about];
    if line.contains("region [") {
        let allocated = rest[about..]
            .iter()
            .position(|line| line.contains("allocated by thread"));
        let block = allocated.and_then(|at| frames(&rest[about + at..]).find_map(place_of_frame));
        return block.map_or(String::new(), |at| format!("{}:{}", at.file, at.line));
    }
    let name = line.split('\'').nth(1).unwrap_or_default();
    name.to_string()
}

/// `#1 0x55d in main /src/x.c:9:12`; `None` for a frame without a source line.
pub(super) fn place_of_frame(frame: &str) -> Option<Place> {
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
    let is_access = words.starts_with("SEGV") || words.starts_with("BUS");
    let unknown = if is_access {
        " (pc 0x"
    } else {
        " on unknown address 0x"
    };
    let ends = [" on address 0x", " (pc 0x", " at pc 0x", unknown];
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
        11 => (vec![Kind::Crash, Kind::NullDereference], "SIGSEGV"),
        _ => return None,
    };
    Some(Complaint {
        kinds,
        places: Vec::new(),
        stack: Vec::new(),
        object: String::new(),
        text: format!("killed by {name}"),
        is_precise: false,
    })
}
