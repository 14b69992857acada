//! The kinds of failure that a check guards against.

/// How the functions that check contracts are called: this, a number, `_`, and the name of the function whose contract it is.
pub const CONTRACT_PREFIX: &str = "__nm_requires_";

/// The function whose contract a function of this name checks.
pub fn contracted(name: &str) -> Option<&str> {
    let (_, function) = name.strip_prefix(CONTRACT_PREFIX)?.split_once('_')?;
    Some(function)
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// What goes wrong when a check fails.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $name = $code,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$(Kind::$name,)*];

            /// The kind with this code, if there is one.
            pub const fn from_code(code: u8) -> Option<Kind> {
                match code { $($code => Some(Kind::$name),)* _ => None }
            }

            /// The name in reports and options.
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$name => $text,)* }
            }

            /// Whether it is the program itself that ends there, by `abort`, an assertion or a trap,
            /// and not undefined behaviour.
            pub const fn is_exit(self) -> bool {
                matches!(self, Kind::Assertion | Kind::Abort)
            }

            /// The kind with this name, if there is one.
            pub fn from_name(name: &str) -> Option<Kind> {
                Kind::ALL.iter().copied().find(|kind| kind.name() == name)
            }
        }
    };
}

kinds! {
    /// A read outside its object.
    OutOfBoundsRead = 1, "out-of-bounds-read";
    /// A write outside its object.
    OutOfBoundsWrite = 2, "out-of-bounds-write";
    /// An access through a null pointer.
    NullDereference = 3, "null-dereference";
    /// An access to freed memory.
    UseAfterFree = 4, "use-after-free";
    /// Memory freed twice.
    DoubleFree = 5, "double-free";
    /// `free` of what was never allocated.
    InvalidFree = 6, "invalid-free";
    /// Signed arithmetic overflows.
    SignedOverflow = 7, "signed-overflow";
    /// Unsigned arithmetic wraps around (on demand).
    UnsignedOverflow = 8, "unsigned-overflow";
    /// An implicit conversion changes the value (on demand).
    Truncation = 9, "truncation";
    /// Division or remainder by zero.
    DivisionByZero = 10, "division-by-zero";
    /// A shift by a negative distance or one not below the width, or of a negative value.
    Shift = 11, "shift";
    /// `assert` fails.
    Assertion = 12, "assertion";
    /// `abort`, a trap, or code that must not be reached.
    Abort = 13, "abort";
    /// A contract at a function's entry is broken.
    Precondition = 14, "precondition";
    /// The program is killed by a signal.
    Crash = 15, "crash";
    /// The program does not end.
    Hang = 16, "hang";
    /// A branch or an address depends on memory that was never written.
    UninitialisedRead = 17, "uninitialised-read";
}
