//! A program that is started once, in the sandbox, and forked for every run.
//!
//! Starting a process, its runtime and its libraries takes milliseconds; forking one that has
//! done all that takes a tenth of one, putting the memory of one back that has made a run a hundredth.
//! `nearmiss_abi::server` has the words that both sides speak.

mod board;
mod program;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nearmiss_abi::environment::{OPTIONS, RECORD};
use nearmiss_abi::server::{INPUT_ROOM, SERVER};
use nearmiss_sandbox::{Limits, Outcome, Sandbox, SandboxError, Spec, Stdin};

use board::Board;
pub use nearmiss_sandbox::Ended;
use program::Program;

/// Which program is served, and where.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program.
    pub program: PathBuf,
    /// Its whole environment, but for what the server adds.
    pub environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// `NEARMISS_OPTIONS` of the recording; `None`: the program does not record.
    pub record: Option<String>,
    /// A directory of its own, which is made: the board, the trace, standard error.
    pub directory: PathBuf,
    /// Where the program runs.
    pub working_directory: PathBuf,
    /// From which run on, counted from 1, one process may make many, with its memory put back in between: only where the
    /// program does nothing that would outlast that.
    pub restarts: Option<u32>,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// One of `nearmiss_abi::server::MODE_*`.
    pub mode: u32,
    /// The contents of named channels, as `nearmiss_abi::environment::REPLAY` has them.
    pub rows: &'a [u8],
    /// How long it may take.
    pub time: Duration,
    /// Whether it is to be made by a process that made none before.
    pub fresh: bool,
}

/// What a run left.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended; `None`: it was killed because its time was over, or because it used up too much of
    /// something else.
    pub ended: Option<Ended>,
    /// What it handed to `nearmiss_result`: name and bytes, in order.
    pub results: Vec<(String, Vec<u8>)>,
}

impl Run {
    /// The bytes that it handed over under a name.
    pub fn result(&self, name: &str) -> Option<&[u8]> {
        let found = self.results.iter().find(|(other, _)| other == name);
        found.map(|(_, bytes)| bytes.as_slice())
    }
}

/// Why a run could not be made.
#[derive(Debug)]
pub enum ServerError {
    /// The sandbox did not let the program start.
    Sandbox(SandboxError),
    /// The program ended before it was ready, or between two runs; what it said.
    Gone(String),
    /// An input has more bytes than fit.
    TooLarge(usize),
    /// A file could not be used.
    Io(PathBuf, std::io::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::Sandbox(error) => error.fmt(f),
            ServerError::Gone(why) => write!(f, "the program ended before its time: {why}"),
            ServerError::TooLarge(size) => write!(f, "an input of {size} bytes is too large"),
            ServerError::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for ServerError {}

/// A program that waits for requests.
///
/// A run that uses up more than the sandbox allows takes the program with it: then the next request
/// starts it anew.
#[derive(Debug)]
pub struct Server {
    sandbox: Sandbox,
    settings: Settings,
    /// The program, unless it has ended.
    live: Option<Live>,
    trace: Option<PathBuf>,
    /// What the program writes to standard error.
    complaints: PathBuf,
    /// Set from outside to end the run that is under way.
    stop: Option<&'static AtomicBool>,
}

/// A program that has not ended.
#[derive(Debug)]
struct Live {
    board: Board,
    program: Program,
    requests: u32,
}

impl Server {
    /// Starts a program, and waits until it is ready.
    pub fn start(sandbox: &Sandbox, settings: Settings) -> Result<Server, ServerError> {
        let mut server = Server {
            sandbox: sandbox.clone(),
            settings,
            live: None,
            trace: None,
            complaints: PathBuf::new(),
            stop: None,
        };
        let live = server.start_program()?;
        server.live = Some(live);
        Ok(server)
    }

    /// The run that is under way ends when `stop` is set, as if its time were over.
    pub fn stop_by(&mut self, stop: &'static AtomicBool) {
        self.stop = Some(stop);
    }

    /// Runs it once.
    pub fn run(&mut self, request: &Request<'_>) -> Result<Run, ServerError> {
        if request.rows.len() > INPUT_ROOM {
            return Err(ServerError::TooLarge(request.rows.len()));
        }
        let mut live = match self.live.take() {
            Some(live) => live,
            None => self.start_program()?,
        };
        if live.ask(request, self.stop) {
            let run = live.board.answer();
            self.live = Some(live);
            return Ok(run);
        }
        if is_set(self.stop) && live.gives_up() {
            return Ok(live.board.answer());
        }
        match live.program.end(PATIENCE) {
            Some(Ok(outcome)) if outcome.exceeded.is_some() => Ok(Run {
                ended: None,
                ..live.board.answer()
            }),
            end => Err(self.gone(end)),
        }
    }

    /// The trace of the last run, if the program records: valid until the next run.
    pub fn trace_file(&self) -> Option<&Path> {
        self.trace.as_deref()
    }

    /// What the last run wrote to standard error.
    pub fn complaints(&self) -> Vec<u8> {
        // Nearly always there is nothing.
        let is_empty = fs::metadata(&self.complaints).is_ok_and(|file| file.len() == 0);
        if is_empty {
            return Vec::new();
        }
        fs::read(&self.complaints).unwrap_or_default()
    }

    fn start_program(&mut self) -> Result<Live, ServerError> {
        let directory = make_directory(&self.settings.directory)?;
        let file = directory.join(BOARD);
        let board = Board::create(&file, self.settings.restarts)
            .map_err(|error| ServerError::Io(file.clone(), error))?;
        let spec = spec(&self.settings, &directory, &file);
        self.complaints = file.with_added_extension("err");
        let mut live = Live {
            board,
            program: Program::start(&self.sandbox, spec),
            requests: 0,
        };
        let is_alive = || live.program.is_running();
        if !live.board.wait_ready(START_TIME, is_alive) {
            return Err(self.gone(live.program.end(PATIENCE)));
        }
        if self.settings.record.is_some() {
            let found = find_trace(&directory);
            self.trace = Some(found.map_err(|error| ServerError::Io(directory, error))?);
        }
        Ok(live)
    }

    /// Why there is no answer.
    fn gone(&self, end: Option<Result<Outcome, SandboxError>>) -> ServerError {
        match end {
            Some(Err(error)) => ServerError::Sandbox(error),
            Some(Ok(outcome)) => ServerError::Gone(describe(&outcome, &self.complaints())),
            None => ServerError::Gone("it does not answer".into()),
        }
    }
}

impl Live {
    /// Makes a request; false if the program does not answer, or is not to.
    fn ask(&mut self, request: &Request<'_>, stop: Option<&AtomicBool>) -> bool {
        self.requests += 1;
        self.board.ask(self.requests, request);
        let is_alive = || self.program.is_running() && !is_set(stop);
        // One that is given up in the middle is made once more.
        let time = 2 * request.time + GRACE;
        self.board.wait_answer(self.requests, time, is_alive)
    }

    /// Tells the program to end in the middle of a run, which it answers first; false if it does not.
    fn gives_up(&mut self) -> bool {
        self.board.quit();
        let is_alive = || self.program.is_running();
        self.board.wait_answer(self.requests, PATIENCE, is_alive)
    }
}

/// Whether it is time to stop.
fn is_set(stop: Option<&AtomicBool>) -> bool {
    stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
}

impl Drop for Live {
    fn drop(&mut self) {
        self.board.quit();
        // One that does not listen ends with its sandbox.
        self.program.end(PATIENCE);
    }
}

/// The board's name in the directory of a server.
const BOARD: &str = "board";
/// How long a program may take to be ready: constructors may do anything.
const START_TIME: Duration = Duration::from_secs(60);
/// How much longer than a run may take an answer may take: the machine may be busy.
const GRACE: Duration = Duration::from_secs(30);
/// How long a program may take to end when it is told to.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long one program may serve.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Makes the directory, without what an earlier server left in it; gives its full name.
fn make_directory(directory: &Path) -> Result<PathBuf, ServerError> {
    let failed = |error| ServerError::Io(directory.into(), error);
    fs::create_dir_all(directory).map_err(failed)?;
    let directory = directory.canonicalize().map_err(failed)?;
    for entry in fs::read_dir(&directory).map_err(failed)?.flatten() {
        if is_trace(&entry.path()) {
            fs::remove_file(entry.path()).map_err(failed)?;
        }
    }
    Ok(directory)
}

fn is_trace(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending == "trace" || ending == "new")
}

/// The one trace in a directory.
fn find_trace(directory: &Path) -> io::Result<PathBuf> {
    let mut paths = fs::read_dir(directory)?.flatten().map(|entry| entry.path());
    paths
        .find(|path| path.extension().is_some_and(|ending| ending == "trace"))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the program does not record"))
}

/// How the program is started. Runs are limited one by one; the program that forks them is not.
fn spec(settings: &Settings, directory: &Path, board: &Path) -> Spec {
    let mut environment = settings.environment.clone();
    environment.push((SERVER.into(), board.into()));
    // Functions of libraries are found once, not by every child.
    environment.push(("LD_BIND_NOW".into(), "1".into()));
    if let Some(options) = &settings.record {
        environment.push((RECORD.into(), directory.into()));
        environment.push((OPTIONS.into(), options.into()));
    }
    Spec {
        program: settings.program.clone(),
        arguments: vec![settings.program.clone().into()],
        environment,
        directory: settings.working_directory.clone(),
        stdin: Stdin::Null,
        umask: None,
        process: None,
        world: Vec::new(),
        files: Vec::new(),
        stand_ins: Vec::new(),
        writable: vec![directory.into()],
        limits: Limits {
            wall: LONGEST,
            cpu_seconds: LONGEST.as_secs(),
            ..Limits::default()
        },
    }
}

/// How the program ended, and what it said.
fn describe(outcome: &Outcome, complaints: &[u8]) -> String {
    let end = match (outcome.exceeded, outcome.ended) {
        (Some(limit), _) => limit.to_string(),
        (None, ended) => ended.to_string(),
    };
    let said = [complaints, &outcome.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    format!("{end} {}", said.trim()).trim_end().into()
}
