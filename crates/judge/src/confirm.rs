//! One predicted failure: its input is tried, and what was seen is judged.

use nearmiss_sites::Sites;
use nearmiss_trace::Event;

use crate::complaint::Complaint;
use crate::verdict::{Expected, Verdict, judge};

/// How an input is tried. Errors are in words, for the report.
pub trait Trial<Input: ?Sized> {
    /// Runs the program itself; gives the path that it took.
    fn replay(&self, input: &Input) -> Result<Vec<Event>, String>;

    /// Runs its twin; gives what that complains about.
    fn twin(&self, input: &Input) -> Result<Vec<Complaint>, String>;
}

/// Tries an input that is expected to fail, and judges what was seen.
pub fn confirm<Input: ?Sized>(
    trial: &dyn Trial<Input>,
    input: &Input,
    expected: &Expected,
    sites: &Sites,
) -> Verdict {
    let replayed = trial.replay(input);
    let replayed = replayed.as_deref().map_err(Clone::clone);
    judge(expected, sites, replayed, trial.twin(input))
}
