//! A recorded execution that is to be looked at.

use std::path::{Path, PathBuf};

use nearmiss_results::BoundaryCall;

use crate::capsule::Capsule;

/// One execution of the suite, or several that were the same.
#[derive(Clone, Debug)]
pub struct TestCase {
    /// `T1`, `T2`, …; empty for a single run.
    pub id: String,
    /// What it was made of.
    pub capsule: Capsule,
    /// How many executions of the suite were this one.
    pub executions: u64,
    /// How it ended: `exit 0`, `signal 6`.
    pub ended: String,
    /// How long it took in the suite.
    pub seconds: f64,
    /// What it recorded, if it was recorded when it ran first.
    pub trace: Option<PathBuf>,
    /// Whether it read files that were there before it, other than the system's.
    pub reads_files: bool,
    /// The calls of a unit test that are its inputs; none: it is a whole execution.
    pub calls: Vec<BoundaryCall>,
}

impl TestCase {
    /// Of calls of a unit test: the execution that makes them (`engine::calls`).
    pub fn called_by(&self) -> Option<String> {
        let (whole, _) = self.id.rsplit_once('.')?;
        (!self.calls.is_empty()).then(|| whole.to_string())
    }

    /// The user's program.
    pub fn program(&self) -> &Path {
        self.capsule.original()
    }
}
