//! Natural loops: which branches lie in one, and which way stays in it.
//!
//! LLVM's C interface does not tell its own loop analysis. A loop is what a back edge makes: an edge
//! to a block (the header) that dominates where the edge comes from; loops with one header are one
//! loop. Cycles that are entered in several places (by `goto` into them) are no loops here.

use nearmiss_sites::Loop;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::llvm::{Block, Opcode, Value};

/// The innermost loops of the branches and switches of a function, by their instruction.
pub fn find(function: Value) -> FxHashMap<Value, Loop> {
    let blocks = function.blocks();
    let numbers: FxHashMap<Block, usize> = blocks.iter().copied().zip(0..).collect();
    let numbers_of = |blocks: Vec<Block>| blocks.iter().map(|block| numbers[block]).collect();
    let successors: Vec<Vec<usize>> = (blocks.iter())
        .map(|block| numbers_of(block.terminator().successors()))
        .collect();
    let loops = Loops::find(&successors);
    let described = blocks.iter().enumerate().filter_map(|(number, block)| {
        let end = block.terminator();
        let ways: Vec<usize> = numbers_of(ways(end));
        Some((end, loops.describe(number, &ways)?))
    });
    described.collect()
}

/// Where each way of a branch or switch leads, by the number that events give it: of a branch 0 is
/// false, of a switch it is the order of the targets.
pub fn ways(end: Value) -> Vec<Block> {
    let mut successors = end.successors();
    match end.opcode() {
        Opcode::LLVMBr if successors.len() == 2 => {
            successors.reverse();
            successors
        }
        Opcode::LLVMSwitch => {
            let mut seen = FxHashSet::default();
            successors.retain(|block| seen.insert(*block));
            successors
        }
        _ => Vec::new(),
    }
}

/// The loops that each block of a function lies in, the outermost first, and the block with which
/// each loop begins.
pub fn nests(successors: &[Vec<usize>]) -> (Vec<Vec<u32>>, Vec<u32>) {
    let loops = Loops::find(successors);
    let nest = |innermost: &Option<usize>| {
        let around = innermost.iter().flat_map(|&inner| loops.around(inner));
        let mut nest: Vec<u32> = around.map(|number| number as u32).collect();
        nest.reverse();
        nest
    };
    let headers = loops.found.iter().map(|found| found.header as u32);
    (
        loops.innermost.iter().map(nest).collect(),
        headers.collect(),
    )
}

/// A loop of a graph.
#[derive(Debug)]
struct Found {
    header: usize,
    parent: Option<usize>,
}

/// The loops of a graph whose node 0 is the entry.
#[derive(Debug)]
struct Loops {
    /// Inner ones before those around them.
    found: Vec<Found>,
    /// By node.
    innermost: Vec<Option<usize>>,
}

impl Loops {
    fn find(successors: &[Vec<usize>]) -> Loops {
        let flow = Flow::new(successors);
        let mut loops = Loops {
            found: Vec::new(),
            innermost: vec![None; successors.len()],
        };
        // A header comes before all of its loop: from behind, inner loops are found first.
        for &header in flow.order.iter().rev() {
            let sources = flow.predecessors[header].iter().copied();
            let back: Vec<usize> = sources
                .filter(|&source| flow.dominates(header, source))
                .collect();
            if !back.is_empty() {
                loops.add(&flow, header, back);
            }
        }
        loops
    }

    /// Adds the loop of a header: all that reaches its back edges without passing the header.
    fn add(&mut self, flow: &Flow, header: usize, mut reaching: Vec<usize>) {
        let number = self.found.len();
        self.found.push(Found {
            header,
            parent: None,
        });
        while let Some(node) = reaching.pop() {
            let entry = match self.innermost[node] {
                None => {
                    self.innermost[node] = Some(number);
                    node
                }
                Some(inner) => {
                    let outer = self.outermost(inner);
                    if outer == number {
                        continue;
                    }
                    self.found[outer].parent = Some(number);
                    self.found[outer].header
                }
            };
            if entry != header {
                reaching.extend(&flow.predecessors[entry]);
            }
        }
    }

    /// The loop around a loop that is in no other one yet.
    fn outermost(&self, inner: usize) -> usize {
        self.around(inner).last().unwrap_or(inner)
    }

    /// A loop and those around it, from the inside.
    fn around(&self, inner: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(inner), |&number| self.found[number].parent)
    }

    /// The loop of a node, whose ways lead to these nodes.
    fn describe(&self, node: usize, ways: &[usize]) -> Option<Loop> {
        let own = self.innermost[node].filter(|_| !ways.is_empty())?;
        // Outer ones first.
        let number_of = |found: usize| (self.found.len() - 1 - found) as u32;
        let stays = |way: &usize| {
            let inner = self.innermost[*way];
            inner.is_some_and(|inner| self.around(inner).any(|number| number == own))
        };
        Some(Loop {
            number: number_of(own),
            parent: self.found[own].parent.map(number_of),
            depth: self.around(own).count() as u32,
            stays: ways.iter().map(stays).collect(),
        })
    }
}

/// The nodes that can be reached, and which dominates which (after Cooper, Harvey and Kennedy).
struct Flow {
    /// Each node before those that it leads to, but for back edges.
    order: Vec<usize>,
    /// Edges from nodes that can be reached.
    predecessors: Vec<Vec<usize>>,
    /// The nearest dominator of each node that can be reached; the entry's is itself.
    dominator: Vec<usize>,
    /// Where in `order` each node is.
    position: Vec<usize>,
}

impl Flow {
    fn new(successors: &[Vec<usize>]) -> Flow {
        let order = order(successors);
        let mut position = vec![usize::MAX; successors.len()];
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (index, &node) in order.iter().enumerate() {
            position[node] = index;
            for &target in &successors[node] {
                predecessors[target].push(node);
            }
        }
        let mut flow = Flow {
            dominator: vec![usize::MAX; successors.len()],
            order,
            predecessors,
            position,
        };
        flow.dominator[0] = 0;
        while flow.improve() {}
        flow
    }

    /// Goes over all nodes once; says whether anything changed.
    fn improve(&mut self) -> bool {
        let mut changed = false;
        for &node in &self.order[1..] {
            let sources = self.predecessors[node].iter().copied();
            let known = sources.filter(|&source| self.dominator[source] != usize::MAX);
            let Some(nearest) = known.reduce(|a, b| self.common_dominator(a, b)) else {
                continue;
            };
            changed |= self.dominator[node] != nearest;
            self.dominator[node] = nearest;
        }
        changed
    }

    fn common_dominator(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.position[a] > self.position[b] {
                a = self.dominator[a];
            } else {
                b = self.dominator[b];
            }
        }
        a
    }

    fn dominates(&self, a: usize, mut b: usize) -> bool {
        while self.position[b] > self.position[a] {
            b = self.dominator[b];
        }
        a == b
    }
}

/// The nodes that can be reached from node 0, in reverse postorder.
fn order(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((node, next)) = stack.pop() {
        match successors[node].get(next) {
            Some(&target) => {
                stack.push((node, next + 1));
                if !std::mem::replace(&mut seen[target], true) {
                    stack.push((target, 0));
                }
            }
            None => order.push(node),
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loops of all nodes.
    fn describe(graph: &[&[usize]]) -> Vec<Option<Loop>> {
        let graph: Vec<Vec<usize>> = graph.iter().map(|edges| edges.to_vec()).collect();
        let loops = Loops::find(&graph);
        let nodes = graph.iter().enumerate();
        nodes
            .map(|(node, edges)| loops.describe(node, edges))
            .collect()
    }

    fn alone(stays: &[bool]) -> Option<Loop> {
        Some(Loop {
            number: 0,
            parent: None,
            depth: 1,
            stays: stays.to_vec(),
        })
    }

    #[test]
    fn a_while_loop_and_a_do_loop() {
        // 0 → 1; 1 → 2 or 3; 2 → 1
        let found = describe(&[&[1], &[2, 3], &[1], &[]]);
        assert_eq!(found, [None, alone(&[true, false]), alone(&[true]), None]);
        // 0 → 1; 1 → 1 or 2
        let found = describe(&[&[1], &[1, 2], &[]]);
        assert_eq!(found, [None, alone(&[true, false]), None]);
    }

    #[test]
    fn a_condition_of_two_parts_and_an_early_end() {
        // while (1 && 2) { if (3) break; if (4) continue; 5 } 6
        let found = describe(&[&[1], &[2, 6], &[3, 6], &[6, 4], &[1, 5], &[1], &[]]);
        assert_eq!(found[1], alone(&[true, false]));
        assert_eq!(found[2], alone(&[true, false]));
        assert_eq!(found[3], alone(&[false, true]));
        assert_eq!(found[4], alone(&[true, true]));
        assert_eq!(found[6], None);
    }

    #[test]
    fn loops_in_loops() {
        // while (1) { while (2) 3; if (4) goto 7; while (5) { if (6) goto 7; } } 7
        let graph: &[&[usize]] = &[&[1], &[2, 7], &[3, 4], &[2], &[7, 5], &[6, 1], &[7, 5], &[]];
        let found = describe(graph);
        let inner = |number: u32, stays: &[bool]| {
            Some(Loop {
                number,
                parent: Some(0),
                depth: 2,
                stays: stays.to_vec(),
            })
        };
        assert_eq!(found[1], alone(&[true, false]));
        assert_eq!(found[2], inner(1, &[true, false]));
        assert_eq!(found[3], inner(1, &[true]));
        assert_eq!(found[4], alone(&[false, true]));
        assert_eq!(found[5], inner(2, &[true, false]));
        assert_eq!(found[6], inner(2, &[false, true]));
        assert_eq!(found[7], None);
    }

    #[test]
    fn one_header_is_one_loop() {
        // Two back edges to 1: `continue` and the end of the body.
        let found = describe(&[&[1], &[2, 4], &[1, 3], &[1], &[]]);
        assert_eq!(found[2], alone(&[true, true]));
        assert_eq!(found[3], alone(&[true]));
    }

    #[test]
    fn cycles_that_are_entered_twice_are_no_loops_and_dead_nodes_no_harm() {
        let found = describe(&[&[1, 2], &[2], &[1, 3], &[], &[1, 4]]);
        assert_eq!(found, [None, None, None, None, None]);
    }
}
