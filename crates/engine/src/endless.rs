//! Inputs on which a program never ends: that it does not is shown on the program itself, where it loops is said by its
//! twin (`sandbox::endless`).

use std::time::Duration;

use nearmiss_abi::check::Kind;
use nearmiss_campaign::capsule::Capsule;
use nearmiss_judge::complaint::{complaints, endless};
use nearmiss_judge::{Complaint, run_twin};
use nearmiss_sandbox::{Endless, EndlessSearch, Exceeded, Limits, Outcome, Sandbox, SandboxError};
use nearmiss_twin::TwinProgram;

use crate::error::TrialError;
use crate::subject::Subject;
use crate::worker::{TwinAnswer, Worker};

/// Processor time after which a program is looked at for the first time. What is seen then is a proof, however short the
/// time.
const FIRST_LOOK: Duration = Duration::from_millis(150);
/// A twin is so many times slower than its program.
const TWIN_SLOWDOWN: u32 = 3;
/// The longest that a run is looked at. Attempts end earlier, unless the machine is busy.
const LONGEST: Duration = Duration::from_secs(30);

impl Worker<'_> {
    /// What there is to say of an input on which the program may never end: where it loops, if it does. Nothing if it
    /// ends, or may end.
    pub fn try_endless(
        &self,
        subject: &Subject,
        capsule: &Capsule,
    ) -> Result<Vec<Complaint>, TrialError> {
        let Some(time) = self.never_ends(capsule)? else {
            return Ok(Vec::new());
        };
        let twin = subject.twin(self.shared)?;
        self.count_run();
        let outcome = run_endless_twin(&self.shared.config.sandbox, twin, capsule, time)?;
        let said = complaints(&outcome.stderr, outcome.ended);
        Ok(match outcome.exceeded {
            Some(Exceeded::Endless) => endless(said),
            // It takes long, for all that its twin says.
            Some(_) => Vec::new(),
            None => said,
        })
    }

    /// Runs the twin; where that has to be ended for its time and has said nothing, whether it would ever end.
    pub fn ask_twin_to_the_end(
        &self,
        subject: &Subject,
        capsule: &Capsule,
        limits: &Limits,
    ) -> Result<TwinAnswer, TrialError> {
        let mut answer = self.ask_twin(subject, capsule, limits)?;
        let is_open = answer.exceeded == Some(Exceeded::Time) && answer.complaints.is_empty();
        if is_open && self.looks_for_endless() {
            answer.complaints = self.try_endless(subject, capsule)?;
        }
        Ok(answer)
    }

    /// Whether runs that do not end in time are looked at more closely.
    pub fn looks_for_endless(&self) -> bool {
        let config = self.shared.config;
        let checks = config.checks.as_ref();
        config.sandbox.confines() && checks.is_none_or(|kinds| kinds.contains(&Kind::Hang))
    }

    /// Whether the program never ends on an input; how long it took to see that.
    pub fn never_ends(&self, capsule: &Capsule) -> Result<Option<Duration>, TrialError> {
        self.count_run();
        Ok(never_ends(&self.shared.config.sandbox, capsule)?)
    }
}

/// Whether a program never ends on an input; how long it took to see that.
pub fn never_ends(sandbox: &Sandbox, capsule: &Capsule) -> Result<Option<Duration>, SandboxError> {
    let limits = limits(Endless::Proof, FIRST_LOOK);
    let outcome = sandbox.run(&capsule.spec(&capsule.program, &[], &limits))?;
    let is_endless = outcome.exceeded == Some(Exceeded::Endless);
    Ok(is_endless.then_some(outcome.used.elapsed))
}

/// Runs the twin of a program that never ends, as long as that took to see, until it says where it is.
pub fn run_endless_twin(
    sandbox: &Sandbox,
    twin: &TwinProgram,
    capsule: &Capsule,
    time: Duration,
) -> Result<Outcome, SandboxError> {
    let limits = limits(Endless::Place, (time * TWIN_SLOWDOWN).min(LONGEST / 4));
    run_twin(sandbox, twin, capsule.spec(&twin.program, &[], &limits))
}

fn limits(what: Endless, after: Duration) -> Limits {
    Limits {
        wall: LONGEST,
        cpu_seconds: LONGEST.as_secs(),
        endless: Some(EndlessSearch { what, after }),
        ..Limits::default()
    }
}
