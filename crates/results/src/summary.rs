//! What was looked at, how it was decided, and what was lost.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nearmiss_abi::note::NoteKind;
use serde::{Deserialize, Serialize};

use crate::campaign::{Exploration, ProgramFigures, Suite, TestFigures};
use crate::inputs::InputFigures;
use crate::names;

/// The summary of a command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Whether nothing was lost: then a path without findings has none for any input that
    /// follows it.
    pub complete: bool,
    /// The checks on the path.
    pub checks: Checks,
    /// The questions to the solver.
    pub queries: Queries,
    /// What became concrete or was not recorded, with places.
    pub notes: Vec<Note>,
    /// The functions without instrumentation or model that symbolic data was given to, those
    /// that were given most first: the notes of kind `call`, by function.
    #[serde(default)]
    pub lost_calls: Vec<LostCall>,
    /// New inputs whose run left the predicted path.
    pub divergences: u64,
    /// Branches at which inputs that are too short for what decided them may go the same way; what
    /// the program does with those was not looked at.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub too_short: u64,
    /// Recorded terms and events that contradicted the recorded input and were not used.
    pub inconsistent: u64,
    /// Events on the path: branches, switches, checks and others.
    pub events: u64,
    /// Whether the analysis was stopped early, by its time limit or by the user.
    pub stopped: bool,
    /// Whether the program read no input at all: there was nothing to vary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_input: bool,
    /// Whether the paths are tied to the shape of their inputs: loops over input turn as often as they did, for as
    /// many digits, words or lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tied_to_shape: bool,
    /// How much input the recorded runs saw, by kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputFigures>,
    /// Where and why it took another path when it was run again, if so: its neighbours were not explored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub another_path: Option<String>,
    /// Why failures could not be confirmed at all, if so.
    pub unconfirmable: Option<String>,
    /// Whether reads of memory that was never written were looked for.
    #[serde(default, skip_serializing_if = "Uninitialised::is_unknown")]
    pub uninitialised: Uninitialised,
    /// The contracts that were checked where functions are entered.
    #[serde(default, skip_serializing_if = "Contracts::is_empty")]
    pub contracts: Contracts,
    /// What else was lost, for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<String>,
    /// The recorded executions that did not end with `exit 0`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<Recorded>,
    /// The suite, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    /// What was tried besides the recorded paths, if that was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploration: Option<Exploration>,
    /// Each program of a suite in figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramFigures>,
    /// Each test of a suite in figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestFigures>,
    /// Objects of the program that were compiled without instrumentation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uninstrumented: Vec<String>,
}

impl Summary {
    /// Withdraws every promise: the program's twin, which judges failures, could not be asked.
    pub fn withdraw(&mut self, why: &str) {
        self.complete = false;
        self.unconfirmable.get_or_insert_with(|| why.to_string());
    }
}

/// Contracts that were checked where functions are entered, and those that were not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contracts {
    /// The functions whose contracts were checked.
    pub used: Vec<String>,
    /// Functions whose contracts were not, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<(String, String)>,
}

impl Contracts {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty() && self.unused.is_empty()
    }

    /// Takes in those of another program.
    pub fn add(&mut self, other: Contracts) {
        for name in other.used {
            if !self.used.contains(&name) {
                self.used.push(name);
            }
        }
        for one in other.unused {
            if !self.unused.contains(&one) {
                self.unused.push(one);
            }
        }
    }
}

/// Whether reads of memory that was never written were looked for: on the inputs that were run, which is
/// no answer for all inputs of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uninitialised {
    /// Inputs were run on a memory twin.
    pub looked_for: bool,
    /// Why not on all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

impl Uninitialised {
    /// Whether nothing was run at all.
    pub fn is_unknown(&self) -> bool {
        !self.looked_for && self.refused.is_empty()
    }

    /// Takes in what is known of another test.
    pub fn add(&mut self, other: &Uninitialised) {
        self.looked_for |= other.looked_for;
        for why in &other.refused {
            if !self.refused.contains(why) {
                self.refused.push(why.clone());
            }
        }
    }
}

/// A recorded execution that died, or gave a status other than 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// `T1`, `T2`, …; empty for a single run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test: String,
    /// The program's file.
    #[serde(with = "names::path")]
    pub program: PathBuf,
    /// How it ended: `exit 1`, `signal 6`.
    pub ended: String,
}

impl Recorded {
    /// The signal of a failure that it died of. Others (a broken pipe, a time limit) come from outside.
    pub fn failure(&self) -> Option<&'static str> {
        Some(match self.ended.as_str() {
            "signal 4" => "SIGILL",
            "signal 5" => "SIGTRAP",
            "signal 6" => "SIGABRT",
            "signal 7" => "SIGBUS",
            "signal 8" => "SIGFPE",
            "signal 11" => "SIGSEGV",
            "signal 31" => "SIGSYS",
            _ => return None,
        })
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How the checks of a path were decided. Each check that was met is in exactly one of the
/// other counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// How often a check on input data was met.
    pub met: u64,
    /// Decided without the solver: the layer's name and how often.
    pub without_solver: BTreeMap<String, u64>,
    /// Shown by the solver to hold.
    pub by_solver: u64,
    /// Not decided: the solver or the whole analysis ran out of time, or the check holds only
    /// because something was fixed to its recorded value.
    pub undecided: u64,
    /// Can fail, or failed in the recorded run.
    pub failing: u64,
    /// Not asked: the site was already known to fail, or its kind was not wanted.
    pub skipped: u64,
}

/// The questions to the solver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Queries {
    /// How many.
    pub count: u64,
    /// Half of them took less than this.
    pub median_ms: f64,
    /// 95 % of them took less than this.
    pub p95_ms: f64,
    /// All of them together.
    pub total_ms: f64,
}

/// Something that was lost at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What.
    #[serde(with = "names::note")]
    pub kind: NoteKind,
    /// The source file; empty if unknown.
    pub file: String,
    /// Line; 0 if unknown.
    pub line: u32,
    /// The function that was called, if it was a call; else empty.
    pub callee: String,
    /// How often.
    pub count: u64,
}

/// A function that symbolic data was given to and that has neither instrumentation nor model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostCall {
    /// Its name; empty if it was called through a pointer.
    pub function: String,
    /// How many symbolic arguments and bytes behind pointers it was given.
    pub count: u64,
    /// Where it is called: `file:line`, those that gave it most first.
    pub places: Vec<String>,
}
