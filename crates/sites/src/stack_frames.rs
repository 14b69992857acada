//! What the compiler driver and `nearmiss-instrument` say to each other about stack frames.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Bytes that the frame of each function takes in the plain program, its return address included.
pub type PlainFrames = BTreeMap<String, u64>;

/// The functions whose frames must be kept smaller, and by what.
pub type ThriftyFrames = BTreeMap<String, Thrift>;

/// How a frame is kept small, in the order in which it is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Thrift {
    /// Variables stay in memory, their labels in the shadow of it.
    InMemory,
    /// Guards stand with the hooks, too, in functions of their own.
    GuardsOutside,
}

impl Thrift {
    /// Every way.
    pub const ALL: [Thrift; 2] = [Thrift::InMemory, Thrift::GuardsOutside];
}
