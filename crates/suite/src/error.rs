//! Why a suite could not be captured: one line each, with what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use nearmiss_campaign::CampaignError;

/// Why there are no captured executions.
#[derive(Debug)]
pub enum SuiteError {
    /// The campaign's directory cannot be used.
    Campaign(CampaignError),
    /// The command could not be started.
    Start(PathBuf, io::Error),
    /// The meeting place of the suite's programs cannot be made.
    MeetingPlace(io::Error),
    /// The suite ran nothing that could be captured.
    NothingCaptured(String),
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SuiteError::Campaign(error) => write!(f, "{error}"),
            SuiteError::Start(path, error) => {
                write!(f, "{}: cannot be started: {error}", path.display())
            }
            SuiteError::MeetingPlace(error) => {
                write!(f, "programs of the suite could not find nearmiss: {error}")
            }
            SuiteError::NothingCaptured(command) => write!(
                f,
                "{command}: ran no program that was built by nearmiss: rebuild with CC=\"nearmiss cc\""
            ),
        }
    }
}

impl std::error::Error for SuiteError {}

impl From<CampaignError> for SuiteError {
    fn from(error: CampaignError) -> SuiteError {
        SuiteError::Campaign(error)
    }
}
