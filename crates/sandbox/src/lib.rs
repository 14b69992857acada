//! Running a program on invented inputs without harm.
//!
//! ```text
//!  nearmiss ── spawns ──► launcher (nearmiss __sandbox FD)   own mount, pid, ipc, net, uts (user) namespaces
//!     │ reads stdout,        └─ forks ──► init (pid 1)       watches time and memory, reaps
//!     │ stderr up to a limit               └─ forks ──► the program
//!     └◄─────────── outcome through a shared memory file ◄── init
//! ```
//!
//! The launcher is this very executable, started anew, because what has to happen between
//! `fork` and `exec` is too much for a process with threads. The program sees the same file
//! system, read-only, but for its working directory, `/tmp`, `/var/tmp` and `/run`: they are
//! overlays whose upper layer is memory and goes away with the sandbox. `/dev` has the
//! harmless devices only. There is no network. When init ends, the kernel ends all that is
//! left of the program; when nearmiss ends, the kernel ends the launcher and init.
//!
//! Where the kernel cannot do this, [`Sandbox::run`] says which feature is missing and runs
//! nothing. [`Sandbox::none`] is the user's own word: limits on time and output only.

mod capture;
mod init;
mod launcher;
mod mounts;
mod program;
mod spec;
mod sys;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

pub use launcher::enter;
pub use spec::{Ended, Limits, Outcome, Replacement, Spec, Stdin};

use spec::Report;

/// Runs programs, confined or not.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The command that calls [`enter`] with the number that follows; empty: no confinement.
    launcher: Vec<OsString>,
}

/// Why a program was not run.
#[derive(Debug)]
pub enum SandboxError {
    /// The kernel does not let us have a part of the sandbox.
    Unavailable {
        /// Which.
        feature: String,
        /// What the kernel said.
        error: String,
    },
    /// The program could not be started.
    Start(String),
    /// An input file cannot be replaced without a sandbox.
    CannotReplace(PathBuf),
    /// Something else went wrong.
    Io(io::Error),
}

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SandboxError::Unavailable { feature, error } => write!(
                f,
                "no sandbox: this kernel does not allow {feature} ({error}); enable it, or use --no-sandbox"
            ),
            SandboxError::Start(why) => write!(f, "the program could not be started: {why}"),
            SandboxError::CannotReplace(path) => {
                write!(f, "{} cannot be replaced without a sandbox", path.display())
            }
            SandboxError::Io(error) => write!(f, "the sandbox failed: {error}"),
        }
    }
}

impl std::error::Error for SandboxError {}

impl From<io::Error> for SandboxError {
    fn from(error: io::Error) -> SandboxError {
        SandboxError::Io(error)
    }
}

/// How much longer than the program's time limit the launcher may live: init keeps the limit,
/// this is for an init that hangs.
const GRACE: Duration = Duration::from_secs(3);

impl Sandbox {
    /// Confines programs; `launcher` is a command that calls [`enter`] with the number that
    /// is appended to it.
    pub fn confined(launcher: Vec<OsString>) -> Sandbox {
        assert!(!launcher.is_empty(), "a launcher is a command");
        Sandbox { launcher }
    }

    /// Does not confine programs.
    pub fn none() -> Sandbox {
        Sandbox {
            launcher: Vec::new(),
        }
    }

    /// Whether programs are confined.
    pub fn confines(&self) -> bool {
        !self.launcher.is_empty()
    }

    /// Runs a program to its end or to its limits.
    pub fn run(&self, spec: &Spec) -> Result<Outcome, SandboxError> {
        if self.confines() {
            self.run_confined(spec)
        } else {
            run_plain(spec)
        }
    }

    fn run_confined(&self, spec: &Spec) -> Result<Outcome, SandboxError> {
        let mut shared = sys::memory_file("nearmiss-sandbox")?;
        serde_json::to_writer(&shared, spec).map_err(io::Error::from)?;
        let fd = shared.as_raw_fd();
        let mut command = Command::new(&self.launcher[0]);
        command
            .args(&self.launcher[1..])
            .arg(fd.to_string())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // SAFETY: the closure makes two system calls and touches no memory of ours.
        unsafe {
            command.pre_exec(move || {
                sys::keep_across_exec(fd)?;
                sys::die_with_parent()
            });
        }
        let child = command.spawn()?;
        let captured = capture::capture(child, spec.limits.wall + GRACE, spec.limits.output)?;
        shared.rewind()?;
        let mut text = String::new();
        shared.read_to_string(&mut text)?;
        // The first word counts: a program that could not be started also has an exit status.
        let report = text.split('\n').nth(1);
        match report.and_then(|report| serde_json::from_str(report).ok()) {
            Some(Report::Ended(ended)) => Ok(captured.outcome(ended, false, false)),
            Some(Report::OutOfTime) => {
                Ok(captured.outcome(Ended::Signal(libc::SIGKILL), true, false))
            }
            Some(Report::OutOfMemory) => {
                Ok(captured.outcome(Ended::Signal(libc::SIGKILL), false, true))
            }
            Some(Report::Unavailable { feature, error }) => {
                Err(SandboxError::Unavailable { feature, error })
            }
            Some(Report::NotStarted(why)) => Err(SandboxError::Start(why)),
            None if captured.timed_out => {
                Ok(captured.outcome(Ended::Signal(libc::SIGKILL), true, false))
            }
            None => Err(io::Error::other("its launcher ended without a word").into()),
        }
    }
}

/// Runs a program as any other child, in a process group of its own.
fn run_plain(spec: &Spec) -> Result<Outcome, SandboxError> {
    if let Some(replacement) = spec.files.first() {
        return Err(SandboxError::CannotReplace(replacement.path.clone()));
    }
    let mut command = Command::new(&spec.program);
    command
        .args(spec.arguments.iter().skip(1))
        .env_clear()
        .envs(spec.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&spec.directory)
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(name) = spec.arguments.first() {
        command.arg0(name);
    }
    command.stdin(match &spec.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::File(path) => std::fs::File::open(path)?.into(),
        Stdin::Pipe(_) => Stdio::piped(),
    });
    let mut child = command
        .spawn()
        .map_err(|error| SandboxError::Start(error.to_string()))?;
    if let (Stdin::Pipe(path), Some(mut pipe)) = (&spec.stdin, child.stdin.take()) {
        let bytes = std::fs::read(path)?;
        // A program need not read all of its input: what it leaves is not an error.
        std::thread::spawn(move || pipe.write_all(&bytes));
    }
    let captured = capture::capture(child, spec.limits.wall, spec.limits.output)?;
    let timed_out = captured.timed_out;
    let ended = captured.ended;
    Ok(captured.outcome(ended, timed_out, false))
}
