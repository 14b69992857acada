//! Runs in the sandbox: to record, and to see what the twin says. All of them are counted here.

use std::cell::Cell;
use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fmt, fs, io};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::check::Kind as Failure;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::term::Term;
use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_campaign::store::{Campaign, Kind, Work};
use nearmiss_campaign::tally::Tally;
use nearmiss_expr::Terms;
use nearmiss_judge::complaint::{complaints, is_memory};
use nearmiss_judge::{Complaint, run_twin};
use nearmiss_sandbox::{Exceeded, Limits, Outcome, SandboxError};
use nearmiss_search::Executor;
use nearmiss_sites::Sites;
use nearmiss_solve::{Backend, Stack};
use nearmiss_trace::{RawTrace, ReadError, RecordedPath};
use nearmiss_twin::TwinProgram;
use siphasher::sip::SipHasher13;

use crate::Config;
use crate::analyse::{Analysis, Context, Task, analyse};
use crate::explore::Counts;
use crate::subject::Subject;

/// What every run of a campaign needs.
#[derive(Debug)]
pub struct Bench<'a> {
    /// What is wanted.
    pub config: &'a Config,
    /// Where things are kept.
    pub campaign: &'a Campaign,
    /// Where what is known of tests is kept.
    pub work: Work,
    /// Who is told.
    pub tally: &'a Tally,
    /// Who answers questions about paths.
    pub stack: Stack,
    /// The number of the next directory for an input.
    directories: AtomicU64,
}

impl<'a> Bench<'a> {
    /// A bench for a campaign.
    pub fn new(
        config: &'a Config,
        campaign: &'a Campaign,
        kind: Kind,
        tally: &'a Tally,
    ) -> Bench<'a> {
        Bench {
            config,
            campaign,
            work: campaign.work(kind),
            tally,
            stack: Stack::shared(Backend::of(config.solver.as_deref())),
            directories: AtomicU64::new(0),
        }
    }

    /// Whether no more runs are to be made, whatever the time.
    pub fn is_spent(&self) -> bool {
        let most = self.config.runs.unwrap_or(u64::MAX);
        self.config.is_stopped() || self.tally.runs.get() >= most
    }

    /// Time in which nothing may start any more, or the end of all runs.
    pub fn is_over(&self, deadline: Instant) -> bool {
        self.is_spent() || Instant::now() >= deadline
    }

    /// A directory for an input that may turn out to be worth keeping.
    pub fn new_directory(&self) -> PathBuf {
        let number = self.directories.fetch_add(1, Ordering::Relaxed);
        self.campaign.inputs().join(format!("new-{number}"))
    }
}

/// A bench with a place of its own for traces: one for each thread.
#[derive(Debug)]
pub struct Lab<'a> {
    /// What all labs share.
    pub bench: &'a Bench<'a>,
    /// A directory for traces.
    scratch: PathBuf,
    counts: Cell<Counts>,
}

/// Runs a program in the sandbox, each run in the world of a capsule.
#[derive(Debug)]
pub struct CapsuleExecutor<'a> {
    lab: &'a Lab<'a>,
    sites: &'a Sites,
    origin: Origin,
    limits: Limits,
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
        let Lab { bench, scratch, .. } = self.lab;
        self.lab.clear().map_err(RunError::NoTrace)?;
        let variables = capsule.recording(scratch, self.origin);
        let mut spec = capsule.spec(&capsule.program, &variables, &self.limits);
        spec.writable.push(scratch.clone());
        self.lab.count_run();
        let start = Instant::now();
        let outcome = bench.config.sandbox.run(&spec);
        let outcome = outcome.map_err(RunError::Sandbox)?;
        let time = start.elapsed();
        let file = trace_of(scratch, &capsule.program).map_err(RunError::NoTrace)?;
        let raw = RawTrace::open(&file).map_err(RunError::Unreadable)?;
        let stdin = capsule.stdin_content().map_err(RunError::NoTrace)?;
        let (terms, path) = RecordedPath::read_alone(&raw, self.sites, stdin.as_deref());
        Ok(Traced {
            digest: digest(bench.config, &raw, stdin.as_deref()),
            reads_input: reads_input(&raw),
            terms,
            path,
            ended: outcome.ended.to_string(),
            exceeded: outcome.exceeded,
            time,
        })
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

impl<'a> Lab<'a> {
    /// The lab of one thread.
    pub fn new(bench: &'a Bench<'a>, thread: usize) -> Lab<'a> {
        Lab {
            bench,
            scratch: bench.work.scratch().join(thread.to_string()),
            counts: Cell::default(),
        }
    }

    /// Runs a program on capsules, and reads what it records.
    pub fn executor<'s>(
        &'s self,
        subject: &'s Subject,
        origin: Origin,
        limits: Limits,
    ) -> CapsuleExecutor<'s> {
        CapsuleExecutor {
            lab: self,
            sites: &subject.program.sites,
            origin,
            limits,
        }
    }

    /// What this thread has done so far.
    pub fn counts(&self) -> Counts {
        self.counts.get()
    }

    /// A run took a new path.
    pub fn count_path(&self) {
        self.bench.tally.paths.add(1);
        self.count(|counts| counts.paths += 1);
    }

    /// A defect was found.
    pub fn count_finding(&self) {
        self.bench.tally.findings.add(1);
        self.count(|counts| counts.findings += 1);
    }

    fn count_run(&self) {
        self.bench.tally.runs.add(1);
        self.count(|counts| counts.runs += 1);
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// Walks the path of a run until `deadline`.
    pub fn analyse(
        &self,
        traced: &mut Traced,
        subject: &Subject,
        task: &Task,
        deadline: Instant,
    ) -> Analysis {
        let Bench {
            config,
            stack,
            tally,
            ..
        } = self.bench;
        let context = Context {
            sites: &subject.program.sites,
            config,
            stack,
            tally,
            deadline,
        };
        let analysis = analyse(&mut traced.terms, &traced.path, task, &context);
        self.count(|counts| counts.checks += analysis.checks.met);
        analysis
    }

    /// Runs the twin; gives what it complains about. One that is ended before it has said anything leaves
    /// open whether the program fails: that is an error, not an answer.
    pub fn try_twin(
        &self,
        subject: &Subject,
        capsule: &Capsule,
        limits: &Limits,
    ) -> Result<Vec<Complaint>, String> {
        let Bench {
            config,
            campaign,
            tally,
            ..
        } = self.bench;
        let twin = subject.twin(config, campaign.root(), tally)?;
        self.count_run();
        let outcome = self.run_twin(twin, capsule, limits)?;
        let complaints = complaints(&outcome.stderr, outcome.ended);
        match outcome.exceeded.filter(|_| complaints.is_empty()) {
            Some(limit) => Err(format!("its sanitizer twin {limit}")),
            None => Ok(complaints),
        }
    }

    /// Runs the memory twin; gives what it says of memory that was never written, and nothing else: of all
    /// other failures the twin is the judge. It sees the input that the twin sees, so this is no run more.
    fn try_memory_twin(
        &self,
        subject: &Subject,
        capsule: &Capsule,
        limits: &Limits,
    ) -> Result<Vec<Complaint>, String> {
        let Bench {
            config,
            campaign,
            tally,
            ..
        } = self.bench;
        let twin = subject.memory_twin(config, campaign.root(), tally)?;
        let outcome = self.run_twin(twin, capsule, limits)?;
        let mut complaints = complaints(&outcome.stderr, outcome.ended);
        complaints.retain(|complaint| complaint.kinds == [Failure::UninitialisedRead]);
        Ok(complaints)
    }

    fn run_twin(
        &self,
        twin: &TwinProgram,
        capsule: &Capsule,
        limits: &Limits,
    ) -> Result<Outcome, String> {
        let spec = capsule.spec(&twin.program, &[], limits);
        run_twin(&self.bench.config.sandbox, twin, spec).map_err(|error| error.to_string())
    }

    /// Runs the twin that sees failures of this kind.
    pub fn try_twin_of(
        &self,
        kind: Failure,
        subject: &Subject,
        capsule: &Capsule,
        limits: &Limits,
    ) -> Result<Vec<Complaint>, String> {
        match kind {
            Failure::UninitialisedRead => self.try_memory_twin(subject, capsule, limits),
            _ => self.try_twin(subject, capsule, limits),
        }
    }

    /// What both twins say of an input, the memory twin if there is time for it. Where the twin saw a misuse
    /// of memory, what was read there is no more than a consequence.
    pub fn judge(
        &self,
        subject: &Subject,
        capsule: &Capsule,
        limits: &Limits,
        deadline: Instant,
    ) -> Result<Vec<Complaint>, String> {
        let mut said = self.try_twin(subject, capsule, limits)?;
        let is_misuse = |kind: &Failure| is_memory(*kind) || *kind == Failure::Crash;
        let is_misused = said.iter().flat_map(|one| &one.kinds).any(is_misuse);
        if !is_misused && !self.bench.is_over(deadline) {
            // Why there is no memory twin is said once, in the summary.
            let unwritten = self.try_memory_twin(subject, capsule, limits);
            said.extend(unwritten.unwrap_or_default());
        }
        Ok(said)
    }

    /// Makes the scratch directory, and makes it empty.
    fn clear(&self) -> io::Result<()> {
        match fs::read_dir(&self.scratch) {
            Ok(entries) => entries
                .flatten()
                .try_for_each(|entry| fs::remove_file(entry.path())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&self.scratch)
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        // Traces are of no use to anybody; the next campaign would clear them too.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// What a run may use up: much longer than the first one, since it is recorded, but not for ever.
/// Many a program of a suite only ends because nobody reads what it writes.
pub fn limits(config: &Config, first: Duration) -> Limits {
    limits_within(
        config,
        first * 200,
        Duration::from_secs(5)..Duration::from_secs(60),
    )
}

/// What a run may use up that is one of thousands.
pub fn tight_limits(config: &Config, recorded: Duration) -> Limits {
    limits_within(
        config,
        recorded * 20,
        Duration::from_secs(2)..Duration::from_secs(10),
    )
}

fn limits_within(config: &Config, usual: Duration, range: Range<Duration>) -> Limits {
    let usual = usual.clamp(range.start, range.end);
    let wall = config.run_time.unwrap_or(usual);
    Limits {
        wall,
        cpu_seconds: wall.as_secs() + 1,
        ..Limits::default()
    }
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
    config.question_time.hash(&mut hasher);
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
