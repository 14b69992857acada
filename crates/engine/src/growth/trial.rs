//! Which numbers of turns are tried, and the least that fails.
//!
//! ```text
//!  as many as may be, and one       nothing fails, and the program answers as it does on the test: done
//!  1, 4, 16, 64 …                   up to the first that fails
//!  between two that differ          halves: the least that fails; the last that is accepted and the first
//!                                   that is refused, where a guard that is off by one lets one too many through
//! ```

use std::collections::BTreeMap;

/// From one number of turns that is tried to the next.
const FACTOR: u64 = 4;
/// Most places at which the program's answer changes that are looked at.
const MAX_EDGES: usize = 2;

/// What a run of a longer input showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt<F> {
    /// The failures that were seen.
    pub failures: Vec<F>,
    /// Whether the program ended and complained otherwise than on the test's own input.
    pub answers_otherwise: bool,
}

/// The runs with more turns, each made once.
pub struct Ladder<'l, F> {
    attempt: &'l mut dyn FnMut(u64) -> Option<Attempt<F>>,
    known: BTreeMap<u64, Attempt<F>>,
}

impl<'l, F: Clone + PartialEq> Ladder<'l, F> {
    /// Runs made by `attempt`; without an answer there are no more.
    pub fn new(attempt: &'l mut dyn FnMut(u64) -> Option<Attempt<F>>) -> Ladder<'l, F> {
        Ladder {
            attempt,
            known: BTreeMap::new(),
        }
    }

    /// The failures of up to so many turns more, each with the least number that shows it; those that are not wanted
    /// are left out.
    pub fn climb(mut self, most: u64, is_wanted: &dyn Fn(&F, u64) -> bool) -> Vec<(F, u64)> {
        let found = self.steps(most).and_then(|()| self.edges());
        if found.is_none() && self.known.is_empty() {
            return Vec::new();
        }
        let mut least: Vec<(F, u64)> = Vec::new();
        let failures: Vec<F> = (self.known.values())
            .flat_map(|attempt| attempt.failures.iter().cloned())
            .collect();
        for failure in failures {
            if least.iter().any(|(known, _)| *known == failure) {
                continue;
            }
            let (below, fails) = self.bracket(&failure);
            if is_wanted(&failure, below + 1) {
                let turns = self.least(below, fails, |it| it.failures.contains(&failure));
                least.push((failure, turns));
            }
        }
        least
    }

    fn at(&mut self, turns: u64) -> Option<&Attempt<F>> {
        if !self.known.contains_key(&turns) {
            let attempt = (self.attempt)(turns)?;
            self.known.insert(turns, attempt);
        }
        self.known.get(&turns)
    }

    /// The steps up to the first failure. Where as many turns as may be change nothing, there is no need for others.
    fn steps(&mut self, most: u64) -> Option<()> {
        if most == 0 {
            return None;
        }
        let changes = |it: &Attempt<F>| it.answers_otherwise || !it.failures.is_empty();
        let at_most = changes(self.at(most)?);
        let mut turns = 1;
        while turns < most {
            let fails = !self.at(turns)?.failures.is_empty();
            if fails || !at_most {
                break;
            }
            turns *= FACTOR;
        }
        Some(())
    }

    /// Looks closely at the numbers between which the answer changes.
    fn edges(&mut self) -> Option<()> {
        let tried: Vec<(u64, bool, bool)> = std::iter::once((0, false, false))
            .chain(
                self.known
                    .iter()
                    .map(|(turns, it)| (*turns, it.answers_otherwise, !it.failures.is_empty())),
            )
            .collect();
        let is_edge =
            |pair: &&[(u64, bool, bool)]| pair[0].1 != pair[1].1 && !pair[0].2 && !pair[1].2;
        let edges: Vec<(u64, u64, bool)> = (tried.windows(2))
            .filter(is_edge)
            .map(|pair| (pair[0].0, pair[1].0, pair[1].1))
            .take(MAX_EDGES)
            .collect();
        for (low, high, otherwise) in edges {
            self.least(low, high, |it| {
                it.answers_otherwise == otherwise || !it.failures.is_empty()
            });
        }
        Some(())
    }

    /// The least known number that shows a failure, and the greatest below it that does not.
    fn bracket(&self, failure: &F) -> (u64, u64) {
        let shows = |it: &Attempt<F>| it.failures.contains(failure);
        let fails = self
            .known
            .iter()
            .find(|(_, it)| shows(it))
            .map_or(1, |(turns, _)| *turns);
        let below = self
            .known
            .range(..fails)
            .next_back()
            .map_or(0, |(turns, _)| *turns);
        (below, fails)
    }

    /// The least number between two for which something holds, given that it does for the higher one.
    fn least(&mut self, mut low: u64, mut high: u64, holds: impl Fn(&Attempt<F>) -> bool) -> u64 {
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.at(middle).map(&holds) {
                Some(true) => high = middle,
                Some(false) => low = middle,
                None => break,
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in a program with these answers, and how many runs that takes.
    fn climb(
        most: u64,
        fails: impl Fn(u64) -> bool,
        refuses: impl Fn(u64) -> bool,
    ) -> (Vec<u64>, u32) {
        let mut runs = 0;
        let mut attempt = |turns| {
            runs += 1;
            Some(Attempt {
                failures: if fails(turns) { vec!['f'] } else { vec![] },
                answers_otherwise: refuses(turns),
            })
        };
        let found = Ladder::new(&mut attempt).climb(most, &|_, _| true);
        (found.into_iter().map(|(_, turns)| turns).collect(), runs)
    }

    #[test]
    fn the_least_number_of_turns_that_fails() {
        assert_eq!(climb(5000, |turns| turns > 13, |_| false).0, [14]);
        assert_eq!(climb(5000, |turns| turns > 4093, |_| false).0, [4094]);
        assert_eq!(climb(5000, |turns| turns > 0, |_| false), (vec![1], 2));
    }

    #[test]
    fn runs_grow_with_the_logarithm_of_the_turns() {
        for (least, runs) in [(5, 7), (100, 14), (1000, 17)] {
            let found = climb(5000, |turns| turns >= least, |_| false);
            assert_eq!(found, (vec![least], runs));
        }
    }

    #[test]
    fn a_guard_that_lets_one_too_many_through() {
        assert_eq!(climb(5000, |turns| turns == 95, |turns| turns > 95).0, [95]);
    }

    #[test]
    fn what_changes_nothing_takes_two_runs() {
        assert_eq!(climb(5000, |_| false, |_| false), (vec![], 2));
        let (found, runs) = climb(5000, |_| false, |turns| turns > 95);
        assert!(found.is_empty() && runs < 20, "{runs}");
    }
}
