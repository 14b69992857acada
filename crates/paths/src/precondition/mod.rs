//! Which inputs are admissible: the precondition, treated in one of several ways.
//!
//! The one query is [`Precondition::admit`]: is there an admissible input on this partial path? The
//! implementations differ in how often the precondition's own paths are gone through:
//!
//! | | |
//! | --- | --- |
//! | [`Unrestricted`] | there is no precondition, or it is part of the path (early), or of the setup (native) |
//! | [`late`] | its paths are explored under the partial path's constraints by calls, each time again |
//! | [`summary`] | its paths are kept as one formula that grows with every call |
//! | [`formula`] | its code is a formula from the beginning |
//! | [`auto`] | the formula if there is one, else the quicker of late and summary, by trial |

mod auto;
mod formula;
mod late;
mod lessons;
#[cfg(test)]
mod lessons_tests;
mod summary;

use nearmiss_expr::TermId;

use crate::error::ExploreError;
use crate::input::Input;
use crate::workspace::{Solution, Workspace};

pub use auto::Auto;
pub use late::Late;
#[cfg(test)]
use lessons::Lessons;
pub use summary::Summary;

/// Finds admissible inputs.
pub trait Precondition {
    /// Is there an admissible input that takes the partial path?
    fn admit(
        &mut self,
        workspace: &mut Workspace,
        path: &PartialPath,
    ) -> Result<Solution, ExploreError>;

    /// Calls of the precondition so far.
    fn calls(&self) -> Calls;

    /// Whether it may reject an input that takes a path.
    fn restricts(&self) -> bool {
        true
    }
}

/// A partial path of the function, as an input has to take it.
#[derive(Clone, Copy, Debug)]
pub struct PartialPath<'a> {
    /// The conditions before its last decision.
    pub conditions: &'a [TermId],
    /// The condition of its last decision.
    pub goal: TermId,
    /// An input that makes the conditions true.
    pub base: &'a Input,
}

/// Calls of a precondition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Calls of it alone.
    pub calls: u64,
    /// Different paths of it that were met.
    pub paths: u64,
}

/// Every input that takes the path is admissible.
#[derive(Debug)]
pub struct Unrestricted;

impl Precondition for Unrestricted {
    fn admit(
        &mut self,
        workspace: &mut Workspace,
        path: &PartialPath,
    ) -> Result<Solution, ExploreError> {
        Ok(workspace.ask(path.conditions, path.goal, path.base))
    }

    fn calls(&self) -> Calls {
        Calls::default()
    }

    fn restricts(&self) -> bool {
        false
    }
}
