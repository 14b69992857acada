//! The explorer over programs that were never compiled: a table of branches takes the place of the fork
//! server.

use std::cell::Cell;
use std::rc::Rc;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::event::{Event, EventKind, PHASE_FUNCTION};
use nearmiss_abi::op::Op;
use nearmiss_abi::server::MODE_FUNCTION;
use nearmiss_abi::site::SiteId;
use nearmiss_search::{DepthFirst, Executor};
use nearmiss_server::Ended;
use nearmiss_sites::Sites;
use nearmiss_trace::RawTrace;
use nearmiss_trace::build::TraceBuilder;

use crate::arrivals::{Arrivals, Finished};
use crate::bounds::Limits;
use crate::error::ExploreError;
use crate::executor::{Call, RawRun};
use crate::explorer::Explorer;
use crate::input::Input;
use crate::precondition::Unrestricted;
use crate::testing::workspace;

/// A program that compares its one input byte with each of these numbers, in order.
struct Comparisons {
    limits: Vec<u8>,
    /// What it reads instead of its input.
    stubborn: Option<u8>,
    /// Runs that can be made.
    runs_left: Rc<Cell<u64>>,
}

impl Executor for Comparisons {
    type Input = Call;
    type Run = RawRun;
    type Error = ExploreError;

    fn run(&mut self, call: &Call) -> Result<RawRun, ExploreError> {
        let left = self.runs_left.get().checked_sub(1);
        self.runs_left.set(left.ok_or(ExploreError::NotRecorded)?);
        let given = call.rows.last().copied().expect("an input byte");
        let trace = self.record(self.stubborn.unwrap_or(given));
        Ok(RawRun {
            ended: Some(Ended::Exited(0)),
            results: Vec::new(),
            trace: RawTrace::from_bytes(&trace).expect("a trace"),
        })
    }
}

impl Comparisons {
    fn record(&self, input: u8) -> Vec<u8> {
        let mut trace = TraceBuilder::new("comparisons");
        let channel = trace.channel(ChannelKind::Named, 0, "input", &[input]);
        let byte = trace.input(channel, 0);
        let mut mark = Event::new(EventKind::Mark, false, 0, SiteId(0));
        mark.aux = PHASE_FUNCTION;
        trace.raw_event(mark);
        for (number, &limit) in (1..).zip(&self.limits) {
            let limit = trace.constant(8, limit.into());
            let is_below = trace.operation(Op::Ult, byte, limit);
            trace.event(EventKind::Branch, is_below, SiteId(number));
        }
        trace.finish()
    }
}

/// What came of an exploration from the input 0.
struct Explored {
    inputs: Vec<u8>,
    finished: Option<Finished>,
    infeasible: u64,
    diverged: u64,
    runs: u64,
}

fn explore(program: Comparisons) -> Result<Explored, ExploreError> {
    let mut workspace = workspace(Box::new(program), Sites::default());
    let channel = workspace.channels.named(b"input", 0);
    let first = Input::of_channel(channel, vec![0]);
    let limits = Limits::default();
    let explorer = Explorer::new(
        &mut workspace,
        Box::new(Unrestricted),
        limits,
        MODE_FUNCTION,
    );
    let mut arrivals = Arrivals::new(explorer, first, Box::new(DepthFirst::default()));
    let mut inputs = Vec::new();
    while let Some(arrival) = arrivals.next()? {
        let content = arrival.recorded.input.content(channel);
        inputs.extend_from_slice(content.expect("the channel"));
    }
    inputs.sort_unstable();
    Ok(Explored {
        inputs,
        finished: arrivals.finished(),
        infeasible: arrivals.explorer.tree.infeasible_count,
        diverged: arrivals.explorer.tree.diverged,
        runs: arrivals.explorer.tree.runs,
    })
}

fn comparisons(limits: &[u8]) -> Comparisons {
    Comparisons {
        limits: limits.to_vec(),
        stubborn: None,
        runs_left: Rc::new(Cell::new(100)),
    }
}

#[test]
fn one_run_for_each_feasible_path() {
    let explored = explore(comparisons(&[10, 200, 100])).unwrap();
    let regions = [0..=9, 10..=99, 100..=199, 200..=255];
    assert_eq!(explored.inputs.len(), regions.len());
    for (input, region) in explored.inputs.iter().zip(regions) {
        assert!(region.contains(input), "{input} in {region:?}");
    }
    assert_eq!(explored.finished, Some(Finished::Exhausted));
    assert_eq!((explored.runs, explored.diverged), (4, 0));
    // Below 10 but not below 200, or not below 100; not below 200 but below 100.
    assert_eq!(explored.infeasible, 3);
}

#[test]
fn a_program_that_does_not_follow_its_input_is_counted() {
    let mut program = comparisons(&[10]);
    program.stubborn = Some(0);
    let explored = explore(program).unwrap();
    assert_eq!((explored.runs, explored.diverged), (2, 1));
}

#[test]
fn an_executor_that_fails_ends_the_exploration() {
    let program = comparisons(&[10, 100]);
    program.runs_left.set(2);
    let explored = explore(program);
    assert!(matches!(explored, Err(ExploreError::NotRecorded)));
}
