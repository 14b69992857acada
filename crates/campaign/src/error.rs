//! Why a campaign's directory cannot be used: one line each, with what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a campaign's directory cannot be used.
#[derive(Debug)]
pub enum CampaignError {
    /// It cannot be read or written.
    Directory(PathBuf, io::Error),
    /// Another nearmiss works there.
    Busy(PathBuf),
    /// There is no report yet.
    NoReport(PathBuf),
    /// The report cannot be read.
    Report(PathBuf, String),
}

impl fmt::Display for CampaignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CampaignError::Directory(path, error) => write!(
                f,
                "{}: {error}: choose another directory with --dir",
                path.display()
            ),
            CampaignError::Busy(path) => write!(
                f,
                "{}: another nearmiss is at work here: wait for it, or choose another directory with --dir",
                path.display()
            ),
            CampaignError::NoReport(path) => write!(
                f,
                "{}: no report here: `nearmiss run -- PROGRAM` makes one",
                path.display()
            ),
            CampaignError::Report(path, why) => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl std::error::Error for CampaignError {}
