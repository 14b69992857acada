//! Slices of any set of constraints: for queries that do not follow one path.
//!
//! Groups as [`super::Slices`] keeps them would have to be made for every query; here the sets of
//! input bytes are compared, which are shared by all terms of the arena.

use nearmiss_expr::support::{InputSet, Supports};
use nearmiss_expr::{TermId, Terms};

use super::Slice;

/// The constraints that share input bytes with the goal, directly or through others, each once
/// and in the order of their terms.
pub(crate) fn slice(
    supports: &mut Supports,
    terms: &Terms,
    constraints: &[TermId],
    goal: TermId,
) -> Slice {
    let mut bytes = supports.of(terms, goal);
    let mut left: Vec<(TermId, InputSet)> = (constraints.iter())
        .filter(|&&constraint| terms.as_constant(constraint).is_none())
        .map(|&constraint| (constraint, supports.of(terms, constraint)))
        .collect();
    let mut sliced = Vec::new();
    loop {
        let before = sliced.len();
        // From the end: what matters most is near the goal.
        let mut apart = Vec::with_capacity(left.len());
        for (constraint, set) in left.into_iter().rev() {
            if supports.intersects(bytes, set) {
                bytes = supports.union(bytes, set);
                sliced.push(constraint);
            } else {
                apart.push((constraint, set));
            }
        }
        apart.reverse();
        left = apart;
        if sliced.len() == before {
            break;
        }
    }
    sliced.sort_unstable();
    sliced.dedup();
    let mut bytes = supports.bytes(bytes);
    bytes.sort_unstable();
    Slice {
        constraints: sliced,
        bytes,
    }
}
