//! What is known at a point of the execution, and how two of them become one.

use nearmiss_expr::{TermId, Terms};

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
    let is_other = all(terms, &other.guard[common..]);
    let either = terms.or(is_one, is_other);
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
