//! Conditions that one of several bytes has to meet: "some element is 3".
//!
//! A byte has one value. Where conditions exclude each other in every byte, each needs a byte of its own: of n elements
//! among which each of n values is to be, no two are equal, though no condition says so.

use nearmiss_expr::{Node, Op, TermId, Terms};

use super::byte_set::ByteSet;

/// One of these bytes has one of its values here.
#[derive(Clone, Debug, Default)]
pub(super) struct Cover {
    /// Positions of bytes, and values.
    ways: Vec<(usize, ByteSet)>,
}

impl Cover {
    /// Another way to meet it.
    pub fn add(&mut self, position: usize, values: &ByteSet) {
        match self.ways.iter_mut().find(|(other, _)| *other == position) {
            Some((_, known)) => *known = known.join(values),
            None => self.ways.push((position, *values)),
        }
    }

    fn values(&self, position: usize) -> ByteSet {
        let way = self.ways.iter().find(|(other, _)| *other == position);
        way.map_or(ByteSet::EMPTY, |(_, values)| *values)
    }

    /// Whether no value of a byte meets both.
    fn excludes(&self, other: &Cover) -> bool {
        let mut ways = self.ways.iter();
        ways.all(|(position, values)| values.meet(&other.values(*position)).is_empty())
    }

    /// Whether a byte that has its value meets it.
    fn is_met(&self, domains: &[ByteSet]) -> bool {
        let meets = |(position, values): &(usize, ByteSet)| {
            let value = domains[*position].single();
            value.is_some_and(|value| values.has(value))
        };
        self.ways.iter().any(meets)
    }
}

/// Covers of which each two exclude each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Covers {
    family: Vec<Cover>,
}

impl Covers {
    /// One more, unless it goes together with one that is here.
    pub fn add(&mut self, cover: Cover) {
        if self.family.iter().all(|other| other.excludes(&cover)) {
            self.family.push(cover);
        }
    }

    /// Narrows the bytes without a value to what is still to be met, where each of them is needed. Says whether there are
    /// enough of them.
    pub fn narrow(&self, domains: &mut [ByteSet]) -> bool {
        let unmet = self.family.iter().filter(|cover| !cover.is_met(domains));
        let unmet: Vec<&Cover> = unmet.collect();
        // For each byte without a value what it may still meet.
        let mut useful: Vec<(usize, ByteSet)> = Vec::new();
        for cover in &unmet {
            let mut is_possible = false;
            for (position, values) in &cover.ways {
                let domain = domains[*position];
                let values = domain.meet(values);
                if domain.single().is_some() || values.is_empty() {
                    continue;
                }
                is_possible = true;
                match useful.iter_mut().find(|(other, _)| other == position) {
                    Some((_, known)) => *known = known.join(&values),
                    None => useful.push((*position, values)),
                }
            }
            if !is_possible {
                return false;
            }
        }
        if unmet.len() == useful.len() {
            for (position, values) in &useful {
                domains[*position] = *values;
            }
        }
        unmet.len() <= useful.len()
    }
}

/// The conditions of which a condition says that one holds.
pub(super) fn alternatives(terms: &mut Terms, condition: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut whole = vec![condition];
    while let Some(id) = whole.pop() {
        match terms.node(id) {
            Node::Binary { op: Op::Or, a, b } => whole.extend([b, a]),
            Node::Unary { op: Op::Not, a } => match terms.node(a) {
                Node::Binary { op: Op::And, a, b } => {
                    let sides = [terms.not(b), terms.not(a)];
                    whole.extend(sides);
                }
                _ => found.push(id),
            },
            _ => found.push(id),
        }
        if found.len() + whole.len() > MOST {
            return vec![condition];
        }
    }
    found
}

/// A condition with more alternatives is taken as it is.
const MOST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn below(count: u8) -> ByteSet {
        ByteSet::of(|value| *value < count)
    }

    fn only(value: u8) -> ByteSet {
        ByteSet::of(|other| *other == value)
    }

    /// Each of the values is to be in one of as many bytes.
    fn each_of(count: u8) -> Covers {
        let mut covers = Covers::default();
        for value in 0..count {
            let mut cover = Cover::default();
            (0..usize::from(count)).for_each(|position| cover.add(position, &only(value)));
            covers.add(cover);
        }
        covers
    }

    #[test]
    fn a_value_that_is_taken_is_taken_from_the_others() {
        let mut domains = [only(2), below(4), below(4), below(4)];
        assert!(each_of(4).narrow(&mut domains));
        let left = ByteSet::of(|value| *value < 4 && *value != 2);
        assert_eq!(domains[1..], [left; 3]);
    }

    #[test]
    fn two_of_a_value_leave_too_few_bytes() {
        let mut domains = [only(2), only(2), below(4), below(4)];
        assert!(!each_of(4).narrow(&mut domains));
    }

    #[test]
    fn a_byte_too_many_may_be_anything() {
        let mut covers = Covers::default();
        for value in 0..2 {
            let mut cover = Cover::default();
            (0..3).for_each(|position| cover.add(position, &only(value)));
            covers.add(cover);
        }
        let mut domains = [below(4); 3];
        assert!(covers.narrow(&mut domains));
        assert_eq!(domains, [below(4); 3]);
        let mut domains = [only(3), below(4), below(4)];
        assert!(covers.narrow(&mut domains));
        assert_eq!(domains[1..], [below(2); 2]);
    }
}
