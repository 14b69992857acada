//! Terms as text: for people, and as SMT-LIB 2.

use crate::node::TermId;
use crate::range::Ranges;
use crate::terms::Terms;

/// A term as an S-expression; what lies deeper than `depth` operations is `…`.
pub fn expression(_terms: &Terms, _id: TermId, _depth: usize) -> String {
    String::new()
}

/// An SMT-LIB 2 script that asserts one-bit terms; `ranges` bound the indices of reads.
pub fn smt(_terms: &mut Terms, _ranges: &mut Ranges, _assertions: &[TermId]) -> String {
    String::new()
}
