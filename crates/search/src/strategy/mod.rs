//! Which alternative of a worklist is explored next.
//!
//! | strategy | next is |
//! | --- | --- |
//! | [`DepthFirst`] | the one that was added last: the deepest of the newest path |
//! | [`BreadthFirst`] | the one that was added first: the nearest |
//! | [`NewCoverage`] | the deepest whose outcome no run has had yet, else the deepest |
//! | [`Mix`] | what a rule chooses; several rules take turns: [`RuleName`] |
//! | [`Guided`] | the one nearest to a target; what many runs had counts as farther |
//! | [`Schedule`] | of many seeds: distance by distance (ZESTI), then ever deeper |
//!
//! A strategy sees what an alternative is called, neither formulas nor inputs. One more is one more
//! file here; one more rule a few lines in `rules`.

mod breadth_first;
mod depth_first;
mod guided;
mod mix;
mod new_coverage;
mod outcomes;
mod rules;
mod schedule;

pub use breadth_first::BreadthFirst;
pub use depth_first::DepthFirst;
pub use guided::Guided;
pub use mix::{Mix, Rule, SharedOutcomes};
pub use new_coverage::NewCoverage;
pub use outcomes::Outcomes;
pub use rules::{Fresh, Nearest, NewOutcome, Newest, Random, Rarest, Refused, RuleName, Unseen};
pub use schedule::{FIRST_DISTANCES, Schedule, Stage, Unit};

/// An outcome of a branch: its site, and which way it goes there.
pub type Outcome = (u64, u64);

/// What a worklist is made of.
pub trait Item {
    /// The outcome that it leads to.
    fn outcome(&self) -> Outcome;

    /// How many alternatives lie between it and the path that everything began with.
    fn depth(&self) -> u32 {
        0
    }

    /// How many paths in a row, up to the one that it leaves, brought nothing new.
    fn staleness(&self) -> u32 {
        0
    }

    /// Whether it is about the byte at which the path that it leaves was refused.
    fn is_about_refused(&self) -> bool {
        false
    }

    /// How many decisions lie at least between it and what the search is after.
    fn distance(&self) -> u32 {
        0
    }

    /// Whether it is about data that what the search is after depends on.
    fn is_relevant(&self) -> bool {
        false
    }
}

/// A worklist, and the order in which it is worked off.
pub trait Strategy<T> {
    /// Adds what was met on the newest path, in the order of the path.
    fn add(&mut self, item: T);

    /// Takes the item whose turn it is.
    fn next(&mut self) -> Option<T>;

    /// How many items wait.
    fn len(&self) -> usize;

    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A run had these outcomes. Says whether it had one, or one more often, than all runs before; a strategy
    /// that does not count them says no.
    fn observe(&mut self, _outcomes: &mut dyn Iterator<Item = Outcome>) -> bool {
        false
    }
}
