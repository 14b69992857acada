//! Towards a target: which partial paths can lead there, and how far they are from it.
//!
//! The program's control-flow graph has every way that a run can take, so what cannot reach the target in
//! it is not looked at: neither asked about nor run.

use std::path::Path;

use nearmiss_abi::event::PHASE_FUNCTION;
use nearmiss_abi::site::SiteId;
use nearmiss_flow::{FlowGraph, Goal};
use nearmiss_sites::Sites;
use nearmiss_trace::Event;

use crate::LineRange;

/// Knows the way to a target.
#[derive(Debug)]
pub struct Guide {
    way: nearmiss_flow::Guide,
    /// Where failures are looked for, once so many steps were passed: such a place may be passed many times.
    failing: Option<(LineRange, u8)>,
}

impl Guide {
    /// The way through so many marked steps in a program. An error is the number of a step
    /// of which no code is left.
    pub fn new(graph: FlowGraph, steps: u8) -> Result<Guide, u8> {
        Ok(Guide {
            way: nearmiss_flow::Guide::through_marks(graph, steps)?,
            failing: None,
        })
    }

    /// The way through marked steps to code of some lines, where something is to fail; `None` if they have
    /// none.
    pub fn to_failure(
        graph: FlowGraph,
        sites: &Sites,
        lines: &LineRange,
        steps: u8,
    ) -> Option<Guide> {
        let mut nodes = Vec::new();
        for unit in sites.units() {
            for (number, file) in (0..).zip(&unit.files) {
                if lines.are_of(&unit.directory, file) {
                    let lines = lines.first..=lines.last;
                    let found = lines.flat_map(|line| graph.line(unit.hash, number, line));
                    nodes.extend(found.copied());
                }
            }
        }
        if nodes.is_empty() {
            return None;
        }
        let before = (0..steps).map(|step| graph.marks(step.into()));
        let goal = Goal {
            steps: before.chain([nodes]).collect(),
            forbidden: Vec::new(),
        };
        Some(Guide {
            way: nearmiss_flow::Guide::to(graph, &goal),
            failing: Some((lines.clone(), steps)),
        })
    }

    /// Whether a failure at an event is what is looked for.
    pub fn wants_failure_at(&self, sites: &Sites, event: &Event) -> bool {
        let failing = self.failing.as_ref();
        failing.is_some_and(|(lines, steps)| {
            event.steps_passed >= *steps && lines.have(sites, event.site)
        })
    }

    /// Whether the target may be reached behind a call of a function that is no part of the program.
    pub fn matters_behind(&self, function: &str) -> bool {
        self.way.matters_behind(function)
    }

    /// Whether signals have handlers, which may go on behind what ends a run.
    pub fn has_handlers(&self) -> bool {
        self.way.has_handlers()
    }

    /// Whether the target may be reached behind the end of the function under test: by destructors, or by functions
    /// that it leaves to be called then.
    pub fn matters_at_end(&self) -> bool {
        self.way.matters_at_end()
    }

    /// How far the target is if this way is taken at an event; `None` if it cannot be reached so.
    pub fn distance_of_way(&self, event: &Event, choice: u64) -> Option<u32> {
        self.way.of_way(event.site, choice, event.steps_passed)
    }

    /// Whether some ways of an event lead to the target and others do not.
    pub fn is_decisive(&self, event: &Event) -> bool {
        self.way.is_decisive(event.site, event.steps_passed)
    }

    /// How far the target is where an event is.
    pub fn distance_of_place(&self, event: &Event) -> Option<u32> {
        self.way.of_place(event.site, event.steps_passed)
    }

    /// Whether what happens at a site may matter for the target.
    pub fn matters(&self, site: SiteId) -> bool {
        self.way.matters(site)
    }

    /// Whether the target cannot be reached any more behind the last of these events.
    pub fn is_behind(&self, events: &[Event]) -> bool {
        let last = events.iter().rfind(|event| event.phase == PHASE_FUNCTION);
        last.is_some_and(|event| self.distance_of_way(event, event.choice).is_none())
    }

    /// Where runs that begin with a phase need not go on: see `nearmiss_abi::dead_ends`.
    pub fn dead_ends(&self, phase: u16) -> Vec<u8> {
        self.way.dead_ends(phase)
    }
}

impl LineRange {
    /// Whether a site lies in them.
    pub fn have(&self, sites: &Sites, site: SiteId) -> bool {
        sites.get(site).is_some_and(|(unit, site)| {
            let is_inside = (self.first..=self.last).contains(&site.line);
            is_inside && self.are_of(&unit.directory, unit.file_of(site))
        })
    }

    /// Whether they are of a file, as a unit compiled in a directory names it.
    fn are_of(&self, directory: &str, file: &str) -> bool {
        let named = Path::new(file);
        if self.file == named {
            return true;
        }
        let full = |path: &Path| path.canonicalize().ok();
        match (
            full(&Path::new(directory).join(named)).or_else(|| full(named)),
            full(&self.file),
        ) {
            (Some(left), Some(right)) => left == right,
            _ => self.file.ends_with(named),
        }
    }
}
