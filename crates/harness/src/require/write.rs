//! An expression → C without branches.

use std::collections::HashMap;

use super::arithmetic::{self, Written};
use super::lengths::Lengths;
use super::truth::Truth;
use super::types::CType;
use super::values::Values;
use super::{Binary, Expression, Node, Place, Quantifier, Trouble, places};
use crate::Operands;

/// So many turns of one quantifier, and of all together. Every turn is text for the compiler.
const MOST_TURNS: i128 = 4096;
const MOST_TURNS_IN_ALL: i128 = 20_000;

/// The whole requirement: it is defined, and it holds.
pub(super) fn write(expression: &Expression, operands: &dyn Operands) -> Result<String, Trouble> {
    let mut writer = Writer {
        operands,
        variables: HashMap::new(),
        is_bound: false,
        lengths: Lengths::default(),
        turns: 0,
    };
    let written = writer.expression(expression)?;
    let holds = written.defined.and(&written.truth());
    Ok(writer.lengths.around(&holds.to_string()))
}

/// What is known on the way.
pub(super) struct Writer<'a> {
    pub operands: &'a dyn Operands,
    /// The variables of quantifiers: in each turn they are constants.
    variables: HashMap<String, i128>,
    /// In the bounds of a quantifier: see [`Writer::bound`].
    is_bound: bool,
    /// The strings whose lengths are needed.
    pub lengths: Lengths,
    turns: i128,
}

impl Writer<'_> {
    /// Any part.
    pub fn expression(&mut self, expression: &Expression) -> Result<Written, Trouble> {
        let at = expression.at;
        match &expression.node {
            Node::Number(value, ctype) => Ok(Written::constant(*value, *ctype)),
            Node::Null => Ok(Written {
                is_pointer: true,
                ..Written::constant(0, CType::INT)
            }),
            Node::Place(place) => match self.variable(place) {
                Some(value) => Ok(constant(value)),
                None => places::number(self, place, at).map(|number| self.with_sign(number)),
            },
            Node::Count(place) => places::count(self, place, at).map(|count| self.with_sign(count)),
            Node::Length(place) => {
                places::length(self, place, at).map(|length| self.with_sign(length))
            }
            Node::Unary(operation, operand) => {
                let operand = self.expression(operand)?;
                if operand.is_pointer && *operation != super::Unary::Not {
                    return Err(Trouble::new(
                        at,
                        "nothing can be computed with a pointer here",
                    ));
                }
                Ok(arithmetic::unary(*operation, &operand))
            }
            Node::Binary(operation, left, right) => self.binary(*operation, left, right, at),
            Node::Quantifier(quantifier) => self.quantifier(quantifier),
        }
    }

    fn variable(&self, place: &Place) -> Option<i128> {
        let value = self.variables.get(&place.name)?;
        place.steps.is_empty().then_some(*value)
    }

    /// Whether a part says the same in all turns and for all inputs.
    pub fn is_constant(&self, expression: &Expression) -> bool {
        match &expression.node {
            Node::Number(..) => true,
            Node::Unary(_, operand) => self.is_constant(operand),
            Node::Binary(_, left, right) => self.is_constant(left) && self.is_constant(right),
            _ => false,
        }
    }

    fn binary(
        &mut self,
        operation: Binary,
        left: &Expression,
        right: &Expression,
        at: usize,
    ) -> Result<Written, Trouble> {
        let mut left = self.expression(left)?;
        let mut right = self.expression(right)?;
        if self.is_bound && left.computed_beyond(operation, &right) {
            left = left.converted(CType::LONG);
            right = right.converted(CType::LONG);
        }
        // When the right side is looked at at all.
        let (holds, reached) = match operation {
            Binary::And => (left.truth().and(&right.truth()), left.truth()),
            Binary::Or => (left.truth().or(&right.truth()), left.truth().not()),
            Binary::Implies => (left.truth().not().or(&right.truth()), left.truth()),
            _ => {
                refuse_pointers(operation, &left, &right, at)?;
                return Ok(arithmetic::binary(operation, &left, &right));
            }
        };
        let defined = left.defined.and(&reached.not().or(&right.defined));
        Ok(Written::of_truth(&holds).if_defined(&defined))
    }

    /// A bound of a quantifier. Nobody who writes `0..n-1` means four thousand million where n is
    /// unsigned and 0: bounds have signs, and room for what is computed.
    fn bound(&mut self, expression: &Expression) -> Result<Written, Trouble> {
        let outside = std::mem::replace(&mut self.is_bound, true);
        let bound = self.expression(expression);
        self.is_bound = outside;
        bound
    }

    fn with_sign(&self, number: Written) -> Written {
        let signed = [CType::INT, CType::LONG].into_iter();
        let mut fitting = signed.filter(|ctype| number.fits(*ctype));
        match fitting.next() {
            Some(ctype) if self.is_bound && !number.ctype.signed => number.converted(ctype),
            _ => number,
        }
    }

    fn quantifier(&mut self, quantifier: &Quantifier) -> Result<Written, Trouble> {
        let low = self.bound(&quantifier.low)?;
        let high = self.bound(&quantifier.high)?;
        let bounds = low.defined.and(&high.defined);
        let turns = self.turns_of(quantifier, &low, &high)?;
        let hidden = self.variables.get(&quantifier.variable).copied();
        let mut truths = Vec::new();
        for value in turns {
            let counts = is_between(&constant(value), &low, &high, quantifier.inclusive);
            if counts == Truth::FALSE {
                continue;
            }
            self.variables.insert(quantifier.variable.clone(), value);
            let body = self.expression(&quantifier.body)?;
            let holds = body.defined.and(&body.truth());
            truths.push(match quantifier.every {
                true => counts.not().or(&holds),
                false => counts.and(&holds),
            });
        }
        match hidden {
            Some(value) => self.variables.insert(quantifier.variable.clone(), value),
            None => self.variables.remove(&quantifier.variable),
        };
        let holds = match quantifier.every {
            true => Truth::all(truths),
            false => Truth::any(truths),
        };
        Ok(Written::of_truth(&holds).if_defined(&bounds))
    }

    /// The values that the variable may have for some input.
    fn turns_of(
        &mut self,
        quantifier: &Quantifier,
        low: &Written,
        high: &Written,
    ) -> Result<std::ops::RangeInclusive<i128>, Trouble> {
        let first = low.values.least;
        let last = high.values.greatest - i128::from(!quantifier.inclusive);
        let turns = (last - first + 1).max(0);
        self.turns += turns;
        if turns > MOST_TURNS || self.turns > MOST_TURNS_IN_ALL {
            let variable = &quantifier.variable;
            let message = match turns > MOST_TURNS {
                true => format!(
                    "{variable} may have {turns} values here; say what its bounds may be, as in --range n=0..8"
                ),
                false => "the quantifiers have too many turns in all".to_string(),
            };
            return Err(Trouble::new(quantifier.high.at, message));
        }
        Ok(first..=last)
    }
}

/// A variable's value, as C would write it.
fn constant(value: i128) -> Written {
    let ctype = match CType::INT.holds(value) {
        true => CType::INT,
        false => CType::LONG,
    };
    Written::constant(value, ctype)
}

fn is_between(value: &Written, low: &Written, high: &Written, inclusive: bool) -> Truth {
    let below = match inclusive {
        true => Binary::AtMost,
        false => Binary::Less,
    };
    let from = arithmetic::binary(Binary::AtLeast, value, low).truth();
    from.and(&arithmetic::binary(below, value, high).truth())
}

/// A pointer may be compared with NULL, or with 0, and that is all.
fn refuse_pointers(
    operation: Binary,
    left: &Written,
    right: &Written,
    at: usize,
) -> Result<(), Trouble> {
    if !left.is_pointer && !right.is_pointer {
        return Ok(());
    }
    let is_null = |written: &Written| written.values == Values::new(0, 0);
    let is_equality = matches!(operation, Binary::Equal | Binary::Unequal);
    match is_equality && (is_null(left) || is_null(right)) {
        true => Ok(()),
        false => Err(Trouble::new(
            at,
            "a pointer can only be compared with NULL here",
        )),
    }
}
