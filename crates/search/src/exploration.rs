//! The loop of every search: an alternative is taken off the worklist and explored, and the
//! alternatives that leave its path are added.
//!
//! ```text
//!   worklist (a Strategy) ──► alternative ──► query ──► run ──► walk ──► arrival
//!        ▲                                                       │
//!        └──────────── alternatives that leave the new path ◄────┘
//! ```
//!
//! When the query is asked is up to the explorer: `explore` asks it when the alternative's turn comes,
//! `run` and `test` ask many in one walk over the path that they leave.

use crate::Strategy;

/// Explores alternatives, one at a time.
pub trait Explore<T> {
    /// What an alternative that was run led to.
    type Arrival;
    /// Why the exploration cannot go on.
    type Error;

    /// Whether no alternative may be begun any more: time, runs or memory are used up.
    fn is_over(&self) -> bool;

    /// Explores an alternative; what leaves its path goes into the worklist.
    fn explore(
        &mut self,
        alternative: &T,
        worklist: &mut dyn Strategy<T>,
    ) -> Result<Visited<Self::Arrival>, Self::Error>;
}

/// What came of an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visited<Arrival> {
    /// A run.
    Arrived(Arrival),
    /// Nothing for the caller: infeasible, not known, or known already.
    Nothing,
    /// The end came in the middle of it: it is still to be explored.
    Cut,
}

/// Where a search stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<Arrival> {
    /// A run was made.
    Arrival(Arrival),
    /// No alternative is left.
    Empty,
    /// Alternatives are left, and none may be begun any more.
    Cut,
}

/// Explores alternatives until one of them arrives.
pub fn next_arrival<T, E: Explore<T>>(
    explorer: &mut E,
    worklist: &mut dyn Strategy<T>,
) -> Result<Next<E::Arrival>, E::Error> {
    while !worklist.is_empty() {
        if explorer.is_over() {
            return Ok(Next::Cut);
        }
        let Some(alternative) = worklist.next() else {
            break;
        };
        match explorer.explore(&alternative, worklist)? {
            Visited::Arrived(arrival) => return Ok(Next::Arrival(arrival)),
            Visited::Nothing => {}
            Visited::Cut => {
                worklist.add(alternative);
                return Ok(Next::Cut);
            }
        }
    }
    Ok(Next::Empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BreadthFirst, DepthFirst};

    /// A binary tree of this depth; some nodes cannot be reached.
    struct Tree {
        depth: u32,
        unreachable: Vec<u32>,
        visits_left: u32,
    }

    impl Explore<u32> for Tree {
        type Arrival = u32;
        type Error = ();

        fn is_over(&self) -> bool {
            self.visits_left == 0
        }

        fn explore(
            &mut self,
            node: &u32,
            worklist: &mut dyn Strategy<u32>,
        ) -> Result<Visited<u32>, ()> {
            self.visits_left -= 1;
            if self.unreachable.contains(node) {
                return Ok(Visited::Nothing);
            }
            if node.ilog2() < self.depth {
                worklist.add(2 * node);
                worklist.add(2 * node + 1);
            }
            Ok(Visited::Arrived(*node))
        }
    }

    fn explore(tree: &mut Tree, worklist: &mut dyn Strategy<u32>) -> (Vec<u32>, Next<u32>) {
        worklist.add(1);
        let mut arrivals = Vec::new();
        loop {
            match next_arrival(tree, worklist).unwrap() {
                Next::Arrival(arrival) => arrivals.push(arrival),
                end => return (arrivals, end),
            }
        }
    }

    fn tree(visits_left: u32) -> Tree {
        Tree {
            depth: 2,
            unreachable: vec![3],
            visits_left,
        }
    }

    #[test]
    fn the_strategy_decides_on_the_order() {
        let deepest = explore(&mut tree(99), &mut DepthFirst::default());
        assert_eq!(deepest, (vec![1, 2, 5, 4], Next::Empty));
        let nearest = explore(&mut tree(99), &mut BreadthFirst::default());
        assert_eq!(nearest, (vec![1, 2, 4, 5], Next::Empty));
    }

    #[test]
    fn what_is_left_when_it_is_over_stays_in_the_worklist() {
        let mut worklist = BreadthFirst::default();
        let (arrivals, end) = explore(&mut tree(3), &mut worklist);
        assert_eq!((arrivals, end), (vec![1, 2], Next::Cut));
        assert_eq!(worklist.len(), 2);
    }
}
