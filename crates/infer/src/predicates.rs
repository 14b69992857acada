//! The predicates over a calling environment: comparisons of all variables, with each other and with numbers that matter.

use nearmiss_contracts::{Attribute, Comparison, Formula};

use crate::InferError;
use crate::condition::Condition;
use crate::environment::{Environment, Quantity};

/// The usual predicates, then the user's own.
pub fn predicates(
    environment: &Environment,
    magic: &[i64],
    own: &[Formula],
) -> Result<Vec<Condition>, InferError> {
    let mut formulas = Vec::new();
    let numbers: Vec<&Quantity> = environment
        .quantities
        .iter()
        .filter(|q| q.is_number)
        .collect();
    for (index, left) in numbers.iter().enumerate() {
        for right in &numbers[index + 1..] {
            pair(left, right, &mut formulas);
        }
    }
    for quantity in &numbers {
        against_zero(quantity, magic, &mut formulas);
    }
    addresses(environment, &mut formulas);
    formulas.extend_from_slice(own);
    let mut conditions: Vec<Condition> = Vec::new();
    for formula in &formulas {
        let condition = environment.condition(formula)?;
        if !conditions
            .iter()
            .any(|other| other.formula == condition.formula)
        {
            conditions.push(condition);
        }
    }
    Ok(conditions)
}

fn of(quantity: &Quantity) -> Formula {
    Formula::Term(quantity.term.clone())
}

fn is_fixed(quantity: &Quantity) -> bool {
    quantity.range.0 == quantity.range.1 && quantity.others.is_empty()
}

/// `a <= b` and `b <= a`, but for those that always hold.
fn pair(left: &Quantity, right: &Quantity, formulas: &mut Vec<Formula>) {
    if is_fixed(left) || is_fixed(right) {
        return;
    }
    let same_block = left.term.place == right.term.place;
    let is_place = |q: &Quantity| matches!(q.term.attribute, Attribute::Find(_));
    let within = |inner: &Quantity, outer: &Quantity| {
        same_block && is_place(inner) && outer.term.attribute == Attribute::Bounds
    };
    let range = |a: &Quantity, b: &Quantity| {
        same_block
            && a.term.attribute == Attribute::Least
            && b.term.attribute == Attribute::Greatest
    };
    for (a, b) in [(left, right), (right, left)] {
        if !within(a, b) && !range(a, b) {
            formulas.push(Formula::compare(Comparison::LessEqual, of(a), of(b)));
        }
    }
}

/// `v <= 0` and `v >= 0`, and comparisons with numbers that matter.
fn against_zero(quantity: &Quantity, magic: &[i64], formulas: &mut Vec<Formula>) {
    if is_fixed(quantity) {
        return;
    }
    let mut add = |comparison, value| {
        let number = Formula::Number(value);
        formulas.push(Formula::compare(comparison, of(quantity), number));
    };
    if quantity.range.0 >= 0 {
        add(Comparison::Equal, 0);
    } else {
        add(Comparison::LessEqual, 0);
        add(Comparison::GreaterEqual, 0);
    }
    if quantity.term.attribute == Attribute::Value {
        for value in magic.iter().filter(|value| **value != 0) {
            add(Comparison::Equal, *value);
        }
    }
}

/// `p == NULL`, and `p == q` where both may lead to the same block.
fn addresses(environment: &Environment, formulas: &mut Vec<Formula>) {
    for block in &environment.blocks {
        let pointer = Formula::term(Attribute::Value, &block.place);
        formulas.push(Formula::compare(
            Comparison::Equal,
            pointer.clone(),
            Formula::Null,
        ));
        for earlier in &block.aliases {
            let other = Formula::term(Attribute::Value, &environment.blocks[*earlier].place);
            formulas.push(Formula::compare(Comparison::Equal, other, pointer.clone()));
        }
    }
}
