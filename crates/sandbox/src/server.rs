//! Nearmiss's end of the line to a launcher: programs are sent to it one at a time.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::SandboxError;
use crate::capture::{Captured, Output};
use crate::spec::{Ended, Exceeded, Outcome, Report, Spec, Turn, Used};
use crate::sys;

/// How much longer than the program's time limit an answer may take: init keeps the limit, this
/// is for an init that hangs, and for the making of large worlds.
const GRACE: Duration = Duration::from_secs(5);

/// What a launcher answers when a program has ended.
pub const DONE: u8 = 0;
/// What a launcher answers when init ended before the program.
pub const INIT_WAS_KILLED: u8 = 1;
/// What init answers when a program waits to be forked, and when a run has ended.
pub const READY: u8 = 2;
/// A run has ended.
pub const RAN: u8 = 3;
/// A run has ended, and was the last: init ends, too.
pub const LAST: u8 = 4;

/// What a launcher is asked for: one run, or a program that is forked.
const ONCE: u8 = 0;
pub const FORKED: u8 = 1;
/// What init is asked for: a run of the program that is forked, or to end.
pub const TURN: u8 = 2;
const LEAVE: u8 = 3;

/// How long the constructors of a program may take, and the making of its world.
const START_TIME: Duration = Duration::from_secs(20);

/// What a launcher said.
pub struct Told {
    pub outcome: Result<Outcome, SandboxError>,
    /// Second lines of defence that the kernel lacks.
    pub missing: Vec<String>,
    /// Whether the program can be forked once more.
    pub goes_on: bool,
}

/// A launcher that waits for programs. It ends when its line is closed, so also when nearmiss is
/// killed, and all that it started ends with it.
#[derive(Debug)]
pub struct Server {
    process: Child,
    line: OwnedFd,
    /// Whether it has not answered yet.
    pub is_new: bool,
}

impl Server {
    /// Starts a launcher.
    pub fn start(command: &[OsString]) -> io::Result<Server> {
        let (line, theirs) = sys::socket_pair()?;
        let fd = theirs.as_raw_fd();
        let mut launcher = Command::new(&command[0]);
        launcher
            .args(&command[1..])
            .arg(fd.to_string())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // SAFETY: the closure makes one system call and touches no memory of ours.
        unsafe {
            launcher.pre_exec(move || sys::keep_across_exec(fd));
        }
        Ok(Server {
            process: launcher.spawn()?,
            line,
            is_new: true,
        })
    }

    /// Runs a program. After an error the launcher is of no more use, but if it was not new,
    /// another one may do.
    pub fn run(&mut self, spec: &Spec) -> io::Result<Told> {
        let (mut shared, mut output) =
            self.send(ONCE, &serde_json::to_vec(spec)?, None, spec.limits.output)?;
        let silence = match output.read_until(&self.line, spec.limits.wall + GRACE)? {
            true => self.hear(),
            false => self.end().map(|_| Some(Exceeded::Time)),
        };
        let captured = output.rest()?;
        Told::read(&mut shared, captured, silence?)
    }

    /// Starts a program that is to be forked; gives what it has written by then.
    pub fn start_forks(&mut self, spec: &Spec) -> Result<Captured, SandboxError> {
        let content = serde_json::to_vec(spec).map_err(io::Error::from)?;
        let (mut shared, mut output) = self.send(FORKED, &content, None, spec.limits.output)?;
        if !output.read_until(&self.line, START_TIME)? {
            self.end()?;
            return Err(SandboxError::Start("it does not come to main".into()));
        }
        let answer = sys::receive_byte(&self.line);
        self.is_new = false;
        if answer == Some(READY) {
            return Ok(output.so_far()?);
        }
        let told = Told::read(&mut shared, output.rest()?, None)?;
        told.outcome.map(drop)?;
        Err(SandboxError::Start("it does not come to main".into()))
    }

    /// A run of the program that is forked.
    pub fn turn(&mut self, turn: &Turn, stdin: RawFd, contents: &[RawFd]) -> io::Result<Told> {
        let more = Some((stdin, contents));
        let limits = &turn.limits;
        let (mut shared, mut output) =
            self.send(TURN, &serde_json::to_vec(turn)?, more, limits.output)?;
        let answer = match output.read_until(&self.line, limits.wall + GRACE)? {
            true => sys::receive_byte(&self.line),
            false => self.end().map(|_| None)?,
        };
        let captured = output.rest()?;
        let silence = (answer == Some(INIT_WAS_KILLED)).then_some(Exceeded::Memory);
        let goes_on = answer == Some(RAN);
        if answer == Some(LAST) && sys::receive_byte(&self.line).is_none() {
            self.end()?;
        }
        let told = Told::read(&mut shared, captured, silence)?;
        Ok(Told { goes_on, ..told })
    }

    /// Has init end; false if the launcher cannot be used again.
    pub fn leave(&mut self, patience: Duration) -> bool {
        sys::send_message(&self.line, &[LEAVE], &[]).is_ok()
            && sys::wait_readable([self.line.as_raw_fd()], patience).is_ok_and(|[it]| it)
            && sys::receive_byte(&self.line) == Some(DONE)
    }

    /// Sends a request; gives where its answer will be, and what the program will write. A run of a program that
    /// is forked has its standard input and the contents of files with it.
    fn send(
        &self,
        kind: u8,
        content: &[u8],
        more: Option<(RawFd, &[RawFd])>,
        limit: usize,
    ) -> io::Result<(File, Output)> {
        let mut shared = sys::memory_file("nearmiss-sandbox")?;
        shared.write_all(content)?;
        let (stdout, program_stdout) = sys::pipe()?;
        let (stderr, program_stderr) = sys::pipe()?;
        let mut sent = vec![shared.as_raw_fd()];
        sent.extend(more.map(|(stdin, _)| stdin));
        sent.extend([program_stdout.as_raw_fd(), program_stderr.as_raw_fd()]);
        sent.extend(more.into_iter().flat_map(|(_, contents)| contents));
        sys::send_message(&self.line, &[kind], &sent)?;
        Ok((shared, Output::new(stdout, stderr, limit)))
    }

    /// Takes the answer. Says what it means if there is no report: what is killed with the first
    /// program was killed for want of memory. Later on it may have been killed while it waited.
    fn hear(&mut self) -> io::Result<Option<Exceeded>> {
        let was_killed = match sys::receive_byte(&self.line) {
            Some(answer) => answer == INIT_WAS_KILLED,
            None if self.is_new => self.process.wait()?.signal() == Some(libc::SIGKILL),
            None => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        self.is_new = false;
        Ok(was_killed.then_some(Exceeded::Memory))
    }

    /// Whether it can take another program.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    fn end(&mut self) -> io::Result<ExitStatus> {
        self.process.kill()?;
        self.process.wait()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

const KILLED: Ended = Ended::Signal(libc::SIGKILL);

impl Told {
    /// Reads the reports behind the specification.
    fn read(shared: &mut File, captured: Captured, silence: Option<Exceeded>) -> io::Result<Told> {
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
        let outcome = outcome(report, captured, silence).map(|outcome| Outcome {
            missing: things,
            ..outcome
        });
        Ok(Told {
            outcome,
            missing,
            goes_on: false,
        })
    }
}

/// `silence` is what it means if there is no report.
fn outcome(
    report: Option<Report>,
    captured: Captured,
    silence: Option<Exceeded>,
) -> Result<Outcome, SandboxError> {
    match report {
        Some(Report::Ended(ended, used)) => Ok(captured.outcome(ended, None, used)),
        Some(Report::Exceeded(limit, used)) => Ok(captured.outcome(KILLED, Some(limit), used)),
        Some(Report::Unavailable(what)) => Err(SandboxError::Unavailable(what)),
        Some(Report::NotStarted(why)) => Err(SandboxError::Start(why)),
        _ if silence.is_some() => Ok(captured.outcome(KILLED, silence, Used::default())),
        _ => Err(io::Error::other("its launcher ended without a word").into()),
    }
}
