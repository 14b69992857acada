//! Clauses → formulas of a contract, as a person would write them.

use nearmiss_contracts::{Attribute, Comparison, Formula};

use crate::condition::Clause;
use crate::inputs::{Input, Role};
use crate::linear::{Linear, Variable};
use crate::set::Set;

/// A clause as a formula; `None` if a number in it is too large for one.
pub fn formula(clause: &Clause, inputs: &[Input]) -> Option<Formula> {
    let mut clause = clause.clone();
    let mut parts = lengths(&mut clause, inputs);
    for (sum, set) in &clause {
        parts.extend(disjuncts(literal(sum, set, inputs)?));
    }
    // What is about pointers comes first: the rest may lie behind them.
    parts.sort_by_key(|part| !is_about_null(part));
    Some(match parts.len() {
        1 => parts.remove(0),
        _ => Formula::Any(parts),
    })
}

/// Whether a formula compares a pointer with NULL.
pub(crate) fn is_about_null(formula: &Formula) -> bool {
    matches!(formula, Formula::Compare(_, _, right) if **right == Formula::Null)
}

fn disjuncts(formula: Formula) -> Vec<Formula> {
    match formula {
        Formula::Any(parts) => parts,
        other => vec![other],
    }
}

/// `s[0] == 0 || s[1] == 0` says that `strlen(s) < 2`, and with `s[2] != 0` that `strlen(s) != 2`. Takes such
/// literals out of the clause.
fn lengths(clause: &mut Clause, inputs: &[Input]) -> Vec<Formula> {
    let mut said = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        if input.role != Role::Elements || input.bytes != 1 {
            continue;
        }
        let character = |element: u32| {
            Linear::variable(Variable {
                input: number as u32,
                element,
            })
        };
        let zero = Set::of([0]);
        let others = zero.complement(input.range());
        let is_zero = |element: u32| clause.get(&character(element)) == Some(&zero);
        let count = (0..).take_while(|element| is_zero(*element)).count() as u32;
        let is_end = clause.get(&character(count)) == Some(&others);
        if count == 0 || count < 2 && !is_end {
            continue;
        }
        for element in 0..count + u32::from(is_end) {
            clause.remove(&character(element));
        }
        let comparison = match is_end {
            true => Comparison::NotEqual,
            false => Comparison::Less,
        };
        let length = Formula::term(Attribute::Find(0), &input.place);
        let count = Formula::Number(count.into());
        said.push(Formula::compare(comparison, length, count));
    }
    said
}

/// A sum lies in a set.
pub(crate) fn literal(sum: &Linear, set: &Set, inputs: &[Input]) -> Option<Formula> {
    let range = |variable: Variable| inputs[variable.input as usize].range();
    let limits = sum.range(&range);
    if let Some(variable) = sum.as_variable() {
        let input = &inputs[variable.input as usize];
        if input.role == Role::Null {
            let null = input.name(0);
            return Some(match set.contains(0) {
                true => null.negated(),
                false => null,
            });
        }
    }
    let inside = intervals(sum, set, limits, inputs)?;
    let complement = set.complement(limits);
    let outside = intervals(sum, &complement, limits, inputs)?.negated();
    Some(match outside.size() < inside.size() {
        true => outside,
        false => inside,
    })
}

fn intervals(sum: &Linear, set: &Set, limits: (i128, i128), inputs: &[Input]) -> Option<Formula> {
    let one = |&(low, high): &(i128, i128)| {
        if low == high {
            return compare(sum, Comparison::Equal, low, inputs);
        }
        let mut parts = Vec::new();
        if low > limits.0 {
            parts.push(compare(sum, Comparison::GreaterEqual, low, inputs)?);
        }
        if high < limits.1 {
            parts.push(compare(sum, Comparison::LessEqual, high, inputs)?);
        }
        Some(match parts.len() {
            1 => parts.remove(0),
            _ => Formula::All(parts),
        })
    };
    let parts: Option<Vec<Formula>> = set.intervals().iter().map(one).collect();
    let mut parts = parts?;
    Some(match parts.len() {
        1 => parts.remove(0),
        _ => Formula::Any(parts),
    })
}

/// `sum <comparison> number`, with what is subtracted on the other side.
fn compare(
    sum: &Linear,
    comparison: Comparison,
    number: i128,
    inputs: &[Input],
) -> Option<Formula> {
    let side = |sign: i128| -> Option<Option<Formula>> {
        let mut all: Option<Formula> = None;
        for (variable, factor) in sum.factors.iter().filter(|(_, it)| **it * sign > 0) {
            let name = inputs[variable.input as usize].name(variable.element);
            let factor = i64::try_from(factor.abs()).ok()?;
            let one = match factor {
                1 => name,
                _ => Formula::Multiply(Box::new(Formula::Number(factor)), Box::new(name)),
            };
            all = Some(match all {
                Some(all) => Formula::Add(Box::new(all), Box::new(one)),
                None => one,
            });
        }
        Some(all)
    };
    let left = side(1)?.unwrap_or(Formula::Number(0));
    let (comparison, number) = rounder(comparison, number, sum.factors.len() > 1);
    let constant = i64::try_from(number).ok()?;
    let right = match side(-1)? {
        None => Formula::Number(constant),
        Some(right) if constant == 0 => right,
        Some(right) if constant < 0 => {
            Formula::Subtract(Box::new(right), Box::new(Formula::Number(-constant)))
        }
        Some(right) => Formula::Add(Box::new(right), Box::new(Formula::Number(constant))),
    };
    Some(Formula::compare(comparison, left, right))
}

/// `i < 10` for `i <= 9`, `n > 0` for `n >= 1`, `a < b` for `a <= b - 1`: the number that a person would choose.
fn rounder(comparison: Comparison, number: i128, is_relation: bool) -> (Comparison, i128) {
    let (other, near) = match comparison {
        Comparison::LessEqual => (Comparison::Less, number + 1),
        Comparison::GreaterEqual => (Comparison::Greater, number - 1),
        _ => return (comparison, number),
    };
    let roundness = |number: i128| match number {
        0 => 9,
        _ if is_relation => -number.abs().min(8),
        _ if number % 10 == 0 => 3,
        _ if number.unsigned_abs().is_power_of_two() && number.abs() > 2 => 3,
        _ => i128::from(number % 4 == 0),
    };
    match roundness(near) > roundness(number) {
        true => (other, near),
        false => (comparison, number),
    }
}
