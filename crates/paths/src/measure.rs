//! Counting coverage, on a thread of its own beside the exploration.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use nearmiss_results::Coverage;
use nearmiss_sandbox::Sandbox;

use crate::Cover;
use crate::budget::{self, Budget};
use crate::build::Programs;
use crate::coverage::{CoverageError, Gain, Meter};
use crate::error::Unfinished;

/// What is needed to begin.
pub struct Setup {
    /// What is counted.
    pub programs: Arc<Programs>,
    /// Where it runs.
    pub sandbox: Sandbox,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// How long one run may take.
    pub run_time: Duration,
    /// What is to be covered.
    pub cover: Cover,
    /// When no more tests are counted.
    pub budget: Budget,
}

/// Runs tests on the program that counts.
pub struct Measure {
    cases: Sender<Case>,
    thread: JoinHandle<Measured>,
    budget: Budget,
}

/// A test, and where to send what it adds.
struct Case {
    rows: Vec<u8>,
    answer: Option<Sender<Counted>>,
}

/// What a test adds.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// What is new.
    pub gain: Gain,
    /// Whether nothing is left to cover.
    pub is_full: bool,
}

/// What all tests cover.
#[derive(Debug, Default)]
pub struct Measured {
    /// Numbers, and what is not covered.
    pub coverage: Option<Coverage>,
    /// The file for lcov's tools.
    pub lcov: String,
    /// Why it was not counted, or not all of it.
    pub trouble: Option<Unfinished<CoverageError>>,
}

impl Measure {
    /// Begins to build; tests may be given at once.
    pub fn start(setup: Setup) -> Measure {
        let (cases, receiver) = channel();
        let budget = setup.budget;
        let thread = std::thread::spawn(move || {
            let mut measured = Measured::default();
            if let Err(trouble) = measure(setup, receiver, &mut measured) {
                measured.trouble = Some(Unfinished::Failed(trouble));
            }
            measured
        });
        Measure {
            cases,
            thread,
            budget,
        }
    }

    /// Counts a test.
    pub fn look_at(&self, rows: Vec<u8>) {
        // A thread that has given up says so in the end.
        let _ = self.cases.send(Case { rows, answer: None });
    }

    /// Counts a test and waits for what it adds; `None` if the thread has given up.
    pub fn ask(&self, rows: Vec<u8>) -> Option<Counted> {
        let (answer, receiver) = channel();
        let answer = Some(answer);
        self.cases.send(Case { rows, answer }).ok()?;
        receiver.recv().ok()
    }

    /// Waits until all tests are counted, or the budget is exhausted.
    pub fn finish(self) -> Measured {
        drop(self.cases);
        let gone = |why| Measured {
            trouble: Some(why),
            ..Measured::default()
        };
        match budget::wait_for(self.thread, &self.budget) {
            Some(Ok(measured)) => measured,
            Some(Err(_)) => gone(Unfinished::Panicked("the thread that counts")),
            None => gone(Unfinished::OutOfTime(None)),
        }
    }
}

fn measure(
    setup: Setup,
    cases: Receiver<Case>,
    measured: &mut Measured,
) -> Result<(), CoverageError> {
    let mut meter = Meter::start(
        &setup.sandbox,
        &setup.programs,
        setup.environment,
        setup.run_time,
    )?;
    for case in cases {
        if setup.budget.is_exhausted() {
            measured.trouble = Some(Unfinished::OutOfTime(None));
            break;
        }
        let gain = meter.run(&case.rows)?;
        if let Some(answer) = case.answer {
            let is_full = meter.is_full(setup.cover);
            // A receiver that is gone has stopped.
            let _ = answer.send(Counted { gain, is_full });
        }
    }
    let (coverage, lcov) = meter.report()?;
    measured.coverage = Some(coverage);
    measured.lcov = lcov;
    Ok(())
}
