//! The flows of all units as one graph.
//!
//! ```text
//!   node        a point of a block: its start, or behind one of its calls
//!   Within      to the next point, over a call that can return; to a successor (a decision costs 1)
//!   Call        to the first block of what is called
//!   Return      from a block that returns to the points behind calls of its function
//!   Jump        from `longjmp` to the points behind calls of `setjmp`
//! ```
//!
//! A call through a pointer leads to a *hub* of its type, and from there to the functions of that type whose
//! address is taken; by a longer way to those of all other types, since C programs cast them.

use std::collections::HashMap;

use nearmiss_abi::site::SiteId;
use nearmiss_sites::flow::{FlowPoint, SiteFlow, UnitFlow};

use crate::{builder, callbacks};

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowNode(pub u32);

/// What kind of step an edge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEdge {
    /// In a function.
    Within,
    /// Into a function.
    Call,
    /// Out of one.
    Return,
    /// Out of however many, to where a context was kept.
    Jump,
}

/// The graph.
#[derive(Debug, Default)]
pub struct FlowGraph {
    /// Edges backwards: from where, how, and at what cost.
    pub(crate) sources: Vec<Vec<(FlowNode, FlowEdge, u32)>>,
    /// By unit and number within it.
    pub(crate) sites: HashMap<SiteId, (FunctionBase, SiteFlow)>,
    /// Calls of marks.
    pub(crate) marks: Vec<(u32, FlowNode)>,
    /// Lines with code: unit, file, line.
    pub(crate) lines: HashMap<(u64, u32, u32), Vec<FlowNode>>,
    pub(crate) entries: HashMap<String, Vec<FlowNode>>,
    /// The beginnings of functions whose address is taken.
    pub(crate) pointed: Vec<FlowNode>,
    /// Where functions that are no part of the units come back.
    pub(crate) external: HashMap<String, Vec<FlowNode>>,
    /// The ends of `main`.
    pub(crate) ends: Vec<FlowNode>,
    /// Whether other threads may be anywhere while one is at a node.
    pub(crate) has_threads: bool,
    /// Whether signals have handlers.
    pub(crate) has_handlers: bool,
}

/// A site whose place is known.
#[derive(Clone, Debug)]
pub struct KnownSite {
    /// The site.
    pub site: SiteId,
    /// Where it lies.
    pub at: FlowNode,
    /// Where its ways lead; `None`: that is not known.
    pub ways: Vec<Option<FlowNode>>,
}

/// Where the nodes of a function's blocks begin: an index into a shared list.
#[derive(Clone, Debug)]
pub(crate) struct FunctionBase(pub(crate) std::rc::Rc<[u32]>);

impl FunctionBase {
    fn node(&self, point: FlowPoint) -> Option<FlowNode> {
        Some(FlowNode(self.0.get(point.block as usize)? + point.calls))
    }
}

impl FlowGraph {
    /// The graph of these units. Calls of the functions in `ends` end the run.
    pub fn new(units: &[UnitFlow], ends: &[String]) -> FlowGraph {
        builder::build(units, ends)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// What leads to a node.
    pub fn sources(&self, node: FlowNode) -> &[(FlowNode, FlowEdge, u32)] {
        &self.sources[node.0 as usize]
    }

    /// Where a site lies; `None` if that is not known.
    pub fn place(&self, site: SiteId) -> Option<FlowNode> {
        let (base, flow) = self.sites.get(&site)?;
        base.node(flow.at?)
    }

    /// Where a way leads that is taken at a site; `None` if that is not known.
    pub fn way(&self, site: SiteId, choice: u64) -> Option<FlowNode> {
        let (base, flow) = self.sites.get(&site)?;
        base.node(flow.way(choice)?)
    }

    /// Where the ways of a site lead, if there are several; `None`: that is not known.
    pub fn ways(&self, site: SiteId) -> Vec<Option<FlowNode>> {
        let Some((base, flow)) = self.sites.get(&site) else {
            return Vec::new();
        };
        let ways = flow.ways.iter();
        ways.map(|way| base.node((*way)?)).collect()
    }

    /// Every site whose place is known: where it lies, and where each of its ways leads. There are no ways if all
    /// go on where it is.
    pub fn known_sites(&self) -> impl Iterator<Item = KnownSite> + '_ {
        self.sites.iter().filter_map(|(&site, (base, flow))| {
            Some(KnownSite {
                site,
                at: base.node(flow.at?)?,
                ways: self.ways(site),
            })
        })
    }

    /// The calls of a mark.
    pub fn marks(&self, number: u32) -> Vec<FlowNode> {
        let found = self.marks.iter().filter(|(mark, _)| *mark == number);
        found.map(|(_, node)| *node).collect()
    }

    /// The blocks with code of a line of a unit's file.
    pub fn line(&self, unit: u64, file: u32, line: u32) -> &[FlowNode] {
        self.lines.get(&(unit, file, line)).map_or(&[], |it| it)
    }

    /// Where calls of a function that is no part of the units come back.
    pub fn behind_calls(&self, name: &str) -> &[FlowNode] {
        self.external.get(name).map_or(&[], |it| it)
    }

    /// Where the functions begin whose address is taken.
    pub fn pointed(&self) -> &[FlowNode] {
        &self.pointed
    }

    /// Where `main` returns.
    pub fn ends(&self) -> &[FlowNode] {
        &self.ends
    }

    /// Whether other threads may be anywhere while one is at a node.
    pub fn has_threads(&self) -> bool {
        self.has_threads
    }

    /// Where functions begin that have the name of one of the C library, which may call them.
    pub fn library_entries(&self) -> impl Iterator<Item = &FlowNode> + '_ {
        let named = self.entries.iter();
        let named = named.filter(|(name, _)| callbacks::is_known(name));
        named.flat_map(|(_, nodes)| nodes)
    }

    /// Where functions of this name begin.
    pub fn entries(&self, name: &str) -> &[FlowNode] {
        self.entries.get(name).map_or(&[], |it| it)
    }

    pub(crate) fn add_edge(&mut self, from: FlowNode, to: FlowNode, edge: FlowEdge, cost: u32) {
        self.sources[to.0 as usize].push((from, edge, cost));
    }
}
