//! Which of clang's checks are compiled in.
//!
//! A user names kinds of failure as reports do (`abi::check::Kind`); some kinds are found by
//! checks that clang's front end inserts, the others by the runtime whatever is asked here.

use nearmiss_abi::check::Kind;

/// A kind of failure, clang's name of the check that guards against it, and whether it is
/// checked without being asked for.
const ROWS: &[(Kind, &str, bool)] = &[
    (Kind::SignedOverflow, "signed-integer-overflow", true),
    (Kind::DivisionByZero, "integer-divide-by-zero", true),
    (Kind::Shift, "shift", true),
    (Kind::OutOfBoundsRead, "array-bounds", true),
    (Kind::OutOfBoundsWrite, "array-bounds", true),
    (Kind::NullDereference, "null", true),
    (Kind::UnsignedOverflow, "unsigned-integer-overflow", false),
    (Kind::Truncation, "implicit-conversion", false),
    // Only on demand: clang then treats every call that does not return as one that might.
    (Kind::Abort, UNREACHABLE, false),
];

const SIGNED_OVERFLOW: &str = "signed-integer-overflow";
/// There is nowhere to go on from here, so clang knows no recovery.
const UNREACHABLE: &str = "unreachable";

/// A set of checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checks {
    sanitizers: Vec<&'static str>,
}

impl Default for Checks {
    fn default() -> Checks {
        Checks::where_row(|(_, _, by_default)| *by_default)
    }
}

impl Checks {
    /// No check of clang's.
    pub const NONE: Checks = Checks {
        sanitizers: Vec::new(),
    };

    /// The usual checks, and those of these kinds.
    pub fn and_of<'a>(kinds: impl IntoIterator<Item = &'a Kind>) -> Checks {
        let mut checks = Checks::default();
        for kind in kinds {
            let rows = ROWS.iter().filter(|(of, _, _)| of == kind);
            rows.for_each(|(_, sanitizer, _)| checks.add(sanitizer));
        }
        checks
    }

    fn where_row(wanted: impl Fn(&(Kind, &'static str, bool)) -> bool) -> Checks {
        let mut checks = Checks::NONE;
        for row in ROWS.iter().filter(|row| wanted(row)) {
            checks.add(row.1);
        }
        checks
    }

    fn add(&mut self, sanitizer: &'static str) {
        if !self.sanitizers.contains(&sanitizer) {
            self.sanitizers.push(sanitizer);
        }
    }

    /// The options for clang. Where the program asks for signed arithmetic that wraps around
    /// (`-fwrapv`), overflow is no failure.
    pub fn options(&self, overflow_wraps: bool) -> Vec<String> {
        let list: Vec<&str> = (self.sanitizers.iter().copied())
            .filter(|sanitizer| !(overflow_wraps && *sanitizer == SIGNED_OVERFLOW))
            .collect();
        if list.is_empty() {
            return Vec::new();
        }
        let sanitize = format!("-fsanitize={}", list.join(","));
        let recoverable: Vec<&str> = list
            .into_iter()
            .filter(|name| *name != UNREACHABLE)
            .collect();
        let mut options = vec![sanitize];
        if !recoverable.is_empty() {
            options.push(format!("-fsanitize-recover={}", recoverable.join(",")));
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_become_options() {
        let standard =
            "-fsanitize=signed-integer-overflow,integer-divide-by-zero,shift,array-bounds,null";
        let first = |checks: Checks| checks.options(false).first().cloned();
        assert_eq!(first(Checks::default()), Some(standard.into()));
        assert_eq!(first(Checks::NONE), None);
        let more = Checks::and_of(&[Kind::UnsignedOverflow, Kind::Truncation]);
        let expected = format!("{standard},unsigned-integer-overflow,implicit-conversion");
        assert_eq!(first(more), Some(expected));
        let abort = Checks::and_of(&[Kind::Abort]).options(false);
        // There is nowhere to go on from code that cannot be reached.
        assert!(abort[0].ends_with(",unreachable") && !abort[1].contains("unreachable"));
    }

    #[test]
    fn kinds_that_are_asked_for_are_checked_too() {
        assert_eq!(Checks::and_of([]), Checks::default());
        assert_eq!(Checks::and_of(&[Kind::Shift]), Checks::default());
        let more = Checks::and_of(&[Kind::Truncation, Kind::Hang]);
        assert_eq!(more, Checks::and_of(&[Kind::Truncation]));
    }

    #[test]
    fn wrapping_overflow_is_not_checked() {
        let options = Checks::default().options(true);
        assert!(!options[0].contains(SIGNED_OVERFLOW));
    }
}
