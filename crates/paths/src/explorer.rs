//! Every partial path of a function is decided once, over its execution tree.
//!
//! A run is walked from its beginning. At each event that could have gone another way, that way is
//! a *partial path*: the conditions before it and the one that leads there. Those that were not met
//! before go into the worklist; when its turn comes, each is given to the precondition, which finds an
//! admissible input or says that there is none. An input is run, and walked in turn. The loop is
//! [`nearmiss_search::next_arrival`]; `Arrivals` gives the runs, one after another.
//!
//! Nodes of the tree are hashes ([`Trail`]); a way that was decided once, by being taken, by being
//! put on the stack, is never decided again. So no path is run twice, but for three reasons that are
//! counted: values that had to be concretized (other values may lead along the same path), an early
//! precondition (its own paths multiply those of the function), and an oracle whose ways are
//! explored behind the function.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nearmiss_abi::event::{PHASE_FUNCTION, PHASE_ORACLE};
use nearmiss_abi::site::SiteId;
use nearmiss_expr::TermId;
use nearmiss_search::strategy::{Item, Outcome};
use nearmiss_search::{Explore, Known, Node, Strategy, Visited};
use nearmiss_trace::Event;

use crate::bounds::Limits;
use crate::concretized::{Another, ConcretizedValues};
use crate::error::ExploreError;
use crate::guide::Guide;
use crate::input::Input;
use crate::precondition::{PartialPath, Precondition};
use crate::relevance::Relevance;
use crate::walk::{Fork, Purpose, Walked};
use crate::workspace::{RecordedRun, Solution, Workspace};

/// Decides partial paths, and runs what decides them.
pub struct Explorer<'a> {
    /// Where runs are made and queries are answered.
    pub workspace: &'a mut Workspace,
    /// Which inputs are admissible.
    pub precondition: Box<dyn Precondition>,
    /// How far paths may go.
    pub(crate) limits: Limits,
    /// Where paths are to lead; `None`: everywhere.
    pub(crate) guide: Option<Guide>,
    /// The inputs that the target depends on.
    pub(crate) relevance: Relevance,
    /// What was found out.
    pub tree: Tree,
    /// One of `nearmiss_abi::server::MODE_*`.
    mode: u32,
    /// When the first run had been made.
    started: Instant,
    /// When alternatives of the oracle have had their time, once the first of them had its turn.
    oracle_deadline: Option<Instant>,
    /// Alternatives that were taken, or put on the worklist.
    pub(crate) known: Known,
    /// The ends of paths of the function.
    ends: HashMap<Node, usize>,
    /// The values that were met where one was concretized.
    pub(crate) concretized: ConcretizedValues,
    /// How many alternatives of the oracle were met, by the function's path.
    pub(crate) oracle_ways: HashMap<Node, usize>,
    /// Checks that are known to fail: asking about them again brings nothing.
    failing: HashSet<SiteId>,
    /// Requirements of contracts that were violated, and in how many runs whose calls did not fail.
    violations: HashMap<SiteId, u32>,
}

/// What became of the partial paths.
#[derive(Debug, Default)]
pub struct Tree {
    /// Runs of the function.
    pub runs: u64,
    /// Runs along a path that was known.
    pub repeated: u64,
    /// Of those, the ones that an oracle or a concretized value made necessary.
    pub asked_again: u64,
    /// Runs that were rejected by an assumption.
    pub rejected: u64,
    /// Runs that left the predicted path.
    pub diverged: u64,
    /// Infeasible partial paths.
    pub infeasible_count: u64,
    /// The first of them.
    pub infeasible: Vec<DeadEnd>,
    /// The events on the way to each of them, in sum.
    infeasible_events: usize,
    /// Partial paths of which it is not known whether they are feasible.
    pub unknown: u64,
    /// Partial paths beyond a bound.
    pub bounded: u64,
    /// Places where a value was concretized that may have more values than were tried.
    pub narrowed: HashSet<SiteId>,
    /// Oracles with more ways than were tried on one path.
    pub oracle_cut: u64,
    /// Partial paths that cannot lead to the target, by the control flow alone.
    pub pruned: u64,
}

/// A partial path that no admissible input takes.
#[derive(Clone, Debug)]
pub struct DeadEnd {
    /// The run that led to it.
    pub visit: Rc<Visit>,
    /// Where it leaves the run.
    pub fork: Fork,
}

/// A run that was walked.
#[derive(Debug)]
pub struct Visit {
    /// Its input.
    pub input: Input,
    /// What happened.
    pub events: Vec<Event>,
    /// The conditions of its events, up to where it was walked.
    pub conditions: Vec<TermId>,
}

/// A partial path that was met and not yet decided.
pub struct Pending {
    visit: Rc<Visit>,
    fork: Fork,
}

impl Item for Pending {
    fn outcome(&self) -> Outcome {
        let site = self.visit.events[self.fork.event].site;
        (site.0, self.fork.way.choice)
    }

    fn distance(&self) -> u32 {
        self.fork.distance
    }

    fn is_relevant(&self) -> bool {
        self.fork.is_relevant
    }
}

impl Pending {
    /// Whether it leaves the run in the oracle.
    pub fn is_of_oracle(&self) -> bool {
        self.visit.events[self.fork.event].phase == PHASE_ORACLE
    }
}

/// A run of the function on an admissible input.
pub struct Arrival {
    /// The run.
    pub recorded: RecordedRun,
    visit: Rc<Visit>,
    /// Events from here on are not part of the path.
    end: usize,
    failed: Option<usize>,
    violated: Option<usize>,
    /// Whether its failure was asked for.
    pub was_foreseen: bool,
    /// Whether no run took this path before.
    pub is_new: bool,
    /// The number of the path, in the order of arrival.
    pub number: usize,
}

impl Arrival {
    /// The events that belong to its path: those before its end or its failure.
    pub fn events(&self) -> &[Event] {
        &self.visit.events[..self.end]
    }

    /// The first requirement of a contract that it violates, if this is the first run that does or its call then fails.
    pub fn violated(&self) -> Option<&Event> {
        self.violated.map(|position| &self.visit.events[position])
    }

    /// The check at which it failed, if it did.
    pub fn failed(&self) -> Option<&Event> {
        self.failed.map(|position| &self.visit.events[position])
    }
}

/// How often a requirement is violated, on one path after another, until calls that violate it count as harmless.
const MAX_HARMLESS: u32 = 8;
/// The least time for alternatives of the oracle.
const LEAST_ORACLE_TIME: Duration = Duration::from_millis(500);
/// The maximum of dead ends that are kept for the report, and of events on the way to all of them: long
/// paths have many of them, and each is reported from its beginning.
const MAX_DEAD_ENDS: usize = 4096;
/// See [`MAX_DEAD_ENDS`].
const MAX_DEAD_END_EVENTS: usize = 1 << 17;

impl<'a> Explorer<'a> {
    /// Nothing was run yet; `mode` is one of `nearmiss_abi::server::MODE_*`.
    pub fn new(
        workspace: &'a mut Workspace,
        precondition: Box<dyn Precondition>,
        limits: Limits,
        mode: u32,
    ) -> Explorer<'a> {
        Explorer {
            workspace,
            precondition,
            limits,
            guide: None,
            relevance: Relevance::default(),
            tree: Tree::default(),
            mode,
            started: Instant::now(),
            oracle_deadline: None,
            known: Known::default(),
            ends: HashMap::new(),
            concretized: ConcretizedValues::default(),
            oracle_ways: HashMap::new(),
            failing: HashSet::new(),
            violations: HashMap::new(),
        }
    }

    /// Whether no run on an admissible input has come to the function's end.
    pub fn has_no_path(&self) -> bool {
        self.ends.is_empty()
    }

    /// Makes the first run, on an admissible input as near to this one as can be.
    pub fn begin(
        &mut self,
        first: &Input,
        worklist: &mut dyn Strategy<Pending>,
    ) -> Result<Visited<Arrival>, ExploreError> {
        let path = PartialPath {
            conditions: &[],
            goal: self.workspace.terms.truth(true),
            base: first,
        };
        let admitted = self.precondition.admit(self.workspace, &path)?;
        let Solution::Input(input) = admitted else {
            return Ok(Visited::Nothing);
        };
        let visited = self.visit(&input, None, worklist);
        self.started = Instant::now();
        visited
    }

    /// Whether alternatives of the oracle have had their time: a fault that they find is worth a test,
    /// and nothing else depends on them.
    fn is_oracle_over(&mut self) -> bool {
        let share = LEAST_ORACLE_TIME.max(self.started.elapsed() / 4);
        let deadline = self.oracle_deadline.get_or_insert(Instant::now() + share);
        Instant::now() >= *deadline
    }

    /// An admissible input for a partial path, if there is one.
    fn decide(&mut self, pending: &Pending) -> Result<Option<Input>, ExploreError> {
        let Some(goal) = self.goal(pending) else {
            return Ok(None);
        };
        let Pending { visit, fork } = pending;
        let path = PartialPath {
            conditions: &visit.conditions[..fork.before],
            goal,
            base: &visit.input,
        };
        match self.precondition.admit(self.workspace, &path)? {
            Solution::Input(input) => return Ok(Some(input)),
            Solution::Infeasible if fork.purpose == Purpose::Path => self.dead_end(pending),
            Solution::Infeasible => {}
            Solution::Unknown if self.workspace.budget.is_exhausted() => {}
            Solution::Unknown if pending.is_of_oracle() => self.tree.oracle_cut += 1,
            Solution::Unknown => self.tree.unknown += 1,
        }
        Ok(None)
    }

    /// What an input needs to take a partial path; `None` if that is of no interest any more.
    fn goal(&mut self, pending: &Pending) -> Option<TermId> {
        let fork = &pending.fork;
        let site = pending.visit.events[fork.event].site;
        match fork.purpose {
            Purpose::Failure if self.failing.contains(&site) => None,
            Purpose::Failure if self.is_harmless(site) => None,
            Purpose::Concretized => match self
                .concretized
                .another(&mut self.workspace.terms, fork.node)
            {
                Another::Goal(goal) => Some(goal),
                Another::TooMany => {
                    self.tree.narrowed.insert(site);
                    None
                }
            },
            _ => Some(fork.way.goal),
        }
    }

    /// Whether calls that violate this requirement were seen often enough without a failure.
    fn is_harmless(&self, site: SiteId) -> bool {
        let violations = self.violations.get(&site);
        violations.is_some_and(|count| *count >= MAX_HARMLESS)
    }

    /// Counts the requirements that a run violates; gives the one that is worth telling.
    fn count_violations(&mut self, events: &[Event], walked: &Walked) -> Option<usize> {
        let mut told = None;
        for &position in &walked.violated {
            let site = events[position].site;
            let count = self.violations.entry(site).or_default();
            if *count == 0 || walked.failed.is_some() {
                told = told.or(Some(position));
            }
            *count += 1;
            if walked.failed.is_some() {
                self.failing.insert(site);
            }
        }
        told
    }

    fn dead_end(&mut self, pending: &Pending) {
        self.tree.infeasible_count += 1;
        self.tree.infeasible_events += pending.fork.event;
        let has_room = self.tree.infeasible_events < MAX_DEAD_END_EVENTS;
        if self.tree.infeasible.len() < MAX_DEAD_ENDS && has_room {
            self.tree.infeasible.push(DeadEnd {
                visit: pending.visit.clone(),
                fork: pending.fork,
            });
        }
    }

    /// Runs the function, and puts what is new on the worklist.
    fn visit(
        &mut self,
        input: &Input,
        pending: Option<&Pending>,
        worklist: &mut dyn Strategy<Pending>,
    ) -> Result<Visited<Arrival>, ExploreError> {
        let recorded = self.workspace.run(self.mode, input)?;
        self.tree.runs += 1;
        let is_cut = recorded.is_unended() && self.workspace.budget.is_exhausted();
        if is_cut && pending.is_some() {
            return Ok(Visited::Cut);
        }
        self.workspace.learn_setup(&recorded);
        let mut walked = self.walk(&recorded.path.events);
        let events = recorded.path.events[..walked.end].iter();
        worklist.observe(&mut events.map(|event| (event.site.0, event.choice)));
        let visit = Rc::new(Visit {
            input: recorded.input.clone(),
            events: recorded.path.events.clone(),
            conditions: std::mem::take(&mut walked.conditions),
        });
        for fork in std::mem::take(&mut walked.forks) {
            let visit = visit.clone();
            worklist.add(Pending { visit, fork });
        }
        let was_foreseen = self.compare(&recorded, &walked, pending);
        if walked.beyond {
            self.tree.bounded += 1;
            return Ok(Visited::Nothing);
        }
        if walked.rejected || recorded.path.phase < PHASE_FUNCTION {
            self.tree.rejected += 1;
            return Ok(Visited::Nothing);
        }
        let violated = self.count_violations(&recorded.path.events, &walked);
        let purpose = pending.map_or(Purpose::Path, |pending| pending.fork.purpose);
        let (number, is_new) = self.number_of(walked.path, purpose);
        let arrival = Arrival {
            recorded,
            visit,
            end: walked.end,
            failed: walked.failed,
            violated,
            was_foreseen,
            is_new,
            number,
        };
        self.failing
            .extend(arrival.failed().map(|event| event.site));
        Ok(Visited::Arrived(arrival))
    }

    /// The number of the path with this end, and whether it is new.
    fn number_of(&mut self, end: Node, purpose: Purpose) -> (usize, bool) {
        let next = self.ends.len();
        let number = *self.ends.entry(end).or_insert(next);
        let is_new = number == next;
        self.tree.repeated += u64::from(!is_new);
        self.tree.asked_again += u64::from(!is_new && purpose != Purpose::Path);
        (number, is_new)
    }

    /// Counts a run that left the partial path which it was made for; says whether it failed as that
    /// foresaw: a failure that ends the program takes the rest of its region along.
    fn compare(
        &mut self,
        recorded: &RecordedRun,
        walked: &Walked,
        pending: Option<&Pending>,
    ) -> bool {
        let Some(Pending { visit, fork }) = pending else {
            return false;
        };
        let expected = fork.target(&visit.events);
        let is_lost = expected.is_some_and(|node| !walked.passed.contains(&node));
        let events = &recorded.path.events;
        let failed_at = walked.failed.map(|position| events[position].site);
        let site = visit.events[fork.event].site;
        let was_foreseen = fork.purpose == Purpose::Failure && failed_at == Some(site);
        self.tree.diverged += u64::from(is_lost && !was_foreseen);
        was_foreseen
    }
}

impl Explore<Pending> for Explorer<'_> {
    type Arrival = Arrival;
    type Error = ExploreError;

    fn is_over(&self) -> bool {
        self.workspace.budget.is_exhausted()
    }

    fn explore(
        &mut self,
        pending: &Pending,
        worklist: &mut dyn Strategy<Pending>,
    ) -> Result<Visited<Arrival>, ExploreError> {
        if pending.is_of_oracle() && self.is_oracle_over() {
            self.tree.oracle_cut += 1;
            return Ok(Visited::Nothing);
        }
        match self.decide(pending)? {
            Some(input) => self.visit(&input, Some(pending), worklist),
            // Without an answer because the time for it is over.
            None if self.is_over() => Ok(Visited::Cut),
            None => Ok(Visited::Nothing),
        }
    }
}
