//! A comparison in a test, before it is written down for a framework.

/// A comparison of what is there with what was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Two numbers.
    Integer {
        /// An expression.
        actual: String,
        /// A literal.
        expected: String,
        /// The same as a number.
        value: i128,
    },
    /// Two pointers.
    Pointer {
        /// An expression.
        actual: String,
        /// Another.
        expected: String,
    },
    /// No pointer.
    Null(String),
    /// A pointer to something that has no name.
    NotNull(String),
    /// Two strings.
    Text {
        /// An expression.
        actual: String,
        /// A literal.
        expected: String,
    },
    /// The bytes behind two pointers.
    Memory {
        /// An expression.
        actual: String,
        /// Another.
        expected: String,
        /// How many.
        size: String,
    },
    /// A condition.
    Truth(String),
}

impl Check {
    /// The same as an expression of C.
    pub fn condition(&self) -> String {
        match self {
            Check::Integer {
                actual, expected, ..
            }
            | Check::Pointer { actual, expected } => format!("{actual} == {expected}"),
            Check::Null(actual) => format!("{actual} == NULL"),
            Check::NotNull(actual) => format!("{actual} != NULL"),
            Check::Text { actual, expected } => format!("strcmp({actual}, {expected}) == 0"),
            Check::Memory {
                actual,
                expected,
                size,
            } => format!("memcmp({actual}, {expected}, {size}) == 0"),
            Check::Truth(condition) => condition.clone(),
        }
    }
}
