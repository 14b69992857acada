//! How often runs had which outcome.

use std::collections::HashMap;

use super::Outcome;

/// How many runs had each outcome. A run counts once, however often it came there.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    runs: HashMap<Outcome, u32>,
}

impl Outcomes {
    /// One more run, with these outcomes.
    pub fn add(&mut self, outcomes: &mut dyn Iterator<Item = Outcome>) {
        let mut of_run: Vec<Outcome> = outcomes.collect();
        of_run.sort_unstable();
        of_run.dedup();
        for outcome in of_run {
            *self.runs.entry(outcome).or_default() += 1;
        }
    }

    /// How many runs had it.
    pub fn count(&self, outcome: Outcome) -> u32 {
        self.runs.get(&outcome).copied().unwrap_or(0)
    }
}
