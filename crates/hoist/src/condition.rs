//! Conditions over the inputs of a call: literals say in which set a sum of inputs lies.

use std::collections::BTreeMap;

use crate::linear::{Linear, Variable};
use crate::set::Set;

/// What is known of variables beforehand: the least and the greatest value of each.
pub type Ranges<'a> = &'a dyn Fn(Variable) -> (i128, i128);

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A sum without a constant lies in a set.
    Literal(Linear, Set),
    /// All of them hold.
    All(Vec<Condition>),
    /// One of them holds.
    Any(Vec<Condition>),
}

/// A disjunction of literals: sums and the sets of which one must be met. Of one sum there is one set.
pub type Clause = BTreeMap<Linear, Set>;

/// Clauses beyond this are too many to be read.
const MOST_CLAUSES: usize = 64;

impl Condition {
    /// What always holds, or never.
    pub fn truth(holds: bool) -> Condition {
        match holds {
            true => Condition::All(Vec::new()),
            false => Condition::Any(Vec::new()),
        }
    }

    /// Whether it is known whether it holds.
    pub fn as_truth(&self) -> Option<bool> {
        match self {
            Condition::All(parts) if parts.is_empty() => Some(true),
            Condition::Any(parts) if parts.is_empty() => Some(false),
            _ => None,
        }
    }

    /// `sum` lies in `low..=high`; `None`: there is no such end.
    pub fn between(
        sum: &Linear,
        low: Option<i128>,
        high: Option<i128>,
        ranges: Ranges,
    ) -> Condition {
        let divisor = sum.divisor();
        let bare = Linear {
            factors: (sum.factors.iter())
                .map(|(variable, factor)| (*variable, factor / divisor))
                .collect(),
            constant: 0,
        };
        let (least, greatest) = bare.range(ranges);
        let size = divisor.abs();
        let lowest = low.map(|it| -((sum.constant - it).div_euclid(size)));
        let highest = high.map(|it| (it - sum.constant).div_euclid(size));
        let (lowest, highest) = match divisor > 0 {
            true => (lowest, highest),
            false => (highest.map(|it| -it), lowest.map(|it| -it)),
        };
        let set = Set::interval(
            lowest.map_or(least, |it| it.max(least)),
            highest.map_or(greatest, |it| it.min(greatest)),
        );
        Condition::member(bare, set, (least, greatest))
    }

    /// A sum without a constant lies in a set of numbers of its range.
    pub fn member(sum: Linear, set: Set, range: (i128, i128)) -> Condition {
        if set.is_empty() {
            Condition::truth(false)
        } else if set.complement(range).is_empty() {
            Condition::truth(true)
        } else {
            Condition::Literal(sum, set)
        }
    }

    /// What holds where this does not.
    pub fn negated(&self, ranges: Ranges) -> Condition {
        let all = |parts: &[Condition]| parts.iter().map(|part| part.negated(ranges)).collect();
        match self {
            Condition::Literal(sum, set) => {
                let range = sum.range(ranges);
                Condition::member(sum.clone(), set.complement(range), range)
            }
            Condition::All(parts) => Condition::any(all(parts)),
            Condition::Any(parts) => Condition::all(all(parts)),
        }
    }

    /// All of them hold.
    pub fn all(parts: Vec<Condition>) -> Condition {
        Condition::joined(parts, true)
    }

    /// One of them holds.
    pub fn any(parts: Vec<Condition>) -> Condition {
        Condition::joined(parts, false)
    }

    fn joined(parts: Vec<Condition>, neutral: bool) -> Condition {
        if parts.iter().any(|part| part.as_truth() == Some(!neutral)) {
            return Condition::truth(!neutral);
        }
        let mut left: Vec<Condition> = Vec::new();
        for part in parts {
            let inner = match (part, neutral) {
                (Condition::All(inner), true) | (Condition::Any(inner), false) => inner,
                (other, _) => vec![other],
            };
            let known = inner
                .into_iter()
                .filter(|it| it.as_truth() != Some(neutral));
            left.extend(known);
        }
        match (left.len(), neutral) {
            (1, _) => left.remove(0),
            (_, true) => Condition::All(left),
            (_, false) => Condition::Any(left),
        }
    }

    /// Clauses that all hold where this does; `None` if they are too many.
    pub fn clauses(&self, ranges: Ranges) -> Option<Vec<Clause>> {
        match self {
            Condition::Literal(sum, set) => Some(vec![[(sum.clone(), set.clone())].into()]),
            Condition::All(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(part.clauses(ranges)?);
                }
                (all.len() <= MOST_CLAUSES).then_some(all)
            }
            Condition::Any(parts) => {
                let mut all = vec![Clause::new()];
                for part in parts {
                    let more = part.clauses(ranges)?;
                    let pairs = all
                        .iter()
                        .flat_map(|one| more.iter().map(move |other| (one, other)));
                    all = pairs
                        .filter_map(|(one, other)| union(one, other, ranges))
                        .collect();
                    if all.len() > MOST_CLAUSES {
                        return None;
                    }
                }
                Some(all)
            }
        }
    }

    /// Whether it holds.
    pub fn evaluate(&self, value: &dyn Fn(Variable) -> i128) -> bool {
        match self {
            Condition::Literal(sum, set) => set.contains(sum.evaluate(value)),
            Condition::All(parts) => parts.iter().all(|part| part.evaluate(value)),
            Condition::Any(parts) => parts.iter().any(|part| part.evaluate(value)),
        }
    }
}

/// What one of two clauses says; `None`: that is always so.
pub(crate) fn union(one: &Clause, other: &Clause, ranges: Ranges) -> Option<Clause> {
    let mut all = one.clone();
    for (sum, set) in other {
        let joined = match all.get(sum) {
            Some(known) => known.union(set),
            None => set.clone(),
        };
        if joined.complement(sum.range(ranges)).is_empty() {
            return None;
        }
        all.insert(sum.clone(), joined);
    }
    Some(all)
}
