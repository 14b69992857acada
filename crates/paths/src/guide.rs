//! Towards a target: which partial paths can lead there, and how far they are from it.
//!
//! The program's control-flow graph has every way that a run can take, so what cannot reach the target in
//! it is not looked at: neither asked about nor run.

use nearmiss_abi::event::{FORBIDDEN_STEP, PHASE_FUNCTION};
use nearmiss_abi::site::SiteId;
use nearmiss_flow::{Distances, FlowGraph, FlowNode, Goal};
use nearmiss_sites::flow::UnitFlow;
use nearmiss_trace::Event;

/// Knows the way to a target.
#[derive(Debug)]
pub struct Guide {
    graph: FlowGraph,
    distances: Distances,
    steps: u8,
}

/// The distance of what lies at an unknown place: behind all others, and not left out.
const FAR: u32 = 1 << 16;

impl Guide {
    /// The way through so many marked steps in a program of these units. An error is the number of a step
    /// of which no code is left.
    pub fn new(units: &[UnitFlow], steps: u8) -> Result<Guide, u8> {
        let graph = FlowGraph::new(units);
        let goal = Goal {
            steps: (0..steps).map(|step| graph.marks(step.into())).collect(),
            forbidden: graph.marks(FORBIDDEN_STEP.into()),
        };
        if let Some(step) = goal.steps.iter().position(Vec::is_empty) {
            return Err(step as u8);
        }
        let distances = Distances::to(&graph, &goal);
        Ok(Guide {
            graph,
            distances,
            steps,
        })
    }

    /// How far the target is if this way is taken at an event; `None` if it cannot be reached so.
    pub fn distance_of_way(&self, event: &Event, choice: u64) -> Option<u32> {
        self.from(self.graph.way(event.site, choice), event.steps_passed)
    }

    /// How far the target is where an event is.
    pub fn distance_of_place(&self, event: &Event) -> Option<u32> {
        self.from(self.graph.place(event.site), event.steps_passed)
    }

    /// Whether what happens at a site may matter for the target.
    pub fn matters(&self, site: SiteId) -> bool {
        let node = self.graph.place(site);
        (0..self.steps).any(|passed| self.from(node, passed).is_some())
    }

    /// Whether the target cannot be reached any more behind the last of these events.
    pub fn is_behind(&self, events: &[Event]) -> bool {
        let last = events.iter().rfind(|event| event.phase == PHASE_FUNCTION);
        last.is_some_and(|event| self.distance_of_way(event, event.choice).is_none())
    }

    fn from(&self, node: Option<FlowNode>, passed: u8) -> Option<u32> {
        if passed >= self.steps {
            return None;
        }
        match node {
            Some(node) => self.distances.from(node, passed.into()),
            None => Some(FAR),
        }
    }
}
