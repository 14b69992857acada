//! Lengths of strings: computed once, byte by byte, before the requirement itself.
//!
//! ```text
//!  ({ unsigned long l = 0; int g = 1; g &= s0 != 0; l += g; g &= s1 != 0; l += g; … l > 2; })
//! ```

use std::fmt::Write as _;

use super::arithmetic::Written;
use super::truth::Truth;
use super::types::CType;
use super::values::Values;

/// The strings whose lengths are known.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    /// The number of a string is its place here.
    paths: Vec<String>,
    statements: String,
}

impl Lengths {
    /// The length of the string that is called so; `bytes` say of each of its places whether it is
    /// not zero.
    pub fn of(&mut self, path: &str, bytes: &[Truth]) -> Written {
        let known = self.paths.iter().position(|known| known == path);
        let number = known.unwrap_or_else(|| self.compute(path, bytes));
        let values = Values::new(0, bytes.len() as i128);
        Written::new(format!("nm_length{number}"), CType::UNSIGNED_LONG, values)
    }

    fn compute(&mut self, path: &str, bytes: &[Truth]) -> usize {
        let number = self.paths.len();
        self.paths.push(path.to_string());
        let (length, going) = (format!("nm_length{number}"), format!("nm_going{number}"));
        // Writing into a string does not fail.
        let _ = write!(
            self.statements,
            "unsigned long {length} = 0; int {going} = 1; "
        );
        for byte in bytes {
            let _ = write!(self.statements, "{going} &= {byte}; {length} += {going}; ");
        }
        number
    }

    /// An expression, with the lengths that it needs before it.
    pub fn around(&self, expression: &str) -> String {
        match self.statements.is_empty() {
            true => expression.to_string(),
            false => format!("({{ {}{expression}; }})", self.statements),
        }
    }
}
