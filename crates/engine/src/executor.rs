//! The executor of a campaign: a capsule is run in the sandbox, and what it recorded is read.

use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, fs, io};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::environment as names;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::Term;
use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_expr::{InputByte, Supports, Terms};
use nearmiss_sandbox::{Exceeded, Limits, Outcome, SandboxError, Spec};
use nearmiss_search::Executor;
use nearmiss_sites::Sites;
use nearmiss_trace::{RawTrace, ReadError, RecordedPath};
use siphasher::sip::SipHasher13;

use crate::Config;
use crate::forks::{self, ForkedRun};
use crate::worker::Worker;

/// Runs a program in the sandbox, each run in the world of a capsule.
#[derive(Debug)]
pub struct CapsuleExecutor<'a> {
    /// Where its runs are made and counted.
    pub(crate) worker: &'a Worker<'a>,
    /// The sites of the program.
    pub(crate) sites: &'a Sites,
    /// Whether it is the test's own run again, or that of an invented input.
    pub(crate) origin: Origin,
    /// Whether all of the program is instrumented.
    pub(crate) is_whole: bool,
    /// What a run may use up.
    pub(crate) limits: Limits,
}

/// Why a run recorded nothing.
#[derive(Debug)]
pub enum RunError {
    /// The sandbox could not run it.
    Sandbox(SandboxError),
    /// It left no trace, or its input cannot be read.
    NoTrace(io::Error),
    /// What it recorded cannot be read.
    Unreadable(ReadError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Sandbox(error) => error.fmt(f),
            RunError::NoTrace(error) => write!(f, "its run left no trace: {error}"),
            RunError::Unreadable(error) => error.fmt(f),
        }
    }
}

impl Executor for CapsuleExecutor<'_> {
    type Input = Capsule;
    type Run = Traced;
    type Error = RunError;

    fn run(&mut self, capsule: &Capsule) -> Result<Traced, RunError> {
        self.worker.count_run();
        let run = RecordedRun {
            executor: self,
            capsule,
        };
        if self.origin != Origin::Invented || !self.is_whole || !can_be_forked(capsule) {
            return run.alone();
        }
        let options = (names::OPTIONS, capsule.forked_options(self.origin));
        let spec = capsule.spec(&capsule.program, &[options], &self.limits);
        let sandbox = &self.worker.shared.config.sandbox;
        self.worker.forks.run(sandbox, &spec, &run)
    }
}

/// Whether the runs of a capsule may have all in common but what a fork server can change.
pub fn can_be_forked(capsule: &Capsule) -> bool {
    let is_given_alike = capsule.named.is_none() || capsule.channels.contains(ChannelKind::Call);
    is_given_alike && !capsule.channels.contains(ChannelKind::Environment)
}

/// A capsule's run that is recorded.
struct RecordedRun<'a> {
    executor: &'a CapsuleExecutor<'a>,
    capsule: &'a Capsule,
}

impl RecordedRun<'_> {
    fn read_trace(
        &self,
        file: &Path,
        outcome: &Outcome,
        time: Duration,
    ) -> Result<Traced, RunError> {
        self.executor.worker.count_cpu(outcome.used.cpu);
        let raw = RawTrace::open(file).map_err(RunError::Unreadable)?;
        let stdin = self.capsule.stdin_content().map_err(RunError::NoTrace)?;
        let sites = self.executor.sites;
        let (terms, path) = RecordedPath::read_alone(&raw, sites, stdin.as_deref());
        let config = self.executor.worker.shared.config;
        Ok(Traced {
            digest: digest(config, &raw, stdin.as_deref()),
            reads_input: reads_input(&raw),
            terms,
            path,
            ended: outcome.ended.to_string(),
            exceeded: outcome.exceeded,
            time,
        })
    }
}

impl ForkedRun for RecordedRun<'_> {
    type Result = Traced;
    type Error = RunError;

    fn alone(&self) -> Result<Traced, RunError> {
        let (capsule, limits) = (self.capsule, &self.executor.limits);
        let Worker {
            shared, scratch, ..
        } = self.executor.worker;
        self.executor.worker.clear().map_err(RunError::NoTrace)?;
        let variables = capsule.recording(scratch, self.executor.origin);
        let mut spec = capsule.spec(&capsule.program, &variables, limits);
        spec.writable.push(scratch.clone());
        let start = Instant::now();
        let outcome = shared.config.sandbox.run(&spec)?;
        let time = start.elapsed();
        let file = trace_of(scratch, &capsule.program).map_err(RunError::NoTrace)?;
        self.read_trace(&file, &outcome, time)
    }

    fn equip(&self, spec: &mut Spec, directory: &Path) {
        spec.environment
            .push((names::RECORD.into(), directory.into()));
        spec.writable.push(directory.into());
    }

    fn read(&self, outcome: Outcome, directory: &Path) -> Option<Traced> {
        let file = forks::take_trace(directory)?;
        let traced = self.read_trace(&file, &outcome, outcome.used.elapsed).ok();
        forks::spend_trace(&file);
        traced
    }

    /// What memory held that was never written may differ, and with it the terms of reads from tables.
    fn agree(&self, one: &Traced, other: &Traced) -> bool {
        one.digest == other.digest
            || one.ended == other.ended
                && one.exceeded == other.exceeded
                && decisions(one).eq(decisions(other))
    }
}

/// What a run decided, in its order, and which bytes of the input each decision depends on.
fn decisions(run: &Traced) -> impl Iterator<Item = (EventKind, SiteId, bool, Vec<InputByte>)> {
    let mut supports = Supports::new();
    run.path.events.iter().map(move |event| {
        let bytes = event.condition.map(|condition| {
            let set = supports.of(&run.terms, condition);
            supports.bytes(set)
        });
        let bytes = bytes.unwrap_or_default();
        (event.kind, event.site, event.truth, bytes)
    })
}

impl From<SandboxError> for RunError {
    fn from(error: SandboxError) -> RunError {
        RunError::Sandbox(error)
    }
}

/// A recorded run.
#[derive(Debug)]
pub struct Traced {
    /// The terms of its path.
    pub terms: Terms,
    /// Its path.
    pub path: RecordedPath,
    /// How it ended.
    pub ended: String,
    /// Whether it had to be ended.
    pub exceeded: Option<Exceeded>,
    /// How long it took.
    pub time: Duration,
    /// A name for all that was recorded.
    pub digest: u64,
    /// Whether any byte of input, or a length of it, came to the program.
    pub reads_input: bool,
}

/// Whether input came to the program: it has arguments, a byte of something else was read, its code
/// met a label (that of an end of input, say), or input went where nothing is recorded. How long
/// standard input is, is known of every program.
pub fn reads_input(raw: &RawTrace) -> bool {
    let is_length = |channel: u32| {
        let row = raw.channels.get(channel as usize);
        row.is_some_and(|row| row.kind == ChannelKind::Length as u8)
    };
    // Hooks run on concrete data as well: how many there were says nothing. A length is made of its
    // bytes. Number 0 is no term.
    let is_met = |term: &Term| {
        let is_input = term.op == Op::Input as u8;
        (is_input && !is_length(term.a)) || (!is_input && term.op != Op::Concat as u8)
    };
    let lost = [NoteKind::Call, NoteKind::Library].map(|kind| kind as u8);
    !raw.events.is_empty()
        || raw.terms.iter().skip(1).any(is_met)
        || raw.notes.iter().any(|note| lost.contains(&note.kind))
}

/// A name for what was recorded and what is wanted: equal ones have the same answers.
pub fn digest(config: &Config, raw: &RawTrace, stdin: Option<&[u8]>) -> u64 {
    let mut hasher = SipHasher13::new();
    config.query_time.hash(&mut hasher);
    config.options.length.hash(&mut hasher);
    for kind in config.checks.iter().flatten() {
        hasher.write_u8(*kind as u8);
    }
    for term in &raw.terms {
        hasher.write_u64(u64::from(term.op) | u64::from(term.width) << 8 | u64::from(term.c) << 32);
        hasher.write_u64(u64::from(term.a) | u64::from(term.b) << 32);
        hasher.write_u64(term.value);
    }
    for event in &raw.events {
        hasher.write_u64(u64::from(event.label) << 32 | u64::from(event.kind) << 8);
        hasher.write_u64(event.site ^ u64::from(event.truth()));
    }
    for note in &raw.notes {
        hasher.write_u64(u64::from(note.count) << 8 | u64::from(note.kind));
        hasher.write_u64(note.site);
    }
    hasher.write(&raw.blob);
    hasher.write(stdin.unwrap_or_default());
    hasher.finish()
}

/// The trace of the program among those in a directory: a program may start others.
pub fn trace_of(directory: &Path, program: &Path) -> io::Result<PathBuf> {
    let mut traces: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let number = path
            .file_stem()
            .and_then(|name| name.to_str()?.parse().ok());
        traces.extend(number.map(|number| (number, path)));
    }
    traces.sort();
    let is_of_program = |path: &PathBuf| {
        RawTrace::open(path).is_ok_and(|raw| {
            let name = OsStr::from_bytes(raw.program());
            Path::new(name).file_name() == program.file_name()
        })
    };
    if let [(_, only)] = traces.as_slice() {
        return Ok(only.clone());
    }
    let own = traces.iter().find(|(_, path)| is_of_program(path));
    own.or(traces.first())
        .map(|(_, path)| path.clone())
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}
