//! What unit tests reveal of a function's precondition, and contracts as checks at functions' entries.
//!
//! After assertion hoisting of *Predictive Testing* (seed of this project): each call of a function in its
//! tests is recorded with what it is given as fresh inputs; each check on the call's path gives *path ⇒ check*, and all of
//! them together, simplified, are the precondition.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`inputs`] | the inputs of a call, and what a contract calls them |
//! | [`translate`] | bit-vector terms → conditions over mathematical integers |
//! | [`condition`], `linear`, `set` | conditions: sums of inputs, and the sets that they lie in |
//! | [`clauses`] | one recorded call → clauses |
//! | [`simplify`](mod@simplify) | clauses of all calls → fewer and shorter ones |
//! | [`strings`] | what a loop over a string reveals, as one requirement |
//! | `stairs` | what each turn of a loop leaves, in one |
//! | [`shown`] | requirements without what they do not need, and calls that show each of them on both sides |
//! | [`implied`] | requirements that others imply |
//! | [`words`] | clauses → formulas of a contract |
//! | [`plan`] | what a function is given, as inputs, and the C code that makes them inputs |
//! | [`typed`] | contracts against the program's types |
//! | [`checker`] | contracts as C code that is called where functions are entered |
//! | [`standing`](mod@standing) | whether a contract fits the program, or is stale |
//! | [`program`] | a program: its debug information, and variants of it |
//! | [`record`], [`calls`], [`session`] | unit tests are run, and what each call reveals becomes a contract |
//! | [`derive`](mod@derive) | what calls reveal → requirements |
//! | [`applied`] | contracts applied to a program |
//! | [`clock`] | until when all this may go on |
//! | [`digest`] | whether a function is still the one that a contract was derived from |

pub mod applied;
pub mod calls;
pub mod checker;
pub mod clauses;
pub mod clock;
pub mod condition;
pub mod derive;
pub mod digest;
pub mod implied;
pub mod inputs;
mod linear;
pub mod plan;
pub mod program;
pub mod record;
pub mod session;
mod set;
pub mod shown;
pub mod simplify;
mod stairs;
pub mod standing;
pub mod strings;
pub mod translate;
pub mod typed;
pub mod words;

pub use linear::{Linear, Variable};
pub use set::Set;
