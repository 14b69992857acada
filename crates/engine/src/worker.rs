//! One thread's runs in the sandbox: to record, and to see what the twin says. All of them are counted here.

use std::cell::Cell;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io};

use nearmiss_abi::check::Kind as Failure;
use nearmiss_abi::environment::BLOCKS;
use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_campaign::store::{Campaign, Kind, Work};
use nearmiss_judge::complaint::{complaints, is_memory};
use nearmiss_judge::{Complaint, symbolized, twin_spec};
use nearmiss_sandbox::{Ended, Exceeded, Limits, Outcome, Sandbox, SandboxError, Spec};
use nearmiss_search::Tally;
use nearmiss_solve::{Backend, Stack};
use nearmiss_twin::TwinProgram;

use crate::Config;
use crate::analyse::{Analysis, Context, Task, analyse};
use crate::error::TrialError;
use crate::executor::{CapsuleExecutor, Traced, can_be_forked};
use crate::explore::Counts;
use crate::forks::{ForkServers, ForkedRun};
use crate::recorders::Recorders;
use crate::subject::Subject;

/// The file in which a twin counts how often it makes a block larger.
const COUNT_FILE: &str = "blocks";

/// What all threads of a campaign share.
#[derive(Debug)]
pub struct Shared<'a> {
    /// What is wanted.
    pub config: &'a Config,
    /// Where things are kept.
    pub campaign: &'a Campaign,
    /// Where what is known of tests is kept.
    pub work: Work,
    /// How far it has come, for a display.
    pub tally: &'a Tally,
    /// What its programs are recorded by.
    pub recorders: Arc<Recorders>,
    /// Answers queries about paths.
    pub stack: Stack,
    /// The number of the next directory for an input.
    directories: AtomicU64,
}

impl<'a> Shared<'a> {
    /// That of a campaign.
    pub fn new(
        config: &'a Config,
        campaign: &'a Campaign,
        kind: Kind,
        tally: &'a Tally,
    ) -> Shared<'a> {
        Shared {
            config,
            campaign,
            work: campaign.work(kind),
            tally,
            recorders: Arc::new(Recorders::new(config, campaign.root())),
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

/// What a run of a twin showed.
#[derive(Debug)]
pub struct TwinAnswer {
    /// What it complains about.
    pub complaints: Vec<Complaint>,
    /// How it ended.
    pub ended: Ended,
    /// The limit for which it was ended, if it was.
    pub exceeded: Option<Exceeded>,
    /// Whether nothing was written to standard error.
    pub is_silent: bool,
    /// How often a block of the heap was made larger.
    pub enlarged: u64,
}

/// One thread, with a place of its own for traces.
#[derive(Debug)]
pub struct Worker<'a> {
    /// What it shares with the others.
    pub shared: &'a Shared<'a>,
    /// A directory for traces.
    pub scratch: PathBuf,
    /// Programs and twins that are forked for its runs.
    pub(crate) forks: ForkServers,
    counts: Cell<Counts>,
}

impl<'a> Worker<'a> {
    /// The worker of one thread.
    pub fn new(shared: &'a Shared<'a>, thread: usize) -> Worker<'a> {
        Worker {
            shared,
            scratch: shared.work.scratch().join(thread.to_string()),
            forks: ForkServers::new(shared.work.scratch().join(format!("{thread}-forks"))),
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
            worker: self,
            sites: &subject.program.sites,
            origin,
            is_whole: subject.program.uninstrumented.is_empty(),
            limits,
        }
    }

    /// What this thread has done so far.
    pub fn counts(&self) -> Counts {
        let counts = self.counts.get();
        let cpu = counts.cpu + nearmiss_solve::thread_time();
        Counts { cpu, ..counts }
    }

    /// Its runs in the sandbox used up so much more CPU time.
    pub fn count_cpu(&self, time: Duration) {
        self.count(|counts| counts.cpu += time);
    }

    /// A run took a new path.
    pub fn count_path(&self) {
        self.shared.tally.paths.add(1);
        self.count(|counts| counts.paths += 1);
    }

    /// A defect was found.
    pub fn count_finding(&self) {
        self.shared.tally.findings.add(1);
        self.count(|counts| counts.findings += 1);
    }

    /// A run is made.
    pub fn count_run(&self) {
        self.shared.tally.count_run();
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
        let Shared {
            config,
            stack,
            tally,
            ..
        } = self.shared;
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
    ) -> Result<Vec<Complaint>, TrialError> {
        let TwinAnswer {
            complaints,
            exceeded,
            ..
        } = self.ask_twin(subject, capsule, limits)?;
        match exceeded.filter(|_| complaints.is_empty()) {
            Some(limit) => Err(TrialError::Exceeded(limit)),
            None => Ok(complaints),
        }
    }

    /// Runs the twin; gives all that it showed.
    pub fn ask_twin(
        &self,
        subject: &Subject,
        capsule: &Capsule,
        limits: &Limits,
    ) -> Result<TwinAnswer, TrialError> {
        let twin = subject.twin(self.shared)?;
        self.count_run();
        let TwinOutcome { outcome, enlarged } = self.run_twin(subject, twin, capsule, limits)?;
        Ok(TwinAnswer {
            complaints: complaints(&outcome.stderr, outcome.ended),
            ended: outcome.ended,
            exceeded: outcome.exceeded,
            is_silent: outcome.stderr.is_empty(),
            enlarged,
        })
    }

    /// Runs the memory twin; gives what it says of memory that was never written, and nothing else: of all
    /// other failures the twin is the judge. It sees the input that the twin sees, so this is no run more.
    fn try_memory_twin(
        &self,
        subject: &Subject,
        capsule: &Capsule,
        limits: &Limits,
    ) -> Result<Vec<Complaint>, TrialError> {
        let twin = subject.memory_twin(self.shared)?;
        let TwinOutcome { outcome, .. } = self.run_twin(subject, twin, capsule, limits)?;
        let mut complaints = complaints(&outcome.stderr, outcome.ended);
        complaints.retain(|complaint| complaint.kinds == [Failure::UninitialisedRead]);
        Ok(complaints)
    }

    fn run_twin(
        &self,
        subject: &Subject,
        twin: &TwinProgram,
        capsule: &Capsule,
        limits: &Limits,
    ) -> Result<TwinOutcome, TrialError> {
        let spec = twin_spec(twin, capsule.spec(&twin.program, &[], limits));
        let sandbox = &self.shared.config.sandbox;
        let run = TwinRun {
            sandbox,
            program: &subject.file,
            twin,
            spec: &spec,
            scratch: &self.scratch,
        };
        let twin_outcome = match can_be_forked(capsule) {
            true => self.forks.run(sandbox, &spec, &run),
            false => run.alone(),
        }?;
        self.count_cpu(twin_outcome.outcome.used.cpu);
        Ok(twin_outcome)
    }

    /// Runs the twin that sees failures of this kind.
    pub fn try_twin_of(
        &self,
        kind: Failure,
        subject: &Subject,
        capsule: &Capsule,
        limits: &Limits,
    ) -> Result<Vec<Complaint>, TrialError> {
        match kind {
            Failure::UninitialisedRead => self.try_memory_twin(subject, capsule, limits),
            Failure::Hang => self.try_endless(subject, capsule),
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
    ) -> Result<Vec<Complaint>, TrialError> {
        let mut said = self.try_twin(subject, capsule, limits)?;
        let is_misuse = |kind: &Failure| is_memory(*kind) || *kind == Failure::Crash;
        let is_misused = said.iter().flat_map(|one| &one.kinds).any(is_misuse);
        if !is_misused && !self.shared.is_over(deadline) {
            // Why there is no memory twin is said once, in the summary.
            let unwritten = self.try_memory_twin(subject, capsule, limits);
            said.extend(unwritten.unwrap_or_default());
        }
        Ok(said)
    }

    /// Makes the scratch directory, and makes it empty.
    pub fn clear(&self) -> io::Result<()> {
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

/// A twin's run.
struct TwinRun<'a> {
    sandbox: &'a Sandbox,
    program: &'a Path,
    twin: &'a TwinProgram,
    spec: &'a Spec,
    /// Where a run by a process of its own counts.
    scratch: &'a Path,
}

/// What a twin's run left.
struct TwinOutcome {
    outcome: Outcome,
    /// How often a block of the heap was made larger.
    enlarged: u64,
}

impl TwinRun<'_> {
    fn outcome(&self, outcome: Outcome, directory: &Path) -> TwinOutcome {
        TwinOutcome {
            outcome: symbolized(outcome, self.twin, self.spec),
            enlarged: take_count(&directory.join(COUNT_FILE)).unwrap_or(0),
        }
    }
}

impl ForkedRun for TwinRun<'_> {
    type Result = TwinOutcome;
    type Error = SandboxError;

    fn alone(&self) -> Result<TwinOutcome, SandboxError> {
        let mut spec = self.spec.clone();
        self.equip(&mut spec, self.scratch);
        Ok(self.outcome(self.sandbox.run(&spec)?, self.scratch))
    }

    fn equip(&self, spec: &mut Spec, directory: &Path) {
        let file = directory.join(COUNT_FILE);
        let zero = [0; size_of::<u64>()];
        if fs::create_dir_all(directory)
            .and_then(|()| fs::write(&file, zero))
            .is_ok()
        {
            spec.environment.push((BLOCKS.into(), file.into()));
            spec.writable.push(directory.into());
        }
    }

    fn read(&self, outcome: Outcome, directory: &Path) -> Option<TwinOutcome> {
        Some(self.outcome(outcome, directory))
    }

    fn relies_on(&self) -> Option<&Path> {
        Some(self.program)
    }

    fn agree(&self, one: &TwinOutcome, other: &TwinOutcome) -> bool {
        let (one, other) = (&one.outcome, &other.outcome);
        (one.ended, one.exceeded, &one.stdout) == (other.ended, other.exceeded, &other.stdout)
            && complaints(&one.stderr, one.ended) == complaints(&other.stderr, other.ended)
    }
}

/// The number that a run left in a file, which is 0 for the next one.
fn take_count(file: &Path) -> io::Result<u64> {
    let file = fs::File::options().read(true).write(true).open(file)?;
    let mut count = [0; size_of::<u64>()];
    file.read_exact_at(&mut count, 0)?;
    file.write_all_at(&[0; size_of::<u64>()], 0)?;
    Ok(u64::from_le_bytes(count))
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.forks.end();
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
