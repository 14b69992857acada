//! Which alternative of a worklist is explored next.
//!
//! | strategy | next is |
//! | --- | --- |
//! | [`DepthFirst`] | the one that was added last: the deepest of the newest path |
//! | [`NewCoverage`] | the deepest whose outcome no run has had yet, else the deepest |
//!
//! A strategy sees what an alternative is called, neither formulas nor inputs. One more is one more
//! file here.

mod depth_first;
mod new_coverage;

pub use depth_first::DepthFirst;
pub use new_coverage::NewCoverage;

/// An outcome of a branch: its site, and which way it goes there.
pub type Outcome = (u64, u64);

/// What a worklist is made of.
pub trait Item {
    /// The outcome that it leads to.
    fn outcome(&self) -> Outcome;
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

    /// A run had these outcomes.
    fn observe(&mut self, _outcomes: &mut dyn Iterator<Item = Outcome>) {}
}
