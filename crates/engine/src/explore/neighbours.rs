//! A test at distance 1, 2, …: inputs that leave its path at divergence points, and what lies
//! behind them.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use nearmiss_abi::event::EventKind;
use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_judge::spot;
use nearmiss_search::{Course, Node, Step, depth_bound};
use nearmiss_trace::{Channel, Event};

use super::offshoot::{Ground, Stem, count_forks, event_of_fork};
use super::state::{Progress, Slot};
use super::{Unit, is_fork, locked, nodes};
use crate::analyse::{Forks, Task, can_flip};
use crate::error::EngineError;
use crate::lab::{Traced, limits, tight_limits};
use crate::subject::Subject;

/// Forks that are asked about beyond those that can be needed.
const AHEAD: usize = 4;
/// Forks that are asked about in one walk over the path: the deepest first, then others.
const MOST_OPEN: usize = 512;

/// The path of a test, and where it can be left.
struct Territory {
    traced: Traced,
    nodes: Vec<Node>,
    channels: Arc<Vec<Channel>>,
    capsule: Arc<Capsule>,
    course: Course,
}

impl Unit<'_, '_> {
    pub(super) fn neighbours(&self, slot: &mut Slot) -> Result<(), EngineError> {
        let capsule = &slot.test.capsule;
        let subjects = &self.explorer.subjects;
        let Ok(subject) = subjects.get(&capsule.program, &capsule.environment) else {
            return Ok(());
        };
        let Some(mut territory) = self.territory(slot, &subject) else {
            return Ok(());
        };
        if territory.traced.reads_input && slot.anyway.is_none() && !self.is_over() {
            let judged = self.judge_own(slot, &subject, &territory.traced, None)?;
            slot.trouble = slot.trouble.take().or(judged.trouble);
        }
        let first = slot.state.progress.finished.map_or(1, |done| done + 1);
        for distance in first..=self.distance {
            let before = slot.state.progress.clone();
            if !self.explore_at(distance, slot, &subject, &mut territory)? {
                return self.save_as_of(slot, before);
            }
            slot.state.progress.finished = Some(distance);
        }
        slot.state.progress.farthest = territory.course.farthest();
        self.save(slot)
    }

    /// Keeps what an unfinished unit found, but not how far it came: whoever goes on from the disk
    /// does the unit again.
    fn save_as_of(&self, slot: &mut Slot, before: Progress) -> Result<(), EngineError> {
        let now = std::mem::replace(&mut slot.state.progress, before);
        let saved = self.save(slot);
        slot.state.progress = now;
        saved
    }

    /// Records the test's path once more. `None` if it takes another path now: then nothing can
    /// be predicted from it.
    fn territory(&self, slot: &mut Slot, subject: &Subject) -> Option<Territory> {
        let time = Duration::from_secs_f64(slot.state.recorded_seconds.max(slot.test.seconds));
        let limits = limits(self.explorer.bench.config, time);
        let sites = &subject.program.sites;
        let traced = self
            .lab
            .trace(&slot.test.capsule, Origin::Again, sites, &limits);
        let traced = match traced {
            Ok(traced) => traced,
            Err(why) => {
                slot.stuck = Some(why);
                return None;
            }
        };
        let nodes = nodes(&traced.path, &subject.file);
        if nodes.last().map(|node| node.0) != Some(slot.state.end) {
            slot.stuck = Some(self.where_left(slot, &nodes, &traced, subject));
            return None;
        }
        let mut course = Course::new(traced.path.events.iter().map(step));
        for (event, fork) in &slot.state.progress.forks {
            course.settle(*event, *fork);
        }
        Some(Territory {
            channels: Arc::new(traced.path.channels.clone()),
            capsule: Arc::new(slot.test.capsule.clone()),
            traced,
            nodes,
            course,
        })
    }

    /// Says where a test that took another path left the one it was recorded on.
    fn where_left(
        &self,
        slot: &Slot,
        nodes: &[Node],
        traced: &Traced,
        subject: &Subject,
    ) -> String {
        let known = slot.memory.nodes.iter();
        let same = known.zip(nodes).take_while(|(one, other)| one == other);
        // The root is no fork.
        let fork = same.count().saturating_sub(1);
        let forks = traced.path.events.iter().filter(|event| is_fork(event));
        let place = forks.skip(fork).map(|event| event.site).next();
        let place = match place {
            Some(site) => {
                let sites = &subject.program.sites;
                let (file, line, _) = spot::place(sites, site);
                let call = spot::call_before(sites, site).map(|(file, line, name)| {
                    format!(" (the last call before it is {name} at {file}:{line})")
                });
                let call = call.unwrap_or_default();
                format!("first at the branch at {file}:{line}{call}")
            }
            None => "which ended earlier".to_string(),
        };
        format!(
            "run again, it took another path, {place}: what it depends on is neither an input nor a clock, \
             random number or process number that is given again"
        )
    }

    /// Explores from all divergence points at a distance. Says whether that came to its end.
    fn explore_at(
        &self,
        distance: u32,
        slot: &mut Slot,
        subject: &Subject,
        territory: &mut Territory,
    ) -> Result<bool, EngineError> {
        loop {
            let asked = self.settle_forks(distance, slot, subject, territory);
            let own = territory.channels.clone();
            let ground = Ground {
                subject,
                own: &own,
                distance,
                bound: depth_bound(distance),
            };
            for point in territory.course.divergence_points(distance) {
                if self.is_over() || !self.explore_from(point, slot, &ground, territory)? {
                    return Ok(false);
                }
            }
            if asked == 0 {
                return Ok(true);
            }
            if self.is_over() {
                return Ok(false);
            }
        }
    }

    /// Asks which forks near sensitive operations can go another way; gives how many were asked.
    fn settle_forks(
        &self,
        distance: u32,
        slot: &mut Slot,
        subject: &Subject,
        territory: &mut Territory,
    ) -> usize {
        let open = territory.course.open(distance, AHEAD, MOST_OPEN);
        // Inputs that go another way are not kept between two calls of nearmiss.
        let forgotten = territory.course.divergence_points(distance);
        let forgotten = forgotten.into_iter().filter(|point| {
            !slot.memory.flips.contains_key(point)
                && !slot.state.progress.subtrees.contains_key(point)
        });
        let these: BTreeSet<usize> = open.iter().copied().chain(forgotten).collect();
        if these.is_empty() {
            return 0;
        }
        let task = Task {
            checks_from: None,
            forks: Forks::These(these),
        };
        let traced = &mut territory.traced;
        let analysis = self.lab.analyse(traced, subject, &task, self.deadline);
        let mut figures = locked(&self.explorer.figures);
        figures.statistics.merge(&analysis.statistics);
        count_forks(&mut figures.exploration, &analysis.forks);
        for settled in analysis.forks {
            let fork = settled.feasibility();
            territory.course.settle(settled.event, fork);
            slot.state.progress.forks.insert(settled.event, fork);
            slot.memory.flips.insert(settled.event, settled.flips);
        }
        open.len()
    }

    /// Explores from one divergence point as deep as the distance asks for. Says whether that
    /// came to its end.
    fn explore_from(
        &self,
        point: usize,
        slot: &mut Slot,
        ground: &Ground,
        territory: &Territory,
    ) -> Result<bool, EngineError> {
        let subtree = slot.state.progress.subtrees.entry(point).or_default();
        if subtree.bound >= ground.bound {
            return Ok(true);
        }
        let is_first = subtree.bound == 0;
        let mut pending = slot.memory.pending.remove(&point).unwrap_or_default();
        if pending.is_empty() && is_first {
            let stem = Stem {
                capsule: territory.capsule.clone(),
                path: &territory.traced.path,
                nodes: &territory.nodes,
            };
            let flips = slot.memory.flips.get(&point);
            let flips = flips.map_or(&[][..], Vec::as_slice);
            pending.extend(stem.sprouts_of(point, flips, 1, &territory.channels));
        } else if pending.is_empty() {
            pending = self.explore_on(point, slot, ground)?;
        }
        let is_done = self.grow(slot, ground, point, pending)?;
        if is_done {
            let subtree = slot.state.progress.subtrees.entry(point).or_default();
            subtree.bound = ground.bound;
        }
        Ok(is_done)
    }

    /// The runs that go on from the paths of an earlier, smaller distance.
    fn explore_on(
        &self,
        point: usize,
        slot: &mut Slot,
        ground: &Ground,
    ) -> Result<VecDeque<super::offshoot::Sprout>, EngineError> {
        let bench = self.explorer.bench;
        let mut pending = VecDeque::new();
        let subtree = slot.state.progress.subtrees.entry(point).or_default();
        for offshoot in &mut subtree.offshoots {
            let reached = offshoot.depth + offshoot.feasible;
            if reached >= ground.bound {
                continue;
            }
            let Ok(capsule) = Capsule::read(&offshoot.directory) else {
                continue;
            };
            let time = Duration::from_secs_f64(slot.state.recorded_seconds);
            let limits = tight_limits(bench.config, time);
            let sites = &ground.subject.program.sites;
            let traced = self.lab.trace(&capsule, Origin::Invented, sites, &limits);
            let Ok(mut traced) = traced else {
                continue;
            };
            let task = Task {
                checks_from: None,
                forks: Forks::First {
                    from: event_of_fork(&traced.path, offshoot.asked),
                    feasible: ground.bound - reached,
                },
            };
            let subject = ground.subject;
            let analysis = (self.lab).analyse(&mut traced, subject, &task, self.deadline);
            count_forks(
                &mut locked(&self.explorer.figures).exploration,
                &analysis.forks,
            );
            let nodes = nodes(&traced.path, &ground.subject.file);
            let stem = Stem {
                capsule: Arc::new(capsule),
                path: &traced.path,
                nodes: &nodes,
            };
            pending.extend(offshoot.take_in(&stem, analysis.forks));
        }
        Ok(pending)
    }
}

/// An event as a step of a course.
fn step(event: &Event) -> Step {
    let is_check = matches!(event.kind, EventKind::Check | EventKind::CheckFailed);
    Step {
        fork: can_flip(event),
        free: event.implied.is_some(),
        sensitive_before: event.sensitive,
        sensitive: is_check,
    }
}
