//! Findings as plain data, versioned JSON.
//!
//! One [`Report`] says everything that a command found out. Nothing here computes, prints or
//! reads a file: the engine fills these types, `report` shows them, and other tools read the
//! JSON, whose form changes only together with [`VERSION`].

mod campaign;
mod finding;
mod function;
mod inputs;
mod library;
mod memory;
mod names;
mod precondition;
mod reach;
mod summary;

pub use campaign::{
    DistanceFigures, EndReason, Exploration, GrowthFigures, Missed, ProgramFigures, Sample,
    Skipped, Suite, TestFigures, UnitTests,
};
pub use finding::{
    BoundaryCall, Change, Finding, Frame, Input, Lead, Repeated, Resized, Status, Test, Zeros,
};
pub use function::{
    Coverage, Covered, FunctionReport, Infeasible, PathFigures, PathTest, Step, Uncovered,
    Undefined, Verdict,
};
pub use inputs::{InputFigures, add_inputs};
pub use library::{Library, LibraryFunction};
pub use memory::{Block, Memory, Role, Value, Variable};
pub use precondition::{
    DecidedAssignments, PreconditionConflict, PreconditionEvidence, PreconditionReport,
};
pub use reach::{Nearest, ReachReport, ReachVerdict, TestOrigin};
pub use summary::{Checks, Contracts, LostCall, Note, Queries, Recorded, Summary, Uninitialised};

use std::io::{self, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the JSON form.
pub const VERSION: u32 = 1;

/// What a command found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// The failures, in the order in which the execution meets them.
    pub findings: Vec<Finding>,
    /// What was looked at, and what was lost.
    pub summary: Summary,
}

impl Report {
    /// A report of these findings.
    pub fn new(findings: Vec<Finding>, summary: Summary) -> Report {
        Report {
            version: VERSION,
            findings,
            summary,
        }
    }

    /// The JSON form, for people to read too.
    pub fn to_json(&self) -> String {
        to_json(self)
    }

    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<Report, ReadError> {
        from_json(text)
    }

    /// The finding with this number.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings
            .iter()
            .find(|finding| finding.id.eq_ignore_ascii_case(id))
    }
}

fn to_json<T: Serialize>(report: &T) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("plain data serialises");
    text.push('\n');
    text
}

/// Writes the JSON form piece by piece: that of a long exploration need not fit into memory.
fn write_json<T: Serialize>(report: &T, mut to: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut to, report)?;
    to.write_all(b"\n")?;
    to.flush()
}

/// Reads a report that says its version, and refuses any other than [`VERSION`].
fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, ReadError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let damaged = |error: serde_json::Error| ReadError::Damaged(error.to_string());
    let Versioned { version } = serde_json::from_str(text).map_err(damaged)?;
    if version != VERSION {
        return Err(ReadError::Version(version));
    }
    serde_json::from_str(text).map_err(damaged)
}

/// Why a report could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// Written by a nearmiss with another version of the JSON form.
    Version(u32),
    /// Not a report.
    Damaged(String),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::Version(found) => write!(
                f,
                "written by a nearmiss with report version {found}, this one has {VERSION}: run it again"
            ),
            ReadError::Damaged(why) => write!(f, "not a nearmiss report: {why}"),
        }
    }
}

impl std::error::Error for ReadError {}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_abi::check::Kind;
    use std::collections::BTreeMap;

    fn sample() -> Report {
        let finding = Finding {
            id: "NM-1".into(),
            kind: Kind::OutOfBoundsWrite,
            status: Status::Confirmed,
            file: "src/x.c".into(),
            line: 42,
            column: 5,
            function: "f".into(),
            distance: 0,
            tests: 1,
            leads: Vec::new(),
            stack: Vec::new(),
            object: String::new(),
            test: Test::default(),
            input: BTreeMap::from([("argv[1]".into(), Input::bytes(b"128"))]),
            changes: vec![Change {
                channel: "argv[1]".into(),
                offset: 3,
                from: vec![0x36],
                to: vec![0x38],
            }],
            lengths: Vec::new(),
            repeated: Vec::new(),
            message: "index 12 out of bounds".into(),
            replay: "nearmiss replay NM-1".into(),
            your_build: String::new(),
        };
        Report::new(vec![finding], Summary::default())
    }

    #[test]
    fn json_is_as_designed() {
        let json: serde_json::Value = serde_json::from_str(&sample().to_json()).unwrap();
        assert_eq!(json["version"], 1);
        let finding = &json["findings"][0];
        assert_eq!(finding["id"], "NM-1");
        assert_eq!(finding["kind"], "out-of-bounds-write");
        assert_eq!(finding["status"], "confirmed");
        assert_eq!(finding["line"], 42);
        assert_eq!(finding["distance"], 0);
        assert_eq!(finding["changes"][0]["from"], "36");
        assert_eq!(finding["changes"][0]["to"], "38");
        assert_eq!(finding["input"]["argv[1]"]["bytes"], "313238");
        assert!(json["summary"].is_object());
    }

    #[test]
    fn json_round_trips() {
        let report = sample();
        assert_eq!(Report::from_json(&report.to_json()), Ok(report));
    }

    #[test]
    fn lengths_are_there_only_where_they_change() {
        let mut report = sample();
        assert!(!report.to_json().contains("lengths"));
        report.findings[0].lengths.push(Resized {
            channel: "argv[1]".into(),
            offset: 0,
            line: false,
            from: 10,
            to: 1024,
        });
        assert!(report.to_json().contains("\"to\": 1024"));
        assert_eq!(Report::from_json(&report.to_json()), Ok(report));
    }

    #[test]
    fn other_versions_and_garbage_are_refused() {
        let other = sample()
            .to_json()
            .replacen("\"version\": 1", "\"version\": 2", 1);
        assert_eq!(Report::from_json(&other), Err(ReadError::Version(2)));
        assert!(matches!(
            Report::from_json("{}"),
            Err(ReadError::Damaged(_))
        ));
    }

    #[test]
    fn findings_are_found_in_any_case() {
        assert!(sample().finding("nm-1").is_some());
        assert!(sample().finding("NM-2").is_none());
    }
}
