//! The oldest alternative first: paths near the first one before those that were derived from them.

use std::collections::VecDeque;

use super::Strategy;

/// A queue.
#[derive(Clone, Debug)]
pub struct BreadthFirst<T> {
    items: VecDeque<T>,
}

impl<T> BreadthFirst<T> {
    /// What waits, the next one first.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }
}

impl<T> Default for BreadthFirst<T> {
    fn default() -> BreadthFirst<T> {
        BreadthFirst {
            items: VecDeque::new(),
        }
    }
}

impl<T> Strategy<T> for BreadthFirst<T> {
    fn add(&mut self, item: T) {
        self.items.push_back(item);
    }

    fn next(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}
