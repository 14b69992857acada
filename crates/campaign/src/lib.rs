//! What is kept between two commands: executions that can be run again, findings, progress.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`store`] | the campaign's directory |
//! | [`capsule`], [`environment`], `letters` | a program with its arguments, environment, directory and inputs |
//! | [`chance`] | what it got by chance and is given again |
//! | [`kept`] | copies of a capsule's files that no other command removes |
//! | [`test_case`] | a recorded execution |

pub mod capsule;
pub mod chance;
pub mod environment;
mod error;
pub mod kept;
mod letters;
pub mod store;
pub mod test_case;

pub use capsule::{Capsule, Options, Origin};
pub use chance::Chance;
pub use environment::Environment;
pub use error::CampaignError;
pub use store::{
    Campaign, Kind, RunDirectory, USUAL_DIRECTORY, Work, read_report, write_atomically,
};
pub use test_case::TestCase;
