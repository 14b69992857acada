//! Names of the nodes of the execution tree, and those that are known.
//!
//! A node is where an execution is after some forks: the forks and the ways it took there, in
//! order. Its name is a hash of them, so a tree of millions of nodes is a set of numbers. Two
//! nodes with one name are taken for the same; with 64 bits that is one mistake in 10^7 nodes with
//! a probability below one in 10^5, and all it costs is a path that is not tried.

use std::collections::HashSet;
use std::sync::Mutex;

/// A node of the execution tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node(pub u64);

/// The names along a path.
#[derive(Clone, Copy, Debug)]
pub struct Trail(u64);

impl Trail {
    /// The root of a tree: executions of the same program with inputs of the same shape.
    pub fn root(shape: u64) -> Trail {
        Trail(mix(shape))
    }

    /// A path that has come to a node.
    pub fn at(node: Node) -> Trail {
        Trail(node.0)
    }

    /// The node that a way at the next fork leads to.
    pub fn way(&self, site: u64, choice: u64) -> Node {
        Node(mix(mix(self.0 ^ site).wrapping_add(choice)))
    }

    /// Goes there.
    pub fn go(&mut self, site: u64, choice: u64) -> Node {
        let node = self.way(site, choice);
        self.0 = node.0;
        node
    }

    /// Where the path has come to.
    pub fn node(&self) -> Node {
        Node(self.0)
    }
}

/// The finaliser of SplitMix64: every bit of the result depends on every bit of the number.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The nodes that some execution has been at, and those that one was sent to.
#[derive(Debug, Default)]
pub struct Known {
    nodes: Mutex<HashSet<u64>>,
}

/// Most nodes that are remembered: beyond, paths may be tried twice.
const MOST_NODES: usize = 32 << 20;

impl Known {
    /// Remembers a node; says whether it is new.
    pub fn add(&self, node: Node) -> bool {
        let mut nodes = self.nodes.lock().expect("no thread panics");
        if nodes.len() >= MOST_NODES {
            return !nodes.contains(&node.0);
        }
        nodes.insert(node.0)
    }

    /// Remembers many; says whether the last one is new.
    pub fn add_all(&self, path: impl IntoIterator<Item = Node>) -> bool {
        let mut nodes = self.nodes.lock().expect("no thread panics");
        let mut is_new = false;
        for node in path {
            is_new = match nodes.len() < MOST_NODES {
                true => nodes.insert(node.0),
                false => !nodes.contains(&node.0),
            };
        }
        is_new
    }

    /// Whether a node is known.
    pub fn has(&self, node: Node) -> bool {
        self.nodes
            .lock()
            .expect("no thread panics")
            .contains(&node.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_way_leads_to_the_same_node() {
        let mut trail = Trail::root(7);
        let there = trail.way(3, 1);
        assert_ne!(there, trail.way(3, 0));
        assert_ne!(there, Trail::root(8).way(3, 1));
        assert_eq!(trail.go(3, 1), there);
        assert_eq!(trail.node(), there);
        assert_ne!(trail.way(3, 1), there);
    }

    #[test]
    fn nodes_are_new_once() {
        let known = Known::default();
        assert!(known.add(Node(1)) && !known.add(Node(1)));
        assert!(known.add_all([Node(1), Node(2)]));
        assert!(!known.add_all([Node(3), Node(2)]));
        assert!(known.has(Node(3)) && !known.has(Node(4)));
    }
}
