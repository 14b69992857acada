//! What a requirement says, computed without C: the measure of what is written.

use std::collections::HashMap;

use super::samples::Input;
use super::types::CType;
use super::{Binary, Expression, Node, Place, Quantifier, Step, Unary};

/// Whether the requirement holds for an input.
pub(super) fn holds(expression: &Expression, input: &Input) -> bool {
    let mut evaluator = Evaluator {
        input,
        variables: HashMap::new(),
        is_bound: false,
    };
    evaluator.is_true(expression) == Some(true)
}

struct Evaluator<'a> {
    input: &'a Input,
    variables: HashMap<String, i128>,
    /// Signs are kept, and nothing wraps.
    is_bound: bool,
}

impl Evaluator<'_> {
    fn is_true(&mut self, expression: &Expression) -> Option<bool> {
        self.value(expression).map(|(value, _)| value != 0)
    }

    /// The value and its type; none where C leaves it undefined.
    fn value(&mut self, expression: &Expression) -> Option<(i128, CType)> {
        let int = |value: bool| Some((i128::from(value), CType::INT));
        match &expression.node {
            Node::Number(value, ctype) => Some((*value, *ctype)),
            Node::Null => Some((0, CType::INT)),
            Node::Place(place) => {
                let variable = self.variables.get(&place.name);
                if let (Some(value), true) = (variable, place.steps.is_empty()) {
                    return Some((*value, CType::INT));
                }
                let path = self.path(place)?;
                match self.input.number(&path) {
                    Some((value, ctype)) if self.is_bound && CType::LONG.holds(value) => {
                        Some((value, if ctype.signed { ctype } else { CType::LONG }))
                    }
                    Some(number) => Some(number),
                    None => int(!self.input.is_null(&path)?),
                }
            }
            Node::Count(place) => {
                let path = self.path(place)?;
                Some((self.input.count(&path)?, CType::INT))
            }
            Node::Length(place) => {
                let path = self.path(place)?;
                Some((self.input.count(&path)? - 1, CType::UNSIGNED_LONG))
            }
            Node::Unary(operation, operand) => {
                let (value, ctype) = self.value(operand)?;
                let computed = match operation {
                    Unary::Plus => value,
                    Unary::Minus => -value,
                    Unary::Complement => !value,
                    Unary::Not => return int(value == 0),
                };
                Some((ctype.wrapped(computed), ctype))
            }
            Node::Binary(Binary::And, left, right) => {
                int(self.is_true(left)? && self.is_true(right)?)
            }
            Node::Binary(Binary::Or, left, right) => {
                int(self.is_true(left)? || self.is_true(right)?)
            }
            Node::Binary(Binary::Implies, left, right) => {
                int(!self.is_true(left)? || self.is_true(right)?)
            }
            Node::Binary(operation, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                match self.is_bound {
                    true => computed(*operation, (left.0, CType::LONG), (right.0, CType::LONG)),
                    false => computed(*operation, left, right),
                }
            }
            Node::Quantifier(quantifier) => int(self.quantifier(quantifier)?),
        }
    }

    fn path(&mut self, place: &Place) -> Option<String> {
        let mut path = place.name.clone();
        for step in &place.steps {
            match step {
                Step::Member(name) => path += &format!(".{name}"),
                Step::Arrow(name) => {
                    if self.input.is_null(&path)? {
                        return None;
                    }
                    path += &format!("->{name}");
                }
                Step::Index(_) | Step::Target => {
                    let index = match step {
                        Step::Index(index) => self.value(index)?.0,
                        _ => 0,
                    };
                    if self.input.is_null(&path) == Some(true) {
                        return None;
                    }
                    (0..self.input.count(&path)?)
                        .contains(&index)
                        .then_some(())?;
                    path += &format!("[{index}]");
                }
            }
        }
        Some(path)
    }

    /// As a loop in C would go through it, from the smallest value that may count.
    fn quantifier(&mut self, quantifier: &Quantifier) -> Option<bool> {
        self.is_bound = true;
        let bounds = (self.value(&quantifier.low), self.value(&quantifier.high));
        self.is_bound = false;
        let (low, high) = (bounds.0?, bounds.1?);
        let below = match quantifier.inclusive {
            true => Binary::AtMost,
            false => Binary::Less,
        };
        let hidden = self.variables.get(&quantifier.variable).copied();
        let mut result = quantifier.every;
        for value in -40..=40 {
            let number = (value, CType::INT);
            let counts = computed(Binary::AtLeast, number, low)?.0 != 0
                && computed(below, number, high)?.0 != 0;
            if counts {
                self.variables.insert(quantifier.variable.clone(), value);
                let holds = self.is_true(&quantifier.body) == Some(true);
                result = match quantifier.every {
                    true => result && holds,
                    false => result || holds,
                };
            }
        }
        match hidden {
            Some(value) => self.variables.insert(quantifier.variable.clone(), value),
            None => self.variables.remove(&quantifier.variable),
        };
        Some(result)
    }
}

fn computed(
    operation: Binary,
    (left, left_type): (i128, CType),
    (right, right_type): (i128, CType),
) -> Option<(i128, CType)> {
    let shifts = [Binary::ShiftLeft, Binary::ShiftRight];
    if shifts.contains(&operation) {
        (0..i128::from(left_type.bits()))
            .contains(&right)
            .then_some(())?;
        let value = match operation {
            Binary::ShiftLeft => left << right,
            _ => left >> right,
        };
        return Some((left_type.wrapped(value), left_type));
    }
    let ctype = left_type.common(right_type);
    let (left, right) = (ctype.wrapped(left), ctype.wrapped(right));
    let truth = match operation {
        Binary::Equal => Some(left == right),
        Binary::Unequal => Some(left != right),
        Binary::Less => Some(left < right),
        Binary::AtMost => Some(left <= right),
        Binary::Greater => Some(left > right),
        Binary::AtLeast => Some(left >= right),
        _ => None,
    };
    if let Some(truth) = truth {
        return Some((i128::from(truth), CType::INT));
    }
    let value = match operation {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide => left.checked_div(right)?,
        Binary::Remainder => left.checked_rem(right)?,
        Binary::BitAnd => left & right,
        Binary::BitOr => left | right,
        _ => left ^ right,
    };
    Some((ctype.wrapped(value), ctype))
}
