//! How often runs had which outcome.

use std::collections::HashMap;

use super::Outcome;

/// How many runs had each outcome. A run counts once, however often it came there.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    runs: HashMap<Outcome, u32>,
    /// How often a run had an outcome, at most, as powers of two.
    most: HashMap<Outcome, u32>,
}

impl Outcomes {
    /// One more run, with these outcomes. Says whether it brought something new: an outcome that no run had, or
    /// one about twice as often as any had it, as the next turns of a loop do.
    pub fn add(&mut self, outcomes: &mut dyn Iterator<Item = Outcome>) -> bool {
        let mut of_run: Vec<Outcome> = outcomes.collect();
        of_run.sort_unstable();
        let mut is_new = false;
        for same in of_run.chunk_by(|one, other| one == other) {
            *self.runs.entry(same[0]).or_default() += 1;
            let most = self.most.entry(same[0]).or_default();
            let times = how_often(same.len());
            is_new |= times > *most;
            *most = times.max(*most);
        }
        is_new
    }

    /// How many runs had it.
    pub fn count(&self, outcome: Outcome) -> u32 {
        self.runs.get(&outcome).copied().unwrap_or(0)
    }
}

/// How often, roughly: the first few numbers, then one more for each doubling.
fn how_often(times: usize) -> u32 {
    const FEW: usize = 4;
    match times {
        0..=FEW => times as u32,
        _ => FEW as u32 + (times / FEW).ilog2(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_turns_of_a_loop_are_new() {
        let mut outcomes = Outcomes::default();
        let mut add = |times: usize| outcomes.add(&mut vec![(7, 1); times].into_iter());
        let news = [1, 1, 2, 3, 2, 4, 5, 7, 8, 9, 16].map(&mut add);
        let expected = [
            true, false, true, true, false, true, false, false, true, false, true,
        ];
        assert_eq!(news, expected);
        assert_eq!((outcomes.count((7, 1)), outcomes.count((7, 0))), (11, 0));
    }
}
