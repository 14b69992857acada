//! What is to be run, and how it went: plain data between nearmiss and its launcher.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::words;

/// A program and its world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// The program's file.
    #[serde(with = "words::path")]
    pub program: PathBuf,
    /// Its arguments, with its name first.
    #[serde(with = "words::list")]
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    #[serde(with = "words::pairs")]
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs.
    #[serde(with = "words::path")]
    pub directory: PathBuf,
    /// Its standard input.
    pub stdin: Stdin,
    /// Its umask; ours if `None`.
    #[serde(default)]
    pub umask: Option<u32>,
    /// The number that its process should have, where the kernel lets us choose.
    #[serde(default)]
    pub process: Option<u32>,
    /// What must be as it was when the program ran first, parents before children.
    #[serde(default)]
    pub world: Vec<Thing>,
    /// Files that have another content for it. They win over `world`.
    pub files: Vec<Replacement>,
    /// Programs and libraries that lie at the paths of others. They win over `world` and `files`.
    #[serde(default)]
    pub stand_ins: Vec<StandIn>,
    /// Directories in which it may write for good.
    #[serde(with = "words::paths")]
    pub writable: Vec<PathBuf>,
    /// Its limits.
    pub limits: Limits,
}

impl Spec {
    /// No program at all: a sandbox is made and left.
    pub(crate) fn probe() -> Spec {
        Spec {
            program: PathBuf::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            directory: "/".into(),
            stdin: Stdin::Null,
            umask: None,
            process: None,
            world: Vec::new(),
            files: Vec::new(),
            stand_ins: Vec::new(),
            writable: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Whether it is to be shown that the program never ends.
    pub(crate) fn proves_endless(&self) -> bool {
        let endless = self.limits.endless;
        endless.is_some_and(|it| it.what == Endless::Proof)
    }

    pub(crate) fn is_probe(&self) -> bool {
        self.program.as_os_str().is_empty()
    }
}

/// A program's standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stdin {
    /// `/dev/null`.
    Null,
    /// A regular file.
    File(#[serde(with = "words::path")] PathBuf),
    /// A pipe through which the content of this file comes.
    Pipe(#[serde(with = "words::path")] PathBuf),
}

/// Something at a path, as it was when the program ran first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thing {
    /// Where, absolute, as the program names it.
    #[serde(with = "words::path")]
    pub path: PathBuf,
    /// What.
    pub nature: Nature,
    /// Permissions; of no meaning for what is absent and for links.
    pub mode: u32,
    /// Seconds and nanoseconds of its last change.
    pub modified: (i64, u32),
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nature {
    /// Nothing.
    Absent,
    /// A directory; what else lies in it is not said.
    Directory,
    /// A file with the content of another; without one, of zeros.
    File {
        /// The file that has the content.
        #[serde(with = "words::optional_path")]
        content: Option<PathBuf>,
        /// Its size.
        size: u64,
    },
    /// A symbolic link to this.
    Link(#[serde(with = "words::path")] PathBuf),
    /// A named pipe.
    Pipe,
}

/// A file with another content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replacement {
    /// The file, as the program names it, absolute.
    #[serde(with = "words::path")]
    pub path: PathBuf,
    /// A file with the content that it has for the program.
    #[serde(with = "words::path")]
    pub content: PathBuf,
}

/// A program or library of nearmiss in the place of the user's own: whatever executes or loads the
/// path gets the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandIn {
    /// Path of the original, absolute, whether or not it is still there.
    #[serde(with = "words::path")]
    pub path: PathBuf,
    /// The file that lies there, with the file name and the permissions of the original.
    #[serde(with = "words::path")]
    pub file: PathBuf,
}

/// What a program may use up. Address space is not limited: shadow memory needs terabytes of
/// it; memory is watched instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time from start to end.
    pub wall: Duration,
    /// Processor time of one process, in seconds.
    pub cpu_seconds: u64,
    /// Memory of all processes together, in bytes; never more than half of the machine's.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Descriptors that a process may have open.
    pub open_files: u64,
    /// Stack of a process, in bytes.
    pub stack: u64,
    /// Largest file it may write, in bytes. A trace is a large sparse file.
    pub file_size: u64,
    /// Bytes that all throw-away overlays may hold together.
    pub scratch: u64,
    /// Bytes on the disk that the writable directories may hold together.
    pub kept: u64,
    /// Bytes kept of standard output and standard error, each.
    pub output: usize,
    /// What is to be found out if it does not end; where there is no sandbox, nothing.
    #[serde(default)]
    pub endless: Option<EndlessSearch>,
}

/// What is to be found out about a program that does not end, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndlessSearch {
    /// What.
    pub what: Endless,
    /// After how much processor time for the first time.
    pub after: Duration,
}

/// What is to be found out about a program that does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Endless {
    /// Whether it never will.
    Proof,
    /// Where it is: it is sent `SIGABRT` in the function that loops.
    Place,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            wall: Duration::from_secs(10),
            cpu_seconds: 10,
            memory: 4 << 30,
            processes: 256,
            open_files: 4096,
            stack: 256 << 20,
            file_size: 16 << 30,
            scratch: 256 << 20,
            kept: 4 << 30,
            output: 1 << 20,
            endless: None,
        }
    }
}

impl Limits {
    /// How many processes the kernel should allow: a few more, so that too many are not merely
    /// refused but seen, and the program ended.
    pub(crate) fn processes_for_kernel(&self) -> u64 {
        self.processes + 64
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Signal(i32),
}

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Ended {
        match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exited(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(0)),
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Exited(status) => write!(f, "exit {status}"),
            Ended::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// The limit that a program had to be ended for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exceeded {
    /// It did not end in time.
    Time,
    /// It used too much memory.
    Memory,
    /// It started too many processes.
    Processes,
    /// It wrote too much into a directory that is kept.
    Disk,
    /// It never ends: see [`EndlessSearch`].
    Endless,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exceeded::Time => "did not end in time",
            Exceeded::Memory => "used too much memory",
            Exceeded::Processes => "started too many processes",
            Exceeded::Disk => "wrote too much to the disk",
            Exceeded::Endless => "never ends",
        })
    }
}

/// What a run used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// How long the program ran.
    pub elapsed: Duration,
    /// CPU time of all its processes, and of making its world; without a sandbox no more is known than how long it ran.
    pub cpu: Duration,
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// The limit for which it was ended, if it was.
    pub exceeded: Option<Exceeded>,
    /// What it wrote to standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error, up to the limit.
    pub stderr: Vec<u8>,
    /// What it used up.
    pub used: Used,
    /// What of its world could not be made, and was for it as it is on the disk.
    pub missing: Vec<PathBuf>,
}

/// What the launcher says: lines of JSON behind the specification. The first that does not say
/// what is missing counts: a program that could not be started also has an exit status.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// A second line of defence that this kernel does not have.
    Missing(String),
    /// Things of the world that could not be made.
    MissingThings(#[serde(with = "words::paths")] Vec<PathBuf>),
    Ended(Ended, Used),
    Exceeded(Exceeded, Used),
    Unavailable(Unavailable),
    NotStarted(String),
    /// A program waits to be forked.
    Ready,
}

/// What differs between the runs of a program that is forked for each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Turn {
    /// Its arguments, with its name first.
    #[serde(with = "words::list")]
    pub arguments: Vec<OsString>,
    /// The number that its process should have.
    pub process: Option<u32>,
    /// Bytes of its standard input, if that is a pipe.
    pub stdin_size: Option<u64>,
    /// Its limits.
    pub limits: Limits,
}

/// The kernel does not let us have a part of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unavailable {
    /// Which part.
    pub feature: String,
    /// What the kernel said.
    pub error: String,
    /// What can be done about it.
    pub advice: String,
}
