//! Likely preconditions of a function, by predicates, tests and tree learning: `nearmiss infer`.
//!
//! ```text
//!  header or FILE.c ─► prototype ─► variables ─► predicates ─► feasible assignments ─► tests between guard pages
//!                                                    ▲               │ (enumerated,        │
//!                                   linear separation┘               │  or sampled)        ▼
//!                                                                    └────────────► truth table ─► tree ─► formula
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | `subject` | functions of a header or file, and how programs with them are built |
//! | `refusals`, `makers`, `hidden` | functions that are not called; functions that make what others need; structures that are larger than they are shown |
//! | `environment`, `consistency` | the variables of a call, and which values are consistent |
//! | `predicates` | comparisons of variables |
//! | `condition` | formulas over variables: evaluated, and as terms of the solver |
//! | `assign` | which assignments are feasible: direct sampling, then the solver |
//! | `valuations` | values for variables |
//! | `inputs` | contents: smart and naive fuzzing |
//! | `runner`, `stubs` | the program that runs tests; functions that are passed |
//! | `table`, `tree`, `shorten` | learning |
//! | `separate` | linear predicates |
//! | `constants`, `magic`, `patterns` | numbers of the code and of headers that make a difference: compared with, as bits, as divisors |
//! | `study`, `passes` | all of it, in rounds |
//! | `whitebox`, `exploring`, `wrapper` | with source: all paths of the calls that a formula lets through |
//! | `summary`, `notes`, `tidy` | the report |
//! | `compare` | a formula against another: exact, safe, permissive |
//! | `evidence` | a test on each side of each part of a formula |

mod assign;
mod compare;
mod condition;
mod consistency;
mod constants;
mod environment;
mod evidence;
mod exploring;
mod hidden;
mod inputs;
#[cfg(test)]
mod learning_tests;
mod magic;
mod makers;
mod notes;
mod passes;
mod patterns;
mod predicates;
mod random;
mod refusals;
mod runner;
mod separate;
mod shorten;
mod stubs;
mod study;
mod subject;
mod summary;
mod table;
#[cfg(test)]
mod testing;
mod tidy;
mod tree;
mod valuations;
mod whitebox;
mod wrapper;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nearmiss_contracts::Formula;
use nearmiss_sandbox::Sandbox;

pub use environment::Wishes;
pub use inputs::Fuzzing;
pub use makers::makers;
pub use study::{Progress, infer};
pub use subject::{Origin, Subject};
pub use whitebox::WhiteBox;

/// What is wanted, and what may be used up.
#[derive(Clone, Debug)]
pub struct InferConfig {
    /// Where the function is.
    pub subject: Subject,
    /// What more than the usual variables is wanted.
    pub wishes: Wishes,
    /// The user's own predicates.
    pub predicates: Vec<Formula>,
    /// How contents are chosen.
    pub fuzzing: Fuzzing,
    /// Tests of an assignment.
    pub tests: usize,
    /// Most assignments.
    pub assignments: usize,
    /// What the choice of tests starts from.
    pub seed: u64,
    /// Whether linear predicates are looked for.
    pub linear: bool,
    /// For one function, without building.
    pub time: Duration,
    /// With source: all paths are explored, too.
    pub white_box: Option<WhiteBox>,
    /// Where tests are run.
    pub sandbox: Sandbox,
    /// A directory for what is made on the way.
    pub directory: PathBuf,
    /// Set from outside to stop early and report what is there.
    pub stop: &'static AtomicBool,
}

/// Why there is no precondition.
#[derive(Debug)]
pub enum InferError {
    /// The header or file has no such function; those that are like it.
    NoFunction(String, Vec<String>),
    /// Arguments cannot be chosen.
    Unsupported(String),
    /// An argument is something that only the library can make.
    Opaque(String),
    /// A formula has a term that is no variable; those that are.
    UnknownTerm(String, String),
    /// The compiler refused.
    NotBuilt(String),
    /// Tests could not be run.
    Runner(String),
    /// A file could not be used.
    Io(PathBuf, std::io::Error),
}

impl fmt::Display for InferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InferError::NoFunction(name, others) if others.is_empty() => {
                write!(f, "there is no function {name}")
            }
            InferError::NoFunction(name, others) => {
                write!(
                    f,
                    "there is no function {name}; there are {}",
                    others.join(", ")
                )
            }
            InferError::Unsupported(why) | InferError::Opaque(why) => write!(f, "{why}"),
            InferError::UnknownTerm(term, known) => {
                write!(
                    f,
                    "{term} is nothing that is known of a call; there are {known}"
                )
            }
            InferError::NotBuilt(messages) => {
                write!(f, "the compiler refused:\n{}", messages.trim_end())
            }
            InferError::Runner(why) => write!(f, "the tests could not be run: {why}"),
            InferError::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for InferError {}
