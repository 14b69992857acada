//! What is known at a point of the execution, and how two of them become one.

use std::collections::HashSet;

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
    /// Only inputs that meet a condition go on. Its parts are conditions of their own, so that those who were
    /// parted by one of them are seen to be one again.
    pub fn require(&mut self, terms: &mut Terms, condition: TermId) {
        self.guard.extend(conjuncts(terms, condition));
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
    let meeting = Meeting::of(terms, &one.guard[common..], &other.guard[common..]);
    let either = either(terms, &one.guard[common..], &other.guard[common..]);
    one.guard.truncate(common);
    one.require(terms, either);
    one.memory.merge(terms, &meeting, &other.memory);
    let values = values.into_iter().zip(others);
    let values = values.map(|(value, other)| match (value, other) {
        (Some(value), Some(other)) => Some(meeting.choose(terms, value, other)),
        // Only one of them has got so far: nobody asks for it here.
        (value, None) | (None, value) => value,
    });
    (one, values.collect())
}

/// Two ways that meet: what those say who come by them.
pub struct Meeting {
    is_one: TermId,
    /// Parts of the conditions of either way.
    said: [HashSet<Vec<TermId>>; 2],
}

impl Meeting {
    /// Of those who meet the ones' conditions, and of those who meet the others'.
    pub fn of(terms: &mut Terms, ones: &[TermId], others: &[TermId]) -> Meeting {
        let said = [ones, others].map(|conditions| {
            let parts = conditions.iter().map(|&part| disjuncts(terms, part));
            parts.collect()
        });
        Meeting {
            is_one: all(terms, ones),
            said,
        }
    }

    /// A value for the ones, another for the others. What each says of itself is known there: where a flag was set by
    /// the decision that parted them, it is a number again.
    pub fn choose(&self, terms: &mut Terms, value: TermId, other: TermId) -> TermId {
        let [value, other] =
            [(0, value), (1, other)].map(|(side, value)| self.known(terms, side, value));
        choose(terms, self.is_one, value, other)
    }

    fn known(&self, terms: &mut Terms, side: usize, mut value: TermId) -> TermId {
        loop {
            let (condition, then, otherwise) = match terms.node(value) {
                Node::Ite {
                    condition,
                    then,
                    otherwise,
                } => (condition, then, otherwise),
                Node::ZExt { a, width } if terms.width(a) == 1 => {
                    let [zero, one] = [0, 1].map(|number| terms.constant(width, number));
                    (a, one, zero)
                }
                _ => return value,
            };
            let opposite = terms.not(condition);
            value = match () {
                _ if self.says(terms, side, condition) => then,
                _ if self.says(terms, side, opposite) => otherwise,
                _ => return value,
            };
        }
    }

    fn says(&self, terms: &mut Terms, side: usize, condition: TermId) -> bool {
        let mut parts = conjuncts(terms, condition).into_iter();
        parts.all(|part| self.said[side].contains(&disjuncts(terms, part)))
    }
}

/// Whether all of some conditions hold, or all of others. What the ones say only to be apart from the others is left
/// out, on either side: `a`, or `!a` and `b`, is `a` or `b`.
fn either(terms: &mut Terms, ones: &[TermId], others: &[TermId]) -> TermId {
    if let Some(others) = beside(terms, ones, others) {
        let (is_one, is_other) = (all(terms, ones), all(terms, &others));
        return terms.or(is_one, is_other);
    }
    let ones = beside(terms, others, ones).unwrap_or_else(|| ones.to_vec());
    let (is_one, is_other) = (all(terms, &ones), all(terms, others));
    terms.or(is_one, is_other)
}

/// What some conditions say beside that not all of the first ones hold; `None` if they do not say that part by part.
fn beside(terms: &mut Terms, first: &[TermId], conditions: &[TermId]) -> Option<Vec<TermId>> {
    let is_first = all(terms, first);
    let is_not = terms.not(is_first);
    let apart = conjuncts(terms, is_not).into_iter();
    let apart: Vec<Vec<TermId>> = apart.map(|part| disjuncts(terms, part)).collect();
    let said = conditions.iter().map(|&part| disjuncts(terms, part));
    let said: Vec<Vec<TermId>> = said.collect();
    let is_said = apart.iter().all(|part| said.contains(part));
    let rest = conditions.iter().zip(&said);
    let rest = rest.filter(|(_, said)| !apart.contains(said));
    is_said.then(|| rest.map(|(&condition, _)| condition).collect())
}

/// The parts of a condition of which one has to hold, in an order of their own: the same parts may be written in many
/// ways (`!(a & b)` is `!a | !b`).
fn disjuncts(terms: &mut Terms, condition: TermId) -> Vec<TermId> {
    let opposite = terms.not(condition);
    let mut parts = conjuncts(terms, opposite);
    for part in &mut parts {
        *part = terms.not(*part);
    }
    parts.sort_unstable();
    parts
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

    #[test]
    fn whoever_comes_first_all_are_here() {
        let mut terms = Terms::new();
        let bytes = [0, 1, 2].map(|offset| terms.input(InputByte { channel: 0, offset }));
        let [first, second] = [0, 1].map(|position| terms.eq(bytes[position], bytes[2]));
        let [not_first, not_second] = [first, second].map(|same| terms.not(same));
        // A search found the byte among two, or did not.
        let found = terms.or(first, second);
        let not_found = vec![not_first, not_second];
        let here = terms.truth(true);
        assert_eq!(either(&mut terms, &[found], &not_found), here);
        assert_eq!(either(&mut terms, &not_found, &[found]), here);
        let written_otherwise = terms.and(not_first, not_second);
        let found_otherwise = terms.not(written_otherwise);
        assert_eq!(either(&mut terms, &[found_otherwise], &not_found), here);
        assert_eq!(either(&mut terms, &[written_otherwise], &[found]), here);
        let beside = either(&mut terms, &[not_first], &[found]);
        assert_ne!(beside, here, "the other may be found and not the first");
    }

    #[test]
    fn a_flag_is_a_number_again_where_its_decision_is_known() {
        let mut terms = Terms::new();
        let bytes = [0, 1, 2].map(|offset| terms.input(InputByte { channel: 0, offset }));
        let parts = [0, 1].map(|position| terms.eq(bytes[position], bytes[2]));
        let both = terms.and(parts[0], parts[1]);
        let not_both = terms.not(both);
        let flag = terms.zext(both, 32);
        let [zero, one] = [0, 1].map(|number| terms.constant(32, number));
        let meeting = Meeting::of(&mut terms, &parts, &[not_both]);
        assert_eq!(meeting.choose(&mut terms, flag, one), one);
        assert_eq!(meeting.choose(&mut terms, zero, flag), zero);
        let five = terms.constant(32, 5);
        let chosen = terms.ite(both, five, flag);
        assert_eq!(meeting.choose(&mut terms, chosen, five), five);
        let unknown = Meeting::of(&mut terms, &parts[..1], &[not_both]);
        assert_ne!(unknown.choose(&mut terms, flag, one), one);
    }

    #[test]
    fn what_is_required_stands_part_by_part() {
        let mut terms = Terms::new();
        let bytes = [0, 1, 2].map(|offset| terms.input(InputByte { channel: 0, offset }));
        let parts = [0, 1].map(|position| terms.eq(bytes[position], bytes[2]));
        let mut state = State {
            guard: Vec::new(),
            memory: Memory::default(),
        };
        let both = terms.and(parts[0], parts[1]);
        state.require(&mut terms, both);
        let here = terms.truth(true);
        state.require(&mut terms, here);
        assert_eq!(state.guard, parts);
        let never = terms.truth(false);
        state.require(&mut terms, never);
        assert!(state.is_empty(&terms));
    }
}
