//! Which constraints of a path matter for a goal: those that share input bytes with it, directly
//! or through other constraints.
//!
//! The input bytes are kept in groups (union and find): bytes in one constraint are in one
//! group, and a group knows its constraints. All bytes outside the goal's groups can stay as
//! they were recorded, which makes the constraints over them true.
//!
//! A group also knows the sums of its constraints' digests and of its bytes', so a query has
//! a name before its slice is made.

use std::collections::{HashMap, HashSet};

use nearmiss_expr::digest::{self, Digests};
use nearmiss_expr::support::{Part, Parts, Supports};
use nearmiss_expr::{InputByte, Inputs, TermId, Terms};

use crate::answers::Key;
use crate::query::{Effort, Policy, Query};

/// A part of a path that can be solved on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The constraints, in the order of the path.
    pub constraints: Vec<TermId>,
    /// The input bytes of constraints and goal, in ascending order.
    pub bytes: Vec<InputByte>,
}

/// The constraints of a path, grouped as they come.
#[derive(Clone)]
pub struct Slices<'a> {
    recorded: &'a dyn Inputs,
    supports: Supports,
    digests: Digests,
    /// The constraints that were added: a loop has the same ones over and over.
    added: HashSet<TermId>,
    /// The number of each byte that was met.
    numbers: HashMap<InputByte, usize>,
    /// For each number: another one of its group, itself for the first.
    parents: Vec<usize>,
    /// For each number that is the first of its group: what the group consists of.
    groups: Vec<Group>,
    /// One byte of each part of a set that is known to be in one group.
    joined: HashMap<Part, usize>,
    /// How many constraints there are.
    count: usize,
}

/// A slice that need not be copied where it is one group.
pub(crate) enum Sliced {
    Group(usize),
    Several(Slice),
}

/// What a query needs of a slice.
pub(crate) struct View<'s> {
    /// The constraints, in the order of the path.
    pub constraints: &'s [TermId],
    /// The input bytes of constraints and goal, in ascending order.
    pub bytes: &'s [InputByte],
    /// How many of the constraints, from the first on, were in a query before.
    pub seen: usize,
}

impl Slice {
    /// A slice that no solver has seen.
    pub(crate) fn view(&self) -> View<'_> {
        View {
            constraints: &self.constraints,
            bytes: &self.bytes,
            seen: 0,
        }
    }
}

impl<'s> View<'s> {
    /// The query whether a goal can hold, too.
    pub fn query(
        self,
        recorded: &'s dyn Inputs,
        goal: TermId,
        fixed: &'s [(InputByte, u8)],
        effort: Effort,
    ) -> Query<'s> {
        Query {
            constraints: self.constraints,
            policy: Policy::Prefix { seen: self.seen },
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
    constraints: Vec<TermId>,
    /// The position of each constraint in the path.
    positions: Vec<usize>,
    /// Whether all of this is in order.
    is_sorted: bool,
    /// How many constraints, from the first on, were in a query.
    seen: usize,
    /// The sum of the constraints' digests.
    digest: u128,
    /// The sum of the bytes' digests, with their recorded values.
    recorded: u128,
}

impl<'a> Slices<'a> {
    /// No constraints yet.
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

    /// Adds a constraint; one without input bytes belongs to no slice.
    pub fn add(&mut self, terms: &Terms, constraint: TermId) {
        if !self.added.insert(constraint) {
            return;
        }
        let set = self.supports.of(terms, constraint);
        if let Some(first) = self.join(Part::whole(set)) {
            let first = self.find(first);
            let digest = self.digests.of(terms, constraint);
            let group = &mut self.groups[first];
            group.constraints.push(constraint);
            group.positions.push(self.count);
            group.digest = group.digest.wrapping_add(digest);
            self.count += 1;
        }
    }

    /// The name of a query for a goal, with some bytes fixed. `purpose` sets queries apart that
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
        let query = digest::of_numbers(&[path, goal, purpose.into()]);
        let with_byte = |all, &(byte, value): &(InputByte, u8)| {
            digest::absorb(digest::absorb(all, digest::of_byte(byte)), value.into())
        };
        Key {
            query: fixed.iter().fold(query, with_byte),
            recorded,
        }
    }

    /// The constraints that matter for a goal.
    pub fn slice(&mut self, terms: &Terms, goal: TermId) -> Slice {
        match self.sliced(terms, goal) {
            Sliced::Several(slice) => slice,
            one => {
                let view = self.view(&one);
                Slice {
                    constraints: view.constraints.to_vec(),
                    bytes: view.bytes.to_vec(),
                }
            }
        }
    }

    /// The same, without a copy where that is possible. On a long path most queries are about
    /// one large group.
    pub(crate) fn sliced(&mut self, terms: &Terms, goal: TermId) -> Sliced {
        let firsts = self.groups_of(terms, goal);
        if let [first] = firsts.as_slice() {
            self.groups[*first].sort();
            return Sliced::Group(*first);
        }
        let groups = || firsts.iter().map(|&first| &self.groups[first]);
        let mut bytes: Vec<_> = groups().flat_map(|group| &group.bytes).copied().collect();
        let mut constraints: Vec<_> = groups().flat_map(Group::entries).collect();
        bytes.sort();
        constraints.sort();
        Sliced::Several(Slice {
            constraints: constraints.into_iter().map(|(_, term)| term).collect(),
            bytes,
        })
    }

    /// A slice as it was made last; nothing was added since.
    pub(crate) fn view<'s>(&'s self, sliced: &'s Sliced) -> View<'s> {
        match sliced {
            Sliced::Group(first) => {
                let group = &self.groups[*first];
                View {
                    constraints: &group.constraints,
                    bytes: &group.bytes,
                    seen: group.seen,
                }
            }
            Sliced::Several(slice) => slice.view(),
        }
    }

    /// All constraints of a slice were in a query now.
    pub(crate) fn was_queried(&mut self, sliced: &Sliced) {
        if let Sliced::Group(first) = sliced {
            let group = &mut self.groups[*first];
            group.seen = group.constraints.len();
        }
    }

    /// The same constraints for a solver that has seen none of them.
    pub(crate) fn unseen(&self) -> Slices<'a> {
        let mut slices = self.clone();
        for group in &mut slices.groups {
            group.seen = 0;
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
        let size = |group: &Group| group.bytes.len() + group.constraints.len();
        let a_is_larger = size(&self.groups[a]) >= size(&self.groups[b]);
        let (large, small) = if a_is_larger { (a, b) } else { (b, a) };
        self.parents[small] = large;
        let moved = std::mem::take(&mut self.groups[small]);
        let group = &mut self.groups[large];
        group.bytes.extend(moved.bytes);
        group.constraints.extend(moved.constraints);
        group.positions.extend(moved.positions);
        group.is_sorted = false;
        group.seen = 0;
        group.digest = group.digest.wrapping_add(moved.digest);
        group.recorded = group.recorded.wrapping_add(moved.recorded);
    }
}

impl Group {
    /// The constraints, each with its position in the path.
    fn entries(&self) -> impl Iterator<Item = (usize, TermId)> + '_ {
        let positions = self.positions.iter().copied();
        positions.zip(self.constraints.iter().copied())
    }

    /// Brings bytes and constraints in order. Constraints that are added later come behind.
    fn sort(&mut self) {
        if std::mem::replace(&mut self.is_sorted, true) {
            return;
        }
        self.bytes.sort();
        let mut entries: Vec<(usize, TermId)> = self.entries().collect();
        // Two pieces that are in order each: a stable sort only merges them.
        entries.sort();
        (self.positions, self.constraints) = entries.into_iter().unzip();
    }
}

pub(crate) mod set;
#[cfg(test)]
mod tests;
