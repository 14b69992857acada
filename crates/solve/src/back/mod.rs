//! The back ends: those who really solve.

mod bit_blaster;
mod bitwuzla;
mod external;

pub use bit_blaster::BitBlaster;
pub use bitwuzla::BitwuzlaSolver;
pub use external::External;

use nearmiss_expr::TermId;

/// Which conditions an incremental back end has been told already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    marks: Vec<bool>,
}

impl Told {
    /// Whether this one is new; from now on it is not.
    pub fn is_new(&mut self, condition: TermId) -> bool {
        if self.marks.len() <= condition.index() {
            self.marks.resize(condition.index() + 1, false);
        }
        !std::mem::replace(&mut self.marks[condition.index()], true)
    }

    /// Whether this one was told.
    pub fn knows(&self, condition: TermId) -> bool {
        self.marks.get(condition.index()).copied().unwrap_or(false)
    }
}
