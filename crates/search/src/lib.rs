//! Which path is tried next. Sees neither formulas nor processes: paths are lists of steps.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`course`] | a path as forks and sensitive operations: divergence points by distance |
//! | [`executor`] | what runs the program once on an input |
//! | [`exploration`] | the loop: an alternative is explored, and those that leave its path are added |
//! | [`strategy`] | worklists of alternatives, one file for each order |
//! | [`tally`] | how far a search has come |
//! | [`trail`] | the names of the nodes of the execution tree, and those that are known |

pub mod course;
pub mod executor;
pub mod exploration;
pub mod strategy;
pub mod tally;
pub mod trail;

pub use course::{Course, Feasibility, Step, depth_bound};
pub use executor::Executor;
pub use exploration::{Explore, Next, Visited, next_arrival};
pub use strategy::{
    BreadthFirst, DepthFirst, Guided, Mix, NewCoverage, Schedule, Stage, Strategy, Unit,
};
pub use tally::{Count, Drill, Phase, Tally};
pub use trail::{Known, Node, Trail};
