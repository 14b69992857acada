//! Composite operations as basic ones, for solvers.

use crate::node::TermId;
use crate::range::Ranges;
use crate::terms::Terms;

/// Rewrites terms so that only basic operations are left in them.
#[derive(Clone, Debug, Default)]
pub struct Lowering {}

impl Lowering {
    /// Has lowered nothing yet.
    pub fn new() -> Lowering {
        Lowering::default()
    }

    /// An equal term (where the assumptions of `ranges` hold) without overflow tests, bit
    /// counts and reads.
    pub fn lower(&mut self, _terms: &mut Terms, _ranges: &mut Ranges, id: TermId) -> TermId {
        id
    }
}

/// A read as a balanced tree of comparisons of its index, over the range of the index.
pub fn lower_read(_terms: &mut Terms, _ranges: &mut Ranges, read: TermId) -> TermId {
    read
}
