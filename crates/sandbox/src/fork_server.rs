//! A program in a sandbox that is forked for every run: nearmiss's end.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nearmiss_abi::forks::{DESCRIPTORS, FORKS, MOST_TEXT};

use crate::capture::Captured;
use crate::server::Server;
use crate::spec::{Outcome, Spec, Stdin, Turn};
use crate::{SandboxError, sys};

/// What a pipe holds before it is read from.
const PIPE_CAPACITY: u64 = 1 << 16;
/// Processor time of the program that is forked, and so the most that any run may have.
const MOST_SECONDS: u64 = 600;
/// How long a sandbox may take to go.
const PATIENCE: Duration = Duration::from_secs(1);

/// A program past its constructors, or where the first call is whose data are its input, which waits to be forked.
///
/// Its runs differ in their arguments, standard input, input files, limits and numbers, and in nothing else.
#[derive(Debug)]
pub struct ForkServer {
    /// None when it has ended.
    server: Option<Server>,
    /// Where its launcher goes when it is no longer needed.
    idle: Arc<Mutex<Vec<Server>>>,
    /// What the program wrote before it waited: each of its runs did, too.
    before: Captured,
}

impl ForkServer {
    /// Starts a program with a launcher that waits.
    pub(crate) fn start(
        mut server: Server,
        mut first: Spec,
        idle: Arc<Mutex<Vec<Server>>>,
    ) -> Result<ForkServer, SandboxError> {
        // Constructors that look at arguments see none: then the first run differs from that of a
        // program that was started for it.
        first.arguments.truncate(1);
        first.environment.push((FORKS.into(), "1".into()));
        first.stdin = Stdin::Null;
        // Each run has less.
        first.limits.cpu_seconds = first.limits.cpu_seconds.max(MOST_SECONDS);
        let before = server.start_forks(&first)?;
        Ok(ForkServer {
            server: Some(server),
            idle,
            before,
        })
    }

    /// Whether it may serve once more.
    pub fn is_alive(&self) -> bool {
        self.server.is_some()
    }

    /// Runs the program as a specification says that is alike ([`Spec::is_alike`]); `None`: it ended before, and
    /// nothing was run.
    pub fn run(&mut self, spec: &Spec) -> Result<Option<Outcome>, SandboxError> {
        let Some(mut server) = self.server.take() else {
            return Ok(None);
        };
        let Ok((stdin, stdin_size)) = open_stdin(&spec.stdin) else {
            self.server = Some(server);
            return Ok(None);
        };
        let contents = spec.files.iter().map(|file| File::open(&file.content));
        let contents: Vec<File> = contents.collect::<Result<_, _>>()?;
        let turn = Turn {
            arguments: spec.arguments.clone(),
            process: spec.process,
            stdin_size,
            limits: spec.limits.clone(),
        };
        let contents: Vec<RawFd> = contents.iter().map(AsRawFd::as_raw_fd).collect();
        let Ok(told) = server.turn(&turn, stdin.as_raw_fd(), &contents) else {
            return Ok(None);
        };
        if told.goes_on {
            self.server = Some(server);
        } else if server.is_alive() {
            give_back(server, &self.idle);
        }
        match told.outcome {
            Ok(mut outcome) => {
                self.before.precede(&mut outcome, spec.limits.output);
                Ok(Some(outcome))
            }
            Err(SandboxError::Start(_) | SandboxError::Io(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take()
            && server.leave(PATIENCE)
        {
            give_back(server, &self.idle);
        }
    }
}

fn give_back(server: Server, idle: &Mutex<Vec<Server>>) {
    if let Ok(mut idle) = idle.lock() {
        idle.push(server);
    }
}

impl Spec {
    /// Whether programs differ only in what a fork server can change between two runs.
    pub fn is_alike(&self, other: &Spec) -> bool {
        let mut files = self.files.iter().zip(&other.files);
        self.program == other.program
            && self.arguments.first() == other.arguments.first()
            && self.environment == other.environment
            && self.directory == other.directory
            && self.umask == other.umask
            && self.stand_ins == other.stand_ins
            && self.writable == other.writable
            && self.files.len() == other.files.len()
            && files.all(|(one, other)| one.path == other.path)
            && self.world == other.world
    }

    /// Whether what a run is given fits into a message, and into a pipe.
    pub fn fits_fork_server(&self) -> bool {
        let text: usize = self.arguments.iter().map(|text| text.len() + 1).sum();
        let feeds = match &self.stdin {
            Stdin::Pipe(path) => fs::metadata(path).map_or(u64::MAX, |found| found.len()),
            Stdin::Null | Stdin::File(_) => 0,
        };
        text <= MOST_TEXT
            && feeds <= PIPE_CAPACITY
            && self.files.len() + DESCRIPTORS < sys::MOST_PASSED
            && !self.arguments.is_empty()
    }
}

/// Standard input, and its size if it is a pipe.
fn open_stdin(stdin: &Stdin) -> io::Result<(OwnedFd, Option<u64>)> {
    match stdin {
        Stdin::Null => Ok((File::open("/dev/null")?.into(), None)),
        Stdin::File(path) => Ok((File::open(path)?.into(), None)),
        Stdin::Pipe(path) => {
            let content = fs::read(path)?;
            let (reading, writing) = sys::pipe()?;
            File::from(writing).write_all(&content)?;
            Ok((reading, Some(content.len() as u64)))
        }
    }
}
