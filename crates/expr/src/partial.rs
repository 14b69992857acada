//! The value of terms while some input bytes have none yet.
//!
//! A search assigns bytes level by level and asks after each whether a condition is decided. A choice needs
//! its condition and the side that it takes, a conjunction one operand that is false: so a term has a
//! value, or names the first byte without which it has none, and the search goes on with that byte.
//!
//! What was computed at a level holds until the search comes back to a lower one.

use nearmiss_abi::op::{Op, truncate};

use crate::evaluate::{apply_node, read_node};
use crate::node::{InputByte, Node, TermId};
use crate::terms::Terms;

/// What evaluation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partial {
    /// The value is this, whatever the other bytes are.
    Value(u128),
    /// This byte is needed next: its position among those that [`PartialEvaluator::begin`] was given.
    Needs(usize),
}

/// A value or a needed byte, and the level that it depends on.
#[derive(Clone, Copy, Debug)]
enum Known {
    Value(u128, u32),
    Needs(usize),
}

/// A row for each term that was looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    value: u128,
    /// The level of the last byte that it depends on, and that level's number when it was computed.
    level: u32,
    stamp: u32,
    /// The evaluation in which it was found to need a byte, and which.
    blocked: u32,
    needs: u32,
}

/// One byte of a search.
#[derive(Clone, Copy, Debug)]
struct Slot {
    byte: InputByte,
    value: Option<(u8, u32)>,
}

/// Evaluates terms under assignments that grow and shrink.
#[derive(Clone, Debug, Default)]
pub struct PartialEvaluator {
    slots: Vec<Slot>,
    rows: Vec<Row>,
    /// For each level the number that marks what was computed since it was entered.
    stamps: Vec<u32>,
    last_stamp: u32,
    evaluation: u32,
    stack: Vec<TermId>,
    steps: usize,
}

impl PartialEvaluator {
    /// Evaluates nothing yet.
    pub fn new() -> PartialEvaluator {
        PartialEvaluator::default()
    }

    /// A new search over these bytes, which are in ascending order; none has a value. The level is 0.
    pub fn begin(&mut self, bytes: &[InputByte]) {
        self.slots.clear();
        let slots = bytes.iter().map(|&byte| Slot { byte, value: None });
        self.slots.extend(slots);
        self.stamps.clear();
        self.steps = 0;
        if self.last_stamp > u32::MAX / 2 || self.evaluation > u32::MAX / 2 {
            (self.last_stamp, self.evaluation) = (0, 0);
            self.rows.fill(Row::default());
        }
        self.enter(0);
    }

    /// Enters a level: what was computed at it and above is forgotten.
    pub fn enter(&mut self, level: u32) {
        self.last_stamp += 1;
        self.stamps.truncate(level as usize);
        self.stamps.push(self.last_stamp);
    }

    /// Gives a byte a value at the level that was entered last, or takes it back.
    pub fn assign(&mut self, position: usize, value: Option<u8>) {
        let level = self.stamps.len() as u32 - 1;
        self.slots[position].value = value.map(|value| (value, level));
    }

    /// The value of a byte, if it has one.
    pub fn assigned(&self, position: usize) -> Option<u8> {
        self.slots[position].value.map(|(value, _)| value)
    }

    /// How many nodes were computed since the search began.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The value of a term as far as the bytes have theirs. Bytes that are not in the search have none, and
    /// must not be in the term.
    pub fn evaluate(&mut self, terms: &Terms, id: TermId) -> Partial {
        if self.rows.len() < terms.len() {
            self.rows.resize(terms.len(), Row::default());
        }
        self.evaluation += 1;
        self.stack.push(id);
        while let Some(&top) = self.stack.last() {
            if self.known(top).is_some() {
                self.stack.pop();
                continue;
            }
            match self.compute(terms, top) {
                Err(operand) => self.stack.push(operand),
                Ok(known) => {
                    self.steps += 1;
                    self.keep(top, known);
                    self.stack.pop();
                }
            }
        }
        match self.known(id) {
            Some(Known::Value(value, _)) => Partial::Value(value),
            Some(Known::Needs(position)) => Partial::Needs(position),
            None => unreachable!("the stack is empty when the term is known"),
        }
    }

    fn known(&self, id: TermId) -> Option<Known> {
        let row = &self.rows[id.index()];
        if row.stamp != 0 && self.stamps.get(row.level as usize) == Some(&row.stamp) {
            return Some(Known::Value(row.value, row.level));
        }
        (row.blocked == self.evaluation).then_some(Known::Needs(row.needs as usize))
    }

    fn keep(&mut self, id: TermId, known: Known) {
        let row = &mut self.rows[id.index()];
        match known {
            Known::Value(value, level) => {
                row.value = value;
                row.level = level;
                row.stamp = self.stamps[level as usize];
            }
            Known::Needs(position) => {
                row.blocked = self.evaluation;
                row.needs = position as u32;
            }
        }
    }

    /// The value of a node; `Err` is an operand that has to be looked at first.
    fn compute(&self, terms: &Terms, id: TermId) -> Result<Known, TermId> {
        let known = |id: TermId| self.known(id).ok_or(id);
        match terms.node(id) {
            Node::Const { value, .. } => Ok(Known::Value(value, 0)),
            Node::Input(byte) => Ok(self.input(byte)),
            Node::Ite {
                condition,
                then,
                otherwise,
            } => match known(condition)? {
                Known::Value(truth, level) => {
                    let side = known(if truth == 1 { then } else { otherwise })?;
                    Ok(side.at_least(level))
                }
                needs => Ok(needs),
            },
            Node::Binary { op, a, b } if matches!(op, Op::And | Op::Or) => {
                let absorbing = match op {
                    Op::And => 0,
                    _ => truncate(u128::MAX, terms.width(a)),
                };
                let first = known(a)?;
                if first.is(absorbing) {
                    return Ok(first);
                }
                let second = known(b)?;
                if second.is(absorbing) {
                    return Ok(second);
                }
                Ok(first.and(second, |x, y| if op == Op::And { x & y } else { x | y }))
            }
            Node::Read {
                index,
                snapshot,
                width,
            } => Ok(known(index)?.map(|at| read_node(terms, snapshot, at, width))),
            _ => {
                let mut values = [0; 2];
                let mut level = 0;
                for (value, operand) in values.iter_mut().zip(terms.operands(id)) {
                    match known(operand)? {
                        Known::Value(known, its) => (*value, level) = (known, level.max(its)),
                        needs => return Ok(needs),
                    }
                }
                Ok(Known::Value(apply_node(terms, id, values), level))
            }
        }
    }

    fn input(&self, byte: InputByte) -> Known {
        let found = self.slots.binary_search_by_key(&byte, |slot| slot.byte);
        let position = found.expect("all bytes of the terms are in the search");
        match self.slots[position].value {
            Some((value, level)) => Known::Value(value.into(), level),
            None => Known::Needs(position),
        }
    }
}

impl Known {
    fn is(self, wanted: u128) -> bool {
        matches!(self, Known::Value(value, _) if value == wanted)
    }

    fn map(self, f: impl FnOnce(u128) -> u128) -> Known {
        match self {
            Known::Value(value, level) => Known::Value(f(value), level),
            needs => needs,
        }
    }

    fn at_least(self, level: u32) -> Known {
        match self {
            Known::Value(value, its) => Known::Value(value, level.max(its)),
            needs => needs,
        }
    }

    fn and(self, other: Known, f: impl FnOnce(u128, u128) -> u128) -> Known {
        match (self, other) {
            (Known::Value(a, first), Known::Value(b, second)) => {
                Known::Value(f(a, b), first.max(second))
            }
            (Known::Value(..), needs) => needs,
            (needs, _) => needs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Evaluator;
    use crate::testing::{Random, random_predicate};

    /// A value that is told early is the value that the whole assignment has.
    #[test]
    fn early_values_are_right() {
        let mut random = Random::new(5);
        let mut early = 0;
        for _ in 0..2_000 {
            let mut terms = Terms::new();
            let conditions: Vec<TermId> = (0..3)
                .map(|_| random_predicate(&mut random, &mut terms, 4))
                .collect();
            let salt = random.next();
            let inputs = |byte: InputByte| Random::new(salt ^ byte.offset as u64).byte();
            let mut supports = crate::Supports::new();
            let sets = conditions.iter().map(|&id| supports.of(&terms, id));
            let sets: Vec<_> = sets.collect();
            let all = sets
                .into_iter()
                .fold(crate::InputSet::EMPTY, |all, set| supports.union(all, set));
            let mut bytes = supports.bytes(all);
            bytes.sort_unstable();
            let mut partial = PartialEvaluator::new();
            let mut evaluator = Evaluator::new();
            partial.begin(&bytes);
            for &condition in &conditions {
                let expected = evaluator.evaluate(&terms, &inputs, condition);
                let mut level = partial.stamps.len() as u32;
                let found = loop {
                    match partial.evaluate(&terms, condition) {
                        Partial::Value(value) => break value,
                        Partial::Needs(position) => {
                            partial.enter(level);
                            level += 1;
                            partial.assign(position, Some(inputs(bytes[position])));
                        }
                    }
                };
                assert_eq!(found, expected);
                early += usize::from((0..bytes.len()).any(|at| partial.assigned(at).is_none()));
            }
        }
        assert!(early > 500, "{early}");
    }
}
