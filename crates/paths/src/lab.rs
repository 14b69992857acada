//! Runs of the harness, recorded and read into the one arena of terms.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nearmiss_abi::event::{EventKind, PHASE_FUNCTION, PHASE_RESULT, PHASE_SETUP};
use nearmiss_expr::{Evaluator, TermId, Terms};
use nearmiss_harness::ACCEPTED;
use nearmiss_server::{Ended, Request, Server, ServerError};
use nearmiss_sites::Sites;
use nearmiss_solve::{Answer, Limits, TreeSession};
use nearmiss_trace::{Arena, Event, RawTrace, Reading, RecordedPath};

use crate::input::{Channels, Input};
use crate::{memory, told_twice};

/// Where runs are made and questions are asked.
pub struct Lab {
    server: Server,
    /// Places of the program.
    pub sites: Sites,
    /// The terms of all runs.
    pub terms: Terms,
    /// The channels of all runs.
    pub channels: Channels,
    /// The solver of all queries.
    pub solver: TreeSession,
    /// How long one question may take.
    question_time: Duration,
    /// When everything has to end.
    pub end: End,
    evaluator: Evaluator,
    knows_setup: bool,
    /// How long one run may take.
    run_time: Duration,
    /// The time of all runs, and of reading what they recorded.
    pub time_of_runs: Duration,
}

/// When everything has to end.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// When the time is over.
    pub deadline: Instant,
    /// Set from outside to stop early.
    pub stop: &'static AtomicBool,
    /// How much memory may be used.
    pub memory: memory::Limit,
}

impl End {
    /// When an exploration that begins now and may take `time` has to end: so early that the twin can see
    /// its last tests in the rest.
    pub fn of_exploring(time: Duration) -> Instant {
        Instant::now() + time - share_of_finishing(time)
    }

    /// When what is left to do after the exploration has to end, of whose time this is a share: at once if it
    /// was stopped.
    pub fn of_finishing(self, time: Duration) -> End {
        End {
            deadline: self.deadline + share_of_finishing(time),
            memory: memory::Limit::NONE,
            ..self
        }
    }

    /// Whether it has come.
    pub fn has_come(&self) -> bool {
        let is_over = self.stop.load(Ordering::Relaxed) || Instant::now() >= self.deadline;
        is_over || self.memory.is_reached()
    }
}

/// The part of an exploration's time that is kept for the twin and the coverage of its last tests.
fn share_of_finishing(time: Duration) -> Duration {
    const MOST: Duration = Duration::from_secs(5);
    MOST.min(time / 8)
}

/// How long something on another thread may still take when the end has come.
const PATIENCE: Duration = Duration::from_millis(200);

/// Waits for a thread until it has ended, or a little longer than until the end has come; `None` then: it
/// goes on for itself.
pub fn wait_for<T>(thread: JoinHandle<T>, end: &End) -> Option<std::thread::Result<T>> {
    const STEP: Duration = Duration::from_millis(5);
    let mut patience = PATIENCE;
    while !thread.is_finished() {
        if end.has_come() {
            patience = patience.checked_sub(STEP)?;
        }
        std::thread::sleep(STEP);
    }
    Some(thread.join())
}

/// The least time for a question.
const LEAST_QUESTION: Duration = Duration::from_millis(10);
/// Events of a run that did not end in its time: what it would go on deciding has no end, while each
/// of its decisions costs memory and a question about all before it.
const UNENDED_EVENTS: usize = 512;

/// Nobody stops it.
static NEVER: AtomicBool = AtomicBool::new(false);
/// As long as anybody wants to wait, where nobody says.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// A run that was made.
#[derive(Debug)]
pub struct Recorded {
    /// How it ended.
    pub ended: Ended,
    /// What it handed to `nearmiss_result`.
    pub results: Vec<(String, Vec<u8>)>,
    /// Its path.
    pub path: RecordedPath,
    /// Its whole input.
    pub input: Input,
}

impl Recorded {
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

    /// Whether it does not tell all: it was too long, contradicts itself, or did not come to its end.
    pub fn is_doubtful(&self) -> bool {
        let is_cut = self.path.stopped || self.ended == Ended::TimedOut;
        is_cut || self.path.inconsistent > 0
    }

    /// Whether the precondition accepts the input. One that fails on it does not, whatever it says then.
    pub fn is_accepted(&self) -> bool {
        let fails = |event: &Event| event.phase < PHASE_FUNCTION && event.is_failure();
        self.says_yes(ACCEPTED) == Some(true) && !self.path.events.iter().any(fails)
    }
}

impl Lab {
    /// A lab around a program that waits for requests.
    pub fn new(
        server: Server,
        sites: Sites,
        solver: TreeSession,
        question_time: Duration,
        run_time: Duration,
    ) -> Lab {
        Lab {
            server,
            sites,
            terms: Terms::new(),
            channels: Channels::default(),
            solver,
            question_time,
            end: End {
                deadline: Instant::now() + LONG,
                stop: &NEVER,
                memory: memory::Limit::NONE,
            },
            evaluator: Evaluator::new(),
            knows_setup: false,
            run_time,
            time_of_runs: Duration::ZERO,
        }
    }

    /// Runs the harness.
    pub fn run(&mut self, mode: u32, input: &Input) -> Result<Recorded, String> {
        let start = Instant::now();
        let recorded = self.run_and_read(mode, input);
        self.time_of_runs += start.elapsed();
        recorded
    }

    fn run_and_read(&mut self, mode: u32, input: &Input) -> Result<Recorded, String> {
        let words = |error: ServerError| error.to_string();
        let run = self.server.run(&Request {
            mode,
            rows: &input.rows(&self.channels),
            time: self.time_of_run(),
        });
        let run = run.map_err(words)?;
        let file = self.server.trace_file().ok_or("nothing was recorded")?;
        let events = match run.ended {
            Ended::TimedOut => UNENDED_EVENTS,
            _ => usize::MAX,
        };
        let raw = RawTrace::open_start(file, events).map_err(|error| error.to_string())?;
        let channels = &mut self.channels;
        let mut number = |channel: &nearmiss_trace::Channel| channels.number(channel);
        let mut arena = Arena {
            terms: &mut self.terms,
            evaluator: &mut self.evaluator,
            number: &mut number,
        };
        let how = Reading {
            stdin: None,
            events,
            implied_lengths: false,
        };
        let mut path = RecordedPath::read(&raw, &self.sites, &mut arena, how);
        path.events.retain(matters);
        told_twice::drop_handlers_words(&mut path.events);
        Ok(Recorded {
            ended: run.ended,
            results: run.results,
            input: input.of_run(&path),
            path,
        })
    }

    /// How long the next run may take: no longer than everything.
    fn time_of_run(&self) -> Duration {
        const LEAST: Duration = Duration::from_millis(100);
        let left = self.end.deadline.saturating_duration_since(Instant::now());
        self.run_time.min(left.max(LEAST))
    }

    /// What the harness assumes while it makes the inputs holds in every run: the solver is told
    /// once, after the first run that kept to all of it.
    pub fn learn_setup(&mut self, recorded: &Recorded) {
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

    /// Is there an input for all conditions and the goal? `base` makes the conditions true.
    pub fn ask(&mut self, conditions: &[TermId], goal: TermId, base: &Input) -> Solution {
        // A question that is asked shortly before the end has no more time than is left.
        let left = self.end.deadline.saturating_duration_since(Instant::now());
        let limits = Limits::time(self.question_time.min(left.max(LEAST_QUESTION)));
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
