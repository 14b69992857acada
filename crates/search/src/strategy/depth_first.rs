//! The deepest alternative of the newest path first.

use super::Strategy;

/// A stack.
#[derive(Clone, Debug)]
pub struct DepthFirst<T> {
    items: Vec<T>,
}

impl<T> Default for DepthFirst<T> {
    fn default() -> DepthFirst<T> {
        DepthFirst { items: Vec::new() }
    }
}

impl<T> Strategy<T> for DepthFirst<T> {
    fn add(&mut self, item: T) {
        self.items.push(item);
    }

    fn next(&mut self) -> Option<T> {
        self.items.pop()
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_of_the_newest_path_comes_first() {
        let mut strategy = DepthFirst::default();
        // A path leaves two alternatives; the run for the second leaves one more.
        strategy.add("a");
        strategy.add("ab");
        assert_eq!(strategy.next(), Some("ab"));
        strategy.add("abc");
        let order: Vec<&str> = std::iter::from_fn(|| strategy.next()).collect();
        assert_eq!(order, ["abc", "a"]);
        assert!(strategy.is_empty());
    }
}
