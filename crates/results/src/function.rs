//! What `nearmiss explore` found out about one function.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::{Finding, Memory, Note, ReadError};

/// Everything about one function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionReport {
    /// [`crate::VERSION`].
    pub version: u32,
    /// The function; `main` for a harness of another tool.
    pub function: String,
    /// The source file, as the user named it.
    pub file: String,
    /// Its prototype as C writes it.
    pub prototype: String,
    /// The precondition's function.
    pub precondition: Option<String>,
    /// How the precondition was treated: `native`, `early`, `late`, `summary`.
    pub mode: String,
    /// The oracle's function.
    pub oracle: Option<String>,
    /// What was to be covered: `paths`, `branches`, `mcdc`.
    pub cover: String,
    /// What was decided because nothing was said: a pointer to one element, a string of six bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// Runs that failed before they came to the target: what lies behind a failure is not looked at.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_before: u64,
    /// Bounds on the inputs that nothing was said about, each with the option that says otherwise: what is
    /// complete is so within them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<String>,
    /// What else no input is although a call could pass it: what rules leave open (a pointer with a size is not null
    /// either), and what is never chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conventions: Vec<String>,
    /// Why not every path (branch, condition) is known to be covered or infeasible. Empty: every one is.
    pub incomplete: Vec<String>,
    /// One test for each path, in the order in which they were found.
    pub tests: Vec<PathTest>,
    /// Partial paths that no admissible input takes.
    pub infeasible: Vec<Infeasible>,
    /// Failures.
    pub findings: Vec<Finding>,
    /// What it took.
    pub figures: PathFigures,
    /// What the tests cover.
    pub coverage: Option<Coverage>,
    /// What was lost while recording.
    pub notes: Vec<Note>,
    /// What no given file defines.
    #[serde(default, skip_serializing_if = "Undefined::is_empty")]
    pub undefined: Undefined,
}

/// What no given file defines: a test that includes the source has to bring it along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undefined {
    /// Functions: a run that calls one ends there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// Variables that the source declares: zeros, or inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// The same, where every thread has its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_threads: Vec<String>,
    /// Functions that are stubs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stubbed: Vec<String>,
    /// Variables of which only the name counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<String>,
}

impl Undefined {
    /// Whether everything is defined.
    pub fn is_empty(&self) -> bool {
        let lists = [
            &self.functions,
            &self.variables,
            &self.of_threads,
            &self.stubbed,
            &self.storage,
        ];
        lists.iter().all(|list| list.is_empty())
    }
}

impl FunctionReport {
    /// The JSON form, for people to read too.
    pub fn to_json(&self) -> String {
        crate::to_json(self)
    }

    /// Writes the JSON form.
    pub fn write_json(&self, to: impl Write) -> io::Result<()> {
        crate::write_json(self, to)
    }

    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<FunctionReport, ReadError> {
        crate::from_json(text)
    }

    /// The finding of this number: `NM-1`.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        let is_it = |finding: &&Finding| finding.id.eq_ignore_ascii_case(id);
        self.findings.iter().find(is_it)
    }

    /// The test of this number.
    pub fn test(&self, number: usize) -> Option<&PathTest> {
        self.tests.iter().find(|test| test.number == number)
    }

    /// Whether every path (branch, condition) is known to be covered or infeasible.
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_empty()
    }
}

/// A test: the input, and what the function made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathTest {
    /// From 1.
    pub number: usize,
    /// What the function was given.
    pub before: Memory,
    /// What was there afterwards, its result included; `None` if it did not return.
    pub after: Option<Memory>,
    /// The rows of the input (see `nearmiss_abi::environment::REPLAY`): what a replay needs.
    #[serde(with = "crate::names::hex")]
    pub rows: Vec<u8>,
    /// What is to be thought of it.
    pub verdict: Verdict,
    /// The way it went.
    pub path: Vec<Step>,
}

/// What is to be thought of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// There is no oracle, and nothing failed.
    #[default]
    None,
    /// The oracle accepts the result.
    Pass,
    /// The oracle rejects the result.
    Fail,
    /// The function failed: an assertion, memory, arithmetic. The finding's number, or what was seen.
    Failure(String),
    /// It did not end in time, or ended the process (`exit 3`).
    Ended(String),
}

/// A decision on a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Step {
    /// The source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Which way: `true`, `false`, `case 3`, `default`.
    pub way: String,
}

/// A partial path that no admissible input takes: all its steps but the last can be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Infeasible {
    /// The way; its last step is the one that cannot be taken.
    pub path: Vec<Step>,
    /// What the last step would need, as an expression over the inputs.
    pub condition: String,
    /// Whether inputs take it that the precondition does not accept.
    pub precondition: bool,
}

/// What an exploration took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathFigures {
    /// Different paths of the function on admissible inputs.
    pub paths: u64,
    /// Infeasible partial paths.
    pub infeasible: u64,
    /// Partial paths about which the solver did not know.
    pub unknown: u64,
    /// Partial paths that were left because of a bound on loops or recursion.
    pub bounded: u64,
    /// Partial paths that cannot lead to a target, by the control flow alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pruned: u64,
    /// Runs of the function.
    pub runs: u64,
    /// Runs that took a path of the function that was known already.
    pub repeated: u64,
    /// Runs that left the predicted path.
    pub diverged: u64,
    /// Calls of the precondition alone.
    pub precondition_calls: u64,
    /// Different paths of the precondition that were met.
    pub precondition_paths: u64,
    /// Questions to the solver, and those of them that needed more than a look.
    pub questions: u64,
    /// Questions that a solver had to work on.
    pub solved: u64,
    /// How many of them each layer of the solver answered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub layers: BTreeMap<String, u64>,
    /// Seconds of the exploration, without building.
    pub seconds: f64,
    /// Seconds of it in the tested program.
    pub run_seconds: f64,
    /// Seconds of it in the solver.
    pub solver_seconds: f64,
}

/// What the tests cover of the function's file, counted by clang.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Lines of the function.
    pub lines: Covered,
    /// Outcomes of its branches.
    pub branches: Covered,
    /// Conditions shown to matter on their own.
    pub mcdc: Covered,
    /// Outcomes and conditions that no test shows, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncovered: Vec<Uncovered>,
}

/// What no test shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncovered {
    /// The file, as the user named it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What is missing: `true`, `false`, `condition 2 of 3 at 7:9 on its own`.
    pub what: String,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// Covered.
    pub covered: u64,
    /// All.
    pub total: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
