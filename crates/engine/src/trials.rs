//! Inputs tried on a program and on its twins: what the judge sees of a campaign's runs.

use std::sync::Arc;
use std::time::Instant;

use nearmiss_abi::check::Kind;
use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_judge::{Complaint, Trial};
use nearmiss_sandbox::Limits;
use nearmiss_search::Executor;
use nearmiss_trace::Event;

use crate::error::TrialError;
use crate::subject::Subject;
use crate::worker::Worker;

/// Trials of one program, until a deadline.
#[derive(Clone)]
pub struct Trials<'a> {
    /// Where they are made.
    pub worker: &'a Worker<'a>,
    /// The program.
    pub subject: &'a Subject,
    /// What each may use up.
    pub limits: Limits,
    /// When no more are begun.
    pub deadline: Instant,
}

impl Trials<'_> {
    /// Whether no more are begun.
    pub fn is_over(&self) -> bool {
        self.worker.shared.is_over(self.deadline)
    }

    /// What the twin that sees failures of this kind complains about on an input.
    pub fn twin_of(&self, kind: Kind, capsule: &Capsule) -> Result<Vec<Complaint>, TrialError> {
        self.worker
            .try_twin_of(kind, self.subject, capsule, &self.limits)
    }
}

impl Trial<Capsule> for Trials<'_> {
    type Error = TrialError;

    fn replay(&self, capsule: &Capsule) -> Result<Vec<Event>, TrialError> {
        let limits = self.limits.clone();
        let mut executor = self.worker.executor(self.subject, Origin::Invented, limits);
        let run = executor.run(capsule);
        let run = run.map_err(|error| TrialError::NotRecorded(Arc::new(error)))?;
        Ok(run.path.events)
    }

    fn twin(&self, capsule: &Capsule) -> Result<Vec<Complaint>, TrialError> {
        self.worker.try_twin(self.subject, capsule, &self.limits)
    }
}
