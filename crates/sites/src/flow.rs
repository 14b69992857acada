//! The control flow of a unit: what its functions may do next, and where its sites lie in that.
//!
//! Blocks are those of the code as it is instrumented, after inlining: events of a run are about
//! these. A block is cut at its calls, so that what comes before a call and what comes behind it are
//! two [`FlowPoint`]s.

use serde::{Deserialize, Serialize};

/// The control flow of one translation unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitFlow {
    /// The unit's hash, as in [`crate::Unit::hash`].
    pub unit: u64,
    /// Its functions that have a body.
    pub functions: Vec<FunctionFlow>,
    /// Functions of other units whose address it takes.
    pub pointed: Vec<String>,
}

/// The control flow of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionFlow {
    /// Its name.
    pub name: String,
    /// The file it is defined in, as [`crate::rewrite::absolute`] names it; `None` if that is not known.
    pub file: Option<String>,
    /// Whether other units cannot call it by its name.
    pub is_local: bool,
    /// Its type, as LLVM writes it.
    pub of_type: String,
    /// Whether its unit takes its address: calls through pointers may lead here.
    pub is_pointed: bool,
    /// Variables of static storage that it reads, and that something may change.
    pub reads: Vec<String>,
    /// Functions that it calls by their names and whose answer it looks at.
    pub answers: Vec<String>,
    /// Its blocks; it begins with the first.
    pub blocks: Vec<FlowBlock>,
    /// Where sites lie.
    pub sites: Vec<SiteFlow>,
}

/// Code without a jump in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowBlock {
    /// The blocks that may come next.
    pub successors: Vec<u32>,
    /// What it calls, in order.
    pub calls: Vec<FlowCall>,
    /// Whether the function may return at its end.
    pub returns: bool,
    /// The lines that have code in it: file (an index into [`crate::Unit::files`]) and line.
    pub lines: Vec<(u32, u32)>,
}

/// What is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlowCall {
    /// A function, by its name.
    Named(String),
    /// A function of this type, through a pointer.
    Pointer(String),
    /// Nothing: [`MARKER`] with this number.
    Mark(u32),
}

/// The function whose calls are marks: those that `nearmiss reach` inserts.
pub const MARKER: &str = "__nm_reached";

/// The name of a function that a unit does not have: it calls the unit's destructors.
pub const DESTRUCTORS: &str = "llvm.global_dtors";

/// A place in a function: a block, and how many of its calls come before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FlowPoint {
    /// The number of the block.
    pub block: u32,
    /// Calls of the block that come before.
    pub calls: u32,
}

/// Where a site lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteFlow {
    /// The site's number within the unit.
    pub site: u32,
    /// Where it is; `None` if several places share it.
    pub at: Option<FlowPoint>,
    /// Where each way of a decision leads, by the number that events give it. Empty if all go on
    /// where it is.
    pub ways: Vec<Option<FlowPoint>>,
}

impl SiteFlow {
    /// Where a way leads, if that is known.
    pub fn way(&self, choice: u64) -> Option<FlowPoint> {
        if self.ways.is_empty() {
            return self.at;
        }
        let choice = usize::try_from(choice).ok()?;
        *self.ways.get(choice)?
    }
}
