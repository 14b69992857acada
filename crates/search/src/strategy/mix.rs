//! Several rules take turns on one worklist.

use std::sync::{Arc, Mutex, MutexGuard};

use super::{Item, Outcome, Outcomes, Strategy};

/// What runs had, known to several worklists: those of tests of one campaign.
pub type SharedOutcomes = Arc<Mutex<Outcomes>>;

/// Chooses one item of a worklist.
pub trait Rule<T>: Send {
    /// The position of the item whose turn it is by this rule; `None`: the rule prefers none.
    /// There is at least one item; the newest is the last.
    fn choose(&mut self, items: &[T], outcomes: &Outcomes) -> Option<usize>;
}

/// A worklist on which rules take turns. Where a rule prefers none, the newest item is next.
pub struct Mix<T> {
    items: Vec<T>,
    outcomes: SharedOutcomes,
    rules: Vec<Box<dyn Rule<T>>>,
    turn: usize,
}

impl<T> std::fmt::Debug for Mix<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} items, {} rules", self.items.len(), self.rules.len())
    }
}

impl<T> Mix<T> {
    /// An empty worklist for these rules, which knows what the runs of other ones had.
    pub fn new(rules: Vec<Box<dyn Rule<T>>>, outcomes: SharedOutcomes) -> Mix<T> {
        Mix {
            items: Vec::new(),
            outcomes,
            rules,
            turn: 0,
        }
    }

    /// Those of its items that a rule names, as a worklist of their own: where it names none, that is empty.
    pub fn by<R: Rule<T>>(&mut self, rule: R) -> By<'_, T, R> {
        By { mix: self, rule }
    }

    /// Takes out all items of which something is true, in their order.
    pub fn take(&mut self, is_taken: impl FnMut(&mut T) -> bool) -> Vec<T> {
        self.items.extract_if(.., is_taken).collect()
    }

    /// Whether no run had an outcome so far.
    pub fn is_unseen(&self, outcome: Outcome) -> bool {
        locked(&self.outcomes).count(outcome) == 0
    }

    /// What waits.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

impl<T: Item> Strategy<T> for Mix<T> {
    fn add(&mut self, item: T) {
        self.items.push(item);
    }

    fn next(&mut self) -> Option<T> {
        let newest = self.items.len().checked_sub(1)?;
        let rules = self.rules.len().max(1);
        let rule = self.rules.get_mut(self.turn % rules);
        self.turn += 1;
        let chosen = rule.and_then(|rule| rule.choose(&self.items, &locked(&self.outcomes)));
        Some(self.items.remove(chosen.unwrap_or(newest)))
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn observe(&mut self, outcomes: &mut dyn Iterator<Item = Outcome>) -> bool {
        locked(&self.outcomes).add(outcomes)
    }
}

/// A worklist as one rule sees it: see [`Mix::by`].
#[derive(Debug)]
pub struct By<'m, T, R> {
    mix: &'m mut Mix<T>,
    rule: R,
}

impl<T: Item, R: Rule<T>> Strategy<T> for By<'_, T, R> {
    fn add(&mut self, item: T) {
        self.mix.add(item);
    }

    fn next(&mut self) -> Option<T> {
        let Mix {
            items, outcomes, ..
        } = &mut *self.mix;
        let chosen = self.rule.choose(items, &locked(outcomes))?;
        Some(items.remove(chosen))
    }

    fn len(&self) -> usize {
        self.mix.len()
    }

    fn observe(&mut self, outcomes: &mut dyn Iterator<Item = Outcome>) -> bool {
        self.mix.observe(outcomes)
    }
}

fn locked(outcomes: &SharedOutcomes) -> MutexGuard<'_, Outcomes> {
    outcomes.lock().expect("no thread panics")
}

#[cfg(test)]
mod tests {
    use super::super::{NewOutcome, Rarest};
    use super::*;

    #[test]
    fn rules_take_turns() {
        let rules: Vec<Box<dyn Rule<Outcome>>> = vec![Box::new(Rarest), Box::new(NewOutcome)];
        let mut mix = Mix::new(rules, SharedOutcomes::default());
        mix.observe(&mut [(1, 0), (1, 0), (2, 0)].into_iter());
        mix.observe(&mut [(1, 0)].into_iter());
        for item in [(3, 0), (2, 0), (1, 0), (4, 0)] {
            mix.add(item);
        }
        // The rarest: of those that no run had, the newest. The newest that no run had.
        // The rarest of the rest. The newest, as none is new.
        let order: Vec<Outcome> = std::iter::from_fn(|| mix.next()).collect();
        assert_eq!(order, [(4, 0), (3, 0), (2, 0), (1, 0)]);
    }

    #[test]
    fn one_rule_leaves_what_it_does_not_name() {
        let mut mix = Mix::new(Vec::new(), SharedOutcomes::default());
        mix.observe(&mut [(2, 0)].into_iter());
        for item in [(1, 0), (2, 0), (3, 0)] {
            mix.add(item);
        }
        let mut unseen = mix.by(NewOutcome);
        assert_eq!(unseen.next(), Some((3, 0)));
        assert_eq!((unseen.next(), unseen.next()), (Some((1, 0)), None));
        assert_eq!(mix.items(), [(2, 0)]);
    }

    #[test]
    fn what_one_worklist_saw_is_not_new_to_another() {
        let outcomes = SharedOutcomes::default();
        let rules = || vec![Box::new(NewOutcome) as Box<dyn Rule<Outcome>>];
        let [mut one, mut other] = [(); 2].map(|()| Mix::new(rules(), outcomes.clone()));
        assert!(one.observe(&mut [(2, 0)].into_iter()));
        assert!(!other.observe(&mut [(2, 0)].into_iter()));
        other.add((1, 0));
        other.add((2, 0));
        assert_eq!(other.next(), Some((1, 0)));
    }
}
