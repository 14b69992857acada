//! The user's suite, run as it is: every execution of an instrumented program is captured.

use nearmiss_results::Suite;

use crate::campaign::Campaign;
use crate::error::EngineError;
use crate::tally::Tally;
use crate::test_case::TestCase;
use crate::{Config, SuiteTarget};

/// What a suite ran.
#[allow(dead_code)]
#[derive(Debug)]
pub struct Collected {
    /// Its different executions, in the order in which they started.
    pub tests: Vec<TestCase>,
    /// The suite in figures.
    pub suite: Suite,
}

/// Runs the suite and sorts what was captured.
#[allow(dead_code)]
pub fn collect(
    _target: &SuiteTarget,
    _config: &Config,
    _campaign: &Campaign,
    _tally: &Tally,
) -> Result<Collected, EngineError> {
    Err(EngineError::Replay("suites cannot be collected yet".into()))
}
