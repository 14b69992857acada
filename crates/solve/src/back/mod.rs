//! The back ends: what really solves.

mod bit_blaster;
mod bitwuzla;
mod external;

pub use bit_blaster::BitBlaster;
pub use bitwuzla::BitwuzlaSolver;
pub use external::{External, NoSolver, check as check_external};

use nearmiss_expr::TermId;

/// The constraints that an incremental back end has asserted already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asserted {
    marks: Vec<bool>,
}

impl Asserted {
    /// From now on this one was asserted.
    pub fn mark(&mut self, constraint: TermId) {
        if self.marks.len() <= constraint.index() {
            self.marks.resize(constraint.index() + 1, false);
        }
        self.marks[constraint.index()] = true;
    }

    /// Whether this one was asserted.
    pub fn has(&self, constraint: TermId) -> bool {
        self.marks.get(constraint.index()).copied().unwrap_or(false)
    }
}
