//! Where an exploration works: runs of the harness are read into one arena of terms, and queries about
//! those terms are answered.

use std::time::{Duration, Instant};

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::{EventKind, PHASE_FUNCTION, PHASE_RESULT, PHASE_SETUP};
use nearmiss_expr::{Evaluator, TermId, Terms};
use nearmiss_harness::ACCEPTED;
use nearmiss_server::Ended;
use nearmiss_sites::Sites;
use nearmiss_solve::{Answer, Limits, TreeSession};
use nearmiss_trace::{Arena, Event, Reading, RecordedPath};

use crate::budget::Budget;
use crate::dedup;
use crate::error::ExploreError;
use crate::executor::{Call, HarnessExecutor, events_read};
use crate::input::{Channels, Input};

/// An arena of terms, with what fills it and what answers queries about it.
pub struct Workspace {
    executor: Box<HarnessExecutor>,
    /// Places of the program.
    pub sites: Sites,
    /// The terms of all runs.
    pub terms: Terms,
    /// The channels of all runs.
    pub channels: Channels,
    /// The solver of all queries.
    pub solver: TreeSession,
    /// How long one query may take.
    query_time: Duration,
    /// When everything has to end.
    pub budget: Budget,
    evaluator: Evaluator,
    knows_setup: bool,
    /// The time of all runs, and of reading what they recorded.
    pub time_of_runs: Duration,
}

/// The least time for a query.
const MIN_QUERY_TIME: Duration = Duration::from_millis(10);
/// The least time for a run.
const MIN_RUN_TIME: Duration = Duration::from_millis(100);

/// A run, read into the arena.
#[derive(Debug)]
pub struct RecordedRun {
    /// How it ended; `None`: it had to be killed.
    pub ended: Option<Ended>,
    /// What it handed to `nearmiss_result`.
    pub results: Vec<(String, Vec<u8>)>,
    /// Its path.
    pub path: RecordedPath,
    /// Its whole input.
    pub input: Input,
}

impl RecordedRun {
    /// The bytes of a result.
    pub fn result(&self, name: &str) -> Option<&[u8]> {
        let mut results = self.results.iter();
        let found = results.find(|(other, _)| other == name);
        found.map(|(_, bytes)| bytes.as_slice())
    }

    /// Whether a result is there and not zero.
    pub fn says_yes(&self, name: &str) -> Option<bool> {
        Some(self.result(name)?.iter().any(|&byte| byte != 0))
    }

    /// Whether it did not end by itself in its time.
    pub fn is_unended(&self) -> bool {
        self.ended.is_none()
    }

    /// Whether it may lack something: it was too long, contradicts itself, or did not come to its end.
    pub fn is_doubtful(&self) -> bool {
        let is_cut = self.path.stopped || self.is_unended();
        is_cut || self.path.inconsistent > 0
    }

    /// Whether the precondition accepts the input. One that fails on it does not, whatever it says then.
    pub fn is_accepted(&self) -> bool {
        let is_contract = |event: &Event| event.failure == Some(Kind::Precondition);
        let fails = |event: &Event| {
            event.phase < PHASE_FUNCTION && event.is_failure() && !is_contract(event)
        };
        self.says_yes(ACCEPTED) == Some(true) && !self.path.events.iter().any(fails)
    }
}

impl Workspace {
    /// An empty arena.
    pub fn new(
        executor: Box<HarnessExecutor>,
        sites: Sites,
        solver: TreeSession,
        query_time: Duration,
        budget: Budget,
    ) -> Workspace {
        Workspace {
            executor,
            sites,
            terms: Terms::new(),
            channels: Channels::default(),
            solver,
            query_time,
            budget,
            evaluator: Evaluator::new(),
            knows_setup: false,
            time_of_runs: Duration::ZERO,
        }
    }

    /// Runs the harness.
    pub fn run(&mut self, mode: u32, input: &Input) -> Result<RecordedRun, ExploreError> {
        let start = Instant::now();
        let recorded = self.run_and_read(mode, input);
        self.time_of_runs += start.elapsed();
        recorded
    }

    fn run_and_read(&mut self, mode: u32, input: &Input) -> Result<RecordedRun, ExploreError> {
        let run = self.executor.run(&Call {
            mode,
            rows: input.rows(&self.channels),
            time: self.budget.time_left(MIN_RUN_TIME),
        })?;
        let channels = &mut self.channels;
        let mut number = |channel: &nearmiss_trace::Channel| channels.number(channel);
        let mut arena = Arena {
            terms: &mut self.terms,
            evaluator: &mut self.evaluator,
            number: &mut number,
        };
        let how = Reading {
            stdin: None,
            events: events_read(run.ended),
            implied_lengths: false,
        };
        let mut path = RecordedPath::read(&run.trace, &self.sites, &mut arena, how);
        path.events.retain(matters);
        dedup::dedup_failed_checks(&mut path.events);
        Ok(RecordedRun {
            ended: run.ended,
            results: run.results,
            input: input.of_run(&path),
            path,
        })
    }

    /// What the harness assumes while it makes the inputs holds in every run: the solver assumes
    /// it, after the first run that kept to all of it.
    pub fn learn_setup(&mut self, recorded: &RecordedRun) {
        let is_known = self.knows_setup || recorded.path.phase == PHASE_SETUP;
        if is_known || recorded.path.numbers.is_empty() {
            return;
        }
        let setup = recorded.path.events.iter();
        let setup = setup.take_while(|event| event.phase == PHASE_SETUP);
        let conditions: Vec<TermId> = setup.filter_map(|event| event.condition).collect();
        self.solver.assume_always(&conditions);
        self.knows_setup = true;
    }

    /// Whether an input makes all conditions true.
    pub fn holds(&mut self, conditions: &[TermId], input: &Input) -> bool {
        self.evaluator.reset();
        let mut all = conditions.iter();
        all.all(|&condition| self.evaluator.holds(&self.terms, input, condition))
    }

    /// Those conditions that an input makes true, and the others.
    pub fn partition(
        &mut self,
        conditions: &[TermId],
        input: &Input,
    ) -> (Vec<TermId>, Vec<TermId>) {
        self.evaluator.reset();
        let (terms, evaluator) = (&self.terms, &mut self.evaluator);
        let conditions = conditions.iter().copied();
        conditions.partition(|&condition| evaluator.holds(terms, input, condition))
    }

    /// Is there an input for all conditions and the goal? `base` makes the conditions true.
    pub fn ask(&mut self, conditions: &[TermId], goal: TermId, base: &Input) -> Solution {
        let latest = Instant::now() + self.budget.time_left(MIN_QUERY_TIME);
        let limits = Limits::until(self.query_time, latest);
        let terms = &mut self.terms;
        let reply = (self.solver).query(terms, conditions, goal, base, &limits);
        match reply.answer {
            Answer::Sat(model) => Solution::Input(base.with(&model)),
            Answer::Unsat => Solution::Infeasible,
            Answer::Unknown(_) => Solution::Unknown,
        }
    }
}

/// Whether an event says anything about the function. The harness itself fills blocks whose sizes
/// are inputs with as many elements as there are in this run: that this fits is so by construction,
/// and no condition on the path.
fn matters(event: &Event) -> bool {
    match event.phase {
        PHASE_SETUP => !matches!(
            event.kind,
            EventKind::Check | EventKind::CheckFailed | EventKind::Probe
        ),
        phase => phase != PHASE_RESULT,
    }
}

/// What became of the search for an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Solution {
    /// There is such an input.
    Input(Input),
    /// There is none.
    Infeasible,
    /// It is not known.
    Unknown,
}
