//! Which conditions of a path matter for a goal: those that share input bytes with it, directly
//! or through other conditions.
//!
//! The input bytes are kept in groups (union and find): bytes in one condition are in one
//! group, and a group knows its conditions. All bytes outside the goal's groups can stay as
//! they were recorded, which makes the conditions over them true.

use std::collections::{HashMap, HashSet};

use nearmiss_expr::support::{Part, Parts, Supports};
use nearmiss_expr::{InputByte, TermId, Terms};

/// A part of a path that can be solved on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The conditions, in the order of the path.
    pub conditions: Vec<TermId>,
    /// The input bytes of conditions and goal, in ascending order.
    pub bytes: Vec<InputByte>,
}

/// The conditions of a path, grouped as they come.
#[derive(Default)]
pub struct Slices {
    supports: Supports,
    /// The number of each byte that was met.
    numbers: HashMap<InputByte, usize>,
    /// For each number: another one of its group, itself for the first.
    parents: Vec<usize>,
    /// For each number that is the first of its group: what the group consists of.
    groups: Vec<Group>,
    /// One byte of each part of a set that is known to be in one group.
    joined: HashMap<Part, usize>,
    /// How many conditions there are.
    count: usize,
}

#[derive(Default)]
struct Group {
    bytes: Vec<InputByte>,
    /// Each with its position in the path.
    conditions: Vec<(usize, TermId)>,
}

impl Slices {
    /// No conditions yet.
    pub fn new() -> Slices {
        Slices::default()
    }

    /// The input bytes that a term depends on.
    pub fn bytes(&mut self, terms: &Terms, id: TermId) -> Vec<InputByte> {
        let set = self.supports.of(terms, id);
        self.supports.bytes(set)
    }

    /// The input bytes that a term depends on and that are not in parts seen before.
    pub fn new_bytes(
        &mut self,
        terms: &Terms,
        id: TermId,
        seen: &mut HashSet<Part>,
    ) -> Vec<InputByte> {
        let set = self.supports.of(terms, id);
        self.supports.new_bytes(set, seen)
    }

    /// Which of these bytes are in the slice of a goal.
    pub fn related(&mut self, terms: &Terms, goal: TermId, bytes: &[InputByte]) -> Vec<bool> {
        let firsts = self.groups_of(terms, goal);
        let mut is_related = |byte: InputByte| match self.numbers.get(&byte) {
            Some(&number) => firsts.binary_search(&self.find(number)).is_ok(),
            None => false,
        };
        bytes.iter().map(|&byte| is_related(byte)).collect()
    }

    /// Adds a condition; one without input bytes belongs to no slice.
    pub fn add(&mut self, terms: &Terms, condition: TermId) {
        let set = self.supports.of(terms, condition);
        if let Some(first) = self.join(Part::whole(set)) {
            let first = self.find(first);
            let entry = (self.count, condition);
            self.groups[first].conditions.push(entry);
            self.count += 1;
        }
    }

    /// The conditions that matter for a goal.
    pub fn slice(&mut self, terms: &Terms, goal: TermId) -> Slice {
        let firsts = self.groups_of(terms, goal);
        for &first in &firsts {
            // Mostly in order already: a stable sort takes no time then.
            self.groups[first].bytes.sort();
            self.groups[first].conditions.sort();
        }
        let groups = || firsts.iter().map(|&first| &self.groups[first]);
        let mut bytes: Vec<_> = groups().flat_map(|group| &group.bytes).copied().collect();
        let mut conditions: Vec<_> = groups()
            .flat_map(|group| &group.conditions)
            .copied()
            .collect();
        if firsts.len() > 1 {
            bytes.sort();
            conditions.sort();
        }
        Slice {
            conditions: conditions.into_iter().map(|(_, term)| term).collect(),
            bytes,
        }
    }

    /// The groups of a goal's bytes, in ascending order.
    fn groups_of(&mut self, terms: &Terms, goal: TermId) -> Vec<usize> {
        let set = self.supports.of(terms, goal);
        let mut firsts = Vec::new();
        let mut stack = vec![Part::whole(set)];
        while let Some(part) = stack.pop() {
            if let Some(&number) = self.joined.get(&part) {
                firsts.push(self.find(number));
                continue;
            }
            match self.supports.parts(part) {
                Parts::Halves(halves) => stack.extend(halves),
                found => {
                    let bytes: Vec<InputByte> = found.bytes().collect();
                    for byte in bytes {
                        let number = self.number(byte);
                        firsts.push(self.find(number));
                    }
                }
            }
        }
        firsts.sort_unstable();
        firsts.dedup();
        firsts
    }

    /// Makes one group of all bytes of a part of a set; gives one of them.
    fn join(&mut self, part: Part) -> Option<usize> {
        if let Some(&number) = self.joined.get(&part) {
            return Some(number);
        }
        let numbers: Vec<usize> = match self.supports.parts(part) {
            Parts::Halves(halves) => halves
                .into_iter()
                .filter_map(|half| self.join(half))
                .collect(),
            found => {
                let bytes: Vec<InputByte> = found.bytes().collect();
                bytes.into_iter().map(|byte| self.number(byte)).collect()
            }
        };
        let (&first, others) = numbers.split_first()?;
        for &other in others {
            self.unite(first, other);
        }
        self.joined.insert(part, first);
        Some(first)
    }

    fn number(&mut self, byte: InputByte) -> usize {
        let next = self.parents.len();
        let number = *self.numbers.entry(byte).or_insert(next);
        if number == next {
            self.parents.push(next);
            self.groups.push(Group {
                bytes: vec![byte],
                conditions: Vec::new(),
            });
        }
        number
    }

    /// The first of a group; shortens the way for the next time.
    fn find(&mut self, mut number: usize) -> usize {
        while self.parents[number] != number {
            self.parents[number] = self.parents[self.parents[number]];
            number = self.parents[number];
        }
        number
    }

    /// Makes one group of two; the smaller one moves.
    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let size = |group: &Group| group.bytes.len() + group.conditions.len();
        let a_is_larger = size(&self.groups[a]) >= size(&self.groups[b]);
        let (large, small) = if a_is_larger { (a, b) } else { (b, a) };
        self.parents[small] = large;
        let moved = std::mem::take(&mut self.groups[small]);
        self.groups[large].bytes.extend(moved.bytes);
        self.groups[large].conditions.extend(moved.conditions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_expr::Op;

    fn input(terms: &mut Terms, offset: u32) -> TermId {
        terms.input(InputByte { channel: 0, offset })
    }

    fn offsets(slice: &Slice) -> Vec<u32> {
        slice.bytes.iter().map(|byte| byte.offset).collect()
    }

    #[test]
    fn a_slice_follows_shared_bytes() {
        let mut terms = Terms::new();
        let mut slices = Slices::new();
        let inputs: Vec<TermId> = (0..6).map(|offset| input(&mut terms, offset)).collect();
        let mut below = |a: usize, b: usize| terms.binary(Op::Ult, inputs[a], inputs[b]);
        let (first, second, third) = (below(0, 1), below(2, 3), below(1, 2));
        let (goal, lonely) = (below(0, 4), below(5, 4));
        slices.add(&terms, first);
        slices.add(&terms, second);
        let slice = slices.slice(&terms, goal);
        assert_eq!(slice.conditions, [first]);
        assert_eq!(offsets(&slice), [0, 1, 4]);
        slices.add(&terms, third);
        let slice = slices.slice(&terms, goal);
        assert_eq!(slice.conditions, [first, second, third]);
        assert_eq!(offsets(&slice), [0, 1, 2, 3, 4]);
        assert_eq!(slices.slice(&terms, lonely).conditions, []);
        let byte = |offset| InputByte { channel: 0, offset };
        let related = slices.related(&terms, goal, &[byte(3), byte(5), byte(4), byte(9)]);
        assert_eq!(related, [true, false, true, false]);
    }
}
