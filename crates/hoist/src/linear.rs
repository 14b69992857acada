//! Sums of variables with whole coefficients, over mathematical integers.

use std::collections::BTreeMap;

/// A variable: an element of an input of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable {
    /// Which input, by its place in the plan.
    pub input: u32,
    /// Which element of it; 0 where it is one value.
    pub element: u32,
}

/// `c1 * x1 + c2 * x2 + … + constant`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Linear {
    /// The variables, each with a coefficient that is not 0.
    pub factors: BTreeMap<Variable, i128>,
    /// What is added.
    pub constant: i128,
}

/// Coefficients and constants beyond this are given up: nothing overflows then.
const LARGEST: i128 = 1 << 90;

/// Variables of a sum beyond this are given up: no requirement of so many is read (a checksum adds up all characters).
const MOST_VARIABLES: usize = 16;

impl Linear {
    /// A number.
    pub fn constant(constant: i128) -> Linear {
        Linear {
            constant,
            ..Linear::default()
        }
    }

    /// A variable.
    pub fn variable(variable: Variable) -> Linear {
        Linear {
            factors: [(variable, 1)].into(),
            constant: 0,
        }
    }

    /// `self + factor * other`; `None` if the numbers become too large, or the variables too many.
    pub fn plus(&self, factor: i128, other: &Linear) -> Option<Linear> {
        let mut sum = self.clone();
        sum.constant += small(factor.checked_mul(other.constant)?)?;
        for (variable, other) in &other.factors {
            let entry = sum.factors.entry(*variable).or_default();
            *entry += small(factor.checked_mul(*other)?)?;
        }
        sum.factors.retain(|_, factor| *factor != 0);
        let is_small = |it: &i128| it.abs() < LARGEST;
        let fits = sum.factors.len() <= MOST_VARIABLES
            && is_small(&sum.constant)
            && sum.factors.values().all(is_small);
        fits.then_some(sum)
    }

    /// `factor * self`.
    pub fn times(&self, factor: i128) -> Option<Linear> {
        Linear::default().plus(factor, self)
    }

    /// The number that it is, if it has no variables.
    pub fn as_constant(&self) -> Option<i128> {
        self.factors.is_empty().then_some(self.constant)
    }

    /// The variable that it is.
    pub fn as_variable(&self) -> Option<Variable> {
        match (
            self.factors.iter().next(),
            self.factors.len(),
            self.constant,
        ) {
            (Some((variable, 1)), 1, 0) => Some(*variable),
            _ => None,
        }
    }

    /// `self / divisor`; `None` where that is no such sum.
    pub fn over(&self, divisor: i128) -> Option<Linear> {
        let is_whole = |it: &i128| divisor != 0 && it % divisor == 0;
        let exact = is_whole(&self.constant) && self.factors.values().all(is_whole);
        exact.then(|| Linear {
            factors: (self.factors.iter())
                .map(|(variable, factor)| (*variable, factor / divisor))
                .collect(),
            constant: self.constant / divisor,
        })
    }

    /// The least and the greatest value, where `range` knows those of variables.
    pub fn range(&self, range: &dyn Fn(Variable) -> (i128, i128)) -> (i128, i128) {
        let mut sum = (self.constant, self.constant);
        for (variable, factor) in &self.factors {
            let (low, high) = range(*variable);
            let ends = (factor * low, factor * high);
            sum.0 += ends.0.min(ends.1);
            sum.1 += ends.0.max(ends.1);
        }
        sum
    }

    /// Its value, where `value` knows those of variables.
    pub fn evaluate(&self, value: &dyn Fn(Variable) -> i128) -> i128 {
        let one = |(variable, factor): (&Variable, &i128)| factor * value(*variable);
        self.factors.iter().map(one).sum::<i128>() + self.constant
    }

    /// The greatest number that divides all coefficients, negative if the first coefficient is; 1 where there is none.
    pub fn divisor(&self) -> i128 {
        let greatest = self.factors.values().fold(0, |one, other| gcd(one, *other));
        match self.factors.values().next() {
            Some(first) if *first < 0 => -greatest,
            Some(_) => greatest,
            None => 1,
        }
    }
}

fn small(number: i128) -> Option<i128> {
    (number.abs() < LARGEST).then_some(number)
}

fn gcd(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.abs(), other.abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
