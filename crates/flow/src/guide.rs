//! The way to a target: how far each place of the program is from it, and where it cannot be reached any more.
//!
//! The graph has every way that a run can take, so what cannot reach the target in it cannot reach it.

use nearmiss_abi::dead_ends::DeadEnd;
use nearmiss_abi::event::FORBIDDEN_STEP;
use nearmiss_abi::site::SiteId;

use crate::distance::{Distances, Goal};
use crate::graph::{FlowGraph, FlowNode, KnownSite};

/// Knows the way to a target.
#[derive(Debug)]
pub struct Guide {
    graph: FlowGraph,
    distances: Distances,
    steps: u8,
    /// Other threads may reach it, wherever one is.
    has_threads: bool,
}

/// The distance of what lies at an unknown place: behind all others, and not left out.
pub const FAR: u32 = 1 << 16;

/// How far the places were that a run passed, for those in between that are not known: forks in models of the C
/// library, which all callers share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed(Option<u32>);

impl Passed {
    /// The run took a way that is so far from the target.
    pub fn pass(&mut self, distance: Option<u32>) {
        if let Some(distance) = distance.filter(|distance| *distance < FAR) {
            self.0 = Some(distance);
        }
    }

    /// The distance of an alternative; where its place is not known, it is a little more than that of the last
    /// known one.
    pub fn of(self, distance: u32) -> u32 {
        match self.0 {
            Some(passed) if distance == FAR => passed + 1,
            _ => distance,
        }
    }
}

impl Guide {
    /// The way through so many marked steps. An error is the number of a step of which no code is left.
    pub fn through_marks(graph: FlowGraph, steps: u8) -> Result<Guide, u8> {
        let goal = Goal {
            steps: (0..steps).map(|step| graph.marks(step.into())).collect(),
            forbidden: graph.marks(FORBIDDEN_STEP.into()),
        };
        match goal.steps.iter().position(Vec::is_empty) {
            Some(step) => Err(step as u8),
            None => Ok(Guide::to(graph, &goal)),
        }
    }

    /// The way to a goal.
    pub fn to(graph: FlowGraph, goal: &Goal) -> Guide {
        let mut guide = Guide {
            distances: Distances::to(&graph, goal),
            graph,
            steps: goal.steps.len() as u8,
            has_threads: false,
        };
        guide.has_threads = guide.graph.has_threads() && guide.can_be_reached();
        guide
    }

    /// How far the target is if this way is taken at a site, after so many steps; `None` if it cannot be reached
    /// so.
    pub fn of_way(&self, site: SiteId, choice: u64, passed: u8) -> Option<u32> {
        self.from(self.graph.way(site, choice), passed)
    }

    /// How far the target is from a site.
    pub fn of_place(&self, site: SiteId, passed: u8) -> Option<u32> {
        self.from(self.graph.place(site), passed)
    }

    /// Whether some ways of a site lead to the target and others do not.
    pub fn is_decisive(&self, site: SiteId, passed: u8) -> bool {
        let ways = self.graph.ways(site);
        let leads = |node: &Option<FlowNode>| self.from(*node, passed).is_some();
        ways.iter().any(leads) && !ways.iter().all(leads)
    }

    /// Whether what happens at a site may matter for the target.
    pub fn matters(&self, site: SiteId) -> bool {
        (0..self.steps).any(|passed| self.of_place(site, passed).is_some())
    }

    /// Whether the target may be reached behind a call of a function that is no part of the program.
    pub fn matters_behind(&self, function: &str) -> bool {
        let mut nodes = self.graph.behind_calls(function).iter();
        nodes.any(|node| (0..self.steps).any(|passed| self.from(Some(*node), passed).is_some()))
    }

    /// Whether the target can be reached from the beginning of a program of which all units are known: from `main`,
    /// from a function whose address is taken, or from one that takes the place of a function of the C library.
    pub fn can_be_reached(&self) -> bool {
        let main = self.graph.entries("main");
        let mut starts = (main.iter())
            .chain(self.graph.pointed())
            .chain(self.graph.library_entries());
        main.is_empty() || starts.any(|node| self.from(Some(*node), 0).is_some())
    }

    /// Whether signals have handlers, which may go on behind what ends a run.
    pub fn has_handlers(&self) -> bool {
        self.graph.has_handlers
    }

    /// Whether the target may be reached behind the end of `main`: by destructors, and functions that were given away
    /// to be called then.
    pub fn matters_at_end(&self) -> bool {
        let mut ends = self.graph.ends().iter();
        ends.any(|end| (0..self.steps).any(|passed| self.from(Some(*end), passed).is_some()))
    }

    /// The ways from which the target cannot be reached, as runs are given them (`nearmiss_abi::dead_ends`);
    /// `phase` is what runs begin with.
    pub fn dead_ends(&self, phase: u16) -> Vec<u8> {
        let mut rows = Vec::new();
        for known in self.graph.known_sites() {
            for steps in 0..self.steps {
                let ways = self.dead_ways(&known, steps);
                rows.extend((ways != 0).then_some(DeadEnd {
                    site: known.site.0,
                    steps: steps.into(),
                    ways,
                }));
            }
        }
        rows.sort_unstable();
        let mut bytes = u64::from(phase).to_le_bytes().to_vec();
        bytes.extend(rows.into_iter().flat_map(DeadEnd::to_bytes));
        bytes
    }

    /// One bit for each way of a site that leads nowhere.
    fn dead_ways(&self, known: &KnownSite, steps: u8) -> u64 {
        let is_dead = |node: Option<FlowNode>| self.from(node, steps).is_none();
        if is_dead(Some(known.at)) {
            return DeadEnd::ALL;
        }
        let ways = known.ways.iter().take(63).enumerate();
        let dead = ways.filter(|(_, node)| is_dead(**node));
        dead.fold(0, |ways, (way, _)| ways | 1 << way)
    }

    fn from(&self, node: Option<FlowNode>, passed: u8) -> Option<u32> {
        if passed >= self.steps {
            return None;
        }
        match node {
            Some(node) => {
                let distance = self.distances.from(node, passed.into());
                distance.or(self.has_threads.then_some(FAR))
            }
            None => Some(FAR),
        }
    }
}

#[cfg(test)]
mod tests {
    use nearmiss_sites::flow::{FlowBlock, FlowCall, FlowPoint, FunctionFlow, SiteFlow, UnitFlow};

    use super::*;

    const UNIT: u64 = 1;

    fn block(successors: &[u32], calls: &[FlowCall]) -> FlowBlock {
        FlowBlock {
            successors: successors.to_vec(),
            calls: calls.to_vec(),
            returns: successors.is_empty(),
            lines: Vec::new(),
        }
    }

    fn site(number: u32, at: Option<u32>, ways: &[u32]) -> SiteFlow {
        let point = |block: u32| FlowPoint { block, calls: 0 };
        SiteFlow {
            site: number,
            at: at.map(point),
            ways: ways.iter().map(|block| Some(point(*block))).collect(),
        }
    }

    /// 0 → 1 or 2; 1 has the mark; 2 → 3, where another decision lies. Site 7 is shared by several places.
    fn guide() -> Guide {
        let main = FunctionFlow {
            name: "main".into(),
            blocks: vec![
                block(&[1, 2], &[]),
                block(&[], &[FlowCall::Mark(0)]),
                block(&[3], &[]),
                block(&[], &[]),
            ],
            sites: vec![
                site(5, Some(0), &[2, 1]),
                site(6, Some(3), &[]),
                site(7, None, &[]),
            ],
            ..FunctionFlow::default()
        };
        let unit = UnitFlow {
            unit: UNIT,
            functions: vec![main],
            pointed: Vec::new(),
        };
        Guide::through_marks(FlowGraph::new(&[unit], &[]), 1).expect("the mark is there")
    }

    #[test]
    fn ways_that_lead_nowhere_are_dead_ends_and_unknown_places_are_not() {
        let guide = guide();
        let id = |number: u32| SiteId::new(UNIT, number);
        let row = |number, ways| DeadEnd {
            site: id(number).0,
            steps: 0,
            ways,
        };
        let mut expected = 2u64.to_le_bytes().to_vec();
        expected.extend(row(5, 0b01).to_bytes());
        expected.extend(row(6, DeadEnd::ALL).to_bytes());
        assert_eq!(guide.dead_ends(2), expected);
        assert!(guide.is_decisive(id(5), 0) && !guide.is_decisive(id(6), 0));
        assert_eq!(guide.of_way(id(7), 0, 0), Some(FAR));
        assert!(guide.can_be_reached());
    }

    #[test]
    fn forks_at_unknown_places_are_near_what_was_passed_last() {
        let mut passed = Passed::default();
        assert_eq!(passed.of(FAR), FAR);
        passed.pass(Some(3));
        passed.pass(Some(FAR));
        assert_eq!((passed.of(FAR), passed.of(9)), (4, 9));
    }
}
