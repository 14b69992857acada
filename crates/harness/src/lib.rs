//! A function's prototype → inputs that can be chosen, and a C file that makes them.
//!
//! ```text
//!  FILE.c ─► clang -g ─► object ─► DWARF ─► Unit ─► plan(Request) ─► Plan ─┬► harness.c (includes FILE.c)
//!                                                                         └► bytes ⇄ Memory
//! ```
//!
//! All inputs of a call lie in one array of bytes, the *staging*, at places that the plan decides:
//! scalars, elements of arrays up to the largest count, how many elements there are, which of several
//! targets a pointer has. The harness makes that array an input called [`INPUT`] and builds the
//! arguments from it, without a branch on input data of its own.

mod after;
mod alias;
mod assumed;
mod bounds;
mod counts;
mod decode;
mod dwarf;
pub mod entry;
mod formula;
mod layout;
mod matching;
mod model;
mod operand;
mod operands;
mod path;
mod plan;
mod pointers;
mod prototype;
mod reach;
pub mod require;
mod rows;
mod rulebook;
mod rules;
mod spell;
mod staging;
mod stubs;
mod type_reader;
mod types;
mod unit;
mod values;
mod write;

use std::fmt;
use std::path::PathBuf;

pub use assumed::some_of;
pub use operand::{Operand, Operands};
pub use operands::HARNESS_PREFIX;
pub use plan::{DEFAULT_DEPTH, DEFAULT_ELEMENTS, Plan, stub_pointer};
pub use prototype::{Declared, Pointee, Prototype, Shape};
pub use rows::may_tell_of_freed;
pub use rules::{Rule, RuleKind};
pub use unit::{PROBE_FLAGS, Unit};

/// The name of the channel that holds all inputs of a call.
pub const INPUT: &str = "input";
/// The name of the result row that says whether the precondition accepted: four bytes, 0 or 1.
pub const ACCEPTED: &str = "accepted";
/// The name of the result row of one byte that the harness hands over as soon as the function has
/// returned, whatever its type.
pub const RETURNED: &str = "returned";
/// The name of the result row that says what the oracle thinks: four bytes, 0 or 1.
pub const VERDICT: &str = "verdict";

/// What is wanted of a file.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The function under test.
    pub function: String,
    /// The function that says which inputs are admissible.
    pub precondition: Option<String>,
    /// A file with it that is read behind the function's own, so that it knows its types.
    pub precondition_file: Option<PathBuf>,
    /// The function that judges results.
    pub oracle: Option<String>,
    /// Globals that are inputs too.
    pub globals: Vec<String>,
    /// Rules about sizes, ranges and pointers, in the words of the command line (`t=n`, `t=0..8`):
    /// those of a sizes file first, so that later ones win.
    pub rules: Vec<Rule>,
    /// Conditions that hold for all inputs, as C-like expressions over the parameters.
    pub requirements: Vec<String>,
    /// How deep lists and trees are.
    pub depth: u32,
    /// Most elements where nothing else is said.
    pub elements: u32,
    /// How many bytes memory of no known type has where nothing is said; `None`: that must be said.
    pub untyped_bytes: Option<u32>,
}

/// Why there is no harness: names the input, and the option that would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessError(pub String);

impl fmt::Display for HarnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for HarnessError {}
