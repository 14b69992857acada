//! Values that a recording had to concretize: which were met, and what another one needs.
//!
//! Where an address or a size cannot be followed symbolically, the path says that it has its recorded
//! value. Other values may lead elsewhere, and it is not known how many there are: they are queried one
//! after the other, up to a limit.

use std::collections::HashMap;

use nearmiss_expr::{TermId, Terms};
use nearmiss_search::Node;

/// The values that were met at each node: one condition each.
#[derive(Debug, Default)]
pub struct ConcretizedValues {
    met: HashMap<Node, Vec<TermId>>,
}

/// The maximum of values of one node that are tried.
const MAX_VALUES: usize = 64;

/// What is known of a node's other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Another {
    /// What an input needs to have one.
    Goal(TermId),
    /// Enough were tried.
    TooMany,
}

impl ConcretizedValues {
    /// A run has met a value; says whether it is the first to do so.
    pub fn meet(&mut self, node: Node, condition: TermId) -> bool {
        let values = self.met.entry(node).or_default();
        let is_new = !values.contains(&condition);
        if is_new {
            values.push(condition);
        }
        is_new
    }

    /// What an input needs to have a value that was not met at this node.
    pub fn another(&self, terms: &mut Terms, node: Node) -> Another {
        let values = self.met.get(&node).map_or(&[][..], Vec::as_slice);
        if values.len() >= MAX_VALUES {
            return Another::TooMany;
        }
        let start = terms.truth(true);
        Another::Goal(values.iter().fold(start, |goal, &value| {
            let other = terms.not(value);
            terms.and(goal, other)
        }))
    }
}
