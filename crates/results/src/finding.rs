//! One failure and the input that causes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nearmiss_abi::check::Kind;
use serde::{Deserialize, Serialize};

use crate::names;

/// A failure that the tested program can have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `NM-1`, `NM-2`, …
    pub id: String,
    /// What goes wrong.
    #[serde(with = "names::kind")]
    pub kind: Kind,
    /// Whether the failure was seen.
    pub status: Status,
    /// The source file, as named when it was compiled.
    pub file: String,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// The function.
    pub function: String,
    /// How many branches of the recorded execution must go another way; 0: none.
    pub distance: u32,
    /// How many tests lead to it.
    #[serde(default = "one")]
    pub tests: u64,
    /// Which they are, and of which programs; empty for a single run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads: Vec<Lead>,
    /// The call chain, from the function that fails to `main`, as the twin told it; empty if it was not seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
    /// The memory that is misused, where the twin says so: a variable, or where a block was allocated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub object: String,
    /// The recorded execution that led here: with the smallest distance and change, if several
    /// do.
    pub test: Test,
    /// The new input: what each channel holds.
    pub input: BTreeMap<String, Input>,
    /// Where it differs from the recorded one. Empty: the recorded input itself fails.
    pub changes: Vec<Change>,
    /// Which pieces of the input are longer or shorter. What was put in or taken out is among
    /// the changes: there `from` or `to` is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<Resized>,
    /// What of the test's own input stands there more often, where that is the whole difference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<Repeated>,
    /// What happens, for a person.
    pub message: String,
    /// The command that shows it.
    pub replay: String,
    /// How the program that the user built ends on the input: `exit 0`, `signal 11`; empty if that was not tried.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub your_build: String,
}

impl Finding {
    /// A failure of which nothing is known yet but the test that leads to it.
    pub fn new(test: Test) -> Finding {
        Finding {
            id: String::new(),
            kind: Kind::Crash,
            status: Status::Unconfirmed,
            file: String::new(),
            line: 0,
            column: 0,
            function: String::new(),
            distance: 0,
            tests: 1,
            leads: Vec::new(),
            stack: Vec::new(),
            object: String::new(),
            test,
            input: BTreeMap::new(),
            changes: Vec::new(),
            lengths: Vec::new(),
            repeated: Vec::new(),
            message: String::new(),
            replay: String::new(),
            your_build: String::new(),
        }
    }
}

impl AsRef<Finding> for Finding {
    fn as_ref(&self) -> &Finding {
        self
    }
}

impl AsMut<Finding> for Finding {
    fn as_mut(&mut self) -> &mut Finding {
        self
    }
}

fn one() -> u64 {
    1
}

/// A call on the way to a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function.
    pub function: String,
    /// The source file, as named when it was compiled.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

/// A test that leads to a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lead {
    /// `T1`, `T2`, …
    pub test: String,
    /// The program's file.
    #[serde(with = "names::path")]
    pub program: PathBuf,
}

/// Whether a failure was seen or only predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The input was replayed and the failure was seen.
    Confirmed,
    /// The failure was predicted but not seen; the message says why.
    Unconfirmed,
}

/// A call from test code into the code under test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundaryCall {
    /// Its number in the execution, from 1.
    pub number: u64,
    /// The function that is called.
    pub function: String,
    /// The function that calls it, and where.
    pub caller: String,
    /// The source file.
    pub file: String,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// What it is given, as C; `…` where that cannot be said.
    pub arguments: Vec<String>,
    /// The same of the input that fails, where that differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
    /// A text that is given with its length has no zero behind it there, since so few calls of the tests read one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare: Option<Zeros>,
}

/// Of the tests' own calls that give a text with its length: how many read the zero behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zeros {
    /// Those that read it.
    pub read: u64,
    /// Those that were looked at.
    pub looked: u64,
}

/// A recorded execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// `T1`, `T2`, … in a suite; empty for a single run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The calls of a unit test that are its inputs; empty: it is a whole execution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<BoundaryCall>,
    /// The program's file.
    #[serde(with = "names::path")]
    pub program: PathBuf,
    /// Its arguments, with its name first. Bytes that are not UTF-8 are shown as `\xNN`.
    pub argv: Vec<String>,
    /// Where it ran.
    #[serde(with = "names::path")]
    pub cwd: PathBuf,
    /// A copy of what its standard input held, if that is an input.
    #[serde(default, with = "names::path::optional")]
    pub stdin: Option<PathBuf>,
    /// How it ended: `exit 0`, `signal 6`.
    pub ended: String,
    /// What it recorded.
    #[serde(with = "names::path")]
    pub trace: PathBuf,
}

/// What a channel holds in the new input: its bytes if they are few, else a file with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// The bytes themselves.
    Bytes(#[serde(with = "names::hex")] Vec<u8>),
    /// A file with them.
    File(#[serde(with = "names::path")] PathBuf),
}

impl Input {
    /// These bytes.
    pub fn bytes(bytes: &[u8]) -> Input {
        Input::Bytes(bytes.to_vec())
    }
}

/// A piece of input with another length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resized {
    /// `argv[1]`, `stdin`, `file:PATH`, `env:NAME`.
    pub channel: String,
    /// Where the piece starts in the recorded input.
    pub offset: u64,
    /// Whether it is a line; else it is the whole.
    pub line: bool,
    /// Its recorded length in bytes.
    pub from: u64,
    /// Its new length in bytes.
    pub to: u64,
}

/// A part of the test's own input that is repeated behind itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// `argv[1]`, `stdin`, `file:PATH`, `env:NAME`; of whole arguments that are given again the first one.
    pub channel: String,
    /// Where the part starts in the recorded input.
    pub offset: u64,
    /// The part; whole arguments are separated by blanks.
    #[serde(with = "names::hex")]
    pub part: Vec<u8>,
    /// How many times more it stands there.
    pub times: u64,
}

/// A run of neighbouring bytes that differ, are new (`from` is empty) or gone (`to` is).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// `argv[1]`, `stdin`, `file:PATH`, `name:NAME[0]`.
    pub channel: String,
    /// Offset of the first byte.
    pub offset: u64,
    /// The recorded bytes.
    #[serde(with = "names::hex")]
    pub from: Vec<u8>,
    /// The new bytes.
    #[serde(with = "names::hex")]
    pub to: Vec<u8>,
}
