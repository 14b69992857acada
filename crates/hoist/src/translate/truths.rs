//! Terms of one bit as conditions: conjunctions, comparisons, and what is found by trying the values of a byte.

use std::collections::BTreeMap;

use nearmiss_expr::{Evaluator, InputByte, Node, Op, TermId};

use super::sums::{combined, limits, product};
use super::{MOST_DEPTH, MOST_WINDOWS, Translator, WIDEST};
use crate::condition::Condition;
use crate::linear::{Linear, Variable};
use crate::set::Set;

/// Parts of a conjunction that are looked at one by one.
const MOST_LEAVES: usize = 64;

/// Equal or not, the number, and its bytes by their places.
type ByteEquality = (Op, Variable, Vec<(u32, u8)>);

impl Translator<'_> {
    pub(super) fn truth(&mut self, id: TermId) -> Option<Condition> {
        self.depth += 1;
        let found = match self.depth > MOST_DEPTH {
            true => None,
            false => self.structured(id).or_else(|| self.enumerated(id)),
        };
        self.depth -= 1;
        found
    }

    pub(super) fn structured(&mut self, id: TermId) -> Option<Condition> {
        match self.terms.node(id) {
            Node::Const { value, .. } => Some(Condition::truth(value == 1)),
            Node::Unary { op: Op::Not, a } => {
                let inner = self.truth(a)?;
                Some(self.negated(&inner))
            }
            Node::Binary {
                op: Op::And | Op::Or,
                ..
            } => self.joined(id),
            Node::Binary { op, a, b } if self.terms.width(a) == 1 => self.connected(op, a, b),
            Node::Binary {
                op: Op::Eq | Op::Ne,
                ..
            } if self.byte_equality(id).is_some() => self.joined(id),
            Node::Binary { op, a, b } => self.compared(op, a, b),
            Node::Ite {
                condition,
                then,
                otherwise,
            } => {
                let chosen = self.truth(condition)?;
                let other = self.negated(&chosen);
                let (then, otherwise) = (self.truth(then)?, self.truth(otherwise)?);
                Some(Condition::any(vec![
                    Condition::all(vec![chosen, then]),
                    Condition::all(vec![other, otherwise]),
                ]))
            }
            _ => None,
        }
    }

    /// A conjunction or disjunction. That a number of several bytes is equal to another comes as one equality for each
    /// byte: these are put together again.
    pub(super) fn joined(&mut self, id: TermId) -> Option<Condition> {
        let (is_all, leaves) = match self.terms.node(id) {
            Node::Binary { op: Op::Or, .. } => (false, self.leaves(id, Op::Or)),
            Node::Binary { op: Op::Ne, .. } => (false, vec![id]),
            _ => (true, self.leaves(id, Op::And)),
        };
        let wanted = if is_all { Op::Eq } else { Op::Ne };
        let mut numbers: BTreeMap<Variable, BTreeMap<u32, u8>> = BTreeMap::new();
        let mut parts = Vec::new();
        for leaf in leaves {
            match self.byte_equality(leaf).filter(|(op, ..)| *op == wanted) {
                Some((_, variable, bytes)) => numbers.entry(variable).or_default().extend(bytes),
                // Of one byte only: not what was meant above.
                None if leaf == id => return None,
                None => parts.push(self.truth(leaf)?),
            }
        }
        for (variable, bytes) in numbers {
            let equal = self.upper_bytes(variable, &bytes)?;
            parts.push(match is_all {
                true => equal,
                false => self.negated(&equal),
            });
        }
        Some(match is_all {
            true => Condition::all(parts),
            false => Condition::any(parts),
        })
    }

    pub(super) fn leaves(&self, id: TermId, op: Op) -> Vec<TermId> {
        let mut found = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.terms.node(id) {
                Node::Binary { op: here, a, b } if here == op && found.len() < MOST_LEAVES => {
                    open.extend([b, a]);
                }
                _ => found.push(id),
            }
        }
        found
    }

    /// Some bytes of a number of several bytes are equal to constants, or not.
    pub(super) fn byte_equality(&self, id: TermId) -> Option<ByteEquality> {
        let Node::Binary { op, a, b } = self.terms.node(id) else {
            return None;
        };
        let is_equality = matches!(op, Op::Eq | Op::Ne);
        let value = self.terms.as_constant(b).filter(|_| is_equality)?;
        let mut bytes = Vec::new();
        self.input_bytes(a, &mut bytes)?;
        let (variable, _) = self.view.variable(bytes[0])?;
        let mut known = Vec::new();
        for (number, byte) in bytes.iter().enumerate() {
            let (of, place) = self.view.variable(*byte)?;
            if of != variable {
                return None;
            }
            known.push((place, (value >> (8 * number)) as u8));
        }
        (self.view.size(variable) > 1).then_some((op, variable, known))
    }

    /// A number whose upper bytes are these, down to some byte: it lies in an interval.
    pub(super) fn upper_bytes(
        &self,
        variable: Variable,
        bytes: &BTreeMap<u32, u8>,
    ) -> Option<Condition> {
        let size = self.view.size(variable);
        let (first, _) = bytes.first_key_value()?;
        let is_upper = bytes.len() as u32 == size - first;
        let mut low: i128 = 0;
        for (place, value) in bytes.iter().filter(|_| is_upper) {
            low |= i128::from(*value) << (8 * place);
        }
        let (least, greatest) = limits(8 * size, self.view.is_signed(variable))?;
        if low > greatest {
            low += least - greatest - 1;
        }
        let high = low + (1 << (8 * first)) - 1;
        let sum = Linear::variable(variable);
        is_upper.then(|| Condition::between(&sum, Some(low), Some(high), &|it| self.view.range(it)))
    }

    /// An operation on two truths.
    pub(super) fn connected(&mut self, op: Op, a: TermId, b: TermId) -> Option<Condition> {
        let (a, b) = (self.truth(a)?, self.truth(b)?);
        let different = self.different(&a, &b);
        match op {
            Op::Xor | Op::Ne => Some(different),
            Op::Eq => Some(self.negated(&different)),
            _ => None,
        }
    }

    /// Only one of two holds.
    pub(super) fn different(&self, a: &Condition, b: &Condition) -> Condition {
        let (not_a, not_b) = (self.negated(a), self.negated(b));
        Condition::any(vec![
            Condition::all(vec![a.clone(), not_b]),
            Condition::all(vec![not_a, b.clone()]),
        ])
    }

    pub(super) fn compared(&mut self, op: Op, a: TermId, b: TermId) -> Option<Condition> {
        let width = self.terms.width(a);
        match op {
            Op::Eq | Op::Ne => {
                let equal = self.equal(a, b, width)?;
                Some(match op {
                    Op::Eq => equal,
                    _ => self.negated(&equal),
                })
            }
            Op::Ult | Op::Slt => self.less(a, b, op == Op::Slt, -1),
            Op::Ule | Op::Sle => self.less(a, b, op == Op::Sle, 0),
            Op::SAddOverflow | Op::UAddOverflow => self.overflow(a, b, op == Op::SAddOverflow, 1),
            Op::SSubOverflow | Op::USubOverflow => self.overflow(a, b, op == Op::SSubOverflow, -1),
            Op::SMulOverflow | Op::UMulOverflow => {
                self.product_overflow(a, b, op == Op::SMulOverflow)
            }
            _ => None,
        }
    }

    /// The difference of two words is a multiple of 2^width.
    pub(super) fn equal(&mut self, a: TermId, b: TermId, width: u32) -> Option<Condition> {
        let window = 1i128 << width.min(WIDEST);
        let pairs = self.pairs(a, b)?;
        let mut parts = Vec::new();
        for (guard, a, b) in pairs {
            let difference = a.plus(-1, &b)?;
            let (low, high) = difference.range(&|variable| self.range(variable));
            let (first, last) = match width < WIDEST {
                true => (-(-low).div_euclid(window), high.div_euclid(window)),
                false => (0, 0),
            };
            if last - first >= MOST_WINDOWS {
                return None;
            }
            for multiple in first..=last {
                let number = Some(multiple * window);
                let here = self.between(&difference, number, number);
                parts.push(Condition::all(vec![guard.clone(), here]));
            }
        }
        Some(Condition::any(parts))
    }

    /// `a - b <= most`, both as signed or unsigned numbers.
    pub(super) fn less(
        &mut self,
        a: TermId,
        b: TermId,
        signed: bool,
        most: i128,
    ) -> Option<Condition> {
        let width = self.terms.width(a);
        let (a, b) = (self.word(a)?, self.word(b)?);
        let (a, b) = (self.value(a, width, signed)?, self.value(b, width, signed)?);
        let mut parts = Vec::new();
        for (guard, a, b) in combined(a, b)? {
            let here = self.between(&a.plus(-1, &b)?, None, Some(most));
            parts.push(Condition::all(vec![guard, here]));
        }
        Some(Condition::any(parts))
    }

    /// `a + sign * b` does not fit.
    pub(super) fn overflow(
        &mut self,
        a: TermId,
        b: TermId,
        signed: bool,
        sign: i128,
    ) -> Option<Condition> {
        let width = self.terms.width(a);
        let (a, b) = (self.word(a)?, self.word(b)?);
        let (a, b) = (self.value(a, width, signed)?, self.value(b, width, signed)?);
        let mut parts = Vec::new();
        for (guard, a, b) in combined(a, b)? {
            let here = self.outside(&a.plus(sign, &b)?, width, signed)?;
            parts.push(Condition::all(vec![guard, here]));
        }
        Some(Condition::any(parts))
    }

    /// `a * b` does not fit, where one of them is a number.
    pub(super) fn product_overflow(
        &mut self,
        a: TermId,
        b: TermId,
        signed: bool,
    ) -> Option<Condition> {
        let width = self.terms.width(a);
        let (a, b) = (self.word(a)?, self.word(b)?);
        let (a, b) = (self.value(a, width, signed)?, self.value(b, width, signed)?);
        let mut parts = Vec::new();
        for (guard, a, b) in combined(a, b)? {
            let here = self.outside(&product(&a, &b)?, width, signed)?;
            parts.push(Condition::all(vec![guard, here]));
        }
        Some(Condition::any(parts))
    }

    /// The sum is no number of so many bits.
    pub(super) fn outside(&self, sum: &Linear, width: u32, signed: bool) -> Option<Condition> {
        let (low, high) = limits(width, signed)?;
        let fits = self.between(sum, Some(low), Some(high));
        Some(self.negated(&fits))
    }

    pub(super) fn pairs(
        &mut self,
        a: TermId,
        b: TermId,
    ) -> Option<Vec<(Condition, Linear, Linear)>> {
        let (a, b) = (self.word(a)?, self.word(b)?);
        combined(a, b)
    }

    /// A condition on one variable of one byte, by trying all of its values.
    pub(super) fn enumerated(&mut self, id: TermId) -> Option<Condition> {
        let support = self.supports.of(self.terms, id);
        let bytes = self.supports.bytes(support);
        let mut of_call = bytes.iter().filter_map(|byte| self.view.variable(*byte));
        let (variable, _) = of_call.next().filter(|(it, _)| self.view.size(*it) == 1)?;
        if of_call.next().is_some() {
            return None;
        }
        let (low, high) = self.view.range(variable);
        let mut set = Vec::new();
        for value in low..=high {
            let inputs = |byte: InputByte| match self.view.variable(byte) {
                Some(_) => value as u8,
                None => self.view.bytes.recorded.get(&byte).copied().unwrap_or(0),
            };
            if Evaluator::new().holds(self.terms, &inputs, id) {
                set.push(value);
            }
        }
        let sum = Linear::variable(variable);
        Some(Condition::member(sum, Set::of(set), (low, high)))
    }
}
