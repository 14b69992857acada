//! The back ends: those who really solve.

mod bit_blaster;
mod bitwuzla;
mod external;

pub use bit_blaster::BitBlaster;
pub(crate) use bit_blaster::byte_literals;
pub use bitwuzla::BitwuzlaSolver;
pub use external::{External, check as check_external};

use nearmiss_expr::TermId;

/// Which conditions an incremental back end has been told already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    marks: Vec<bool>,
}

impl Told {
    /// From now on this one was told.
    pub fn mark(&mut self, condition: TermId) {
        if self.marks.len() <= condition.index() {
            self.marks.resize(condition.index() + 1, false);
        }
        self.marks[condition.index()] = true;
    }

    /// Whether this one was told.
    pub fn knows(&self, condition: TermId) -> bool {
        self.marks.get(condition.index()).copied().unwrap_or(false)
    }
}
