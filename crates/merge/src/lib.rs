//! What a precondition says of all inputs, as one term.
//!
//! Exploring a precondition path by path costs as much as it has paths, and even a short one may have
//! thousands: one that looks for each of n numbers in an array of n has more than n! of them. Here the
//! harness is executed once for all inputs: both ways of a branch are gone, and where they meet again
//! their states become one, whose values are choices between those of the two. A loop is gone through until no
//! input stays in it. What comes of it is the condition under which the precondition accepts.
//!
//! | module | what |
//! | --- | --- |
//! | [`flow`] | in which order blocks are executed, so that ways meet as soon as they can |
//! | [`state`] | what is known at a point: the condition of being there, and memory |
//! | [`memory`] | objects, and accesses to them at addresses that are terms |
//! | [`machine`] | execution |
//! | [`choices`] | comparisons of what a search has found |
//! | [`words`] | the functions that a harness and C's library have for us |
//!
//! It gives up ([`GaveUp`]) on whatever it does not know exactly: another treatment is then due. A
//! precondition that fails (leaves an array, say) accepts nothing, as everywhere.

mod choices;
mod flow;
mod machine;
mod memory;
mod state;
mod words;

use nearmiss_expr::{TermId, Terms};
use nearmiss_sites::program::Program;

use machine::Machine;

/// Says whether conditions can hold together.
pub trait Judge {
    /// `Some(false)`: certainly not. `None`: there is no time to find out, and all is to be given up.
    fn may_hold(&mut self, terms: &mut Terms, conditions: &[TermId]) -> Option<bool>;
}

/// Why there is no term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// It does something that is not known here.
    Unknown(String),
    /// It goes on for too long.
    TooLong,
}

/// What is executed, and for what.
pub struct Request<'a> {
    /// The harness with the precondition.
    pub program: &'a Program,
    /// What `__nm_mode` says.
    pub mode: u32,
    /// The channel of the input bytes.
    pub channel: u32,
    /// The result row that says whether an input is accepted.
    pub accepted: &'a str,
}

/// The conditions that hold for exactly those inputs that are accepted, among those that keep to what
/// the harness assumes.
pub fn acceptance(
    request: &Request<'_>,
    terms: &mut Terms,
    judge: &mut dyn Judge,
) -> Result<Vec<TermId>, GaveUp> {
    Machine::new(request, terms, judge).acceptance()
}
