//! Inputs tried on a program and on its twins: what the judge sees of a campaign's runs.

use std::time::Instant;

use nearmiss_abi::check::Kind;
use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_judge::{Complaint, Trial};
use nearmiss_sandbox::Limits;
use nearmiss_search::Executor;
use nearmiss_trace::Event;

use crate::lab::Lab;
use crate::subject::Subject;

/// Trials of one program, until a deadline.
#[derive(Clone)]
pub struct Trials<'a> {
    /// Where they are made.
    pub lab: &'a Lab<'a>,
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
        self.lab.bench.is_over(self.deadline)
    }

    /// What the twin that sees failures of this kind complains about on an input.
    pub fn twin_of(&self, kind: Kind, capsule: &Capsule) -> Result<Vec<Complaint>, String> {
        self.lab
            .try_twin_of(kind, self.subject, capsule, &self.limits)
    }
}

impl Trial<Capsule> for Trials<'_> {
    fn replay(&self, capsule: &Capsule) -> Result<Vec<Event>, String> {
        let limits = self.limits.clone();
        let mut executor = self.lab.executor(self.subject, Origin::Invented, limits);
        let run = executor.run(capsule).map_err(|error| error.to_string())?;
        Ok(run.path.events)
    }

    fn twin(&self, capsule: &Capsule) -> Result<Vec<Complaint>, String> {
        self.lab.try_twin(self.subject, capsule, &self.limits)
    }
}
