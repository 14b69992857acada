//! Clauses that a loop leaves, one for each turn, as two.
//!
//! ```text
//!  bounds(t) > 0 || n <= 0                    bounds(t) >= n || n <= 0 || n > 3
//!  bounds(t) > 1 || n <= 1         ─►         bounds(t) > 2 || n <= 2
//!  bounds(t) > 2 || n <= 2
//! ```
//!
//! Both say the same: what the tests reveal of more turns than they made is the last clause, and no more.

use std::collections::BTreeMap;

use nearmiss_abi::site::SiteId;

use crate::condition::{Clause, Condition, Ranges};
use crate::linear::Linear;
use crate::set::Set;

/// Fewer are as easy to read one by one.
const LEAST_STEPS: usize = 3;

/// One step: `high >= number + distance || low <= number`, or what else the clause says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stairs {
    high: Linear,
    low: Linear,
    distance: i128,
    rest: Clause,
}

/// Joins the steps of stairs.
pub fn join(mut clauses: Vec<(Clause, SiteId)>, ranges: Ranges) -> Vec<(Clause, SiteId)> {
    while let Some((stairs, steps)) = longest(&clauses, ranges) {
        let Some(joined) = joined(&stairs, &steps, ranges) else {
            break;
        };
        // The last step stays: it says what is known of more turns.
        let gone: Vec<usize> = steps[..steps.len() - 1].iter().map(|it| it.1).collect();
        let site = clauses[gone[0]].1;
        let mut number = 0;
        clauses.retain(|_| {
            number += 1;
            !gone.contains(&(number - 1))
        });
        clauses.push((joined, site));
    }
    clauses
}

/// The longest stairs, and their steps in order: the number, and which clause it is.
fn longest(clauses: &[(Clause, SiteId)], ranges: Ranges) -> Option<(Stairs, Vec<(i128, usize)>)> {
    let mut found: BTreeMap<Stairs, Vec<(i128, usize)>> = BTreeMap::new();
    for (place, (clause, _)) in clauses.iter().enumerate() {
        for (stairs, number) in steps_of(clause, ranges) {
            found.entry(stairs).or_default().push((number, place));
        }
    }
    let mut best: Option<(Stairs, Vec<(i128, usize)>)> = None;
    for (stairs, mut steps) in found {
        steps.sort_unstable();
        for run in steps.chunk_by(|one, next| next.0 == one.0 + 1) {
            let longest = best
                .as_ref()
                .map_or(LEAST_STEPS - 1, |(_, steps)| steps.len());
            if run.len() > longest {
                best = Some((stairs.clone(), run.to_vec()));
            }
        }
    }
    best
}

/// The stairs that a clause may be a step of, and which.
fn steps_of(clause: &Clause, ranges: Ranges) -> Vec<(Stairs, i128)> {
    let mut found = Vec::new();
    for (high, above) in clause {
        let Some(lowest) = from_here_on(high, above, ranges) else {
            continue;
        };
        for (low, below) in clause.iter().filter(|(low, _)| *low != high) {
            let Some(number) = up_to_here(low, below, ranges) else {
                continue;
            };
            let mut rest = clause.clone();
            rest.remove(high);
            rest.remove(low);
            let stairs = Stairs {
                high: high.clone(),
                low: low.clone(),
                distance: lowest - number,
                rest,
            };
            found.push((stairs, number));
        }
    }
    found
}

/// The least number of a set that has all numbers from there on.
pub fn from_here_on(sum: &Linear, set: &Set, ranges: Ranges) -> Option<i128> {
    match set.intervals() {
        [(low, high)] if *high == sum.range(ranges).1 => Some(*low),
        _ => None,
    }
}

/// The greatest number of a set that has all numbers up to there.
pub fn up_to_here(sum: &Linear, set: &Set, ranges: Ranges) -> Option<i128> {
    match set.intervals() {
        [(low, high)] if *low == sum.range(ranges).0 => Some(*high),
        _ => None,
    }
}

/// `high >= low - 1 + distance || low <= first || low > last + 1`.
fn joined(stairs: &Stairs, steps: &[(i128, usize)], ranges: Ranges) -> Option<Clause> {
    let (first, last) = (steps.first()?.0, steps.last()?.0);
    let between = stairs.high.plus(-1, &stairs.low)?;
    let diagonal = Condition::between(&between, Some(stairs.distance - 1), None, ranges);
    let Condition::Literal(sum, set) = diagonal else {
        return None;
    };
    let range = stairs.low.range(ranges);
    let outside = Set::interval(first + 1, last + 1).complement(range);
    let mut clause = stairs.rest.clone();
    let is_new = clause.insert(sum, set).is_none();
    let is_new = is_new && clause.insert(stairs.low.clone(), outside).is_none();
    is_new.then_some(clause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Variable;

    fn variable(input: u32) -> Linear {
        Linear::variable(Variable { input, element: 0 })
    }

    #[test]
    fn stairs_say_the_same_before_and_after() {
        let range = |_: Variable| (0, 9);
        let ranges: Ranges = &range;
        let (bounds, count) = (variable(0), variable(1));
        let step = |k: i128| -> (Clause, SiteId) {
            let high = (bounds.clone(), Set::interval(k + 1, 9));
            let low = (count.clone(), Set::interval(0, k));
            ([high, low].into(), SiteId::NONE)
        };
        let steps: Vec<(Clause, SiteId)> = (0..4).map(step).collect();
        let joined = join(steps.clone(), ranges);
        assert_eq!(joined.len(), 2);
        let holds = |clauses: &[(Clause, SiteId)], b: i128, n: i128| {
            clauses.iter().all(|(clause, _)| {
                clause.iter().any(|(sum, set)| {
                    let value = |it: Variable| if it.input == 0 { b } else { n };
                    set.contains(sum.evaluate(&value))
                })
            })
        };
        for b in 0..10 {
            for n in 0..10 {
                assert_eq!(holds(&steps, b, n), holds(&joined, b, n), "{b} {n}");
            }
        }
        // Two steps are left as they are.
        let two: Vec<(Clause, SiteId)> = (0..2).map(step).collect();
        assert_eq!(join(two.clone(), ranges), two);
    }
}
