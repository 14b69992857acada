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
//! ==7==WARNING: MemorySanitizer: use-of-uninitialized-value                  MSan
//! prog: x.c:5: main: Assertion `n < 4' failed.                               glibc
//! ```

mod memory;
mod read;

use nearmiss_abi::check::Kind;

pub use memory::REPORT;
pub use read::{complaints, endless};

/// One failure that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What went wrong: any of these.
    pub kinds: Vec<Kind>,
    /// Where: the innermost frames that have a source line. Empty if it does not say.
    pub places: Vec<Place>,
    /// The call chain that led there, as far as it has source lines, from the innermost frame to `main`.
    pub stack: Vec<Place>,
    /// Which memory a misuse of memory is about, where the sentence says so: the variable, or where the
    /// block was allocated.
    pub object: String,
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

    /// Whether it is about this very place: the line, and the column where both are known.
    pub fn is_exactly_at(&self, file: &str, line: u32, column: u32) -> bool {
        self.places.iter().any(|place| {
            place.is_at(file, line) && (place.column == column || place.column == 0 || column == 0)
        })
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

#[cfg(test)]
mod tests;
