//! Which inputs are admissible: the precondition, treated in one of several ways.
//!
//! The one question is [`Precondition::admit`]: is there an admissible input on this partial path?
//! Who answers it decides how often the precondition's own paths are gone through:
//!
//! | | |
//! | --- | --- |
//! | none | there is no precondition, or it is part of the path (early), or of the setup (native) |
//! | [`late`] | its paths are explored under the partial path's constraints, each time again |
//! | [`summary`] | its paths are kept as one formula that grows with every call |
//! | [`formula`] | its code is a formula from the beginning |
//! | [`auto`] | the formula if there is one, else the quicker of late and summary, by trial |

mod auto;
mod formula;
mod late;
mod summary;

use nearmiss_expr::TermId;
use nearmiss_sites::program::Program;

use crate::error::ExploreError;
use crate::input::Input;
use crate::workspace::{Solution, Workspace};
use auto::Auto;
use late::Late;

pub use summary::Summary;

/// Which inputs are admissible.
pub enum Precondition {
    /// All that take the path.
    None,
    /// The function, explored for each partial path.
    Late(Late),
    /// The function, as a formula.
    Summary(Box<Summary>),
    /// Whichever suits.
    Auto(Box<Auto>),
}

/// What was asked of the precondition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Calls of it alone.
    pub calls: u64,
    /// Different paths of it that were met.
    pub paths: u64,
}

impl Precondition {
    /// Explored anew for each partial path.
    pub fn late() -> Precondition {
        Precondition::Late(Late::default())
    }

    /// Whichever suits. `program` is its code, if that is known.
    pub fn auto(
        workspace: &mut Workspace,
        summary: Summary,
        program: Option<&Program>,
    ) -> Result<Precondition, ExploreError> {
        Ok(Precondition::Auto(Box::new(Auto::new(
            workspace, summary, program,
        )?)))
    }

    /// Is there an admissible input that makes the conditions and the goal true? `base` makes the
    /// conditions true.
    pub fn admit(
        &mut self,
        workspace: &mut Workspace,
        conditions: &[TermId],
        goal: TermId,
        base: &Input,
    ) -> Result<Solution, ExploreError> {
        match self {
            Precondition::None => Ok(workspace.ask(conditions, goal, base)),
            Precondition::Late(late) => late.admit(workspace, conditions, goal, base),
            Precondition::Summary(summary) => summary.admit(workspace, conditions, goal, base),
            Precondition::Auto(auto) => auto.admit(workspace, conditions, goal, base),
        }
    }

    /// What was asked of it so far.
    pub fn calls(&self) -> Calls {
        match self {
            Precondition::None => Calls::default(),
            Precondition::Late(late) => late.calls,
            Precondition::Summary(summary) => summary.calls,
            Precondition::Auto(auto) => auto.calls(),
        }
    }
}
