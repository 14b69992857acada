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
mod landlock;
mod launcher;
mod mounts;
mod plain;
mod program;
mod refusal;
mod seccomp;
mod sockets;
mod spec;
mod sys;
mod watch;
mod world;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

pub use launcher::enter;
pub use spec::{
    Ended, Exceeded, Limits, Nature, Outcome, Replacement, Spec, Stdin, Thing, Unavailable,
};

use capture::Captured;
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
    Unavailable(Unavailable),
    /// The program could not be started.
    Start(String),
    /// Something else went wrong.
    Io(io::Error),
}

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SandboxError::Unavailable(Unavailable {
                feature,
                error,
                advice,
            }) => write!(
                f,
                "no sandbox: this system does not allow {feature} ({error}): {advice}; or run invented inputs with your own rights: --no-sandbox"
            ),
            SandboxError::Start(why) => write!(f, "the program could not be started: {why}"),
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
            self.launch(spec)?.outcome
        } else {
            plain::run(spec)
        }
    }

    /// Makes a sandbox and leaves it. Says which second lines of defence the kernel lacks, or why
    /// there can be no sandbox.
    pub fn check(&self) -> Result<Vec<String>, SandboxError> {
        if !self.confines() {
            return Ok(Vec::new());
        }
        let told = self.launch(&Spec::probe())?;
        told.outcome.map(|_| told.missing)
    }

    fn launch(&self, spec: &Spec) -> Result<Told, SandboxError> {
        let mut shared = sys::memory_file("nearmiss-sandbox")?;
        shared.write_all(&serde_json::to_vec(spec).map_err(io::Error::from)?)?;
        let child = self.launcher(shared.as_raw_fd()).spawn()?;
        let captured = capture::capture(child, spec.limits.wall + GRACE, spec.limits.output)?;
        shared.rewind()?;
        let mut text = String::new();
        shared.read_to_string(&mut text)?;
        let mut reports = text.split('\n').skip(1).map(serde_json::from_str);
        let (mut missing, mut things) = (Vec::new(), Vec::new());
        let report = loop {
            match reports.next() {
                Some(Ok(Report::Missing(feature))) => missing.push(feature),
                Some(Ok(Report::MissingThings(paths))) => things.extend(paths),
                Some(Ok(report)) => break Some(report),
                _ => break None,
            }
        };
        let outcome = outcome(report, captured).map(|outcome| Outcome {
            missing: things,
            ..outcome
        });
        Ok(Told { outcome, missing })
    }

    fn launcher(&self, fd: RawFd) -> Command {
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
        command
    }
}

/// What a launcher said.
struct Told {
    outcome: Result<Outcome, SandboxError>,
    missing: Vec<String>,
}

fn outcome(report: Option<Report>, captured: Captured) -> Result<Outcome, SandboxError> {
    let killed = Ended::Signal(libc::SIGKILL);
    match report {
        Some(Report::Ended(ended, elapsed)) => Ok(captured.outcome(ended, None).after(elapsed)),
        Some(Report::Exceeded(limit, elapsed)) => {
            Ok(captured.outcome(killed, Some(limit)).after(elapsed))
        }
        Some(Report::Unavailable(what)) => Err(SandboxError::Unavailable(what)),
        Some(Report::NotStarted(why)) => Err(SandboxError::Start(why)),
        // Launcher or init hang, or were killed for want of memory.
        _ if captured.timed_out => Ok(captured.outcome(killed, Some(Exceeded::Time))),
        _ if captured.ended == killed => Ok(captured.outcome(killed, Some(Exceeded::Memory))),
        _ => Err(io::Error::other("its launcher ended without a word").into()),
    }
}
