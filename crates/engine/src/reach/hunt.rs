//! The worklist of a search: flips that are to be run, and paths with forks that were not asked about.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_flow::guide::FAR;
use nearmiss_flow::{Guide, Passed};
use nearmiss_search::strategy::{Item, Outcome as BranchOutcome};
use nearmiss_search::{Explore, Guided, Known, Next, Node, Strategy, Trail, Visited, next_arrival};
use nearmiss_trace::{Channel, Event, alternatives};

use super::{Outcome, record};
use crate::analyse::{Analysis, Flip, Forks, Task, can_flip};
use crate::error::EngineError;
use crate::executor::Traced;
use crate::explore::tree::{is_fork, nodes, outcomes_of};
use crate::invent::Alteration;
use crate::subject::Subject;
use crate::worker::Worker;

/// Forks of a path that are asked about in one walk over it.
const ASKED_AT_ONCE: usize = 8;
/// The bits of a flip's choice that are the event's own.
const OWN_CHOICE: u64 = (1 << 32) - 1;

/// An input that came to the target.
pub struct Found {
    pub test: String,
    pub capsule: Capsule,
    pub traced: Traced,
    /// Whether it is a test's own.
    pub is_own: bool,
}

/// A path that was taken, and which of its forks may lead to the target.
struct TakenPath {
    test: String,
    capsule: Arc<Capsule>,
    channels: Arc<Vec<Channel>>,
    /// Whose input it was.
    origin: Origin,
    /// How long it took.
    time: Duration,
    /// Forks that were not asked about: distance, event, outcome; the nearest last.
    open: Vec<(u32, usize, BranchOutcome)>,
}

/// What can be done next.
enum Lead {
    Flip {
        path: usize,
        changes: Flip,
        node: Node,
        outcome: BranchOutcome,
        distance: u32,
    },
    /// A path is asked for more flips.
    Path {
        number: usize,
        outcome: BranchOutcome,
        distance: u32,
    },
}

impl Item for Lead {
    fn outcome(&self) -> BranchOutcome {
        match self {
            Lead::Flip { outcome, .. } | Lead::Path { outcome, .. } => *outcome,
        }
    }

    fn distance(&self) -> u32 {
        match self {
            Lead::Flip { distance, .. } | Lead::Path { distance, .. } => *distance,
        }
    }
}

/// A search for one target.
pub struct Hunt<'a> {
    worker: &'a Worker<'a>,
    subject: &'a Subject,
    guide: &'a Guide,
    steps: u8,
    deadline: Instant,
    leads: Guided<Lead>,
    known: Known,
    paths: Vec<TakenPath>,
    /// The input that came to the target.
    pub found: Option<Found>,
    nearest: Option<(String, u32)>,
    queries: u64,
    pruned: u64,
    /// Queries without an answer.
    hard: u64,
    /// Runs that were killed, or recorded nothing.
    lost: u64,
    /// Runs that left the predicted path.
    diverged: u64,
}

impl<'a> Hunt<'a> {
    pub fn new(
        worker: &'a Worker<'a>,
        subject: &'a Subject,
        guide: &'a Guide,
        steps: u8,
        deadline: Instant,
    ) -> Hunt<'a> {
        Hunt {
            worker,
            subject,
            guide,
            steps,
            deadline,
            leads: Guided::default(),
            known: Known::default(),
            paths: Vec::new(),
            found: None,
            nearest: None,
            queries: 0,
            pruned: 0,
            hard: 0,
            lost: 0,
            diverged: 0,
        }
    }

    pub fn is_over(&self) -> bool {
        self.worker.shared.is_over(self.deadline)
    }

    pub fn has_reached(&self) -> bool {
        self.found.is_some()
    }

    /// Records some tests and begins with the nearest of them, so many.
    pub fn begin_all(
        &mut self,
        tests: &[(String, Capsule, f64)],
        most: usize,
    ) -> Result<(), EngineError> {
        let known = self.paths.len();
        for (test, capsule, seconds) in tests {
            if self.is_over() || self.has_reached() {
                break;
            }
            let time = Duration::from_secs_f64(*seconds);
            self.begin(test.clone(), capsule.clone(), time)?;
        }
        self.keep_nearest(known, most);
        Ok(())
    }

    /// Records a test; it becomes a start, or the answer.
    fn begin(&mut self, test: String, capsule: Capsule, time: Duration) -> Result<(), EngineError> {
        let traced = record(self.worker, self.subject, &capsule, Origin::Again, time);
        let Some(traced) = traced else {
            self.lost += 1;
            return Ok(());
        };
        let time = time.max(traced.time);
        self.leads.observe(&mut outcomes_of(&traced.path));
        let number = self.take(test, Arc::new(capsule), Origin::Again, time, traced, None);
        if let Some(number) = number {
            let path = &self.paths[number];
            let distance = path.open.last().map(|open| open.0);
            if let Some(distance) = distance
                && (self.nearest.as_ref()).is_none_or(|(_, nearest)| distance < *nearest)
            {
                self.nearest = Some((path.test.clone(), distance));
            }
        }
        Ok(())
    }

    /// Of the paths from a number on begins with so many only, the nearest ones.
    fn keep_nearest(&mut self, from: usize, most: usize) {
        let mut order: Vec<(u32, usize)> = (self.paths.iter().enumerate().skip(from))
            .filter_map(|(number, path)| Some((path.open.last()?.0, number)))
            .collect();
        order.sort_unstable();
        for (_, number) in order.into_iter().take(most).rev() {
            self.add_path(number);
        }
    }

    pub fn nearest(&self) -> Option<(String, u32)> {
        self.nearest.clone()
    }

    /// Works off the leads until the target is reached, the time is over or nothing is left.
    pub fn go_on(&mut self) -> Result<(), EngineError> {
        let mut leads = std::mem::take(&mut self.leads);
        while self.found.is_none() {
            match next_arrival(self, &mut leads)? {
                Next::Arrival(()) => {}
                Next::Empty | Next::Cut => break,
            }
        }
        self.leads = leads;
        Ok(())
    }

    /// What came of it, in figures.
    pub fn tell(&self, outcome: &mut Outcome) {
        outcome.queries = self.queries;
        outcome.pruned = self.pruned;
        if self.found.is_some() {
            return;
        }
        let mut reasons = Vec::new();
        match self.is_over() {
            true => reasons.push(format!(
                "the time was over with {} alternatives left (--time)",
                self.leads.len()
            )),
            false => reasons.push(
                "every alternative near the tests was tried: inputs of other lengths and shapes may do it".into(),
            ),
        }
        for (count, what) in [
            (
                self.hard,
                "queries were too hard for their time (--query-time)",
            ),
            (self.diverged, "runs left the predicted path"),
            (self.lost, "runs recorded nothing or did not end in time"),
        ] {
            if count > 0 {
                reasons.push(format!("{count} {what}"));
            }
        }
        outcome.reasons = reasons;
    }

    /// Takes a run in: the target was reached, or its path gets a number. `expected` is the node that it was to
    /// come to.
    fn take(
        &mut self,
        test: String,
        capsule: Arc<Capsule>,
        origin: Origin,
        time: Duration,
        mut traced: Traced,
        expected: Option<Node>,
    ) -> Option<usize> {
        if traced.path.steps_passed >= self.steps {
            self.found = Some(Found {
                test,
                capsule: (*capsule).clone(),
                traced,
                is_own: origin == Origin::Again,
            });
            return None;
        }
        self.lost += u64::from(traced.exceeded.is_some());
        let nodes = nodes(&traced.path, &self.subject.file, &[]);
        self.diverged += u64::from(expected.is_some_and(|node| !nodes.contains(&node)));
        let open = self.open_forks(&mut traced, &nodes);
        self.known.add_all(nodes.iter().copied());
        self.paths.push(TakenPath {
            test,
            capsule,
            channels: Arc::new(traced.path.channels.clone()),
            origin,
            time,
            open,
        });
        Some(self.paths.len() - 1)
    }

    /// The forks of a path that no run was sent to and that may lead to the target.
    fn open_forks(
        &mut self,
        traced: &mut Traced,
        nodes: &[Node],
    ) -> Vec<(u32, usize, BranchOutcome)> {
        let mut open = Vec::new();
        let mut fork = 0;
        let mut passed = Passed::default();
        for (number, event) in traced.path.events.iter().enumerate() {
            let node = nodes[fork];
            fork += usize::from(is_fork(event));
            if !can_flip(event) {
                continue;
            }
            let before = passed;
            passed.pass(self.distance(event, event.choice));
            let ways = alternatives(&mut traced.terms, &self.subject.program.sites, event);
            let mut nearest: Option<(u32, u64)> = None;
            for way in ways {
                let Some(distance) = self.distance(event, way.choice) else {
                    self.pruned += 1;
                    continue;
                };
                if self
                    .known
                    .has(Trail::at(node).way(event.site.0, way.choice))
                {
                    continue;
                }
                let distance = before.of(distance);
                if nearest.is_none_or(|(known, _)| distance < known) {
                    nearest = Some((distance, way.choice));
                }
            }
            open.extend(nearest.map(|(far, choice)| (far, number, (event.site.0, choice))));
        }
        // Of equally far forks the last of the path is asked about first.
        open.sort_by_key(|(distance, event, _)| (std::cmp::Reverse(*distance), *event));
        open
    }

    fn distance(&self, event: &Event, choice: u64) -> Option<u32> {
        (self.guide).of_way(event.site, choice & OWN_CHOICE, event.steps_passed)
    }

    fn add_path(&mut self, number: usize) {
        let mut leads = std::mem::take(&mut self.leads);
        self.add_path_to(number, &mut leads);
        self.leads = leads;
    }

    fn add_path_to(&self, number: usize, leads: &mut dyn Strategy<Lead>) {
        if let Some(&(distance, _, outcome)) = self.paths[number].open.last() {
            leads.add(Lead::Path {
                number,
                outcome,
                distance,
            });
        }
    }

    /// Asks about the nearest forks of a path.
    fn ask(&mut self, number: usize, leads: &mut dyn Strategy<Lead>) {
        let path = &mut self.paths[number];
        let from = path.open.len().saturating_sub(ASKED_AT_ONCE);
        let asked: BTreeMap<usize, u32> = (path.open.drain(from..))
            .map(|(distance, event, _)| (event, distance))
            .collect();
        let (capsule, origin, time) = (path.capsule.clone(), path.origin, path.time);
        let traced = record(self.worker, self.subject, &capsule, origin, time);
        let Some(mut traced) = traced else {
            self.lost += 1;
            return;
        };
        let task = Task {
            checks_from: None,
            forks: Forks::These(asked.keys().copied().collect::<BTreeSet<usize>>()),
            fork_time: self.worker.shared.config.query_time,
        };
        let analysis = (self.worker).analyse(&mut traced, self.subject, &task, self.deadline);
        self.add_flips(number, &traced, &analysis, &asked, leads);
        self.add_path_to(number, leads);
    }

    /// Puts the answers into the worklist.
    fn add_flips(
        &mut self,
        number: usize,
        traced: &Traced,
        analysis: &Analysis,
        asked: &BTreeMap<usize, u32>,
        leads: &mut dyn Strategy<Lead>,
    ) {
        self.queries += analysis.statistics.queries();
        let nodes = nodes(&traced.path, &self.subject.file, &[]);
        for settled in &analysis.forks {
            self.hard += u64::from(settled.is_hard);
            let event = &traced.path.events[settled.event];
            let before = traced.path.events[..settled.event].iter();
            let fork = before.filter(|event| is_fork(event)).count();
            let trail = Trail::at(nodes[fork]);
            for flip in &settled.flips {
                let is_plain = !flip.is_guess() && !flip.is_unpredicted();
                let fork = asked.get(&settled.event).copied().unwrap_or(FAR);
                let distance = match is_plain {
                    true => self.distance(event, flip.choice),
                    // Where it goes is not known: it is as far as the fork, and a little more.
                    false => Some(fork + 1),
                };
                if let Some(distance) = distance {
                    let distance = distance.min(FAR);
                    let distance = if distance == FAR { fork } else { distance };
                    leads.add(Lead::Flip {
                        path: number,
                        changes: flip.clone(),
                        node: trail.way(event.site.0, flip.choice),
                        outcome: (event.site.0, flip.choice),
                        distance,
                    });
                }
            }
        }
    }

    /// Runs a flip.
    fn run(
        &mut self,
        path: usize,
        flip: &Flip,
        node: Node,
        leads: &mut dyn Strategy<Lead>,
    ) -> Result<(), EngineError> {
        if !self.known.add(node) {
            return Ok(());
        }
        let shared = self.worker.shared;
        let parent = &self.paths[path];
        let (test, time) = (parent.test.clone(), parent.time);
        let directory = shared.new_directory();
        let alteration = Alteration::of(flip, &parent.channels);
        let written = alteration.write(&parent.capsule, &parent.channels, &directory);
        let capsule = written.map_err(|error| shared.campaign.failed(error))?;
        let origin = Origin::Invented;
        let Some(traced) = record(self.worker, self.subject, &capsule, origin, time) else {
            self.lost += 1;
            return Ok(());
        };
        let is_predicted = !flip.is_guess() && !flip.is_unpredicted();
        let expected = is_predicted.then_some(node);
        leads.observe(&mut outcomes_of(&traced.path));
        if let Some(number) = self.take(test, Arc::new(capsule), origin, time, traced, expected) {
            self.worker.count_path();
            self.add_path_to(number, leads);
        }
        Ok(())
    }
}

impl Explore<Lead> for Hunt<'_> {
    type Arrival = ();
    type Error = EngineError;

    fn is_over(&self) -> bool {
        Hunt::is_over(self)
    }

    fn explore(
        &mut self,
        lead: &Lead,
        leads: &mut dyn Strategy<Lead>,
    ) -> Result<Visited<()>, EngineError> {
        match lead {
            Lead::Flip {
                path,
                changes,
                node,
                ..
            } => self.run(*path, changes, *node, leads)?,
            Lead::Path { number, .. } => self.ask(*number, leads),
        }
        Ok(match self.has_reached() {
            true => Visited::Arrived(()),
            false => Visited::Nothing,
        })
    }
}
