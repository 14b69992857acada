//! The executor of an exploration: a fork server that runs the harness and records it.
//!
//! A run is handed on as it lies in its file. What it means in terms of all other runs is read by the
//! [workspace](crate::workspace), so that an executor needs no arena, and a test can bring its own.

use std::time::Duration;

use nearmiss_search::Executor;
use nearmiss_server::{Ended, Request, Server};
use nearmiss_trace::RawTrace;

use crate::error::ExploreError;

/// What one run of the harness is given.
#[derive(Clone, Debug)]
pub struct Call {
    /// One of `nearmiss_abi::server::MODE_*`.
    pub mode: u32,
    /// The contents of named channels, as `nearmiss_abi::environment::REPLAY` has them.
    pub rows: Vec<u8>,
    /// How long it may take at most.
    pub time: Duration,
}

/// What one run of the harness left.
#[derive(Debug)]
pub struct RawRun {
    /// How it ended; `None`: it had to be killed.
    pub ended: Option<Ended>,
    /// What it handed to `nearmiss_result`: name and bytes, in order.
    pub results: Vec<(String, Vec<u8>)>,
    /// What it recorded.
    pub trace: RawTrace,
}

/// Whatever runs harnesses.
pub type HarnessExecutor = dyn Executor<Input = Call, Run = RawRun, Error = ExploreError>;

/// Events that are read of a run that did not end in its time: what it would go on deciding has no
/// end, while each of its decisions costs memory and a query about all before it.
const UNENDED_EVENTS: usize = 512;

/// A harness that was started once and is forked for every run, or for many runs with its memory put back in
/// between. Of the latter some are made twice: what was put back wrongly would show.
pub struct ForkServer {
    server: Server,
    /// How long one run may take.
    run_time: Duration,
    /// Whether one process may make many runs.
    restarts: bool,
    runs: u64,
}

/// From this run on a process makes many: before the first of them it looks at all of its memory, which costs as much as
/// some forks.
const RESTARTS_FROM: u32 = 17;
/// One run in so many is made once more by a fresh process, and each whose number is a power of two.
const CHECKED: u64 = 256;

/// From which run on a process makes many, where it may.
pub fn restarts_from(may_restart: bool) -> Option<u32> {
    may_restart.then_some(RESTARTS_FROM)
}

/// Whether this run is to be made by a fresh process, too.
pub fn is_checked(number: u64) -> bool {
    let is_chosen = number.is_power_of_two() || number.is_multiple_of(CHECKED);
    is_chosen && number > u64::from(RESTARTS_FROM)
}

impl ForkServer {
    /// An executor of a program that waits for requests, and records.
    pub fn new(server: Server, run_time: Duration, restarts: bool) -> ForkServer {
        ForkServer {
            server,
            run_time,
            restarts,
            runs: 0,
        }
    }

    fn run_once(&mut self, call: &Call, fresh: bool) -> Result<RawRun, ExploreError> {
        let run = self.server.run(&Request {
            mode: call.mode,
            rows: &call.rows,
            time: self.run_time.min(call.time),
            fresh,
        })?;
        let file = self.server.trace_file();
        let file = file.ok_or(ExploreError::NotRecorded)?;
        let trace = RawTrace::open_start(file, events_read(run.ended))?;
        Ok(RawRun {
            ended: run.ended,
            results: run.results,
            trace,
        })
    }
}

impl Executor for ForkServer {
    type Input = Call;
    type Run = RawRun;
    type Error = ExploreError;

    fn run(&mut self, call: &Call) -> Result<RawRun, ExploreError> {
        let run = self.run_once(call, false)?;
        self.runs += 1;
        if self.restarts && run.ended.is_some() && is_checked(self.runs) {
            let fresh = self.run_once(call, true)?;
            if fresh.ended.is_some() && !run.is_same(&fresh) {
                return Err(ExploreError::NotRepeatable);
            }
        }
        Ok(run)
    }
}

impl RawRun {
    /// Whether another run did the same.
    fn is_same(&self, other: &RawRun) -> bool {
        (self.ended, &self.results) == (other.ended, &other.results)
            && self.trace.is_same(&other.trace)
    }
}

/// How many events are read of a run that ended so.
pub fn events_read(ended: Option<Ended>) -> usize {
    match ended {
        Some(_) => usize::MAX,
        None => UNENDED_EVENTS,
    }
}
