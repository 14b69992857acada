//! One walk over the events of a run: its path, and the partial paths that leave it.

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::{EventKind, PHASE_FUNCTION, PHASE_ORACLE, PHASE_SETUP};
use nearmiss_expr::TermId;
use nearmiss_flow::Passed;
use nearmiss_search::{Node, Trail};
use nearmiss_trace::{Alternative, Event, LeadsTo, alternatives};

use crate::bounds::Bounds;
use crate::explorer::Explorer;

/// What a walk has found.
pub struct Walked {
    /// The conditions of the events, in order, up to where it ended.
    pub conditions: Vec<TermId>,
    /// Alternatives that leave the run and that no run has met before.
    pub forks: Vec<Fork>,
    /// The nodes that it passed.
    pub passed: Vec<Node>,
    /// The function's own path: what its decisions lead to.
    pub path: Node,
    /// Events from here on are not part of the path.
    pub end: usize,
    /// The event that is a failure.
    pub failed: Option<usize>,
    /// Events that are violated requirements of contracts: by themselves they are no failures.
    pub violated: Vec<usize>,
    /// An assumption did not hold: the input is not admissible.
    pub rejected: bool,
    /// It goes further than loops and recursion may.
    pub beyond: bool,
    /// How far the places that it passed are from a target.
    passed_places: Passed,
}

/// Where a partial path leaves a run.
#[derive(Clone, Copy, Debug)]
pub struct Fork {
    /// How many of the run's conditions come before it.
    pub before: usize,
    /// The event.
    pub event: usize,
    /// The way that it takes there.
    pub way: Alternative,
    /// Why it is of interest.
    pub purpose: Purpose,
    /// The node before it.
    pub node: Node,
    /// How far it is from a target, if there is one.
    pub distance: u32,
    /// Whether the inputs that it is about decide whether the target is reached.
    pub is_relevant: bool,
}

impl Fork {
    /// The node that it leads to, if that can be foreseen.
    pub fn target(&self, events: &[Event]) -> Option<Node> {
        let site = events[self.event].site;
        let is_foreseen = self.purpose != Purpose::Concretized;
        is_foreseen.then(|| Trail::at(self.node).way(site.0, self.way.choice))
    }
}

/// Where a walk is: before one of the run's events.
struct Position<'a> {
    /// The number of the event.
    index: usize,
    event: &'a Event,
    /// What led there.
    trail: Trail,
    /// What the function alone has decided up to there.
    path: Node,
    /// Which turns of loops and activations it lies in.
    bounds: &'a Bounds,
}

/// Why a partial path is of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It is another path.
    Path,
    /// A check may fail.
    Failure,
    /// A value was concretized; it may have others.
    Concretized,
    /// The oracle may decide otherwise.
    Oracle,
}

/// The maximum of alternatives of an oracle that are tried on one path of the function.
const MAX_ORACLE_WAYS: usize = 64;
/// Where a requirement of a contract lies beside the path.
const CONTRACT: u64 = u64::MAX;
/// The way of a path that ends in a failure.
const FAILED: u64 = u64::MAX;

impl Explorer<'_> {
    /// Walks over a run. What is new becomes known: the caller has to decide it.
    pub(crate) fn walk(&mut self, events: &[Event]) -> Walked {
        let mut trail = Trail::root(0);
        let mut path = Trail::root(1);
        let mut walked = Walked {
            conditions: Vec::new(),
            forks: Vec::new(),
            passed: Vec::new(),
            path: path.node(),
            end: events.len(),
            failed: None,
            violated: Vec::new(),
            rejected: false,
            beyond: false,
            passed_places: Passed::default(),
        };
        let mut bounds = Bounds::new(self.limits);
        // Requirements of contracts since the last other event.
        let mut met = 0;
        for (position, event) in events.iter().enumerate() {
            let is_own = event.phase == PHASE_FUNCTION;
            if event.failure == Some(Kind::Precondition) {
                let position = Position {
                    index: position,
                    event,
                    trail: Trail::at(trail.way(CONTRACT, met)),
                    path: path.node(),
                    bounds: &bounds,
                };
                self.meet_requirement(&mut walked, &position);
                met += 1;
                continue;
            }
            met = 0;
            let is_deep = is_own && bounds.come_to(&self.workspace.sites, event);
            if !is_deep {
                let position = Position {
                    index: position,
                    event,
                    trail,
                    path: path.node(),
                    bounds: &bounds,
                };
                self.leave(&mut walked, &position);
            }
            if is_deep || is_own && bounds.is_beyond(&self.workspace.sites, event, event.choice) {
                walked.beyond = true;
                walked.end = position;
                break;
            }
            bounds.go(&self.workspace.sites, event);
            walked.passed.push(trail.go(event.site.0, event.choice));
            self.known.add(trail.node());
            if event.ends_path() {
                walked.end = position;
                // A precondition that fails does not accept.
                walked.rejected = event.phase < PHASE_FUNCTION;
                walked.failed = Some(position);
                path.go(event.site.0, FAILED);
                break;
            }
            walked.conditions.extend(event.condition);
            if event.kind == EventKind::Assume && !event.truth {
                walked.rejected = true;
                break;
            }
            if event.phase == PHASE_FUNCTION && event.is_step() {
                path.go(event.site.0, event.choice);
            }
        }
        walked.path = path.node();
        walked
    }

    /// A requirement of a contract: violated or not, the function is entered, and the path goes on as one.
    fn meet_requirement(&mut self, walked: &mut Walked, position: &Position<'_>) {
        let event = position.event;
        match event.is_failure() {
            true => walked.violated.push(position.index),
            false => self.leave(walked, position),
        }
        let node = position.trail.way(event.site.0, event.choice);
        walked.passed.push(node);
    }

    /// The alternatives that leave the run at an event.
    fn leave(&mut self, walked: &mut Walked, position: &Position<'_>) {
        let &Position {
            index,
            event,
            trail,
            path,
            bounds,
        } = position;
        let mut forks = Vec::new();
        let is_relevant = self.is_relevant(event);
        let fork = |way: Alternative, purpose: Purpose, distance: u32| Fork {
            before: walked.conditions.len(),
            event: index,
            way,
            purpose,
            node: trail.node(),
            distance,
            is_relevant,
        };
        for way in alternatives(&mut self.workspace.terms, &self.workspace.sites, event) {
            if !self.known.add(trail.way(event.site.0, way.choice)) {
                continue;
            }
            let Some(distance) = self.distance(event, way) else {
                self.tree.pruned += 1;
                continue;
            };
            if event.phase == PHASE_FUNCTION
                && bounds.is_beyond(&self.workspace.sites, event, way.choice)
            {
                self.tree.bounded += 1;
                continue;
            }
            if let Some(purpose) = self.purpose(event, way, path) {
                forks.push(fork(way, purpose, walked.passed_places.of(distance)));
            }
        }
        if event.kind == EventKind::Concretized {
            forks.extend(self.other_values(event, trail.node(), &fork));
        }
        walked.forks.extend(forks);
        if let Some(guide) = self
            .guide
            .as_ref()
            .filter(|_| event.phase == PHASE_FUNCTION)
        {
            let taken = guide.distance_of_way(event, event.choice);
            walked.passed_places.pass(taken);
        }
    }

    /// Whether an event is about inputs that the target depends on: here, or at another decision.
    fn is_relevant(&mut self, event: &Event) -> bool {
        let Some((guide, condition)) = self.guide.as_ref().zip(event.condition) else {
            return false;
        };
        if event.phase == PHASE_FUNCTION && guide.is_decisive(event) {
            self.relevance.learn(&self.workspace.terms, condition);
        }
        self.relevance.has(&self.workspace.terms, condition)
    }

    /// How far a way is from the target, 0 if there is none; `None` if it cannot lead there.
    fn distance(&self, event: &Event, way: Alternative) -> Option<u32> {
        let Some(guide) = &self.guide else {
            return Some(0);
        };
        match (event.phase, way.leads_to) {
            (PHASE_FUNCTION, LeadsTo::Path) => guide.distance_of_way(event, way.choice),
            // A path ends where it fails.
            (PHASE_FUNCTION, LeadsTo::Failure) => {
                let is_wanted = guide.wants_failure_at(&self.workspace.sites, event);
                is_wanted.then_some(0)
            }
            _ => Some(0),
        }
    }

    /// Why a way is of interest, if it is.
    fn purpose(&mut self, event: &Event, way: Alternative, path: Node) -> Option<Purpose> {
        match (way.leads_to, event.phase) {
            (LeadsTo::Failure, PHASE_FUNCTION | PHASE_ORACLE) => Some(Purpose::Failure),
            (LeadsTo::Failure, _) => None,
            (LeadsTo::Path, PHASE_ORACLE) => {
                let count = self.oracle_ways.entry(path).or_default();
                *count += 1;
                if *count > MAX_ORACLE_WAYS {
                    self.tree.oracle_cut += 1;
                    return None;
                }
                Some(Purpose::Oracle)
            }
            (LeadsTo::Path, _) => Some(Purpose::Path),
        }
    }

    /// A value was concretized. The first run that met this one asks for another.
    fn other_values(
        &mut self,
        event: &Event,
        node: Node,
        fork: &dyn Fn(Alternative, Purpose, u32) -> Fork,
    ) -> Option<Fork> {
        let condition = event.condition.filter(|_| event.phase > PHASE_SETUP)?;
        let distance = match &self.guide {
            Some(guide) if event.phase == PHASE_FUNCTION => guide.distance_of_place(event)?,
            _ => 0,
        };
        if !self.concretized.meet(node, condition) {
            return None;
        }
        // The goal is made when its turn comes: by then more values may be known.
        let way = Alternative {
            choice: 0,
            goal: condition,
            leads_to: LeadsTo::Path,
        };
        Some(fork(way, Purpose::Concretized, distance))
    }
}
