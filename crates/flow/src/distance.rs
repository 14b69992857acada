//! The least number of decisions from each node to a goal.
//!
//! A run goes out of functions and into others. It cannot return from a call to another place than
//! where that call was; so a way to a target first goes *up* (returns out of the functions that the run
//! is in), then *down* (into functions that lead there), and steps over calls otherwise. Each node is
//! thus there twice. A goal of several steps has a layer for each: passing a step leads to the next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use crate::graph::{FlowEdge, FlowGraph, FlowNode};

/// What is to be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// Sets of nodes that are to be passed one after another; the last is the target.
    pub steps: Vec<Vec<FlowNode>>,
    /// Nodes that no way may pass.
    pub forbidden: Vec<FlowNode>,
}

/// How far a goal is from each node.
#[derive(Debug)]
pub struct Distances {
    nodes: usize,
    layers: usize,
    distance: Vec<u32>,
}

const UNREACHABLE: u32 = u32::MAX;

impl Distances {
    /// The distances to a goal.
    pub fn to(graph: &FlowGraph, goal: &Goal) -> Distances {
        let (nodes, layers) = (graph.len(), goal.steps.len());
        let mut search = Search {
            graph,
            nodes,
            distance: vec![UNREACHABLE; 2 * nodes * layers],
            heap: BinaryHeap::new(),
            forbidden: goal.forbidden.iter().copied().collect(),
        };
        if let Some(targets) = goal.steps.last() {
            for &target in targets {
                search.reach(target, Mode::Down, layers - 1, 0);
            }
        }
        search.run(goal);
        Distances {
            nodes,
            layers,
            distance: search.distance,
        }
    }

    /// How many decisions lie at least between a node and the goal, after so many of its steps; `None` if
    /// no way leads there.
    pub fn from(&self, node: FlowNode, steps_passed: usize) -> Option<u32> {
        if steps_passed >= self.layers {
            return None;
        }
        let index = index(self.nodes, node, Mode::Up, steps_passed);
        Some(self.distance[index]).filter(|distance| *distance != UNREACHABLE)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Up,
    Down,
}

fn index(nodes: usize, node: FlowNode, mode: Mode, layer: usize) -> usize {
    (2 * layer + usize::from(mode == Mode::Down)) * nodes + node.0 as usize
}

/// Dijkstra's search, backwards from the targets.
struct Search<'a> {
    graph: &'a FlowGraph,
    nodes: usize,
    distance: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, usize)>>,
    forbidden: HashSet<FlowNode>,
}

impl Search<'_> {
    fn reach(&mut self, node: FlowNode, mode: Mode, layer: usize, distance: u32) {
        let index = index(self.nodes, node, mode, layer);
        if distance < self.distance[index] {
            self.distance[index] = distance;
            self.heap.push(Reverse((distance, index)));
        }
    }

    fn run(&mut self, goal: &Goal) {
        let passed: Vec<HashSet<FlowNode>> = (goal.steps.iter())
            .map(|step| step.iter().copied().collect())
            .collect();
        while let Some(Reverse((distance, index))) = self.heap.pop() {
            if distance > self.distance[index] {
                continue;
            }
            let node = FlowNode((index % self.nodes) as u32);
            let (layer, is_down) = (index / self.nodes / 2, index / self.nodes % 2 == 1);
            let mode = if is_down { Mode::Down } else { Mode::Up };
            if is_down {
                self.reach(node, Mode::Up, layer, distance);
            } else if layer > 0 && passed[layer - 1].contains(&node) {
                // Here the step before is passed.
                self.reach(node, Mode::Down, layer - 1, distance);
            }
            let graph = self.graph;
            for &(from, edge, cost) in graph.sources(node) {
                let (fits, mode) = match edge {
                    FlowEdge::Within => (true, mode),
                    FlowEdge::Call => (is_down, mode),
                    FlowEdge::Return => (!is_down, mode),
                    // Whatever was called before, a jump leaves it.
                    FlowEdge::Jump => (!is_down, Mode::Down),
                };
                if fits && !self.forbidden.contains(&from) {
                    self.reach(from, mode, layer, distance.saturating_add(cost));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nearmiss_sites::flow::{FlowBlock, FlowCall, FunctionFlow, UnitFlow};

    use super::*;

    fn block(successors: &[u32], calls: &[FlowCall]) -> FlowBlock {
        FlowBlock {
            successors: successors.to_vec(),
            calls: calls.to_vec(),
            returns: successors.is_empty(),
            lines: Vec::new(),
        }
    }

    fn call(name: &str) -> FlowCall {
        FlowCall::Named(name.into())
    }

    fn function(name: &str, blocks: Vec<FlowBlock>) -> FunctionFlow {
        FunctionFlow {
            name: name.into(),
            blocks,
            ..FunctionFlow::default()
        }
    }

    fn graph(functions: Vec<FunctionFlow>) -> FlowGraph {
        let unit = UnitFlow {
            unit: 1,
            functions,
            pointed: Vec::new(),
        };
        FlowGraph::new(&[unit], &["missing".to_string()])
    }

    fn distances(graph: &FlowGraph, steps: u32, forbidden: Option<u32>) -> Distances {
        let goal = Goal {
            steps: (0..steps).map(|step| graph.marks(step)).collect(),
            forbidden: forbidden.map_or_else(Vec::new, |mark| graph.marks(mark)),
        };
        Distances::to(graph, &goal)
    }

    fn entry(graph: &FlowGraph, name: &str) -> FlowNode {
        graph.entries(name)[0]
    }

    #[test]
    fn decisions_are_counted_and_loops_are_not_entered() {
        // 0 → 1 or 3; 1 → 2 or 4; 2 is the target; 3 → 3 or 4.
        let graph = graph(vec![function(
            "f",
            vec![
                block(&[1, 3], &[]),
                block(&[2, 4], &[]),
                block(&[4], &[FlowCall::Mark(0)]),
                block(&[3, 4], &[]),
                block(&[], &[]),
            ],
        )]);
        let found = distances(&graph, 1, None);
        let start = entry(&graph, "f").0;
        let of = |node: u32| found.from(FlowNode(start + node), 0);
        assert_eq!([of(0), of(1), of(2)], [Some(2), Some(1), Some(0)]);
        // Block 2 has a point behind its mark; so 3 and 4 are one further.
        assert_eq!([of(3), of(4), of(5)], [None, None, None]);
    }

    #[test]
    fn a_call_returns_to_its_callers_and_leads_into_functions() {
        // main: f(); if (…) g();   f: returns   g: target.   h is called by none.
        let graph = graph(vec![
            function(
                "main",
                vec![
                    block(&[1, 2], &[call("f")]),
                    block(&[2], &[call("g")]),
                    block(&[], &[]),
                ],
            ),
            function("f", vec![block(&[], &[])]),
            function("g", vec![block(&[], &[FlowCall::Mark(0)])]),
            function("h", vec![block(&[], &[call("f")])]),
        ]);
        let found = distances(&graph, 1, None);
        assert_eq!(found.from(entry(&graph, "main"), 0), Some(1));
        assert_eq!(found.from(entry(&graph, "f"), 0), Some(1), "by returning");
        assert_eq!(found.from(entry(&graph, "g"), 0), Some(0));
        // It calls f, which could only return to h.
        assert_eq!(found.from(entry(&graph, "h"), 0), None);
    }

    #[test]
    fn what_never_returns_is_not_stepped_over() {
        // f: die(); target.   die: ends the program, in a loop.
        let graph = graph(vec![
            function("f", vec![block(&[], &[call("die"), FlowCall::Mark(0)])]),
            function("die", vec![block(&[0], &[call("printf")])]),
        ]);
        let found = distances(&graph, 1, None);
        assert_eq!(found.from(entry(&graph, "f"), 0), None);
    }

    #[test]
    fn pointers_lead_to_functions_of_their_type_and_by_a_longer_way_to_others() {
        let pointed = |name: &str, of_type: &str, mark: u32| FunctionFlow {
            of_type: of_type.into(),
            is_pointed: true,
            ..function(name, vec![block(&[], &[FlowCall::Mark(mark)])])
        };
        let graph = graph(vec![
            function(
                "f",
                vec![block(&[], &[FlowCall::Pointer("i32 (i32)".into())])],
            ),
            function("sorts", vec![block(&[], &[call("qsort")])]),
            function("prints", vec![block(&[], &[call("printf")])]),
            pointed("same", "i32 (i32)", 0),
            pointed("other", "void ()", 1),
        ]);
        let to = |mark: u32| {
            let goal = Goal {
                steps: vec![graph.marks(mark)],
                forbidden: Vec::new(),
            };
            Distances::to(&graph, &goal)
        };
        let (same, other) = (to(0), to(1));
        assert_eq!(same.from(entry(&graph, "f"), 0), Some(1));
        assert!(other.from(entry(&graph, "f"), 0) > Some(1));
        assert!(other.from(entry(&graph, "sorts"), 0).is_some());
        assert_eq!(other.from(entry(&graph, "prints"), 0), None);
    }

    #[test]
    fn code_that_is_not_known_may_call_anything_and_what_is_missing_nothing() {
        let graph = graph(vec![
            function("f", vec![block(&[], &[call("of_an_object")])]),
            function("g", vec![block(&[], &[call("missing"), FlowCall::Mark(0)])]),
            function("h", vec![block(&[], &[call("missing"), call("g")])]),
            function("target", vec![block(&[], &[FlowCall::Mark(0)])]),
        ]);
        let found = distances(&graph, 1, None);
        assert!(found.from(entry(&graph, "f"), 0).is_some());
        assert_eq!(found.from(entry(&graph, "g"), 0), None);
        assert_eq!(found.from(entry(&graph, "h"), 0), None);
    }

    #[test]
    fn an_address_that_another_unit_takes_counts() {
        let calls = FlowCall::Pointer("void ()".into());
        let first = UnitFlow {
            unit: 1,
            functions: vec![function("f", vec![block(&[], &[calls])])],
            pointed: vec!["target".into()],
        };
        let target = FunctionFlow {
            of_type: "void ()".into(),
            ..function("target", vec![block(&[], &[FlowCall::Mark(0)])])
        };
        let second = UnitFlow {
            unit: 2,
            functions: vec![target],
            pointed: Vec::new(),
        };
        let graph = FlowGraph::new(&[first, second], &[]);
        let found = distances(&graph, 1, None);
        assert_eq!(found.from(entry(&graph, "f"), 0), Some(1));
    }

    #[test]
    fn what_is_registered_may_be_called_at_any_later_call() {
        let handler = FunctionFlow {
            is_pointed: true,
            ..function("handler", vec![block(&[], &[FlowCall::Mark(0)])])
        };
        let calls = [call("signal"), call("printf")];
        let graph = graph(vec![function("f", vec![block(&[], &calls)]), handler]);
        let found = distances(&graph, 1, None);
        let behind_signal = FlowNode(entry(&graph, "f").0 + 1);
        assert!(found.from(behind_signal, 0).is_some());
    }

    #[test]
    fn steps_are_passed_in_order_and_forbidden_places_not_at_all() {
        // 0 → 1 or 2; 1: step 0, → 3; 2: forbidden (mark 9), → 3; 3 → 0 or 4; 4: step 1.
        let diamond = |through: Option<u32>| {
            let graph = graph(vec![function(
                "f",
                vec![
                    block(&[1, 2], &[]),
                    block(&[3], &[FlowCall::Mark(0)]),
                    block(&[3], &[FlowCall::Mark(9)]),
                    block(&[0, 4], &[]),
                    block(&[], &[FlowCall::Mark(1)]),
                ],
            )]);
            let found = distances(&graph, 2, through);
            let second = graph.marks(9)[0];
            (
                found.from(entry(&graph, "f"), 0),
                found.from(second, 0),
                found.from(second, 1),
            )
        };
        // From the other side, step 0 needs one more turn of the loop.
        assert_eq!(diamond(None), (Some(2), Some(3), Some(1)));
        assert_eq!(diamond(Some(9)), (Some(2), None, None));
    }

    #[test]
    fn a_call_that_ends_in_a_jump_leads_where_the_context_was_kept() {
        let graph = graph(vec![
            function(
                "f",
                vec![
                    block(&[1, 2], &[call("_setjmp")]),
                    block(&[], &[FlowCall::Mark(0)]),
                    block(&[3, 4], &[]),
                    block(&[], &[call("g")]),
                    block(&[], &[]),
                ],
            ),
            function("g", vec![block(&[], &[call("longjmp")])]),
        ]);
        let found = distances(&graph, 1, None);
        // Points: 0 and 1 of the first block, 2 and 3 of the second, 4, then 5 before the call of g, and the last.
        let node = |offset: u32| FlowNode(entry(&graph, "f").0 + offset);
        assert_eq!(found.from(node(5), 0), Some(2));
        assert_eq!(found.from(node(7), 0), None);
    }

    #[test]
    fn a_jump_goes_on_where_a_context_was_kept() {
        let graph = graph(vec![
            function("f", vec![block(&[], &[call("_setjmp"), FlowCall::Mark(0)])]),
            function("g", vec![block(&[], &[call("longjmp")])]),
        ]);
        let found = distances(&graph, 1, None);
        assert_eq!(found.from(entry(&graph, "g"), 0), Some(1));
    }
}
