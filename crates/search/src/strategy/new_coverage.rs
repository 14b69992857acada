//! Alternatives that go where no run went, before all others.

use std::collections::HashSet;

use super::{Item, Outcome, Strategy};

/// Depth first among the alternatives with a new outcome, then among the others.
#[derive(Clone, Debug)]
pub struct NewCoverage<T> {
    items: Vec<T>,
    /// Outcomes that runs had, whatever came before.
    taken: HashSet<Outcome>,
}

impl<T> Default for NewCoverage<T> {
    fn default() -> NewCoverage<T> {
        NewCoverage {
            items: Vec::new(),
            taken: HashSet::new(),
        }
    }
}

impl<T: Item> Strategy<T> for NewCoverage<T> {
    fn add(&mut self, item: T) {
        self.items.push(item);
    }

    fn next(&mut self) -> Option<T> {
        let is_new = |item: &T| !self.taken.contains(&item.outcome());
        match self.items.iter().rposition(is_new) {
            Some(position) => Some(self.items.remove(position)),
            None => self.items.pop(),
        }
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn observe(&mut self, outcomes: &mut dyn Iterator<Item = Outcome>) -> bool {
        let before = self.taken.len();
        self.taken.extend(outcomes);
        self.taken.len() > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Item for Outcome {
        fn outcome(&self) -> Outcome {
            *self
        }
    }

    #[test]
    fn new_outcomes_come_before_deeper_alternatives() {
        let mut strategy = NewCoverage::default();
        for alternative in [(1, 0), (2, 0), (3, 0)] {
            strategy.add(alternative);
        }
        strategy.observe(&mut [(3, 0), (1, 1)].into_iter());
        let order: Vec<Outcome> = std::iter::from_fn(|| strategy.next()).collect();
        assert_eq!(order, [(2, 0), (1, 0), (3, 0)]);
    }
}
