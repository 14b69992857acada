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

mod operand;
pub mod require;

use std::fmt;
use std::path::Path;

use nearmiss_results::Memory;

pub use operand::{Operand, Operands};

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
}

/// A rule about one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it says: [`RuleKind`].
    pub kind: RuleKind,
    /// Which input: `t`, `list->next`, `s.items`.
    pub target: String,
    /// What follows the `=`, as the user wrote it; empty if nothing does.
    pub value: String,
}

impl Rule {
    /// Reads what follows an option: `t=4`, `p`, `p=no`.
    pub fn parse(_kind: RuleKind, _text: &str) -> Result<Rule, HarnessError> {
        Err(HarnessError("not built yet".into()))
    }

    /// Reads a sizes file: lines `size t = n`, `range n = 0..10`, `string s = 8`, `null p`,
    /// `alias p = q`; `#` starts a comment. Errors have the line's number.
    pub fn parse_file(_text: &str) -> Result<Vec<Rule>, HarnessError> {
        Err(HarnessError("not built yet".into()))
    }
}

/// What a rule is about; each is an option of `nearmiss explore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// `--size t=4`, `t=0..8`, `t=n`, `t=n*m`: how many elements a pointer points to (bytes for `void *`).
    Size,
    /// `--string s`, `s=12`: a zero-terminated string of at most so many bytes.
    String,
    /// `--range n=0..10`: values that an integer may have.
    Range,
    /// `--null p`, `p=no`: whether a pointer may be null.
    Null,
    /// `--alias p=q`: a pointer that may point to what another one does.
    Alias,
}

/// What the debug information of a compiled file says: functions, globals, types.
#[derive(Debug)]
pub struct Unit {}

/// What clang must be told for an object that [`Unit::read`] is to understand: functions and types
/// that nobody uses are wanted too.
pub const PROBE_FLAGS: &[&str] = &[
    "-g",
    "-O0",
    "-w",
    "-femit-all-decls",
    "-fno-eliminate-unused-debug-types",
];

impl Unit {
    /// Reads an object file that was compiled with [`PROBE_FLAGS`].
    pub fn read(_object: &[u8]) -> Result<Unit, HarnessError> {
        Err(HarnessError("not built yet".into()))
    }

    /// Adds what another object of the program says: a precondition, an oracle or globals may lie
    /// there.
    pub fn add(&mut self, _object: &[u8]) -> Result<(), HarnessError> {
        Err(HarnessError("not built yet".into()))
    }

    /// The functions that the file defines, in their order.
    pub fn functions(&self) -> Vec<String> {
        Vec::new()
    }

    /// Decides on the inputs.
    pub fn plan(&self, _request: &Request) -> Result<Plan, HarnessError> {
        Err(HarnessError("not built yet".into()))
    }
}

/// The inputs of a function, and where they lie in the staging.
#[derive(Clone, Debug)]
pub struct Plan {}

impl Plan {
    /// Bytes of the staging.
    pub fn input_size(&self) -> usize {
        0
    }

    /// The function's prototype as C writes it.
    pub fn prototype(&self) -> String {
        String::new()
    }

    /// What the user should know about choices that were made for lack of a rule.
    pub fn notes(&self) -> &[String] {
        &[]
    }

    /// An input to begin with: one that keeps to all ranges.
    pub fn first_input(&self) -> Vec<u8> {
        vec![0; self.input_size()]
    }

    /// The C file that makes the inputs and calls the function. `source` is included by it.
    pub fn harness(&self, _source: &Path) -> String {
        String::new()
    }

    /// What a staging means.
    pub fn decode(&self, _staging: &[u8]) -> Memory {
        Memory::default()
    }

    /// What was there afterwards: `rows` are the results of a run on this staging.
    pub fn decode_results(&self, _staging: &[u8], _rows: &[(String, Vec<u8>)]) -> Memory {
        Memory::default()
    }

    /// What byte `offset` of the staging is part of: `n`, `t[3]`, `t.count`, and which byte of it.
    pub fn name_of(&self, _offset: usize) -> (String, usize) {
        (String::new(), 0)
    }
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
