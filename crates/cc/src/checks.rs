//! Which of clang's checks are compiled in.
//!
//! A user names kinds of failure as reports do (`abi::check::Kind`); some kinds are found by
//! checks that clang's front end inserts, the others by the runtime whatever is asked here.

use std::fmt;

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

/// A word in a list of checks that names none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCheck(pub String);

impl fmt::Display for UnknownCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there is no check \"{}\"; there are default, all, none",
            self.0
        )?;
        Kind::ALL
            .iter()
            .try_for_each(|kind| write!(f, ", {}", kind.name()))
    }
}

impl std::error::Error for UnknownCheck {}

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

    /// Reads a list separated by commas: `default`, `all`, `none`, kinds of failure, or
    /// clang's own names.
    pub fn parse(list: &str) -> Result<Checks, UnknownCheck> {
        let mut checks = Checks::NONE;
        for word in list
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            for sanitizer in Checks::named(word)?.sanitizers {
                checks.add(sanitizer);
            }
        }
        Ok(checks)
    }

    fn named(word: &str) -> Result<Checks, UnknownCheck> {
        let found = match word {
            "none" => Checks::NONE,
            "all" => Checks::where_row(|_| true),
            "default" => Checks::default(),
            _ => {
                Checks::where_row(|(kind, sanitizer, _)| kind.name() == word || *sanitizer == word)
            }
        };
        let known = word == "none" || Kind::from_name(word).is_some();
        if found.sanitizers.is_empty() && !known {
            return Err(UnknownCheck(word.to_string()));
        }
        Ok(found)
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
    fn lists_become_options() {
        let first =
            |list: &str| Checks::parse(list).map(|checks| checks.options(false).first().cloned());
        let standard =
            "-fsanitize=signed-integer-overflow,integer-divide-by-zero,shift,array-bounds,null";
        assert_eq!(first("default"), Ok(Some(standard.into())));
        assert_eq!(Checks::default(), Checks::parse("default").unwrap());
        assert_eq!(first("none"), Ok(None));
        assert_eq!(first(""), Ok(None));
        assert_eq!(first("assertion"), Ok(None));
        assert_eq!(
            first("shift, null-dereference"),
            Ok(Some("-fsanitize=shift,null".into()))
        );
        assert_eq!(
            first("default,unsigned-overflow"),
            Ok(Some(format!("{standard},unsigned-integer-overflow")))
        );
        assert_eq!(
            first("implicit-conversion"),
            Ok(Some("-fsanitize=implicit-conversion".into()))
        );
        assert_eq!(
            Checks::parse("abort").unwrap().options(false),
            ["-fsanitize=unreachable"]
        );
        assert_eq!(first("shfit"), Err(UnknownCheck("shfit".into())));
    }

    #[test]
    fn wrapping_overflow_is_not_checked() {
        let checks = Checks::parse("signed-overflow").unwrap();
        assert!(checks.options(true).is_empty());
    }
}
