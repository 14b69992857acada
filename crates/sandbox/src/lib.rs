//! Running a program on invented inputs without harm.
//!
//! ```text
//!  nearmiss ── starts ──► launcher (nearmiss __sandbox FD)   own net, uts, cgroup (user) namespaces
//!     │ reads stdout,        └─ forks for each run ──► init (pid 1)   own mount, pid, ipc namespaces;
//!     │ stderr up to a limit                            │             watches time and memory, reaps
//!     │                                                 └─ forks ──► the program
//!     └◄────────── outcome through a shared memory file ◄── init
//! ```
//!
//! The launcher is this very executable, started anew, because what has to happen between
//! `fork` and `exec` is too much for a process with threads. It stays for the next run; several
//! threads have several launchers. The program sees the same file system, read-only, but for its
//! working directory, `/tmp`, `/var/tmp` and `/run`, and where its world is to be made: they are
//! overlays whose upper layer is memory and goes away with the run. `/dev` has the harmless
//! devices only. There is no network. When init ends, the kernel ends all that is left of the
//! program; when nearmiss ends, the launcher ends, and with it init.
//!
//! Sanitizer twins and recorders lie at the paths of the programs and libraries that they stand in
//! for ([`StandIn`]).
//!
//! Many runs that differ in their inputs only have one sandbox, in which the program is forked for each
//! ([`ForkServer`]), as long as no run leaves anything there.
//!
//! Where the kernel cannot do this, [`Sandbox::run`] says which feature is missing and runs
//! nothing. [`Sandbox::none`] is the user's own word: limits on time and output only.

mod capture;
mod endless;
mod fork_server;
mod forks;
mod ground;
mod init;
mod landlock;
mod launcher;
mod mounts;
mod overlay;
mod plain;
mod program;
mod refusal;
mod seccomp;
mod server;
mod sockets;
mod spec;
mod stage;
mod stand_ins;
mod sys;
mod watch;
pub mod words;
mod world;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub use fork_server::ForkServer;
pub use launcher::enter;
pub use spec::{
    Ended, Endless, EndlessSearch, Exceeded, Limits, Nature, Outcome, Replacement, Spec, StandIn,
    Stdin, Thing, Unavailable, Used,
};

use server::{Server, Told};

/// Has the kernel kill what a command starts when the calling thread ends, and so also when this
/// process is killed itself.
pub fn end_with_us(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: the closure makes one system call and touches no memory of ours.
    unsafe { command.pre_exec(sys::die_with_parent) };
}

/// Runs programs, confined or not. Threads may share it.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The command that calls [`enter`] with the number that follows; empty: no confinement.
    launcher: Vec<OsString>,
    /// Launchers that wait for a program.
    idle: Arc<Mutex<Vec<Server>>>,
    /// Whether programs may be forked for their runs.
    forks: bool,
}

/// Why a program was not run.
#[derive(Debug)]
pub enum SandboxError {
    /// The kernel does not let us have a part of the sandbox.
    Unavailable(Unavailable),
    /// The program could not be started.
    Start(String),
    /// This is needed and lies where the sandbox has files of its own.
    Hidden(PathBuf),
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
            SandboxError::Hidden(path) => write!(
                f,
                "no sandbox for {}: it has a /dev of its own; move the program and its files elsewhere",
                path.display()
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

impl Sandbox {
    /// Confines programs; `launcher` is a command that calls [`enter`] with the number that
    /// is appended to it.
    pub fn confined(launcher: Vec<OsString>) -> Sandbox {
        assert!(!launcher.is_empty(), "a launcher is a command");
        Sandbox {
            launcher,
            idle: Arc::default(),
            forks: true,
        }
    }

    /// Does not confine programs.
    pub fn none() -> Sandbox {
        Sandbox {
            launcher: Vec::new(),
            idle: Arc::default(),
            forks: false,
        }
    }

    /// This, but every run has a process of its own.
    pub fn without_fork_servers(self) -> Sandbox {
        Sandbox {
            forks: false,
            ..self
        }
    }

    /// Whether programs may be forked for their runs ([`Sandbox::fork_server`]).
    pub fn forks(&self) -> bool {
        self.forks
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

    /// Starts a program that is forked for every run, past its constructors. Why that cannot be done is
    /// an error: then each run needs a process of its own.
    pub fn fork_server(&self, spec: &Spec) -> Result<ForkServer, SandboxError> {
        if !self.forks {
            return Err(SandboxError::Start("it is not to be forked".into()));
        }
        if let Some(path) = hidden(spec) {
            return Err(SandboxError::Hidden(path.clone()));
        }
        let idle = self.idle().pop();
        let server = match idle {
            Some(server) => server,
            None => Server::start(&self.launcher)?,
        };
        ForkServer::start(server, spec.clone(), self.idle.clone())
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
        if let Some(path) = hidden(spec) {
            return Err(SandboxError::Hidden(path.clone()));
        }
        loop {
            let idle = self.idle().pop();
            let mut server = match idle {
                Some(server) => server,
                None => Server::start(&self.launcher)?,
            };
            match server.run(spec) {
                Ok(told) => {
                    if server.is_alive() {
                        self.idle().push(server);
                    }
                    return Ok(told);
                }
                Err(error) if server.is_new => return Err(error.into()),
                // Somebody killed it while it waited.
                Err(_) => {}
            }
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Server>> {
        // A list of servers is whole whenever its lock is free.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the program needs and would not find: the sandbox has a `/dev` of its own.
fn hidden(spec: &Spec) -> Option<&PathBuf> {
    let stand_ins = spec.stand_ins.iter().flat_map(|it| [&it.path, &it.file]);
    let others = spec.writable.iter().chain(stand_ins);
    let mut needed = others.chain([&spec.program, &spec.directory]);
    needed.find(|path| path.starts_with("/dev"))
}
