//! Which conditions of a path matter for a goal: those that share input bytes with it, directly
//! or through other conditions.
//!
//! The input bytes are kept in groups (union and find): bytes in one condition are in one
//! group, and a group knows its conditions. All bytes outside the goal's groups can stay as
//! they were recorded, which makes the conditions over them true.
//!
//! A group also knows the sums of its conditions' digests and of its bytes', so what a question
//! asks has a name before its slice is made.

use std::collections::{HashMap, HashSet};

use nearmiss_expr::digest::{self, Digests};
use nearmiss_expr::support::{Part, Parts, Supports};
use nearmiss_expr::{InputByte, Inputs, TermId, Terms};

use crate::answers::Key;
use crate::question::{Effort, Question};

/// A part of a path that can be solved on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The conditions, in the order of the path.
    pub conditions: Vec<TermId>,
    /// The input bytes of conditions and goal, in ascending order.
    pub bytes: Vec<InputByte>,
}

/// The conditions of a path, grouped as they come.
#[derive(Clone)]
pub struct Slices<'a> {
    recorded: &'a dyn Inputs,
    supports: Supports,
    digests: Digests,
    /// The conditions that were added: a loop has the same ones over and over.
    added: HashSet<TermId>,
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

/// A slice that need not be copied where it is one group.
pub(crate) enum Sliced {
    Group(usize),
    Several(Slice),
}

/// What a question needs of a slice.
pub(crate) struct View<'s> {
    /// The conditions, in the order of the path.
    pub conditions: &'s [TermId],
    /// The input bytes of conditions and goal, in ascending order.
    pub bytes: &'s [InputByte],
    /// How many of the conditions, from the first on, were in a question before.
    pub asked: usize,
}

impl Slice {
    /// A slice that no solver has seen.
    pub(crate) fn view(&self) -> View<'_> {
        View {
            conditions: &self.conditions,
            bytes: &self.bytes,
            asked: 0,
        }
    }
}

impl<'s> View<'s> {
    /// The question whether a goal can hold, too.
    pub fn question(
        self,
        recorded: &'s dyn Inputs,
        goal: TermId,
        fixed: &'s [(InputByte, u8)],
        effort: Effort,
    ) -> Question<'s> {
        Question {
            path: self.conditions,
            asked: self.asked,
            goal,
            fixed,
            bytes: self.bytes,
            recorded,
            effort,
        }
    }
}

#[derive(Clone, Default)]
struct Group {
    bytes: Vec<InputByte>,
    conditions: Vec<TermId>,
    /// The position of each condition in the path.
    positions: Vec<usize>,
    /// Whether all of this is in order.
    is_sorted: bool,
    /// How many conditions, from the first on, were in a question.
    asked: usize,
    /// The sum of the conditions' digests.
    digest: u128,
    /// The sum of the bytes' digests, with their recorded values.
    recorded: u128,
}

impl<'a> Slices<'a> {
    /// No conditions yet.
    pub fn new(recorded: &'a dyn Inputs) -> Slices<'a> {
        Slices {
            recorded,
            supports: Supports::new(),
            digests: Digests::default(),
            added: HashSet::new(),
            numbers: HashMap::new(),
            parents: Vec::new(),
            groups: Vec::new(),
            joined: HashMap::new(),
            count: 0,
        }
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
        if !self.added.insert(condition) {
            return;
        }
        let set = self.supports.of(terms, condition);
        if let Some(first) = self.join(Part::whole(set)) {
            let first = self.find(first);
            let digest = self.digests.of(terms, condition);
            let group = &mut self.groups[first];
            group.conditions.push(condition);
            group.positions.push(self.count);
            group.digest = group.digest.wrapping_add(digest);
            self.count += 1;
        }
    }

    /// What is asked when a goal is, with some bytes fixed. `purpose` sets questions apart that
    /// are not of one kind.
    pub fn key(
        &mut self,
        terms: &Terms,
        goal: TermId,
        fixed: &[(InputByte, u8)],
        purpose: u8,
    ) -> Key {
        let (mut path, mut recorded) = (0u128, 0u128);
        for first in self.groups_of(terms, goal) {
            path = path.wrapping_add(self.groups[first].digest);
            recorded = recorded.wrapping_add(self.groups[first].recorded);
        }
        let goal = self.digests.of(terms, goal);
        let question = digest::of_numbers(&[path, goal, purpose.into()]);
        let with_byte = |all, &(byte, value): &(InputByte, u8)| {
            digest::absorb(digest::absorb(all, digest::of_byte(byte)), value.into())
        };
        Key {
            question: fixed.iter().fold(question, with_byte),
            recorded,
        }
    }

    /// The conditions that matter for a goal.
    pub fn slice(&mut self, terms: &Terms, goal: TermId) -> Slice {
        match self.sliced(terms, goal) {
            Sliced::Several(slice) => slice,
            one => {
                let view = self.view(&one);
                Slice {
                    conditions: view.conditions.to_vec(),
                    bytes: view.bytes.to_vec(),
                }
            }
        }
    }

    /// The same, without a copy where that is possible. On a long path most questions are about
    /// one large group.
    pub(crate) fn sliced(&mut self, terms: &Terms, goal: TermId) -> Sliced {
        let firsts = self.groups_of(terms, goal);
        if let [first] = firsts.as_slice() {
            self.groups[*first].sort();
            return Sliced::Group(*first);
        }
        let groups = || firsts.iter().map(|&first| &self.groups[first]);
        let mut bytes: Vec<_> = groups().flat_map(|group| &group.bytes).copied().collect();
        let mut conditions: Vec<_> = groups().flat_map(Group::entries).collect();
        bytes.sort();
        conditions.sort();
        Sliced::Several(Slice {
            conditions: conditions.into_iter().map(|(_, term)| term).collect(),
            bytes,
        })
    }

    /// A slice as it was made last; nothing was added since.
    pub(crate) fn view<'s>(&'s self, sliced: &'s Sliced) -> View<'s> {
        match sliced {
            Sliced::Group(first) => {
                let group = &self.groups[*first];
                View {
                    conditions: &group.conditions,
                    bytes: &group.bytes,
                    asked: group.asked,
                }
            }
            Sliced::Several(slice) => slice.view(),
        }
    }

    /// All conditions of a slice were in a question now.
    pub(crate) fn was_asked(&mut self, sliced: &Sliced) {
        if let Sliced::Group(first) = sliced {
            let group = &mut self.groups[*first];
            group.asked = group.conditions.len();
        }
    }

    /// The same conditions for a solver that was asked nothing yet.
    pub(crate) fn unasked(&self) -> Slices<'a> {
        let mut slices = self.clone();
        for group in &mut slices.groups {
            group.asked = 0;
        }
        slices
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
            let value = self.recorded.byte(byte);
            self.groups.push(Group {
                bytes: vec![byte],
                is_sorted: true,
                recorded: digest::of_numbers(&[digest::of_byte(byte), value.into()]),
                ..Group::default()
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
        let group = &mut self.groups[large];
        group.bytes.extend(moved.bytes);
        group.conditions.extend(moved.conditions);
        group.positions.extend(moved.positions);
        group.is_sorted = false;
        group.asked = 0;
        group.digest = group.digest.wrapping_add(moved.digest);
        group.recorded = group.recorded.wrapping_add(moved.recorded);
    }
}

impl Group {
    /// The conditions, each with its position in the path.
    fn entries(&self) -> impl Iterator<Item = (usize, TermId)> + '_ {
        let positions = self.positions.iter().copied();
        positions.zip(self.conditions.iter().copied())
    }

    /// Brings bytes and conditions in order. Conditions that are added later come behind.
    fn sort(&mut self) {
        if std::mem::replace(&mut self.is_sorted, true) {
            return;
        }
        self.bytes.sort();
        let mut entries: Vec<(usize, TermId)> = self.entries().collect();
        // Two pieces that are in order each: a stable sort only merges them.
        entries.sort();
        (self.positions, self.conditions) = entries.into_iter().unzip();
    }
}

#[cfg(test)]
mod tests;
