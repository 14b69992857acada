//! One new path: an input that goes another way at a fork, run, recorded and looked at.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_search::{Feasibility, Node};
use nearmiss_solve::Model;
use nearmiss_trace::{Channel, RecordedPath};

use super::state::{Offshoot, Slot};
use super::{Unit, is_fork, locked, nodes};
use crate::analyse::{Forks, Settled, Task};
use crate::defects;
use crate::error::EngineError;
use crate::hunt::{Case, Hunt};
use crate::invent::invent;
use crate::lab::{Traced, tight_limits};
use crate::resize::Growth;
use crate::subject::Subject;

/// A run that is to be made: an input that is predicted to go another way at a fork.
#[derive(Clone, Debug)]
pub struct Sprout {
    /// What took the path that it leaves.
    pub capsule: Arc<Capsule>,
    /// The input of that.
    pub channels: Arc<Vec<Channel>>,
    /// The bytes that must change.
    pub changes: Model,
    /// Where in the execution tree it is predicted to go.
    pub node: Node,
    /// The node of the fork itself, if no more is predicted than that the run comes there.
    pub reaches: Option<Node>,
    /// How many forks it is from the divergence point, itself included.
    pub depth: u32,
}

/// Where a path is new.
#[derive(Clone, Copy, Debug)]
struct Branching {
    /// Behind so many of its forks.
    forks: usize,
    /// How many forks that is from the divergence point, itself included.
    depth: u32,
}

/// A path that runs can sprout from.
pub struct Stem<'p> {
    pub capsule: Arc<Capsule>,
    pub path: &'p RecordedPath,
    pub nodes: &'p [Node],
}

/// What a unit knows of its test while it explores.
pub struct Ground<'g> {
    /// The program.
    pub subject: &'g Subject,
    /// The test's own input.
    pub own: &'g [Channel],
    /// The distance that is explored.
    pub distance: u32,
    /// How deep is explored from a divergence point.
    pub bound: u32,
}

impl Stem<'_> {
    /// The runs that go other ways at a fork.
    pub fn sprouts(&self, settled: &Settled, depth: u32) -> Vec<Sprout> {
        let channels = Arc::new(self.path.channels.clone());
        self.sprouts_of(settled.event, &settled.flips, depth, &channels)
    }

    /// The same, of flips that were found before.
    pub fn sprouts_of(
        &self,
        event: usize,
        flips: &[crate::analyse::Flip],
        depth: u32,
        channels: &Arc<Vec<Channel>>,
    ) -> Vec<Sprout> {
        let before = self.path.events[..event].iter();
        let fork = before.filter(|event| is_fork(event)).count();
        let site = self.path.events[event].site.0;
        let trail = nearmiss_search::Trail::at(self.nodes[fork]);
        flips
            .iter()
            .map(|flip| Sprout {
                capsule: self.capsule.clone(),
                channels: channels.clone(),
                changes: flip.changes.clone(),
                node: trail.way(site, flip.choice),
                reaches: flip.is_shorter().then_some(self.nodes[fork]),
                depth,
            })
            .collect()
    }
}

/// The number of the event that is fork `number` of a path, or of its end.
pub fn event_of_fork(path: &RecordedPath, number: usize) -> usize {
    let mut forks = path.events.iter().enumerate();
    let mut forks = forks.by_ref().filter(|(_, event)| is_fork(event));
    forks
        .nth(number)
        .map_or(path.events.len(), |(event, _)| event)
}

impl Unit<'_, '_> {
    /// Makes the runs that are pending at a divergence point, and those that follow from them.
    /// Says whether all could be made.
    pub(super) fn grow(
        &self,
        slot: &mut Slot,
        ground: &Ground,
        point: usize,
        mut pending: VecDeque<Sprout>,
    ) -> Result<bool, EngineError> {
        while let Some(sprout) = pending.pop_front() {
            if self.is_over() {
                pending.push_front(sprout);
                slot.memory.pending.insert(point, pending);
                return Ok(false);
            }
            if !self.explorer.known.add(sprout.node) {
                continue;
            }
            slot.state.progress.sent.push(sprout.node.0);
            if let Some((offshoot, more)) = self.run_sprout(slot, ground, sprout)? {
                let subtree = slot.state.progress.subtrees.entry(point).or_default();
                subtree.offshoots.push(offshoot);
                pending.extend(more);
            }
        }
        Ok(true)
    }

    /// Runs an input that goes another way, and looks at its path. `None` if there is nothing
    /// new.
    fn run_sprout(
        &self,
        slot: &mut Slot,
        ground: &Ground,
        sprout: Sprout,
    ) -> Result<Option<(Offshoot, Vec<Sprout>)>, EngineError> {
        let bench = self.explorer.bench;
        let failed = |error| bench.campaign.failed(error);
        let directory = self.path_directory(slot);
        let (capsule, channels) = (&sprout.capsule, &sprout.channels);
        let invented =
            invent(capsule, channels, &sprout.changes, Growth::End, &directory).map_err(failed)?;
        let capsule = Arc::new(invented.capsule);
        let Some(mut traced) = self.follow(ground, &capsule, slot) else {
            let _ = fs::remove_dir_all(&directory);
            return Ok(None);
        };
        let nodes = nodes(&traced.path, &ground.subject.file);
        // Forks that say that an input is long enough are not the same in all runs.
        let expected = sprout.reaches.unwrap_or(sprout.node);
        let reached = nodes.iter().rposition(|node| *node == expected);
        let as_predicted = reached.is_some();
        let forks = reached.unwrap_or_else(|| self.first_new_fork(&nodes) + 1);
        let is_new = self.explorer.known.add_all(nodes.iter().copied());
        // What does not end is not looked at: where it was killed says nothing.
        let is_looked_at = (is_new || as_predicted) && traced.exceeded.is_none();
        {
            let exploration = &mut locked(&self.explorer.figures).exploration;
            exploration.divergences += u64::from(!as_predicted);
            exploration.unended += u64::from(traced.exceeded.is_some());
            exploration.known += u64::from(!is_new && !as_predicted);
            exploration.paths += u64::from(is_looked_at);
        }
        if !is_looked_at {
            let _ = fs::remove_dir_all(&directory);
            return Ok(None);
        }
        bench.tally.paths.add(1);
        slot.state.paths += 1;
        let branching = Branching {
            forks,
            depth: sprout.depth,
        };
        let settled = self.look_at(slot, ground, &capsule, &mut traced, branching)?;
        let stem = Stem {
            capsule,
            path: &traced.path,
            nodes: &nodes,
        };
        Ok(Some(branch_out(&stem, settled, branching, directory)))
    }

    /// The fork behind which a path is one that no run has taken.
    fn first_new_fork(&self, nodes: &[Node]) -> usize {
        let is_new = |node: &Node| !self.explorer.known.has(*node);
        let first = nodes.iter().position(is_new).unwrap_or(nodes.len());
        first.saturating_sub(1)
    }

    /// A new directory for a new path.
    fn path_directory(&self, slot: &Slot) -> PathBuf {
        let number = slot.state.progress.sent.len();
        let paths = self.explorer.bench.work.paths(slot.state.digest);
        paths.join(number.to_string())
    }

    /// Records a run on an invented input; `None` if that cannot be done.
    fn follow(&self, ground: &Ground, capsule: &Capsule, slot: &Slot) -> Option<Traced> {
        let time = std::time::Duration::from_secs_f64(slot.state.recorded_seconds);
        let limits = tight_limits(self.explorer.bench.config, time);
        let sites = &ground.subject.program.sites;
        self.lab
            .trace(capsule, Origin::Invented, sites, &limits)
            .ok()
    }

    /// Asks the checks of a new path behind the fork where it is new, and forks as deep as is
    /// explored; judges what can fail, and what its own input does.
    fn look_at(
        &self,
        slot: &mut Slot,
        ground: &Ground,
        capsule: &Capsule,
        traced: &mut Traced,
        branching: Branching,
    ) -> Result<Vec<Settled>, EngineError> {
        let bench = self.explorer.bench;
        let from = match branching.forks.checked_sub(1) {
            Some(last) => event_of_fork(&traced.path, last).saturating_add(1),
            None => 0,
        };
        let task = Task {
            checks_from: Some(from),
            forks: Forks::First {
                from,
                feasible: ground.bound.saturating_sub(branching.depth),
            },
        };
        let analysis = (self.lab).analyse(traced, ground.subject, &task, self.deadline);
        let limits = tight_limits(bench.config, traced.time);
        let complaints = (self.lab).judge(ground.subject, capsule, &limits, self.deadline);
        let case = Case {
            test: &slot.test,
            own: ground.own,
            capsule,
            path: &traced.path,
            distance: ground.distance,
        };
        let anyway = slot.anyway.as_deref().unwrap_or_default();
        let known = (anyway, slot.state.found.as_slice());
        let lab = (self.lab, ground.subject);
        let mut hunt = Hunt::new(lab, case, limits, known, self.deadline);
        hunt.tell_own(&complaints.unwrap_or_default())?;
        hunt.confirm(&analysis)?;
        let (found, divergences) = (std::mem::take(&mut hunt.found), hunt.divergences);
        self.explorer.add(&found)?;
        defects::take_in(&mut slot.state.found, found);
        let mut figures = locked(&self.explorer.figures);
        figures.statistics.merge(&analysis.statistics);
        figures.exploration.divergences += divergences;
        count_forks(&mut figures.exploration, &analysis.forks);
        Ok(analysis.forks)
    }
}

/// The runs that go other ways from a new path, and what is remembered of it.
fn branch_out(
    stem: &Stem,
    settled: Vec<Settled>,
    branching: Branching,
    directory: PathBuf,
) -> (Offshoot, Vec<Sprout>) {
    let mut offshoot = Offshoot {
        directory,
        depth: branching.depth,
        asked: branching.forks,
        feasible: 0,
    };
    let sprouts = offshoot.take_in(stem, settled);
    (offshoot, sprouts)
}

impl Offshoot {
    /// Takes in what became of forks behind those that were asked; gives the runs that go other
    /// ways there.
    pub(super) fn take_in(&mut self, stem: &Stem, settled: Vec<Settled>) -> Vec<Sprout> {
        let mut sprouts = Vec::new();
        if let Some(last) = settled.last() {
            let passed = stem.path.events[..=last.event].iter();
            self.asked = passed.filter(|event| is_fork(event)).count();
        }
        for fork in settled.iter().filter(|fork| fork.is_feasible()) {
            sprouts.extend(stem.sprouts(fork, self.depth + self.feasible + 1));
            self.feasible += u32::from(fork.counts);
        }
        sprouts
    }
}

/// Counts forks that were asked about.
pub fn count_forks(exploration: &mut nearmiss_results::Exploration, forks: &[Settled]) {
    for fork in forks.iter().filter(|fork| fork.counts) {
        match fork.feasibility() {
            Feasibility::Feasible => exploration.feasible += 1,
            Feasibility::Infeasible => exploration.infeasible += 1,
            Feasibility::Unknown | Feasibility::Open => exploration.unknown += 1,
        }
    }
}
