//! How units are rewritten before they are instrumented: what a variant of a program differs in.
//!
//! A variant is made of the bitcode that objects keep, when a campaign needs it; programs as the user
//! builds them pay nothing for what only variants do.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// What is rewritten in the units of a variant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rewrite {
    /// Calls from test code into the code under test are announced.
    pub boundary: Option<Boundary>,
    /// Functions that begin with a call of another one.
    pub checks: Vec<EntryCheck>,
}

/// Which calls are announced: those of functions that are not test code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Boundary {
    /// The files whose functions are test code, as [`absolute`] names them.
    pub test_files: Vec<String>,
    /// Only calls of these functions, whoever makes them; empty: of all that test code may call.
    pub functions: Vec<String>,
}

/// A function that calls another before anything else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EntryCheck {
    /// The function.
    pub function: String,
    /// The file that defines it, as [`absolute`] names it; empty: any.
    pub file: String,
    /// How many parameters it has in the source: where they are not passed one by one, nothing is called.
    pub parameters: usize,
    /// The globals whose addresses are given behind the parameters.
    pub globals: Vec<String>,
    /// What it calls.
    pub check: String,
    /// How the parameters are given.
    pub given: Given,
}

/// How a function that is called first is given the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Given {
    /// One argument: an array with the address of each parameter, then those of the globals. The function goes on with
    /// what the parameters are then.
    Places {
        /// What is called with the same array where the function returns.
        leave: String,
    },
    /// An argument of 64 bits for each of these parameters, then one for each global. No memory is taken for that.
    Values(Vec<Argument>),
}

/// A parameter that is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Argument {
    /// Its number, from 0.
    pub parameter: usize,
    /// A structure: its address is given. Else its value, in the low bits.
    pub is_structure: bool,
}

impl Default for Given {
    fn default() -> Given {
        Given::Values(Vec::new())
    }
}

/// The name of a source file that does not depend on where the compiler was started.
pub fn absolute(directory: &str, file: &str) -> String {
    let joined = Path::new(directory).join(file);
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.to_str().unwrap_or(file).split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name_wherever_the_compiler_was_started() {
        for (directory, file) in [
            ("/x/src", "a.c"),
            ("/x", "src/a.c"),
            ("/x/test", "../src/./a.c"),
            ("/y", "/x/src/a.c"),
        ] {
            assert_eq!(absolute(directory, file), "/x/src/a.c");
        }
    }
}
