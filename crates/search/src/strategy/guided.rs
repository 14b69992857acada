//! Towards a target: the alternative with the fewest decisions between it and the target first.
//!
//! Where a loop lies on the way, each of its turns leaves an alternative of the same distance. So an
//! outcome that runs had already counts as farther, by the logarithm of how many had it: one more turn of
//! a loop gives way to what was not tried, and has its turn again later. Of equally far alternatives those
//! come first that are about data which the target depends on.

use super::{Item, Outcome, Outcomes, Strategy};

/// A worklist by distance; of equal ones what is about relevant data first, then the newest.
#[derive(Clone, Debug)]
pub struct Guided<T> {
    items: Vec<T>,
    outcomes: Outcomes,
}

impl<T> Default for Guided<T> {
    fn default() -> Guided<T> {
        Guided {
            items: Vec::new(),
            outcomes: Outcomes::default(),
        }
    }
}

impl<T: Item> Strategy<T> for Guided<T> {
    fn add(&mut self, item: T) {
        self.items.push(item);
    }

    fn next(&mut self) -> Option<T> {
        let farness = |item: &T| {
            let runs = self.outcomes.count(item.outcome());
            let farness = u64::from(item.distance()) + u64::from((runs + 1).ilog2());
            (farness, !item.is_relevant())
        };
        let numbered = self.items.iter().map(farness).enumerate().rev();
        let (nearest, _) = numbered.min_by_key(|(_, farness)| *farness)?;
        Some(self.items.remove(nearest))
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn observe(&mut self, outcomes: &mut dyn Iterator<Item = Outcome>) -> bool {
        self.outcomes.add(outcomes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Far(Outcome, u32);

    #[derive(Debug, PartialEq)]
    struct About(u64, bool);

    impl Item for About {
        fn outcome(&self) -> Outcome {
            (self.0, 0)
        }

        fn is_relevant(&self) -> bool {
            self.1
        }
    }

    #[test]
    fn of_equally_far_ones_what_is_about_relevant_data_comes_first() {
        let mut strategy = Guided::default();
        for (site, is_relevant) in [(1, false), (2, true), (3, false), (4, true)] {
            strategy.add(About(site, is_relevant));
        }
        let order: Vec<u64> = std::iter::from_fn(|| strategy.next())
            .map(|item| item.0)
            .collect();
        assert_eq!(order, [4, 2, 3, 1]);
    }

    impl Item for Far {
        fn outcome(&self) -> Outcome {
            self.0
        }

        fn distance(&self) -> u32 {
            self.1
        }
    }

    #[test]
    fn the_nearest_comes_first_and_of_equal_ones_the_newest() {
        let mut strategy = Guided::default();
        for (site, distance) in [(1, 3), (2, 1), (3, 1), (4, 2)] {
            strategy.add(Far((site, 0), distance));
        }
        let order: Vec<u64> = std::iter::from_fn(|| strategy.next())
            .map(|item| item.0.0)
            .collect();
        assert_eq!(order, [3, 2, 4, 1]);
    }

    #[test]
    fn another_turn_of_a_loop_gives_way() {
        let mut strategy = Guided::default();
        for _ in 0..3 {
            strategy.observe(&mut [(7, 1)].into_iter());
        }
        strategy.add(Far((7, 1), 1));
        strategy.add(Far((8, 0), 2));
        assert_eq!(strategy.next(), Some(Far((8, 0), 2)));
        assert_eq!(strategy.next(), Some(Far((7, 1), 1)));
    }
}
