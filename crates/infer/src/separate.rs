//! Linear predicates from tests: a sum with small coefficients that separates the safe valuations of an assignment from
//! the others (section 7 of the paper). Products of two numbers count as variables too.

use nearmiss_contracts::{Attribute, Comparison, Formula};

use crate::environment::Environment;
use crate::valuations::Valuation;

/// The tests of an assignment that has both outcomes.
#[derive(Clone, Debug, Default)]
pub struct Mixed {
    pub safe: Vec<Valuation>,
    pub failing: Vec<Valuation>,
}

/// What sums are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feature {
    Variable(usize),
    Product(usize, usize),
    /// A number, or the sum of two, divided by a number: what is left.
    Remainder(usize, Option<usize>, usize),
}

impl Feature {
    fn value(self, values: &[i64]) -> i64 {
        match self {
            Feature::Variable(index) => values[index],
            Feature::Product(left, right) => values[left].saturating_mul(values[right]),
            Feature::Remainder(number, more, divisor) => {
                let sum = values[number].saturating_add(more.map_or(0, |more| values[more]));
                match values[divisor] {
                    0 => sum,
                    divisor => sum.wrapping_rem(divisor),
                }
            }
        }
    }

    fn formula(self, environment: &Environment) -> Formula {
        let of = |index: usize| Formula::Term(environment.quantities[index].term.clone());
        match self {
            Feature::Variable(index) => of(index),
            Feature::Product(left, right) => {
                Formula::Multiply(Box::new(of(left)), Box::new(of(right)))
            }
            Feature::Remainder(number, more, divisor) => {
                let sum = match more {
                    Some(more) => Formula::Add(Box::new(of(number)), Box::new(of(more))),
                    None => of(number),
                };
                Formula::Remainder(Box::new(sum), Box::new(of(divisor)))
            }
        }
    }
}

/// A sum of features with coefficients.
type Sum = Vec<(i64, Feature)>;

/// What separates tests.
#[derive(Clone, Debug)]
pub struct Separation {
    /// A predicate that holds for safe ones.
    pub formula: Formula,
    /// Of a comparison of one variable with a number: values that are to be tried before the number is believed.
    pub gap: Option<Gap>,
}

/// Values of a variable between the last safe and the first failing one.
#[derive(Clone, Debug)]
pub struct Gap {
    pub variable: usize,
    /// The safe end, and the failing one.
    pub safe: i64,
    pub failing: i64,
}

/// The sum that separates most assignments. `None` if none separates enough of them.
///
/// A sum that separates only few of them has found a pattern in the tests, not in the function.
pub fn separate(
    environment: &Environment,
    mixed: &[Mixed],
    has_remainders: bool,
) -> Option<Separation> {
    let mut candidates = sums(&features(environment));
    candidates.retain(|sum| is_sized(environment, sum));
    if has_remainders {
        candidates.extend(remainders(environment));
    }
    let telling = |tests: &&Mixed| tests.safe.len() > 1 && tests.failing.len() > 1;
    let least = mixed.iter().filter(telling).count().div_ceil(4).max(1);
    let mut best: Option<(usize, (usize, i64), Sum, i64)> = None;
    for sum in candidates {
        let Some((count, threshold)) = separated(&sum, mixed).filter(|(count, _)| *count >= least)
        else {
            continue;
        };
        let weight: i64 = sum.iter().map(|(coefficient, _)| coefficient.abs()).sum();
        let size = (sum.len(), weight + threshold.abs());
        let better = best
            .as_ref()
            .is_none_or(|(most, smallest, ..)| count > *most || count == *most && size < *smallest);
        if better {
            best = Some((count, size, sum, threshold));
        }
    }
    best.map(|(_, _, sum, threshold)| Separation {
        formula: predicate(environment, &sum, threshold),
        gap: gap(&sum, threshold, mixed),
    })
}

/// A square is one of a size, or it says no more than its number.
fn is_sized(environment: &Environment, sum: &Sum) -> bool {
    let is_square = |feature: &Feature| matches!(feature, Feature::Product(a, b) if a == b);
    let is_size = |feature: &Feature| match feature {
        Feature::Variable(index) => {
            environment.quantities[*index].term.attribute != Attribute::Value
        }
        _ => false,
    };
    let has = |wanted: &dyn Fn(&Feature) -> bool| sum.iter().any(|(_, feature)| wanted(feature));
    !has(&is_square) || has(&is_size)
}

/// Values of a single variable on which the threshold could as well lie.
fn gap(sum: &Sum, threshold: i64, mixed: &[Mixed]) -> Option<Gap> {
    let [(sign, Feature::Variable(variable))] = sum[..] else {
        return None;
    };
    let intervals = mixed.iter().filter_map(|tests| interval(sum, tests));
    let around = intervals.filter(|(low, high)| (*low..=*high).contains(&threshold));
    let (low, high) = around.reduce(|(a, b), (c, d)| (a.max(c), b.min(d)))?;
    (high > low).then_some(Gap {
        variable,
        safe: sign * low,
        failing: sign * (high + 1),
    })
}

/// The thresholds that separate the tests of an assignment.
fn interval(sum: &Sum, tests: &Mixed) -> Option<(i64, i64)> {
    let highest = tests.safe.iter().map(|values| value(sum, values)).max()?;
    let lowest = tests
        .failing
        .iter()
        .map(|values| value(sum, values))
        .min()?;
    (highest < lowest).then_some((highest, lowest - 1))
}

fn features(environment: &Environment) -> Vec<Feature> {
    let is_number = |index: &usize| environment.quantities[*index].is_number;
    let numbers: Vec<usize> = (0..environment.quantities.len())
        .filter(is_number)
        .collect();
    let mut features: Vec<Feature> = numbers
        .iter()
        .map(|index| Feature::Variable(*index))
        .collect();
    let is_value =
        |index: &&usize| environment.quantities[**index].term.attribute == Attribute::Value;
    let values: Vec<usize> = numbers.iter().filter(is_value).copied().collect();
    for (position, left) in values.iter().enumerate() {
        // Squares, too: a matrix may have as many rows as columns.
        for right in &values[position..] {
            features.push(Feature::Product(*left, *right));
        }
    }
    features
}

/// Remainders alone, and compared with a size: where code divides by what is no constant, it may be an index.
fn remainders(environment: &Environment) -> Vec<Sum> {
    let numbers = environment.numbers.iter().map(|number| number.variable);
    let numbers: Vec<usize> = numbers.collect();
    let bounds: Vec<usize> = environment
        .blocks
        .iter()
        .map(|block| block.bounds)
        .collect();
    let mut all = Vec::new();
    for divisor in &numbers {
        let others: Vec<usize> = (numbers.iter().copied())
            .filter(|number| number != divisor)
            .collect();
        for (position, number) in others.iter().enumerate() {
            let more = others[position + 1..].iter().copied().map(Some);
            for more in std::iter::once(None).chain(more) {
                let remainder = Feature::Remainder(*number, more, *divisor);
                all.push(vec![(1, remainder)]);
                let against =
                    |bounds: &usize| vec![(1, remainder), (-1, Feature::Variable(*bounds))];
                all.extend(bounds.iter().map(against));
            }
        }
    }
    all
}

/// All sums of up to three features with coefficients of up to 2, the simplest first.
fn sums(features: &[Feature]) -> Vec<Sum> {
    let mut all: Vec<Sum> = Vec::new();
    let mut sizes: Vec<Vec<Sum>> = vec![vec![Vec::new()]];
    for size in 1..=3 {
        let mut next = Vec::new();
        for sum in &sizes[size - 1] {
            let last = sum.last().map(|(_, feature)| *feature);
            let from = last.map_or(0, |last| {
                features.iter().position(|f| *f == last).unwrap_or(0) + 1
            });
            for feature in &features[from..] {
                for coefficient in [1i64, -1, 2, -2] {
                    // Three features with two doubled ones are too far from what programs do.
                    let doubled = sum.iter().filter(|(c, _)| c.abs() == 2).count();
                    if doubled > 0 && coefficient.abs() == 2 {
                        continue;
                    }
                    let mut longer = sum.clone();
                    longer.push((coefficient, *feature));
                    next.push(longer);
                }
            }
        }
        let is_plain = |sum: &&Sum| sum.len() > 1 || sum[0].0.abs() == 1;
        all.extend(next.iter().filter(is_plain).cloned());
        sizes.push(next);
    }
    all
}

fn value(sum: &Sum, values: &[i64]) -> i64 {
    sum.iter()
        .map(|(coefficient, feature)| coefficient * feature.value(values))
        .sum()
}

/// How many assignments the sum separates, and the threshold that does: safe ones are not above it.
fn separated(sum: &Sum, mixed: &[Mixed]) -> Option<(usize, i64)> {
    let intervals = mixed.iter().filter_map(|tests| interval(sum, tests));
    let intervals: Vec<(i64, i64)> = intervals.collect();
    let candidates = intervals
        .iter()
        .flat_map(|(low, high)| [*low, *high, 0, -1]);
    let counted = candidates.map(|threshold| {
        let within = |(low, high): &&(i64, i64)| (*low..=*high).contains(&threshold);
        (intervals.iter().filter(within).count(), threshold)
    });
    counted
        .max_by_key(|(count, threshold)| (*count, -threshold.abs(), *threshold))
        .filter(|(count, _)| *count > 0)
}

/// `sum <= threshold`, with what is subtracted on the other side.
fn predicate(environment: &Environment, sum: &Sum, threshold: i64) -> Formula {
    let mut sides: [Vec<Formula>; 2] = [Vec::new(), Vec::new()];
    for (coefficient, feature) in sum {
        let formula = feature.formula(environment);
        let times = coefficient.abs();
        let part = if times == 1 {
            formula
        } else {
            Formula::Multiply(Box::new(Formula::Number(times)), Box::new(formula))
        };
        sides[usize::from(*coefficient < 0)].push(part);
    }
    let [mut left, mut right] = sides;
    // `a <= b - 1` is `a < b`.
    let comparison = if threshold == -1 {
        Comparison::Less
    } else {
        Comparison::LessEqual
    };
    match threshold {
        0 | -1 => {}
        positive if positive > 0 => right.push(Formula::Number(positive)),
        negative => left.push(Formula::Number(-negative)),
    }
    Formula::compare(comparison, total(left), total(right))
}

fn total(parts: Vec<Formula>) -> Formula {
    let add = |left, right| Formula::Add(Box::new(left), Box::new(right));
    parts.into_iter().reduce(add).unwrap_or(Formula::Number(0))
}
