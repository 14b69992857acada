//! What MemorySanitizer says of memory that was read and never written.
//!
//! ```text
//! ==7==WARNING: MemorySanitizer: use-of-uninitialized-value
//!     #0 0x55d… in look /src/x.c:9:12
//!   Uninitialized value was stored to memory at …                 (how it came there: not told)
//!   Uninitialized value was created by an allocation of 'b' in the stack frame
//!     #0 0x55d… in main /src/x.c:20:5
//! ```

use nearmiss_abi::check::Kind;

use super::read::{FRAMES, frames, place_of_frame};
use super::{Complaint, Place};

/// How a report begins.
pub const REPORT: &str = "WARNING: MemorySanitizer: use-of-uninitialized-value";
/// From here on code without instrumentation may have written what is read: nothing said later counts
/// (`libc/unwritten.c`).
pub const UNSURE: &str = "==nearmiss: a library was loaded";

/// A report that begins on this line, if one does.
pub fn unwritten(line: &str, rest: &[&str]) -> Option<Complaint> {
    if !line.trim_end().ends_with(REPORT) {
        return None;
    }
    let origin = Origin::read(rest);
    Some(Complaint {
        kinds: vec![Kind::UninitialisedRead],
        places: frames(rest)
            .take(FRAMES)
            .filter_map(place_of_frame)
            .collect(),
        stack: frames(rest).filter_map(place_of_frame).collect(),
        object: origin.object(),
        text: format!("depends on {}", origin.words()),
        is_precise: true,
    })
}

/// The memory that was not written.
#[derive(Debug, Default)]
struct Origin {
    /// The variable's name, if it is one.
    variable: Option<String>,
    /// Where it is, or where it was allocated.
    place: Option<Place>,
}

impl Origin {
    fn read(lines: &[&str]) -> Origin {
        const CREATED: &str = "Uninitialized value was created by ";
        let report = lines.iter().take_while(|line| !line.contains("SUMMARY: "));
        let Some(at) = report.into_iter().position(|line| line.contains(CREATED)) else {
            return Origin::default();
        };
        let is_variable = lines[at].contains("an allocation of '");
        let name = lines[at].split('\'').nth(1).filter(|_| is_variable);
        let place = frames(&lines[at + 1..]).find_map(place_of_frame);
        // Names of variables are left out of IR: of which function it is, is known.
        let function = place.as_ref().map_or("", |place| place.function.as_str());
        let variable = name.map(|name| match name {
            "" => format!("a variable of {function}"),
            name => name.to_string(),
        });
        Origin { variable, place }
    }

    fn object(&self) -> String {
        match (&self.variable, &self.place) {
            (Some(name), _) => name.clone(),
            (None, Some(place)) => format!("{}:{}", place.file, place.line),
            (None, None) => String::new(),
        }
    }

    fn words(&self) -> String {
        let at = self.place.as_ref().map(|place| {
            let file = place.file.rsplit('/').next().unwrap_or_default();
            format!("{file}:{}", place.line)
        });
        match (&self.variable, at) {
            (Some(name), Some(at)) => format!("what was never written to: {name} ({at})"),
            (Some(name), None) => format!("what was never written to: {name}"),
            (None, Some(at)) => format!("what was never written to: the block allocated at {at}"),
            (None, None) => "memory that was never written to".into(),
        }
    }
}
