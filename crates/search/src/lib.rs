//! Which path is tried next. Sees neither formulas nor processes: paths are lists of steps.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`course`] | a path as forks and sensitive operations: divergence points by distance |
//! | [`executor`] | what runs the program once on an input |
//! | [`progress`] | how far a search has come |
//! | [`strategy`] | worklists of alternatives, one file for each order |
//! | [`trail`] | the names of the nodes of the execution tree, and those that are known |

pub mod course;
pub mod executor;
pub mod progress;
pub mod strategy;
pub mod trail;

pub use course::{Course, Feasibility, Step, depth_bound};
pub use executor::Executor;
pub use progress::{Count, Meter};
pub use strategy::{DepthFirst, Mix, NewCoverage, Schedule, Stage, Strategy, Unit};
pub use trail::{Known, Node, Trail};
