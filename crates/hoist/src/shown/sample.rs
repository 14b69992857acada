//! Calls near those of the tests that violate a requirement, or keep to it.
//!
//! No solver: a requirement is a few comparisons, and the terms of each are moved to where it changes.

use std::collections::BTreeMap;

use nearmiss_abi::site::SiteId;
use nearmiss_contracts::{Formula, Term};

use super::given::{Given, Values};
use crate::clock::Clock;
use crate::condition::Clause;
use crate::inputs::{Input, Role};

/// A call of the tests, with other inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Which call.
    pub call: usize,
    /// All of its inputs.
    pub given: Given,
}

/// Calls that are looked for at once.
const MOST_SAMPLES: usize = 12;
/// Calls of the tests from which they are looked for.
const MOST_BASES: usize = 32;
/// Steps of one search, from all of these calls together: what has no such call is most often left in vain, from each of
/// them alike.
const MOST_STEPS: usize = 4000;
/// Moves of one search beyond one for each part.
const MORE_MOVES: usize = 2;
/// How far beyond the nearest place a term is moved.
const DISTANCES: [i128; 7] = [0, 1, -1, 2, -2, 40, -40];

/// Numbers with which what pointers lead to is filled.
const MOST_FILLERS: usize = 3;

/// The numbers on which the paths of these clauses decide by elements behind pointers, those of most clauses first; and 0.
pub fn fillers(clauses: &[(Clause, SiteId)], inputs: &[Input]) -> Vec<i128> {
    let mut counts: BTreeMap<i128, usize> = BTreeMap::new();
    for (sum, set) in clauses.iter().flat_map(|(clause, _)| clause) {
        let variable = sum.as_variable().map(|it| &inputs[it.input as usize]);
        let Some(input) = variable.filter(|it| it.role == Role::Elements) else {
            continue;
        };
        for side in [set.clone(), set.complement(input.range())] {
            if let [(low, high)] = side.intervals()
                && low == high
            {
                *counts.entry(*low).or_default() += 1;
            }
        }
    }
    let mut found: Vec<(i128, usize)> = counts.into_iter().filter(|it| it.0 != 0).collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let most = found
        .into_iter()
        .take(MOST_FILLERS)
        .map(|(number, _)| number);
    std::iter::once(0).chain(most).collect()
}

/// Looks for calls.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// The inputs.
    pub values: Values<'a>,
    /// What the tests' calls were given.
    pub calls: &'a [Given],
    /// Until when.
    pub clock: Clock<'a>,
}

/// The parts of a requirement of which one must hold.
pub fn parts(formula: &Formula) -> Vec<Formula> {
    match formula {
        Formula::Any(parts) => parts.clone(),
        other => vec![other.clone()],
    }
}

impl Search<'_> {
    /// Calls for which none of `parts` holds and all of `kept` do, the nearest first; of calls of the tests the ones that are
    /// nearest to that.
    pub fn outside(&self, parts: &[Formula], kept: &[Formula]) -> Vec<Sample> {
        let holding = |given: &Given| {
            let holds = |it: &&Formula| self.values.holds(it, given) == Some(true);
            parts.iter().filter(holds).count()
        };
        let mut bases: Vec<usize> = (0..self.calls.len()).collect();
        let size = |given: &Given| given.values().map(Vec::len).sum::<usize>();
        bases.sort_by_key(|it| (holding(&self.calls[*it]), size(&self.calls[*it])));
        bases.truncate(MOST_BASES);
        let mut found: Vec<(i128, Sample)> = Vec::new();
        let mut left = MOST_STEPS;
        for (number, call) in bases.iter().copied().enumerate() {
            let own = left / (bases.len() - number);
            let mut steps = own;
            let mut given = Vec::new();
            let most = (parts.len() + MORE_MOVES, &mut steps);
            self.leave(parts, kept, &self.calls[call], most, &mut given);
            left -= own - steps;
            found.extend(given.into_iter().map(|given| {
                let far = self.distance(&self.calls[call], &given);
                (far, Sample { call, given })
            }));
            if found.len() >= MOST_SAMPLES {
                break;
            }
        }
        found.sort_by_key(|(far, _)| *far);
        found.dedup_by(|one, other| one.1 == other.1);
        found.into_iter().map(|(_, sample)| sample).collect()
    }

    /// Makes the parts that hold false, one after the other.
    fn leave(
        &self,
        parts: &[Formula],
        kept: &[Formula],
        given: &Given,
        (moves, steps): (usize, &mut usize),
        found: &mut Vec<Given>,
    ) {
        if *steps == 0 || found.len() >= MOST_SAMPLES || self.clock.is_over() {
            return;
        }
        *steps -= 1;
        let holds = |it: &&Formula| self.values.holds(it, given) != Some(false);
        let Some(part) = parts.iter().find(holds) else {
            if self.keeps(kept, given) && !found.contains(given) {
                found.push(given.clone());
            } else {
                self.enter(parts, kept, given, steps, found);
            }
            return;
        };
        // What makes one part false may make another true: a few moves more, and not for ever.
        let Some(moves) = moves.checked_sub(1) else {
            return;
        };
        for next in self.moves(part, given) {
            if self.values.holds(part, &next) == Some(false) {
                self.leave(parts, kept, &next, (moves, steps), found);
            }
        }
    }

    /// Makes one of `kept` hold that does not, where that leaves all parts false.
    fn enter(
        &self,
        parts: &[Formula],
        kept: &[Formula],
        given: &Given,
        steps: &mut usize,
        found: &mut Vec<Given>,
    ) {
        let fails = |it: &&Formula| self.values.holds(it, given) == Some(false);
        let Some(broken) = kept.iter().find(fails) else {
            return;
        };
        for next in self.moves(broken, given) {
            let is_outside = parts
                .iter()
                .all(|it| self.values.holds(it, &next) == Some(false));
            let is_better = self.keeps(kept, &next);
            if is_outside && is_better && !found.contains(&next) && found.len() < MOST_SAMPLES {
                *steps = steps.saturating_sub(1);
                found.push(next);
            }
        }
    }

    fn keeps(&self, kept: &[Formula], given: &Given) -> bool {
        let holds = |it: &Formula| self.values.holds(it, given) != Some(false);
        kept.iter().all(holds)
    }

    /// Calls next to one that does not keep to the formula which do, and to all of `kept`.
    pub fn inside(&self, formula: &Formula, kept: &[Formula], from: &Sample) -> Vec<Sample> {
        let is_inside = |given: &Given| {
            self.values.holds(formula, given) == Some(true) && self.keeps(kept, given)
        };
        let own = &self.calls[from.call];
        let far = |given: &Given| (self.distance(&from.given, given), self.distance(own, given));
        let mut found: Vec<((i128, i128), Given)> = (self.moves(formula, &from.given).into_iter())
            .filter(is_inside)
            .map(|given| (far(&given), given))
            .collect();
        found.sort_by_key(|(far, _)| *far);
        let sample = |(_, given): ((i128, i128), Given)| Sample {
            call: from.call,
            given,
        };
        found.into_iter().map(sample).collect()
    }

    /// Next to a call for which no part holds another one of that kind, in which the numbers that are compared are as close to
    /// each other as they can be.
    pub fn tightest(&self, parts: &[Formula], kept: &[Formula], from: &Sample) -> Option<Sample> {
        let is_outside = |given: &Given| {
            let fails = |it: &Formula| self.values.holds(it, given) == Some(false);
            parts.iter().all(fails) && self.keeps(kept, given)
        };
        let gap = |given: &Given| -> i128 {
            let compared = parts.iter().flat_map(comparisons);
            let one = |(left, right): (Formula, Formula)| {
                let left = self.values.number(&left, given)?;
                Some((left - self.values.number(&right, given)?).abs())
            };
            compared.filter_map(one).sum()
        };
        let all = parts.iter().flat_map(|it| self.moves(it, &from.given));
        let given = all.filter(is_outside).min_by_key(gap)?;
        Some(Sample {
            call: from.call,
            given,
        })
    }

    /// Calls in which one term of the formula is moved to where a comparison changes, or a little further.
    fn moves(&self, formula: &Formula, given: &Given) -> Vec<Given> {
        let mut all = Vec::new();
        for (left, right) in comparisons(formula) {
            let numbers = self.values.number(&left, given);
            let Some((low, high)) = numbers.zip(self.values.number(&right, given)) else {
                continue;
            };
            let of_left = left.terms().into_iter().map(|it| (it.clone(), high - low));
            let of_right = right.terms().into_iter().map(|it| (it.clone(), low - high));
            for (term, gap) in of_left.chain(of_right) {
                self.move_term(&term, gap, given, &mut all);
            }
        }
        all
    }

    fn move_term(&self, term: &Term, gap: i128, given: &Given, all: &mut Vec<Given>) {
        let Some(value) = self.values.value(term, given) else {
            return;
        };
        for far in DISTANCES {
            let mut next = given.clone();
            if self.values.set(&mut next, term, value + gap + far) && next != *given {
                all.push(next);
            }
        }
    }

    /// How far two calls are from each other: how many inputs differ, and then by how much.
    fn distance(&self, one: &Given, other: &Given) -> i128 {
        let mut far = 0;
        for (number, bytes) in other {
            let Some(before) = one.get(number).filter(|it| *it != bytes) else {
                continue;
            };
            let input = &self.values.inputs[*number as usize];
            let is_number = input.role != Role::Elements;
            let difference = match is_number {
                true => {
                    let read = |it: &[u8]| super::given::read(it, input.signed);
                    (read(bytes) - read(before)).abs().min(9999)
                }
                false => bytes.len().abs_diff(before.len()) as i128,
            };
            far += 10_000 + difference;
        }
        far
    }
}

/// The comparisons of a formula; of a term alone with 0.
fn comparisons(formula: &Formula) -> Vec<(Formula, Formula)> {
    match formula {
        Formula::Compare(_, left, right) => vec![((**left).clone(), (**right).clone())],
        Formula::All(parts) | Formula::Any(parts) => parts.iter().flat_map(comparisons).collect(),
        Formula::Not(inner) => comparisons(inner),
        Formula::Term(_) => vec![(formula.clone(), Formula::Number(0))],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use nearmiss_contracts::parse;

    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn input(place: &str, role: Role, bytes: u32) -> Input {
        Input {
            place: place.into(),
            role,
            signed: false,
            bytes,
        }
    }

    /// For each requirement the values of the nearest call outside of it, and of one inside next to that.
    #[test]
    fn calls_on_both_sides_are_near() {
        let inputs = [
            input("i", Role::Value, 4),
            input("limit", Role::Value, 4),
            input("s", Role::Null, 1),
            input("s", Role::Bounds, 4),
            input("s", Role::Elements, 1),
        ];
        let given: Given = [
            (0, vec![1, 0, 0, 0]),
            (1, vec![4, 0, 0, 0]),
            (2, vec![0]),
            (3, vec![6, 0, 0, 0]),
            (4, b"hello\0".to_vec()),
        ]
        .into();
        let calls = [given];
        let search = Search {
            values: Values { inputs: &inputs },
            calls: &calls,
            clock: Clock::new(Duration::from_secs(60), &GO_ON),
        };
        let holds =
            |formula: &Formula, sample: &Sample| search.values.holds(formula, &sample.given);
        for requirement in [
            "i < 8",
            "i < 8 || i >= limit",
            "bounds(s) > strlen(s)",
            "bounds(s) >= i",
            "s[0] != 105 || i != 1",
        ] {
            let formula = parse(requirement).unwrap();
            let found = search.outside(&parts(&formula), &[]);
            let first = found.first().unwrap_or_else(|| panic!("{requirement}"));
            assert_eq!(holds(&formula, first), Some(false), "{requirement}");
            let near = search.inside(&formula, &[], first);
            let nearest = near.first().unwrap_or_else(|| panic!("{requirement}"));
            assert_eq!(holds(&formula, nearest), Some(true), "{requirement}");
        }
        let formula = parse("i < 8").unwrap();
        let outside = &search.outside(&parts(&formula), &[])[0];
        let inside = &search.inside(&formula, &[], outside)[0];
        let value = |sample: &Sample| search.values.number(&parse("i").unwrap(), &sample.given);
        assert_eq!((value(outside), value(inside)), (Some(8), Some(7)));
    }
}
