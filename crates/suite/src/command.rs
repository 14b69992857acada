//! The suite's command, run as the user would: same streams, environment, directory, process
//! group and terminal.
//!
//! While it runs we are the *subreaper* of all that it starts: a process whose parent has ended
//! becomes our child, so a daemon still has us as its ancestor and is captured too.

use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::SuiteTarget;

/// How long processes that outlive the command are waited for.
const STRAGGLERS: Duration = Duration::from_secs(2);
/// Time between two looks at them.
const PAUSE: Duration = Duration::from_millis(5);

/// A command that runs.
#[derive(Debug)]
pub struct Running {
    process: libc::pid_t,
    start: Instant,
    _subreaper: Subreaper,
}

/// How a command ended.
#[derive(Debug)]
pub struct Finished {
    /// Its status.
    pub status: ExitStatus,
    /// How long it took, without what outlived it.
    pub time: Duration,
}

/// Starts the suite's command; its standard output goes into `output` if that is given.
pub fn start(target: &SuiteTarget, output: Option<&Path>) -> io::Result<Running> {
    let (name, arguments) = target
        .command
        .split_first()
        .ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(name);
    command
        .args(arguments)
        .env_clear()
        .envs(target.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&target.directory);
    if let Some(output) = output {
        command.stdout(File::create(output)?);
    }
    keep_signals(&mut command, target.broken_pipes_ignored);
    nearmiss_sandbox::end_with_us(&mut command);
    let subreaper = Subreaper::new();
    let start = Instant::now();
    let child = command.spawn()?;
    Ok(Running {
        process: child.id() as libc::pid_t,
        start,
        _subreaper: subreaper,
    })
}

/// Undoes what [`Command`] does to the signals of a child: the suite is to have ours.
fn keep_signals(command: &mut Command, broken_pipes_ignored: bool) {
    // SAFETY: the set is plain data, filled by the call.
    let mask = unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut mask);
        mask
    };
    let restore = move || {
        // SAFETY: both functions may be called between fork and exec.
        unsafe {
            if broken_pipes_ignored {
                libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &mask, std::ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(restore) };
}

impl Running {
    /// Waits for the command, and a little for what outlives it.
    pub fn wait(self, target: &SuiteTarget) -> io::Result<Finished> {
        let status = loop {
            match reap(0)? {
                Reaped::Ended(process, status) if process == self.process => break status,
                Reaped::Ended(..) | Reaped::Interrupted => {}
                Reaped::Nothing | Reaped::NoChild => {
                    return Err(io::Error::other("the command was lost"));
                }
            }
        };
        let time = self.start.elapsed();
        let end = Instant::now() + STRAGGLERS;
        while Instant::now() < end && !target.terminate.load(Ordering::Relaxed) {
            match reap(libc::WNOHANG)? {
                Reaped::NoChild => break,
                Reaped::Nothing => std::thread::sleep(PAUSE),
                Reaped::Ended(..) | Reaped::Interrupted => {}
            }
        }
        Ok(Finished { status, time })
    }

    /// The command's process.
    pub fn process(&self) -> i32 {
        self.process
    }
}

/// What waiting for any child gave.
enum Reaped {
    Ended(libc::pid_t, ExitStatus),
    Nothing,
    NoChild,
    Interrupted,
}

/// Waits for any child: those of the suite that lost their parents too.
fn reap(options: i32) -> io::Result<Reaped> {
    let mut status = 0;
    // SAFETY: the status is ours to be written.
    let process = unsafe { libc::waitpid(-1, &mut status, options) };
    if process > 0 {
        return Ok(Reaped::Ended(process, ExitStatus::from_raw(status)));
    }
    if process == 0 {
        return Ok(Reaped::Nothing);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ECHILD) => Ok(Reaped::NoChild),
        Some(libc::EINTR) => Ok(Reaped::Interrupted),
        _ => Err(error),
    }
}

/// This process, as the parent of those that lose theirs; given up when dropped.
#[derive(Debug)]
struct Subreaper;

impl Subreaper {
    fn new() -> Subreaper {
        // SAFETY: changes only who becomes the parent of orphans. It cannot fail on any kernel
        // that has a sandbox for us; without it, daemons are not captured.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
        Subreaper
    }
}

impl Drop for Subreaper {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) };
    }
}
