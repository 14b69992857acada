//! Which numbers of turns are tried, and the least that fails.
//!
//! ```text
//!  as many as may be                nothing fails, and the program answers as it does on the test: done. What a unit test
//!                                   calls may have refused them, and nothing tells: then a few numbers in between
//!  1, 4, 16, 64 …                   up to the first that fails; one in the middle where already one turn more is
//!                                   refused as the most are
//!  between two that differ          halves: the least that fails; the last that is accepted and the first
//!                                   that is refused, where a guard that is off by one lets one too many through
//!  a block is made larger           halves: the first number of turns at which it is, and those beside it, which fill
//!                                   such blocks to their last byte
//! ```

use std::collections::BTreeMap;

/// From one number of turns that is tried to the next.
const FACTOR: u64 = 4;
/// The one that is tried where one turn more is refused as the most are: what fails in between is rare.
const REFUSED: u64 = 64;
/// Those that are tried where a program answers alike whether it refuses or not.
const BELOW: [u64; 3] = [4, 16, 64];
/// Most places at which the program's answer changes that are looked at.
const MAX_EDGES: usize = 2;
/// Most numbers of turns at which a block is made larger that are looked at: a program has several that grow.
const MAX_FILLED: usize = 2;
/// Numbers of turns that are tried before and behind the one at which a block is made larger: others may be full there that
/// hold a few bytes less.
const NEARLY_FULL: u64 = 2;

/// What a run of a longer input showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt<F, A> {
    /// The failures that were seen.
    pub failures: Vec<F>,
    /// How the program ended, and whether it complained.
    pub answer: A,
    /// How often it made a block of its heap larger.
    pub enlarged: u64,
}

impl<F, A> Attempt<F, A> {
    fn fails(&self) -> bool {
        !self.failures.is_empty()
    }
}

/// What was seen with more turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Climbed<F> {
    /// The failures, each with the least number of turns that shows it.
    pub failures: Vec<(F, u64)>,
    /// Whether one turn more is refused as the most are: more room will not change that.
    pub is_refused: bool,
    /// How many more blocks were made larger with the most turns.
    pub enlarged: u64,
}

/// The runs with more turns, each made once.
pub struct Ladder<'l, F, A> {
    /// What the test's own input shows; its failures do not count.
    own: Attempt<F, A>,
    attempt: &'l mut dyn FnMut(u64) -> Option<Attempt<F, A>>,
    known: BTreeMap<u64, Attempt<F, A>>,
    is_refused: bool,
    /// Whether the program answers alike whether it refuses an input or not.
    hides_refusal: bool,
}

impl<'l, F: Clone + PartialEq, A: Clone + PartialEq> Ladder<'l, F, A> {
    /// Runs made by `attempt`; without an answer there are no more.
    pub fn new(
        own: Attempt<F, A>,
        attempt: &'l mut dyn FnMut(u64) -> Option<Attempt<F, A>>,
    ) -> Ladder<'l, F, A> {
        Ladder {
            own,
            attempt,
            known: BTreeMap::new(),
            is_refused: false,
            hides_refusal: false,
        }
    }

    /// Runs of a unit test: what its calls return decides nothing, since failed expectations are passed by.
    pub fn of_calls(mut self, is_unit_test: bool) -> Ladder<'l, F, A> {
        self.hides_refusal = is_unit_test;
        self
    }

    /// What is seen with up to so many turns more. `nearer` says up to how many
    /// turns a failure is worth looking for: beyond that an input is known that is no farther from the test's own.
    pub fn climb(mut self, most: u64, nearer: &dyn Fn(&F) -> u64) -> Climbed<F> {
        let _ = self.steps(most, nearer).and_then(|()| self.edges());
        self.climbed(nearer)
    }

    /// What is seen where blocks that are made larger with up to so many turns are full. The rest as in `climb`.
    pub fn fill(mut self, most: u64, nearer: &dyn Fn(&F) -> u64) -> Climbed<F> {
        let _ = self.filled_blocks(most);
        self.climbed(nearer)
    }

    /// The failures that were seen, each with the least number of turns.
    fn climbed(&mut self, nearer: &dyn Fn(&F) -> u64) -> Climbed<F> {
        let mut least: Vec<(F, u64)> = Vec::new();
        let most = self.known.values().map(|attempt| attempt.enlarged).max();
        let failures: Vec<F> = (self.known.values())
            .flat_map(|attempt| attempt.failures.iter().cloned())
            .collect();
        for failure in failures {
            if least.iter().any(|(known, _)| *known == failure) {
                continue;
            }
            let (below, fails) = self.bracket(&failure);
            if below < nearer(&failure) {
                let turns = self.least(below, fails, |it| it.failures.contains(&failure));
                least.push((failure, turns));
            }
        }
        Climbed {
            failures: least,
            is_refused: self.is_refused,
            enlarged: most.unwrap_or(0).saturating_sub(self.own.enlarged),
        }
    }

    fn at(&mut self, turns: u64) -> Option<&Attempt<F, A>> {
        if !self.known.contains_key(&turns) {
            let attempt = (self.attempt)(turns)?;
            self.known.insert(turns, attempt);
        }
        self.known.get(&turns)
    }

    /// The steps up to the first failure. Where as many turns as may be change nothing, there is no need for others.
    fn steps(&mut self, most: u64, nearer: &dyn Fn(&F) -> u64) -> Option<()> {
        if most == 0 {
            return None;
        }
        let (at_most, fails) = (self.at(most)?.answer.clone(), self.at(most)?.fails());
        if at_most == self.own.answer && !fails {
            return if self.hides_refusal {
                self.below(most)
            } else {
                Some(())
            };
        }
        if fails && !self.fails_nearer(most, nearer)? {
            return Some(());
        }
        if !fails && self.at(1)?.answer == at_most {
            self.is_refused = true;
            self.at(REFUSED.min(most))?;
            return Some(());
        }
        let mut turns = 1;
        while turns < most && !self.at(turns)?.fails() {
            turns *= FACTOR;
        }
        Some(())
    }

    /// A few numbers of turns below the most, up to the first that fails.
    fn below(&mut self, most: u64) -> Option<()> {
        for turns in BELOW.into_iter().filter(|turns| *turns < most) {
            if self.at(turns)?.fails() {
                break;
            }
        }
        Some(())
    }

    /// Of failures with the most turns: whether any of them, or another one, shows where it is nearer than what is known.
    fn fails_nearer(&mut self, most: u64, nearer: &dyn Fn(&F) -> u64) -> Option<bool> {
        let failures = &self.at(most)?.failures;
        let farthest = failures.iter().map(nearer).max().unwrap_or(0);
        Some(match farthest.min(most) {
            0 => false,
            turns => self.at(turns)?.fails(),
        })
    }

    /// Looks closely at the numbers between which the answer changes.
    fn edges(&mut self) -> Option<()> {
        let own = (0, (self.own.answer.clone(), false));
        let known = self.known.iter();
        let tried: Vec<(u64, (A, bool))> = std::iter::once(own)
            .chain(known.map(|(turns, it)| (*turns, (it.answer.clone(), it.fails()))))
            .collect();
        let is_edge = |pair: &&[(u64, (A, bool))]| {
            let ((_, (one, one_fails)), (_, (other, other_fails))) = (&pair[0], &pair[1]);
            one != other && !one_fails && !other_fails
        };
        let edges: Vec<(u64, u64, A)> = (tried.windows(2))
            .filter(is_edge)
            .map(|pair| (pair[0].0, pair[1].0, pair[1].1.0.clone()))
            .take(MAX_EDGES)
            .collect();
        for (low, high, answer) in edges {
            self.least(low, high, |it| it.answer == answer || it.fails());
        }
        Some(())
    }

    /// Looks closely at the numbers of turns that fill a block which is made larger with one more. Not where that happens
    /// in each turn: then every number of turns fills one.
    fn filled_blocks(&mut self, most: u64) -> Option<()> {
        let (mut low, mut enlarged) = (0, self.own.enlarged);
        for _ in 0..MAX_FILLED {
            if low == most || self.at(most)?.enlarged <= enlarged {
                break;
            }
            let first = self.least(low, most, |it| it.enlarged > enlarged || it.fails());
            let before = first.saturating_sub(NEARLY_FULL).max(low + 1);
            for turns in before..=(first + NEARLY_FULL).min(most) {
                if self.at(turns)?.fails() {
                    return Some(());
                }
            }
            if first == low + 1 {
                break;
            }
            (low, enlarged) = (first, self.at(first)?.enlarged);
        }
        Some(())
    }

    /// The least known number that shows a failure, and the greatest below it that does not.
    fn bracket(&self, failure: &F) -> (u64, u64) {
        let shows = |it: &Attempt<F, A>| it.failures.contains(failure);
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
    fn least(
        &mut self,
        mut low: u64,
        mut high: u64,
        holds: impl Fn(&Attempt<F, A>) -> bool,
    ) -> u64 {
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

    /// A test's own input: no block is made larger.
    fn own<A>(answer: A) -> Attempt<char, A> {
        Attempt {
            failures: Vec::new(),
            answer,
            enlarged: 0,
        }
    }

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
                answer: refuses(turns),
                enlarged: 0,
            })
        };
        let found = Ladder::new(own(false), &mut attempt).climb(most, &|_| u64::MAX);
        let found = found.failures.into_iter();
        (found.map(|(_, turns)| turns).collect(), runs)
    }

    #[test]
    fn the_least_number_of_turns_that_fails() {
        assert_eq!(climb(5000, |turns| turns > 13, |_| false).0, [14]);
        assert_eq!(climb(5000, |turns| turns > 4093, |_| false).0, [4094]);
        assert_eq!(climb(5000, |turns| turns > 0, |_| false), (vec![1], 2));
        assert_eq!(climb(1, |turns| turns > 0, |_| false), (vec![1], 1));
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
    fn what_changes_nothing_takes_one_run() {
        assert_eq!(climb(5000, |_| false, |_| false), (vec![], 1));
        let (found, runs) = climb(5000, |_| false, |turns| turns > 95);
        assert!(found.is_empty() && runs < 20, "{runs}");
    }

    #[test]
    fn what_a_call_refuses_without_a_word() {
        let mut attempt = |turns: u64| {
            Some(Attempt {
                failures: if (9..=20).contains(&turns) {
                    vec!['f']
                } else {
                    vec![]
                },
                answer: (),
                enlarged: 0,
            })
        };
        let own_answer = || own(());
        let found = Ladder::new(own_answer(), &mut attempt).climb(5000, &|_| u64::MAX);
        assert!(found.failures.is_empty());
        let ladder = Ladder::new(own_answer(), &mut attempt).of_calls(true);
        assert_eq!(ladder.climb(5000, &|_| u64::MAX).failures, [('f', 9)]);
    }

    #[test]
    fn what_is_refused_from_the_first_turn_on_takes_few_runs() {
        assert_eq!(climb(5000, |_| false, |_| true), (vec![], 3));
        let fails = |turns| (16..200).contains(&turns);
        assert_eq!(climb(5000, fails, |_| true).0, [16]);
    }

    #[test]
    fn a_failure_that_is_known_from_nearer_takes_two_runs() {
        let runs = |nearer: u64| {
            let mut runs = 0;
            let mut attempt = |turns| {
                runs += 1;
                Some(Attempt {
                    failures: if turns > 100 { vec!['f'] } else { vec![] },
                    answer: (),
                    enlarged: 0,
                })
            };
            let found = Ladder::new(own(()), &mut attempt).climb(5000, &|_| nearer);
            let found = found.failures.into_iter();
            (found.map(|(_, turns)| turns).collect::<Vec<_>>(), runs)
        };
        assert_eq!(runs(60), (vec![], 2));
        assert_eq!(runs(0), (vec![], 1));
        assert_eq!(runs(200).0, [101], "it is nearer");
    }

    /// What is found, and in how many runs, in a program that makes a block larger at each multiple of `step`.
    fn climb_blocks(step: u64, fails: impl Fn(u64) -> bool) -> (Vec<u64>, u32) {
        let mut runs = 0;
        let mut attempt = |turns| {
            runs += 1;
            Some(Attempt {
                failures: if fails(turns) { vec!['f'] } else { vec![] },
                answer: (),
                enlarged: turns / step,
            })
        };
        let found = Ladder::new(own(()), &mut attempt).fill(5000, &|_| u64::MAX);
        let found = found.failures.into_iter();
        (found.map(|(_, turns)| turns).collect(), runs)
    }

    #[test]
    fn a_block_that_is_filled_to_its_last_byte() {
        for turns in 1024 - NEARLY_FULL..=1024 + NEARLY_FULL {
            let (found, runs) = climb_blocks(1024, |tried| tried == turns);
            assert_eq!((found, runs < 20), (vec![turns], true), "{runs}");
        }
        let (found, _) = climb_blocks(512, |turns| turns == 1023);
        assert_eq!(found, [1023], "the second one");
    }

    #[test]
    fn blocks_that_grow_in_each_turn_take_few_runs() {
        let (found, runs) = climb_blocks(1, |_| false);
        assert!(found.is_empty() && runs <= 15, "{runs}");
        let (found, runs) = climb_blocks(1024, |_| false);
        assert!(found.is_empty() && runs <= 60, "{runs}");
    }
}
