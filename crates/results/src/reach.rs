//! What `nearmiss reach` found out about one target.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::{Input, Memory, ReadError, Step};

/// The answer to one question: can this place be reached?
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReachReport {
    /// [`crate::VERSION`].
    pub version: u32,
    /// Where: `FILE:LINE`, a function or a label.
    pub target: String,
    /// What must hold there, in C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// What must be passed before, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// What must not be passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_through: Vec<String>,
    /// The function that everything begins with.
    pub function: String,
    /// The answer.
    pub verdict: ReachVerdict,
    /// Runs of the program.
    pub runs: u64,
    /// Queries to the solver.
    pub queries: u64,
    /// Partial paths that were left out, because no way leads from them to the target.
    pub pruned: u64,
    /// Seconds, without building.
    pub seconds: f64,
    /// The input that reaches it, for people.
    pub input: Option<String>,
    /// The same input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// The input of a whole program: `argv[1]`, `stdin`, `file:PATH`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub channels: BTreeMap<String, Input>,
    /// What became of the path that a static analyser shows, where an alarm was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<ReachVerdict>,
    /// Whether an alarm is about no state of the program: there is nothing to reach.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_no_state: bool,
    /// The recorded test that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestOrigin>,
    /// The recorded test that came nearest, if none could be made to reach it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    /// The turns that were taken on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Step>,
    /// Requirements of contracts that the input of a whole program violates on the way, and what came of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violated: Vec<String>,
    /// Why it is not known.
    pub reason: Option<String>,
    /// What the answer assumes: bounds of inputs, contracts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// The command that runs it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
}

/// A recorded test from which an input comes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestOrigin {
    /// Its name; empty for a single run.
    pub id: String,
    /// Whether it is that test's own input.
    pub is_own: bool,
}

/// How near a recorded test came to a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nearest {
    /// Its name; empty for a single run.
    pub test: String,
    /// The least number of decisions that have to go otherwise.
    pub decisions: u64,
}

/// Whether a target can be reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReachVerdict {
    /// By the input that is told.
    Reached,
    /// By no input: every path that could lead there was refuted.
    Infeasible,
    /// Not known.
    #[default]
    Unknown,
}

impl ReachVerdict {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            ReachVerdict::Reached => "reached",
            ReachVerdict::Infeasible => "infeasible",
            ReachVerdict::Unknown => "unknown",
        }
    }
}

impl ReachReport {
    /// The JSON form, for people to read too.
    pub fn to_json(&self) -> String {
        crate::to_json(self)
    }

    /// Writes the JSON form.
    pub fn write_json(&self, to: impl Write) -> io::Result<()> {
        crate::write_json(self, to)
    }

    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<ReachReport, ReadError> {
        crate::from_json(text)
    }
}
