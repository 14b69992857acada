//! Rules for a [`Mix`](super::Mix): one sentence each.

use super::mix::Rule;
use super::{Item, Outcomes};

/// The newest item whose outcome no run has had.
#[derive(Clone, Copy, Debug)]
pub struct NewOutcome;

impl<T: Item> Rule<T> for NewOutcome {
    fn choose(&mut self, items: &[T], outcomes: &Outcomes) -> Option<usize> {
        items
            .iter()
            .rposition(|item| outcomes.count(item.outcome()) == 0)
    }
}

/// The item whose outcome the fewest runs have had; of equal ones the newest.
#[derive(Clone, Copy, Debug)]
pub struct Rarest;

impl<T: Item> Rule<T> for Rarest {
    fn choose(&mut self, items: &[T], outcomes: &Outcomes) -> Option<usize> {
        let counts = items.iter().map(|item| outcomes.count(item.outcome()));
        let numbered = counts.enumerate().rev();
        numbered
            .min_by_key(|(_, count)| *count)
            .map(|(position, _)| position)
    }
}

/// The item nearest to the path that everything began with; of equal ones the oldest.
#[derive(Clone, Copy, Debug)]
pub struct Nearest;

impl<T: Item> Rule<T> for Nearest {
    fn choose(&mut self, items: &[T], _: &Outcomes) -> Option<usize> {
        let numbered = items.iter().enumerate();
        numbered
            .min_by_key(|(_, item)| item.depth())
            .map(|(position, _)| position)
    }
}

/// The newest item.
#[derive(Clone, Copy, Debug)]
pub struct Newest;

impl<T: Item> Rule<T> for Newest {
    fn choose(&mut self, items: &[T], _: &Outcomes) -> Option<usize> {
        items.len().checked_sub(1)
    }
}

/// Any item. The same numbers in every campaign: what is explored is to be reproducible.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Default for Random {
    fn default() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }
}

impl<T> Rule<T> for Random {
    fn choose(&mut self, items: &[T], _: &Outcomes) -> Option<usize> {
        // Xorshift: short, and random enough to give every item a chance.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 as usize).checked_rem(items.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_a_chance() {
        let (items, outcomes) = ([0u8; 5], Outcomes::default());
        let mut random = Random::default();
        let mut chosen = [0; 5];
        for _ in 0..500 {
            chosen[random.choose(&items, &outcomes).unwrap()] += 1;
        }
        assert!(chosen.iter().all(|count| *count > 50), "{chosen:?}");
        let none: [u8; 0] = [];
        assert_eq!(random.choose(&none, &outcomes), None);
    }
}
