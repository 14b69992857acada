//! Sets of whole numbers: a few intervals, in order, with gaps between them.

/// A set of whole numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Set(Vec<(i128, i128)>);

impl Set {
    /// All numbers from `low` to `high`; none if there are none.
    pub fn interval(low: i128, high: i128) -> Set {
        Set(if low <= high {
            vec![(low, high)]
        } else {
            Vec::new()
        })
    }

    /// These numbers.
    pub fn of(numbers: impl IntoIterator<Item = i128>) -> Set {
        let one = |number| Set::interval(number, number);
        let sets = numbers.into_iter().map(one);
        sets.fold(Set(Vec::new()), |all, next| all.union(&next))
    }

    /// The intervals, in order.
    pub fn intervals(&self) -> &[(i128, i128)] {
        &self.0
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a number is in it.
    pub fn contains(&self, number: i128) -> bool {
        let mut intervals = self.0.iter();
        intervals.any(|&(low, high)| low <= number && number <= high)
    }

    /// What is in one of them.
    pub fn union(&self, other: &Set) -> Set {
        let mut all: Vec<(i128, i128)> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_unstable();
        let mut joined: Vec<(i128, i128)> = Vec::new();
        for (low, high) in all {
            match joined.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        Set(joined)
    }

    /// What is in both.
    pub fn intersection(&self, other: &Set) -> Set {
        let both = |one: &(i128, i128)| {
            let one = *one;
            let overlap = other
                .0
                .iter()
                .map(move |it| (one.0.max(it.0), one.1.min(it.1)));
            overlap.filter(|(low, high)| low <= high)
        };
        Set(self.0.iter().flat_map(both).collect())
    }

    /// What of `low..=high` is not in it.
    pub fn complement(&self, (low, high): (i128, i128)) -> Set {
        let mut left = Vec::new();
        let mut from = low;
        for &(start, end) in &self.0 {
            if start > from {
                left.push((from, (start - 1).min(high)));
            }
            from = from.max(end.saturating_add(1));
        }
        if from <= high {
            left.push((from, high));
        }
        left.retain(|(low, high)| low <= high);
        Set(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_agree_with_enumeration() {
        let range = (-6, 6);
        let some: Vec<Set> = (0..1 << 6)
            .map(|bits: i128| Set::of((-3..3).filter(|n| bits >> (n + 3) & 1 == 1)))
            .collect();
        for one in &some {
            let others = one.complement(range);
            assert!((-6..=6).all(|n| one.contains(n) != others.contains(n)));
            for other in &some {
                let (both, any) = (one.intersection(other), one.union(other));
                for n in -6..=6 {
                    assert_eq!(both.contains(n), one.contains(n) && other.contains(n));
                    assert_eq!(any.contains(n), one.contains(n) || other.contains(n));
                }
            }
        }
    }
}
