//! Depth first over the execution tree: every partial path is decided once.
//!
//! A run is walked from its beginning. At each event that could have gone another way, that way is
//! a *partial path*: the conditions before it and the one that leads there. Those that nobody has
//! met before wait on a stack, the deepest on top; each is given to the precondition, which finds an
//! admissible input or says that there is none. An input is run, and walked in turn.
//!
//! Nodes of the tree are hashes ([`Trail`]); a way that was decided once, by being taken, by being
//! put on the stack, is never decided again. So no path is run twice, but for three reasons that are
//! counted: values that had to be fixed (other values may lead along the same path), an early
//! precondition (its own paths multiply those of the function), and an oracle whose ways are
//! explored behind the function.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nearmiss_abi::event::{PHASE_FUNCTION, PHASE_ORACLE};
use nearmiss_abi::site::SiteId;
use nearmiss_expr::TermId;
use nearmiss_search::Node;
use nearmiss_server::Ended;
use nearmiss_trace::Event;

use crate::bounds::Limits;
use crate::fixed::{Another, FixedValues};
use crate::input::Input;
use crate::lab::{Lab, Recorded, Solution};
use crate::precondition::Precondition;
use crate::walk::{Fork, Purpose};

/// What is explored, and how far.
pub struct Explorer<'a> {
    /// Where runs are made and questions are asked.
    pub lab: &'a mut Lab,
    /// Which inputs are admissible.
    pub precondition: Precondition,
    /// One of `nearmiss_abi::server::MODE_*`.
    pub mode: u32,
    /// How far paths may go.
    pub limits: Limits,
    /// What was found out.
    pub tree: Tree,
    /// Which partial path comes next.
    pub order: Order,
    stack: Vec<Pending>,
    /// Ways of the oracle: their turn comes when the function has no more.
    behind: Vec<Pending>,
    /// Where runs went, whatever came before.
    taken: HashSet<(SiteId, u64)>,
    /// Ways that were taken, or put on the stack.
    pub(crate) decided: HashSet<Node>,
    /// The ends of paths of the function.
    ends: HashMap<Node, usize>,
    /// The values that were met where one was fixed.
    pub(crate) fixed: FixedValues,
    /// How many ways of the oracle were put on the stack, by the function's path.
    pub(crate) oracle_ways: HashMap<Node, usize>,
    /// Checks that are known to fail: asking about them again brings nothing.
    failing: HashSet<SiteId>,
}

/// What became of the partial paths.
#[derive(Debug, Default)]
pub struct Tree {
    /// Runs of the function.
    pub runs: u64,
    /// Runs along a path that was known.
    pub repeated: u64,
    /// Of those, the ones that an oracle or a fixed value made necessary.
    pub asked_again: u64,
    /// Runs that were rejected by an assumption.
    pub rejected: u64,
    /// Runs that left the predicted path.
    pub diverged: u64,
    /// Infeasible partial paths.
    pub infeasible_count: u64,
    /// The first of them.
    pub infeasible: Vec<DeadEnd>,
    /// Partial paths about which nobody knows.
    pub unknown: u64,
    /// Partial paths beyond a bound.
    pub bounded: u64,
    /// Places where a value was fixed that may have more values than were tried.
    pub narrowed: HashSet<SiteId>,
    /// Oracles with more ways than were tried on one path.
    pub oracle_cut: u64,
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
struct Pending {
    visit: Rc<Visit>,
    fork: Fork,
}

impl Pending {
    /// Whether it leaves the run in the oracle.
    fn is_of_oracle(&self) -> bool {
        self.visit.events[self.fork.event].phase == PHASE_ORACLE
    }
}

/// A run of the function on an admissible input.
pub struct Arrival<'r> {
    /// The run.
    pub recorded: &'r Recorded,
    /// The events that belong to its path: those before its end or its failure.
    pub events: &'r [Event],
    /// The check at which it failed, if it did.
    pub failed: Option<&'r Event>,
    /// Whether that failure was asked for.
    pub was_foreseen: bool,
    /// Whether no run took this path before.
    pub is_new: bool,
    /// The number of the path, in the order of arrival.
    pub number: usize,
}

/// Is told of every run on an admissible input, and says whether to go on.
pub type Arrive<'c> = dyn FnMut(&mut Explorer<'_>, Arrival<'_>) -> Result<Go, String> + 'c;

/// Whether the exploration shall go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// It shall.
    On,
    /// Enough is known.
    Stop,
    /// The end came in the middle of it.
    Cut,
}

/// Which partial path comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The deepest.
    DepthFirst,
    /// The deepest of those that go where no run went.
    NewFirst,
}

/// How an exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// Nothing is left to be decided.
    Exhausted,
    /// Somebody said that it is enough.
    Stopped,
    /// The time is over, or the user has enough.
    OutOfTime,
    /// There is no admissible input at all.
    Empty,
}

/// The least time for other ways of the oracle.
const LEAST_BEHIND: Duration = Duration::from_millis(500);
/// How many dead ends are kept to be told.
const KEPT_DEAD_ENDS: usize = 4096;

impl<'a> Explorer<'a> {
    /// Nothing was run yet.
    pub fn new(lab: &'a mut Lab, precondition: Precondition, mode: u32) -> Explorer<'a> {
        Explorer {
            lab,
            precondition,
            mode,
            limits: Limits::default(),
            tree: Tree::default(),
            order: Order::DepthFirst,
            stack: Vec::new(),
            behind: Vec::new(),
            taken: HashSet::new(),
            decided: HashSet::new(),
            ends: HashMap::new(),
            fixed: FixedValues::default(),
            oracle_ways: HashMap::new(),
            failing: HashSet::new(),
        }
    }

    /// How many partial paths wait.
    pub fn open(&self) -> usize {
        self.stack.len()
    }

    /// Explores until nothing is left, the time is over, or `arrive` says that it is enough.
    pub fn explore(&mut self, first: &Input, arrive: &mut Arrive<'_>) -> Result<Finished, String> {
        let truth = self.lab.terms.truth(true);
        let first = match self.precondition.admit(self.lab, &[], truth, first)? {
            Solution::Input(input) => input,
            Solution::Infeasible | Solution::Unknown => return Ok(Finished::Empty),
        };
        if self.visit(&first, None, arrive)? == Go::Stop {
            return Ok(Finished::Stopped);
        }
        let start = Instant::now();
        let finished = self.exhaust(arrive)?;
        if finished != Finished::Exhausted {
            return Ok(finished);
        }
        self.look_behind(start.elapsed(), arrive)?;
        // A run that left its predicted path may have met something new.
        self.exhaust(arrive)
    }

    /// Decides every partial path of the function.
    fn exhaust(&mut self, arrive: &mut Arrive<'_>) -> Result<Finished, String> {
        while let Some(pending) = self.next() {
            if self.lab.end.has_come() {
                self.stack.push(pending);
                return Ok(Finished::OutOfTime);
            }
            let went = match self.decide(&pending)? {
                Some(input) => self.visit(&input, Some(&pending), arrive)?,
                // Without an answer because nobody waits for it any more.
                None if self.lab.end.has_come() => Go::Cut,
                None => Go::On,
            };
            match went {
                Go::On => {}
                Go::Stop => return Ok(Finished::Stopped),
                Go::Cut => {
                    self.stack.push(pending);
                    return Ok(Finished::OutOfTime);
                }
            }
        }
        Ok(match self.ends.is_empty() {
            true => Finished::Empty,
            false => Finished::Exhausted,
        })
    }

    /// Other ways of the oracle, under the paths of the function, for a part of the time that those
    /// took: a fault that it finds is worth a test, and nothing else depends on them.
    fn look_behind(&mut self, time: Duration, arrive: &mut Arrive<'_>) -> Result<(), String> {
        let end = Instant::now() + LEAST_BEHIND.max(time / 4);
        while let Some(pending) = self.behind.pop() {
            if self.lab.end.has_come() || Instant::now() >= end {
                self.tree.oracle_cut += self.behind.len() as u64 + 1;
                break;
            }
            if let Some(input) = self.decide(&pending)?
                && self.visit(&input, Some(&pending), arrive)? == Go::Stop
            {
                break;
            }
        }
        Ok(())
    }

    /// The partial path whose turn it is: the deepest, or the deepest that goes where no run went.
    fn next(&mut self) -> Option<Pending> {
        if self.order == Order::NewFirst {
            let is_new = |pending: &Pending| {
                let fork = &pending.fork;
                let site = pending.visit.events[fork.event].site;
                !self.taken.contains(&(site, fork.way.choice))
            };
            if let Some(position) = self.stack.iter().rposition(is_new) {
                return Some(self.stack.remove(position));
            }
        }
        self.stack.pop()
    }

    /// An admissible input for a partial path, if there is one.
    fn decide(&mut self, pending: &Pending) -> Result<Option<Input>, String> {
        let Some(goal) = self.goal(pending) else {
            return Ok(None);
        };
        let Pending { visit, fork } = pending;
        let conditions = &visit.conditions[..fork.before];
        let admitted = (self.precondition).admit(self.lab, conditions, goal, &visit.input)?;
        match admitted {
            Solution::Input(input) => return Ok(Some(input)),
            Solution::Infeasible if fork.purpose == Purpose::Path => self.dead_end(pending),
            Solution::Infeasible => {}
            Solution::Unknown if self.lab.end.has_come() => {}
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
            Purpose::Fixed => match self.fixed.another(&mut self.lab.terms, fork.node) {
                Another::Goal(goal) => Some(goal),
                Another::TooMany => {
                    self.tree.narrowed.insert(site);
                    None
                }
            },
            _ => Some(fork.way.goal),
        }
    }

    fn dead_end(&mut self, pending: &Pending) {
        self.tree.infeasible_count += 1;
        if self.tree.infeasible.len() < KEPT_DEAD_ENDS {
            self.tree.infeasible.push(DeadEnd {
                visit: pending.visit.clone(),
                fork: pending.fork,
            });
        }
    }

    /// Runs the function, and puts what is new on the stack.
    fn visit(
        &mut self,
        input: &Input,
        pending: Option<&Pending>,
        arrive: &mut Arrive<'_>,
    ) -> Result<Go, String> {
        let recorded = self.lab.run(self.mode, input)?;
        self.tree.runs += 1;
        let is_cut = recorded.ended == Ended::TimedOut && self.lab.end.has_come();
        if is_cut && pending.is_some() {
            return Ok(Go::Cut);
        }
        self.lab.learn_setup(&recorded);
        let walked = self.walk(&recorded.path.events);
        if self.order == Order::NewFirst {
            let events = recorded.path.events[..walked.end].iter();
            self.taken
                .extend(events.map(|event| (event.site, event.choice)));
        }
        let expected = pending.and_then(|pending| pending.fork.target(&pending.visit.events));
        let arrived = |node: Node| walked.passed.contains(&node);
        let is_lost = expected.is_some_and(|node| !arrived(node));
        let failed_at = walked
            .failed
            .map(|position| recorded.path.events[position].site);
        // A failure that ends the program takes the rest of its region along.
        let was_foreseen = pending.is_some_and(|pending| {
            let site = pending.visit.events[pending.fork.event].site;
            pending.fork.purpose == Purpose::Failure && failed_at == Some(site)
        });
        self.tree.diverged += u64::from(is_lost && !was_foreseen);
        let visit = Rc::new(Visit {
            input: recorded.input.clone(),
            events: recorded.path.events.clone(),
            conditions: walked.conditions,
        });
        for fork in walked.forks {
            let visit = visit.clone();
            let pending = Pending { visit, fork };
            match pending.is_of_oracle() {
                true => self.behind.push(pending),
                false => self.stack.push(pending),
            }
        }
        if walked.beyond {
            self.tree.bounded += 1;
            return Ok(Go::On);
        }
        if walked.rejected || recorded.path.phase < PHASE_FUNCTION {
            self.tree.rejected += 1;
            return Ok(Go::On);
        }
        let next = self.ends.len();
        let number = *self.ends.entry(walked.path).or_insert(next);
        let is_new = number == next;
        let purpose = pending.map_or(Purpose::Path, |pending| pending.fork.purpose);
        self.tree.repeated += u64::from(!is_new);
        self.tree.asked_again += u64::from(!is_new && purpose != Purpose::Path);
        let failed = walked.failed.map(|position| &visit.events[position]);
        self.failing.extend(failed.map(|event| event.site));
        arrive(
            self,
            Arrival {
                recorded: &recorded,
                events: &visit.events[..walked.end],
                failed,
                was_foreseen,
                is_new,
                number,
            },
        )
    }
}
