//! What `nearmiss infer` found out about one function.

use serde::{Deserialize, Serialize};

use crate::ReadError;

/// What must hold for a safe call of a function, as far as tests tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PreconditionReport {
    /// [`crate::VERSION`].
    pub version: u32,
    /// The function.
    pub function: String,
    /// The header or file, as the user named it.
    pub file: String,
    /// Its prototype as C writes it.
    pub prototype: String,
    /// Why there is no precondition. Then nothing below counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// What must hold, in the terms of contracts.
    pub formula: String,
    /// The same as a C function.
    pub c: String,
    /// The same as assertions, in a C function.
    pub asserts: String,
    /// The same as ACSL.
    pub acsl: String,
    /// The same as a block of `nearmiss.contracts`.
    pub contract: String,
    /// The same for `explore --require`; none where that has no word for a term.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require: Option<String>,
    /// Whether every feasible assignment, of sizes up to the largest, was tested.
    pub complete: bool,
    /// Sizes were at most so many elements.
    pub largest: i64,
    /// How contents were chosen: `smart` or `naive`.
    pub fuzzing: String,
    /// How many predicates there were, with those that were found.
    pub predicates: usize,
    /// Predicates that tests suggested.
    pub found: Vec<String>,
    /// Assignments that were tested.
    pub assignments: usize,
    /// Of these, the safe ones.
    pub safe: usize,
    /// Safe assignments that the formula does not let through, because one that does would be too long.
    #[serde(default)]
    pub left_out: usize,
    /// Assignments that the solver proposed.
    pub proposed: u64,
    /// Tests that were run.
    pub tests: u64,
    /// Assignments of which some tests fail and others, with other numbers, do not: no predicate tells them apart.
    pub conflicts: Vec<PreconditionConflict>,
    /// How many there are, with those that are not listed.
    pub conflict_count: usize,
    /// A test on each side of each part of the formula.
    pub evidence: Vec<PreconditionEvidence>,
    /// What withdraws or limits a claim.
    pub notes: Vec<String>,
    /// With source: what exploring all paths decided about the safe assignments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<DecidedAssignments>,
    /// How it is to a specification: `exact`, `safe`, `permissive`, `neither`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// Time, in seconds.
    pub seconds: f64,
}

/// What exploring all paths of the calls that a formula lets through decided, for small blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedAssignments {
    /// Blocks had at most so many elements.
    pub largest: i64,
    /// Whether numbers were any that their types have; else a few small ones.
    pub any_numbers: bool,
    /// Safe assignments of which no call fails.
    pub proved: usize,
    /// Assignments whose tests had all passed, and of which a failing call was found: learnt from.
    pub refuted: usize,
    /// Safe assignments that are not decided: they need larger blocks, the formula leaves them out, or [`Self::open`].
    pub undecided: usize,
    /// Calls that fail by an overflow of signed numbers although the formula lets them through: contents decide. What
    /// is proved leaves these overflows aside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<String>,
    /// Paths of all explorations.
    pub paths: u64,
    /// Why something is not decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
}

impl DecidedAssignments {
    /// So many safe assignments are to be decided.
    pub fn begin(&mut self, safe: usize) {
        self.any_numbers = false;
        self.proved = 0;
        self.undecided = safe;
        self.open = None;
    }

    /// So many of them are proved now, in all.
    pub fn prove(&mut self, proved: usize, any_numbers: bool) {
        self.undecided = (self.undecided + self.proved).saturating_sub(proved);
        self.proved = proved;
        self.any_numbers = any_numbers;
    }
}

/// Two tests that no predicate tells apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreconditionConflict {
    /// A test that fails.
    pub fails: String,
    /// How.
    pub how: String,
    /// One that does not.
    pub passes: String,
}

/// A test on each side of a part of a formula.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreconditionEvidence {
    /// The part.
    pub clause: String,
    /// A call that is safe.
    pub passes: Option<String>,
    /// A call that fails where only this part does not hold.
    pub fails: Option<String>,
    /// How it fails.
    pub how: Option<String>,
}

impl PreconditionReport {
    /// The JSON form, for people to read too.
    pub fn to_json(&self) -> String {
        crate::to_json(self)
    }

    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<PreconditionReport, ReadError> {
        crate::from_json(text)
    }
}
