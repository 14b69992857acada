//! The sanitizer twin, which sees every test: on a thread of its own, beside the exploration.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use nearmiss_judge::Complaint;
use nearmiss_judge::{complaints_of, sanitizer_variables};
use nearmiss_sandbox::Sandbox;
use nearmiss_server::{Ended, Request, Server, Settings};
use nearmiss_twin::TwinProgram;

use crate::budget::{self, Budget};
use crate::build::BuildError;
use crate::error::{ExploreError, Unfinished};
use crate::executor;
use crate::freed::Rows;

/// What the judge needs to begin.
pub struct Setup {
    /// Builds the twin.
    pub build: Box<dyn FnOnce() -> Result<TwinProgram, BuildError> + Send>,
    /// Where it runs.
    pub sandbox: Sandbox,
    /// A directory of its own.
    pub directory: PathBuf,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// How long one run may take.
    pub run_time: Duration,
    /// When no more tests are looked at.
    pub budget: Budget,
    /// What is run: one of `nearmiss_abi::server::MODE_*`.
    pub mode: u32,
    /// Whether one process may make many runs.
    pub restarts: bool,
}

/// Runs tests on the twin.
pub struct Judge {
    cases: Sender<(usize, Vec<u8>)>,
    thread: JoinHandle<()>,
    /// What the twin has said so far.
    judged: Arc<Mutex<Judged>>,
    budget: Budget,
}

/// What the twin said.
#[derive(Debug, Default)]
pub struct Judged {
    /// Tests at which it complained, in their order.
    pub complaints: Vec<(usize, Vec<Complaint>)>,
    /// Tests in which blocks were freed, and what their runs handed over.
    pub freed: Vec<(usize, Rows)>,
    /// How many tests it saw.
    pub seen: usize,
    /// Why it saw no more.
    pub trouble: Option<Unfinished<ExploreError>>,
}

impl Judge {
    /// Begins to build; tests may be given at once.
    pub fn start(setup: Setup) -> Judge {
        let (cases, receiver) = channel();
        let judged = Arc::new(Mutex::new(Judged::default()));
        let (budget, shared) = (setup.budget, judged.clone());
        let thread = std::thread::spawn(move || judge(setup, receiver, &shared));
        Judge {
            cases,
            thread,
            judged,
            budget,
        }
    }

    /// Looks at a test.
    pub fn look_at(&self, test: usize, rows: Vec<u8>) {
        // A judge that has given up says so in the end.
        let _ = self.cases.send((test, rows));
    }

    /// Waits until it has seen all, or the budget is exhausted.
    pub fn finish(self) -> Judged {
        drop(self.cases);
        let ended = budget::wait_for(self.thread, &self.budget);
        let mut judged = std::mem::take(&mut *lock(&self.judged));
        match ended {
            Some(Ok(())) => {}
            Some(Err(_)) => judged.trouble = Some(Unfinished::Panicked("the judge's thread")),
            None => judged.trouble = Some(Unfinished::OutOfTime(Some(judged.seen))),
        }
        judged
    }
}

/// What has been said; a thread that panicked has left it whole.
fn lock(judged: &Mutex<Judged>) -> MutexGuard<'_, Judged> {
    judged.lock().unwrap_or_else(PoisonError::into_inner)
}

fn judge(setup: Setup, cases: Receiver<(usize, Vec<u8>)>, judged: &Mutex<Judged>) {
    if let Err(trouble) = judge_all(setup, cases, judged) {
        lock(judged).trouble = Some(trouble);
    }
}

fn judge_all(
    setup: Setup,
    cases: Receiver<(usize, Vec<u8>)>,
    judged: &Mutex<Judged>,
) -> Result<(), Unfinished<ExploreError>> {
    let twin = (setup.build)().map_err(ExploreError::from)?;
    let settings = settings(&twin, setup.environment, setup.directory, setup.restarts);
    let server = Server::start(&setup.sandbox, settings);
    let mut server = server.map_err(ExploreError::from)?;
    server.stop_by(setup.budget.stop);
    for (test, rows) in cases {
        if setup.budget.is_exhausted() {
            return Err(Unfinished::OutOfTime(Some(lock(judged).seen)));
        }
        let mut request = Request {
            mode: setup.mode,
            rows: &rows,
            time: setup.run_time,
            fresh: false,
        };
        let mut run = server.run(&request).map_err(ExploreError::from)?;
        lock(judged).seen += 1;
        if setup.restarts && executor::is_checked(lock(judged).seen as u64) {
            let before = run;
            request.fresh = true;
            run = server.run(&request).map_err(ExploreError::from)?;
            if (before.ended, &before.results) != (run.ended, &run.results) {
                return Err(Unfinished::Failed(ExploreError::NotRepeatable));
            }
        }
        if nearmiss_harness::may_tell_of_freed(&run.results) {
            lock(judged).freed.push((test, run.results));
        }
        // Nothing is said about what does not end.
        let Some(ended) = run.ended else {
            continue;
        };
        let said = server.complaints();
        if said.is_empty() && matches!(ended, Ended::Exited(_)) {
            continue;
        }
        let complaints = complaints_of(said, ended, &twin);
        if !complaints.is_empty() {
            lock(judged).complaints.push((test, complaints));
        }
    }
    Ok(())
}

/// How a twin is served, in a directory of its own: its sanitizers report all failures and go on.
pub fn settings(
    twin: &TwinProgram,
    mut environment: Vec<(OsString, OsString)>,
    directory: PathBuf,
    restarts: bool,
) -> Settings {
    let variables = sanitizer_variables().into_iter();
    environment.extend(variables.map(|(name, value)| (name.into(), value)));
    Settings {
        program: twin.program.clone(),
        environment,
        record: None,
        working_directory: directory.clone(),
        directory,
        restarts: executor::restarts_from(restarts),
    }
}
