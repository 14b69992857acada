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
    /// What the exploration of all paths said of the formula, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explored: Option<String>,
    /// How it is to a specification: `exact`, `safe`, `permissive`, `neither`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// Time, in seconds.
    pub seconds: f64,
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
