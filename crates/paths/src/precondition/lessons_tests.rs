//! Lessons of preconditions that were never compiled: random trees of decisions take the place of the fork server.
//! What the late treatment finds must be what trying every input finds, and what it learns must hold for every
//! input that is accepted.

use std::collections::BTreeSet;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::event::{Event, EventKind, PHASE_FUNCTION, PHASE_PRECONDITION, PHASE_SETUP};
use nearmiss_abi::op::Op;
use nearmiss_abi::server::MODE_PRECONDITION;
use nearmiss_abi::site::SiteId;
use nearmiss_expr::{Evaluator, InputByte};
use nearmiss_harness::ACCEPTED;
use nearmiss_search::{DepthFirst, Executor};
use nearmiss_server::Ended;
use nearmiss_sites::Sites;
use nearmiss_trace::RawTrace;
use nearmiss_trace::build::TraceBuilder;

use super::{Late, Lessons};
use crate::arrivals::{Arrivals, Finished};
use crate::bounds::Limits;
use crate::error::ExploreError;
use crate::executor::{Call, RawRun};
use crate::explorer::Explorer;
use crate::input::Input;
use crate::testing::workspace;

/// An input is so many bytes, each below the limit.
const BYTES: usize = 3;
const LIMIT: u8 = 5;
const SEEDS: u64 = 400;

/// One byte is below a number, or below another byte.
#[derive(Clone, Copy)]
struct Comparison {
    byte: usize,
    than: Result<u8, usize>,
}

/// Decisions that lead to acceptance or rejection.
enum Tree {
    End(bool),
    Decision(u64, Comparison, Box<[Tree; 2]>),
}

/// A function, and its precondition.
struct Trees {
    precondition: Tree,
    function: Tree,
}

/// A small generator: the same numbers for a seed on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005);
        self.0 = self.0.wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    fn comparison(&mut self) -> Comparison {
        let byte = self.below(BYTES as u64) as usize;
        let than = match self.below(2) {
            0 => Ok(1 + self.below(u64::from(LIMIT) - 1) as u8),
            _ => Err((byte + 1 + self.below(BYTES as u64 - 1) as usize) % BYTES),
        };
        Comparison { byte, than }
    }

    /// A tree of at most this depth. Often one side ends at once, as in a conjunction.
    fn tree(&mut self, depth: u64, sites: &mut u64) -> Tree {
        if depth == 0 {
            return Tree::End(self.below(3) > 0);
        }
        *sites += 1;
        let (site, comparison) = (*sites, self.comparison());
        let side = self.below(2) as usize;
        let sides = [0, 1].map(|position| match self.below(4) {
            0..3 if position == side => Tree::End(self.below(4) == 0),
            _ => self.tree(depth - 1, sites),
        });
        Tree::Decision(site, comparison, Box::new(sides))
    }
}

impl Comparison {
    fn holds(&self, input: &[u8]) -> bool {
        input[self.byte] < self.than.unwrap_or_else(|other| input[other])
    }
}

impl Tree {
    /// The decisions of an input, and where they end.
    fn way(&self, input: &[u8]) -> (Vec<(u64, bool)>, bool) {
        let (mut way, mut tree) = (Vec::new(), self);
        while let Tree::Decision(site, comparison, sides) = tree {
            let truth = comparison.holds(input);
            way.push((*site, truth));
            tree = &sides[usize::from(truth)];
        }
        (way, matches!(tree, Tree::End(true)))
    }

    /// Records an input's way; says where that ends.
    fn record(&self, trace: &mut TraceBuilder, channel: u32, input: &[u8]) -> bool {
        let mut tree = self;
        while let Tree::Decision(site, comparison, sides) = tree {
            let byte = trace.input(channel, comparison.byte as u32);
            let than = match comparison.than {
                Ok(number) => trace.constant(8, number.into()),
                Err(other) => trace.input(channel, other as u32),
            };
            let is_below = trace.operation(Op::Ult, byte, than);
            trace.event(EventKind::Branch, is_below, SiteId(*site));
            tree = &sides[usize::from(comparison.holds(input))];
        }
        matches!(tree, Tree::End(true))
    }
}

fn mark(trace: &mut TraceBuilder, phase: u16) {
    let mut mark = Event::new(EventKind::Mark, false, 0, SiteId(0));
    mark.aux = phase;
    trace.raw_event(mark);
}

impl Executor for Trees {
    type Input = Call;
    type Run = RawRun;
    type Error = ExploreError;

    fn run(&mut self, call: &Call) -> Result<RawRun, ExploreError> {
        let input = &call.rows[call.rows.len() - BYTES..];
        let mut trace = TraceBuilder::new("trees");
        let channel = trace.channel(ChannelKind::Named, 0, "input", input);
        mark(&mut trace, PHASE_SETUP);
        for (position, site) in (0..BYTES).zip(10_000..) {
            let byte = trace.input(channel, position as u32);
            let limit = trace.constant(8, LIMIT.into());
            let is_below = trace.operation(Op::Ult, byte, limit);
            trace.event(EventKind::Assume, is_below, SiteId(site));
        }
        let mut results = Vec::new();
        if call.mode == MODE_PRECONDITION {
            mark(&mut trace, PHASE_PRECONDITION);
            let accepts = self.precondition.record(&mut trace, channel, input);
            results.push((ACCEPTED.to_string(), vec![u8::from(accepts)]));
        } else {
            mark(&mut trace, PHASE_FUNCTION);
            self.function.record(&mut trace, channel, input);
        }
        Ok(RawRun {
            ended: Some(Ended::Exited(0)),
            results,
            trace: RawTrace::from_bytes(&trace.finish()).expect("a trace"),
        })
    }
}

fn every_input() -> impl Iterator<Item = [u8; BYTES]> {
    let limit = u32::from(LIMIT);
    (0..limit.pow(BYTES as u32)).map(move |number| {
        std::array::from_fn(|position| (number / limit.pow(position as u32) % limit) as u8)
    })
}

fn trees(seed: u64) -> Trees {
    let (mut random, mut sites) = (Random(seed), 0);
    let depth = 3 + random.below(6);
    Trees {
        precondition: random.tree(depth, &mut sites),
        function: random.tree(4, &mut sites),
    }
}

/// The paths of the function that accepted inputs take.
fn admitted(trees: &Trees) -> BTreeSet<Vec<(u64, bool)>> {
    every_input()
        .filter(|input| trees.precondition.way(input).1)
        .map(|input| trees.function.way(&input).0)
        .collect()
}

#[test]
fn the_paths_are_those_of_the_accepted_inputs() {
    for seed in 0..SEEDS {
        let expected = admitted(&trees(seed));
        let program = trees(seed);
        let mut workspace = workspace(Box::new(program), Sites::default());
        let channel = workspace.channels.named(b"input", 0);
        let first = Input::of_channel(channel, vec![0; BYTES]);
        let late = Box::new(Late::learning());
        let explorer = Explorer::new(&mut workspace, late, Limits::default(), 0);
        let mut arrivals = Arrivals::new(explorer, first, Box::new(DepthFirst::default()));
        let mut found = BTreeSet::new();
        while let Some(arrival) = arrivals.next().expect("a run") {
            let content = arrival.recorded.input.content(channel);
            let (way, _) = trees(seed).function.way(content.expect("the channel"));
            assert!(found.insert(way), "a path again, seed {seed}");
        }
        if !expected.is_empty() {
            assert_eq!(arrivals.finished(), Some(Finished::Exhausted), "{seed}");
        }
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn every_accepted_input_keeps_to_every_lesson() {
    let mut learnt = 0;
    for seed in 0..SEEDS {
        let program = trees(seed);
        let mut workspace = workspace(Box::new(program), Sites::default());
        let channel = workspace.channels.named(b"input", 0);
        let mut lessons = Lessons::default();
        // In an order of its own, so that short ways do not always come first.
        let mut inputs: Vec<[u8; BYTES]> = every_input().collect();
        let turn = Random(seed).below(inputs.len() as u64) as usize;
        inputs.rotate_left(turn);
        for input in &inputs {
            let input = Input::of_channel(channel, input.to_vec());
            let recorded = workspace.run(MODE_PRECONDITION, &input).expect("a run");
            workspace.learn_setup(&recorded);
            lessons.learn(&mut workspace, &recorded);
        }
        learnt += lessons.conditions().len();
        let precondition = trees(seed).precondition;
        for input in inputs.iter().filter(|input| precondition.way(&input[..]).1) {
            let value = |byte: InputByte| input[byte.offset as usize];
            let mut evaluator = Evaluator::new();
            for &lesson in lessons.conditions() {
                let holds = evaluator.holds(&workspace.terms, &value, lesson);
                assert!(holds, "seed {seed}: {input:?}");
            }
        }
    }
    assert!(learnt > SEEDS as usize, "{learnt} lessons");
}
