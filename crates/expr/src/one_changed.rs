//! The value of terms under inputs that differ from a recorded one in a single byte.
//!
//! On a long path a term may have thousands of terms below it, and few of them depend on the byte that is changed. What
//! does not has its recorded value, which is computed once for all bytes and all their values.

use crate::evaluate::{Evaluator, Inputs, apply_node, read_node};
use crate::node::{InputByte, Node, TermId};
use crate::support::{InputSet, Supports};
use crate::terms::Terms;

/// Evaluates terms of one arena around one recorded input.
#[derive(Debug, Default)]
pub struct OneChanged {
    recorded: Evaluator,
    supports: Supports,
    byte: Option<(InputByte, InputSet)>,
    /// How many bytes were changed, one after another, and for each term the last one of which it is known whether the
    /// term depends on it.
    bytes_changed: u32,
    dependent: Vec<(u32, bool)>,
    value: u8,
    /// The values of terms that depend on the byte, and the change for which they were computed.
    values: Vec<(u128, u32)>,
    change: u32,
    stack: Vec<TermId>,
    steps: usize,
}

impl OneChanged {
    /// Knows no value.
    pub fn new() -> OneChanged {
        OneChanged {
            recorded: Evaluator::new(),
            ..OneChanged::default()
        }
    }

    /// The bytes that a term depends on.
    pub fn bytes(&mut self, terms: &Terms, id: TermId) -> Vec<InputByte> {
        let set = self.supports.of(terms, id);
        self.supports.bytes(set)
    }

    /// From now on this byte is another one.
    pub fn change(&mut self, byte: InputByte, value: u8) {
        if self.byte.is_none_or(|(changed, _)| changed != byte) {
            self.byte = Some((byte, self.supports.single(byte)));
            self.bytes_changed += 1;
        }
        self.value = value;
        if self.change == u32::MAX {
            self.values.fill((0, 0));
            self.change = 0;
        }
        self.change += 1;
    }

    /// How many terms that depend on a changed byte were computed so far.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Whether a term depends on the byte that is changed.
    pub fn depends(&mut self, terms: &Terms, id: TermId) -> bool {
        if self.dependent.len() < terms.len() {
            self.dependent.resize(terms.len(), (0, false));
        }
        if self.dependent[id.index()].0 == self.bytes_changed {
            return self.dependent[id.index()].1;
        }
        let set = self.supports.of(terms, id);
        let changed = self.byte;
        let depends = changed.is_some_and(|(_, byte)| self.supports.intersects(set, byte));
        self.dependent[id.index()] = (self.bytes_changed, depends);
        depends
    }

    /// The value of a term. `recorded` must be the same input in all calls.
    pub fn evaluate(&mut self, terms: &Terms, recorded: &dyn Inputs, id: TermId) -> u128 {
        if self.values.len() < terms.len() {
            self.values.resize(terms.len(), (0, 0));
        }
        self.stack.push(id);
        while let Some(&top) = self.stack.last() {
            let waiting = self.stack.len();
            if self.known(terms, top) {
                self.stack.pop();
                continue;
            }
            self.push_needed(terms, recorded, top);
            if self.stack.len() == waiting {
                let value = self.apply(terms, recorded, top);
                self.values[top.index()] = (value, self.change);
                self.steps += 1;
                self.stack.pop();
            }
        }
        self.value_of(terms, recorded, id)
    }

    /// Whether there is nothing to compute any more: the term has its value, or its recorded one.
    fn known(&mut self, terms: &Terms, id: TermId) -> bool {
        self.values[id.index()].1 == self.change || !self.depends(terms, id)
    }

    /// Pushes what a term needs before it can be computed: of a choice only the side that it takes.
    fn push_needed(&mut self, terms: &Terms, recorded: &dyn Inputs, id: TermId) {
        if let Node::Ite {
            condition,
            then,
            otherwise,
        } = terms.node(id)
        {
            if !self.known(terms, condition) {
                self.stack.push(condition);
                return;
            }
            let truth = self.value_of(terms, recorded, condition) == 1;
            let side = if truth { then } else { otherwise };
            if !self.known(terms, side) {
                self.stack.push(side);
            }
            return;
        }
        for operand in terms.operands(id) {
            if !self.known(terms, operand) {
                self.stack.push(operand);
            }
        }
    }

    /// The value of a term that is known.
    fn value_of(&mut self, terms: &Terms, recorded: &dyn Inputs, id: TermId) -> u128 {
        let (value, change) = self.values[id.index()];
        if change == self.change {
            return value;
        }
        self.recorded.evaluate(terms, recorded, id)
    }

    /// The value of a term whose operands are known.
    fn apply(&mut self, terms: &Terms, recorded: &dyn Inputs, id: TermId) -> u128 {
        match terms.node(id) {
            Node::Input(byte) => match self.byte {
                Some((changed, _)) if changed == byte => self.value.into(),
                _ => recorded.byte(byte).into(),
            },
            Node::Ite {
                condition,
                then,
                otherwise,
            } => {
                let truth = self.value_of(terms, recorded, condition) == 1;
                self.value_of(terms, recorded, if truth { then } else { otherwise })
            }
            Node::Read {
                index,
                snapshot,
                width,
            } => {
                let at = self.value_of(terms, recorded, index);
                read_node(terms, snapshot, at, width)
            }
            _ => {
                let mut values = [0; 2];
                for (value, operand) in values.iter_mut().zip(terms.operands(id)) {
                    *value = self.value_of(terms, recorded, operand);
                }
                apply_node(terms, id, values)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, random_predicate};

    #[test]
    fn values_are_those_of_the_whole_input() {
        let mut random = Random::new(11);
        let (mut differ, mut all) = (0, 0);
        for _ in 0..300 {
            let mut terms = Terms::new();
            let conditions: Vec<TermId> = (0..4)
                .map(|_| random_predicate(&mut random, &mut terms, 5))
                .collect();
            let salt = random.next();
            let recorded = |byte: InputByte| Random::new(salt ^ u64::from(byte.offset)).byte();
            let mut one_changed = OneChanged::new();
            for _ in 0..20 {
                let condition = conditions[random.next() as usize % conditions.len()];
                let bytes = one_changed.bytes(&terms, condition);
                let Some(&byte) = bytes.get(random.next() as usize % bytes.len().max(1)) else {
                    continue;
                };
                let value = random.byte();
                one_changed.change(byte, value);
                let whole = |other: InputByte| match other == byte {
                    true => value,
                    false => recorded(other),
                };
                for &condition in &conditions {
                    let found = one_changed.evaluate(&terms, &recorded, condition);
                    let expected = Evaluator::new().evaluate(&terms, &whole, condition);
                    assert_eq!(found, expected);
                    let before = Evaluator::new().evaluate(&terms, &recorded, condition);
                    differ += u32::from(before != expected);
                    all += 1;
                }
            }
        }
        assert!(differ > all / 100, "{differ} of {all}");
    }
}
