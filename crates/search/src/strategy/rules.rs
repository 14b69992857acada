//! Rules for a [`Mix`](super::Mix): one sentence each.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use super::mix::Rule;
use super::{Item, Outcome, Outcomes};

/// The name of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleName {
    /// [`NewOutcome`]
    New,
    /// [`Fresh`]
    Fresh,
    /// [`Newest`]
    Newest,
    /// [`Nearest`]
    Nearest,
    /// [`Rarest`]
    Rarest,
    /// [`Random`]
    Random,
    /// [`Refused`]
    Refused,
}

impl RuleName {
    /// Those that take turns where none are asked for: what found most with fewest runs (`bench/strategies`).
    pub const USUAL: [RuleName; 3] = [RuleName::New, RuleName::Refused, RuleName::Rarest];

    /// Every rule, in the order in which they take turns.
    pub const ALL: [RuleName; 7] = [
        RuleName::New,
        RuleName::Fresh,
        RuleName::Newest,
        RuleName::Nearest,
        RuleName::Rarest,
        RuleName::Random,
        RuleName::Refused,
    ];

    fn name(self) -> &'static str {
        match self {
            RuleName::New => "new",
            RuleName::Fresh => "fresh",
            RuleName::Newest => "newest",
            RuleName::Nearest => "nearest",
            RuleName::Rarest => "rarest",
            RuleName::Random => "random",
            RuleName::Refused => "refused",
        }
    }

    /// The rule.
    pub fn rule<T: Item>(self) -> Box<dyn Rule<T>> {
        match self {
            RuleName::New => Box::new(NewOutcome),
            RuleName::Fresh => Box::new(Fresh),
            RuleName::Newest => Box::new(Newest),
            RuleName::Nearest => Box::new(Nearest),
            RuleName::Rarest => Box::new(Rarest),
            RuleName::Random => Box::<Random>::default(),
            RuleName::Refused => Box::<Refused>::default(),
        }
    }
}

impl fmt::Display for RuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for RuleName {
    type Err = String;

    fn from_str(name: &str) -> Result<RuleName, String> {
        let found = RuleName::ALL.into_iter().find(|rule| rule.name() == name);
        found.ok_or_else(|| {
            let names = RuleName::ALL.map(RuleName::name).join(", ");
            format!("no rule is called {name}; there are {names}")
        })
    }
}

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

/// The item that leaves a path which brought something new; else one behind the fewest that did not, and of
/// equal ones the newest.
#[derive(Clone, Copy, Debug)]
pub struct Fresh;

impl<T: Item> Rule<T> for Fresh {
    fn choose(&mut self, items: &[T], _: &Outcomes) -> Option<usize> {
        let numbered = items.iter().map(Item::staleness).enumerate().rev();
        numbered
            .min_by_key(|(_, staleness)| *staleness)
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

/// Of the items about a byte at which a path was refused the one whose outcome this rule has chosen least often; of equal ones the
/// newest, since where one refusal is overcome the next one follows.
#[derive(Clone, Debug, Default)]
pub struct Refused {
    chosen: HashMap<Outcome, u32>,
}

impl<T: Item> Rule<T> for Refused {
    fn choose(&mut self, items: &[T], _: &Outcomes) -> Option<usize> {
        let times = |item: &T| self.chosen.get(&item.outcome()).copied().unwrap_or(0);
        let refused = items.iter().enumerate().rev();
        let refused = refused.filter(|(_, item)| item.is_about_refused());
        let (position, item) = refused.min_by_key(|(_, item)| times(item))?;
        *self.chosen.entry(item.outcome()).or_default() += 1;
        Some(position)
    }
}

/// The newest item whose outcome no run has had; else one that leaves a path which brought something new, at the byte where it was
/// refused.
#[derive(Clone, Copy, Debug)]
pub struct Unseen;

impl<T: Item> Rule<T> for Unseen {
    fn choose(&mut self, items: &[T], outcomes: &Outcomes) -> Option<usize> {
        let is_fresh = |item: &T| item.is_about_refused() && item.staleness() == 0;
        let new = NewOutcome.choose(items, outcomes);
        new.or_else(|| items.iter().position(is_fresh))
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

    struct Aged(u32);

    impl Item for Aged {
        fn outcome(&self) -> super::super::Outcome {
            (0, 0)
        }

        fn staleness(&self) -> u32 {
            self.0
        }
    }

    #[test]
    fn what_leaves_a_path_with_something_new_is_fresh() {
        let items = [3, 0, 2, 0, 1].map(Aged);
        assert_eq!(Fresh.choose(&items, &Outcomes::default()), Some(3));
    }

    /// Refused at a byte, or not.
    struct About(u64, bool);

    impl Item for About {
        fn outcome(&self) -> Outcome {
            (self.0, 0)
        }

        fn is_about_refused(&self) -> bool {
            self.1
        }
    }

    #[test]
    fn refusals_take_turns_and_the_newest_comes_first() {
        let mut items: Vec<About> = [(1, true), (2, true), (1, true), (3, false)]
            .map(|(outcome, is_refused)| About(outcome, is_refused))
            .into();
        let (mut rule, outcomes) = (Refused::default(), Outcomes::default());
        let order: Vec<usize> = std::iter::from_fn(|| {
            let position = rule.choose(&items, &outcomes)?;
            items[position].1 = false;
            Some(position)
        })
        .collect();
        assert_eq!(order, [2, 1, 0]);
        let mut outcomes = outcomes;
        outcomes.add(&mut [(3, 0)].into_iter());
        assert_eq!(Unseen.choose(&items, &outcomes), Some(2));
    }

    #[test]
    fn rules_are_known_by_their_names() {
        for rule in RuleName::ALL {
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
        assert!("oldest".parse::<RuleName>().is_err());
    }

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
