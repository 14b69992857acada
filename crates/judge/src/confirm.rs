//! One predicted failure: its input is tried, and what was seen is judged.

use std::fmt;

use nearmiss_sites::Sites;
use nearmiss_trace::Event;

use crate::complaint::Complaint;
use crate::verdict::{Expected, Verdict, judge};

/// How an input is tried.
pub trait Trial<Input: ?Sized> {
    /// Why nothing was seen.
    type Error: fmt::Display;

    /// Runs the program itself; gives the path that it took.
    fn replay(&self, input: &Input) -> Result<Vec<Event>, Self::Error>;

    /// Runs its twin; gives what that complains about.
    fn twin(&self, input: &Input) -> Result<Vec<Complaint>, Self::Error>;
}

/// Tries an input that is expected to fail, and judges what was seen.
pub fn confirm<Input: ?Sized, Trials: Trial<Input>>(
    trial: &Trials,
    input: &Input,
    expected: &Expected,
    sites: &Sites,
) -> Verdict {
    let replayed = trial.replay(input);
    judge(expected, sites, replayed.as_deref(), trial.twin(input))
}
