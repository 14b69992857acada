//! What is known at a point of the execution, and how two of them become one.

use nearmiss_abi::op::Op;
use nearmiss_expr::{Node, TermId, Terms};

use crate::memory::Memory;

/// A point of the execution, for all inputs that come there.
#[derive(Clone)]
pub struct State {
    /// The conditions of being there, in the order in which they were met.
    pub guard: Vec<TermId>,
    /// What memory holds.
    pub memory: Memory,
}

impl State {
    /// Only inputs that meet a condition go on.
    pub fn require(&mut self, terms: &Terms, condition: TermId) {
        if terms.as_constant(condition) != Some(1) {
            self.guard.push(condition);
        }
    }

    /// Whether nobody can be here, as far as one can see at once.
    pub fn is_empty(&self, terms: &Terms) -> bool {
        let mut guard = self.guard.iter();
        guard.any(|&condition| terms.as_constant(condition) == Some(0))
    }
}

/// Two states and their values, of which every input has one.
pub fn merge(
    terms: &mut Terms,
    (mut one, values): (State, Vec<Option<TermId>>),
    (other, others): (State, Vec<Option<TermId>>),
) -> (State, Vec<Option<TermId>>) {
    let pairs = one.guard.iter().zip(&other.guard);
    let common = pairs.take_while(|(a, b)| a == b).count();
    let is_one = all(terms, &one.guard[common..]);
    let either = either(terms, is_one, &other.guard[common..]);
    one.guard.truncate(common);
    one.require(terms, either);
    one.memory.merge(terms, is_one, &other.memory);
    let values = values.into_iter().zip(others);
    let values = values.map(|(value, other)| match (value, other) {
        (Some(value), Some(other)) => Some(choose(terms, is_one, value, other)),
        // Only one of them has got so far: nobody asks for it here.
        (value, None) | (None, value) => value,
    });
    (one, values.collect())
}

/// Whether a condition holds, or all of some others. What those say only to be apart from the first is
/// left out: `a`, or `!a` and `b`, is `a` or `b`.
fn either(terms: &mut Terms, is_one: TermId, others: &[TermId]) -> TermId {
    let is_not = terms.not(is_one);
    let apart = conjuncts(terms, is_not);
    let others: Vec<TermId> = match apart.iter().all(|part| others.contains(part)) {
        true => (others.iter().copied())
            .filter(|condition| !apart.contains(condition))
            .collect(),
        false => others.to_vec(),
    };
    let is_other = all(terms, &others);
    terms.or(is_one, is_other)
}

/// The parts of a condition that have to hold all.
pub fn conjuncts(terms: &mut Terms, condition: TermId) -> Vec<TermId> {
    let (mut parts, mut left) = (Vec::new(), vec![condition]);
    while let Some(id) = left.pop() {
        match terms.node(id) {
            Node::Binary { op: Op::And, a, b } => left.extend([b, a]),
            Node::Unary { op: Op::Not, a } => match terms.node(a) {
                Node::Binary { op: Op::Or, a, b } => {
                    let opposites = [b, a].map(|part| terms.not(part));
                    left.extend(opposites);
                }
                _ => parts.push(id),
            },
            _ if terms.as_constant(id) == Some(1) => {}
            _ => parts.push(id),
        }
    }
    parts
}

/// A value for those who are one, another for those who are not.
pub fn choose(terms: &mut Terms, is_one: TermId, value: TermId, other: TermId) -> TermId {
    match value == other {
        true => value,
        false => terms.ite(is_one, value, other),
    }
}

/// All conditions at once.
pub fn all(terms: &mut Terms, conditions: &[TermId]) -> TermId {
    let truth = terms.truth(true);
    let conditions = conditions.iter();
    conditions.fold(truth, |all, &condition| terms.and(all, condition))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_expr::InputByte;

    #[test]
    fn early_ends_become_a_plain_list_of_conditions() {
        let mut terms = Terms::new();
        let mut condition = |offset: u32| {
            let byte = terms.input(InputByte { channel: 0, offset });
            let limit = terms.constant(8, 9);
            terms.binary(Op::Ult, byte, limit)
        };
        let ends = [condition(0), condition(1), condition(2)];
        let goes_on = ends.map(|end| terms.not(end));
        // Ends at the first, the second or the third, or goes on behind all of them.
        let mut states = Vec::new();
        for (position, &end) in ends.iter().enumerate() {
            let mut guard = goes_on[..position].to_vec();
            guard.push(end);
            states.push((guard, 0));
        }
        states.push((goes_on.to_vec(), 1));
        let states = states.into_iter().map(|(guard, value)| {
            let memory = Memory::default();
            (State { guard, memory }, value)
        });
        let states: Vec<_> = states
            .map(|(state, value)| (state, vec![Some(terms.constant(32, value))]))
            .collect();
        let merged = states
            .into_iter()
            .reduce(|one, other| merge(&mut terms, one, other));
        let (state, values) = merged.expect("four states");
        assert!(state.guard.is_empty(), "everybody is here");
        let value = values[0].expect("a value");
        let zero = terms.constant(32, 0);
        let is_zero = terms.eq(value, zero);
        let accepts = terms.not(is_zero);
        let mut parts = conjuncts(&mut terms, accepts);
        parts.sort_unstable();
        assert_eq!(parts, goes_on);
    }
}
