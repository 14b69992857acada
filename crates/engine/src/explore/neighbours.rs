//! The stage of one distance: inputs that leave a test's path at divergence points, and what lies
//! behind them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use nearmiss_abi::event::EventKind;
use nearmiss_abi::site::SiteId;
use nearmiss_campaign::capsule::{Capsule, Origin};
use nearmiss_judge::spot;
use nearmiss_search::{
    BreadthFirst, Course, Executor, Explore, Next, Node, Step, Strategy, Visited, depth_bound,
    next_arrival,
};
use nearmiss_sites::Sites;
use nearmiss_trace::{Answer, Channel, Event};

use super::Work;
use super::derived::{Context, Extent, ParentPath, PendingFlip};
use super::seed::{Progress, Seed};
use super::tree::{is_fork, nodes};
use crate::analyse::{Flip, Forks, Task, can_flip};
use crate::error::EngineError;
use crate::executor::Traced;
use crate::subject::Subject;
use crate::worker::limits;

/// Forks that are asked about beyond those that can be needed.
const AHEAD: usize = 4;
/// Forks that are asked about in the first walk over the path, the deepest first; the next walks ask
/// about twice as many each, up to a maximum: runs do not wait for hundreds of queries.
const FIRST_OPEN: usize = 16;
/// See [`FIRST_OPEN`].
const MAX_OPEN: usize = 512;

/// The path of a test, and where it can be left.
pub(super) struct OwnRoute {
    pub(super) traced: Traced,
    nodes: Vec<Node>,
    pub(super) channels: Arc<Vec<Channel>>,
    capsule: Arc<Capsule>,
    course: Course,
}

impl OwnRoute {
    /// The path that flips leave.
    pub(super) fn parent(&self) -> ParentPath<'_> {
        ParentPath {
            capsule: self.capsule.clone(),
            path: &self.traced.path,
            terms: &self.traced.terms,
            nodes: &self.nodes,
            point: None,
            number: None,
            staleness: 0,
        }
    }
}

impl Work<'_, '_> {
    pub(super) fn neighbours(&self, seed: &mut Seed, distance: u32) -> Result<(), EngineError> {
        if seed.is_finished(distance) {
            return Ok(());
        }
        let Some((subject, mut route)) = self.begin(seed)? else {
            return Ok(());
        };
        let first = seed.state.progress.finished.map_or(1, |done| done + 1);
        for near in first..=distance {
            let before = seed.state.progress.clone();
            if !self.explore_at(near, seed, &subject, &mut route)? {
                return self.save_as_of(seed, before);
            }
            seed.state.progress.finished = Some(near);
        }
        seed.state.progress.farthest = route.course.farthest();
        self.save(seed)
    }

    /// What a unit beside the test's own path begins with: its program, and its path. `None` if there is nothing to
    /// begin with.
    pub(super) fn begin(
        &self,
        seed: &mut Seed,
    ) -> Result<Option<(Arc<Subject>, OwnRoute)>, EngineError> {
        let capsule = &seed.test.capsule;
        let subjects = &self.explorer.subjects;
        let Ok(subject) = subjects.get(capsule) else {
            return Ok(None);
        };
        let Some(route) = self.own_route(seed, &subject) else {
            return Ok(None);
        };
        self.judge_own_once(seed, &subject, &route.traced)?;
        Ok(Some((subject, route)))
    }

    /// Asks the twin about the test's own input, unless that was done: what fails there is no news elsewhere.
    fn judge_own_once(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        traced: &Traced,
    ) -> Result<(), EngineError> {
        if traced.reads_input && seed.baseline.is_none() && !self.is_over() {
            let judged = self.judge_own(seed, subject, traced, None)?;
            seed.trouble = seed.trouble.take().or(judged.trouble);
        }
        Ok(())
    }

    /// Keeps what an unfinished unit found, but not how far it came: whoever goes on from the disk
    /// does the unit again.
    fn save_as_of(&self, seed: &mut Seed, before: Progress) -> Result<(), EngineError> {
        let now = std::mem::replace(&mut seed.state.progress, before);
        let saved = self.save(seed);
        seed.state.progress = now;
        saved
    }

    /// Records the test's path once more. `None` if it takes another path now: then nothing can
    /// be predicted from it.
    pub(super) fn own_route(&self, seed: &mut Seed, subject: &Subject) -> Option<OwnRoute> {
        let time = Duration::from_secs_f64(seed.state.recorded_seconds.max(seed.test.seconds));
        let limits = limits(self.explorer.shared.config, time);
        let mut executor = self.worker.executor(subject, Origin::Again, limits);
        let traced = match executor.run(&seed.test.capsule) {
            Ok(traced) => traced,
            Err(why) => {
                seed.stuck = Some(why.to_string());
                return None;
            }
        };
        let nodes = nodes(&traced.path, &subject.file, &seed.test.calls);
        if nodes.last().map(|node| node.0) != Some(seed.state.end) {
            seed.stuck = Some(self.where_left(seed, &nodes, &traced, subject));
            return None;
        }
        let mut course = Course::new(traced.path.events.iter().map(step));
        for (event, fork) in &seed.state.progress.forks {
            course.settle(*event, *fork);
        }
        let channels = Arc::new(traced.path.channels.clone());
        seed.memory.channels = Some(channels.clone());
        Some(OwnRoute {
            channels,
            capsule: Arc::new(seed.test.capsule.clone()),
            traced,
            nodes,
            course,
        })
    }

    /// Says where a test that took another path left the one it was recorded on.
    fn where_left(
        &self,
        seed: &Seed,
        nodes: &[Node],
        traced: &Traced,
        subject: &Subject,
    ) -> String {
        let known = seed.memory.nodes.iter();
        let same = known.zip(nodes).take_while(|(one, other)| one == other);
        // The root is no fork.
        let fork = same.count().saturating_sub(1);
        let forks = traced.path.events.iter().filter(|event| is_fork(event));
        let site = forks.skip(fork).map(|event| event.site).next();
        let sites = &subject.program.sites;
        let place = match site {
            Some(site) => {
                let (file, line, _) = spot::place(sites, site);
                format!("first at the branch at {file}:{line}")
            }
            None => "which ended earlier".to_string(),
        };
        let cause = first_difference(sites, &seed.memory.answers, &traced.path.answers);
        let cause = cause.or_else(|| last_call(sites, site?));
        let cause = cause.unwrap_or_default();
        format!(
            "run again, it took another path, {place}{cause}: what it depends on is neither an input nor a clock, \
             random number or process number that is given again"
        )
    }

    /// Explores from all divergence points at a distance. Says whether that came to its end.
    fn explore_at(
        &self,
        distance: u32,
        seed: &mut Seed,
        subject: &Subject,
        route: &mut OwnRoute,
    ) -> Result<bool, EngineError> {
        let bound = depth_bound(distance);
        let own = route.channels.clone();
        let context = Context {
            subject,
            own: &own,
            extent: Extent::Bound { distance, bound },
        };
        let mut at_once = FIRST_OPEN;
        loop {
            let asked = self.settle_forks(distance, seed, subject, route, at_once);
            at_once = MAX_OPEN.min(at_once * 2);
            for point in route.course.divergence_points(distance) {
                if self.is_over() || !self.explore_from(point, seed, &context, bound, route)? {
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

    /// Asks which forks near sensitive operations can go another way, a number of them at once; gives
    /// how many were asked.
    fn settle_forks(
        &self,
        distance: u32,
        seed: &mut Seed,
        subject: &Subject,
        route: &mut OwnRoute,
        at_once: usize,
    ) -> usize {
        let open = route.course.open(distance, AHEAD, at_once);
        // Inputs that go another way are not kept between two calls of nearmiss.
        let forgotten = route.course.divergence_points(distance);
        let forgotten = forgotten.into_iter().filter(|point| {
            !seed.memory.flips.contains_key(point)
                && !seed.state.progress.bounds.contains_key(point)
        });
        let these: BTreeSet<usize> = open.iter().copied().chain(forgotten).collect();
        if these.is_empty() {
            return 0;
        }
        self.ask_own(seed, subject, route, these);
        open.len()
    }

    /// Asks which of these forks of the test's own path can go another way.
    pub(super) fn ask_own(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        route: &mut OwnRoute,
        these: BTreeSet<usize>,
    ) {
        let task = Task {
            checks_from: None,
            forks: Forks::These(these),
            fork_time: self.fork_time(seed),
        };
        let traced = &mut route.traced;
        let analysis = self.worker.analyse(traced, subject, &task, self.deadline);
        self.count(seed, &analysis);
        for settled in analysis.forks {
            let fork = settled.feasibility();
            route.course.settle(settled.event, fork);
            seed.state.progress.forks.insert(settled.event, fork);
            if settled.is_hard && !seed.state.progress.is_patient {
                seed.state.progress.hard.insert(settled.event);
            }
            let parent = route.parent();
            let (guesses, flips): (Vec<_>, Vec<_>) =
                settled.flips.into_iter().partition(Flip::is_guess);
            let guesses = parent.flips_of(settled.event, &guesses, 1, &route.channels);
            seed.memory.pool.add(guesses);
            seed.memory.flips.insert(settled.event, flips);
        }
    }

    /// Explores from one divergence point as deep as the distance asks for. Says whether that
    /// came to its end.
    fn explore_from(
        &self,
        point: usize,
        seed: &mut Seed,
        context: &Context,
        bound: u32,
        route: &OwnRoute,
    ) -> Result<bool, EngineError> {
        let explored = seed.state.progress.bounds.get(&point).copied().unwrap_or(0);
        if explored >= bound {
            return Ok(true);
        }
        let mut pending = seed.memory.pending.remove(&point).unwrap_or_default();
        if pending.is_empty() {
            // Also of an earlier stage: it may have come to this fork before its distance had its turn.
            let on = self.explore_on(point, seed, context, bound);
            let parent = route.parent();
            let own = seed.memory.flips.get(&point).filter(|_| explored == 0);
            let own = own.map_or(&[][..], Vec::as_slice);
            let own = parent.flips_of(point, own, 1, &route.channels);
            own.into_iter().chain(on).for_each(|flip| pending.add(flip));
        }
        let near = seed.memory.pool.take_near(point, bound);
        near.into_iter().for_each(|flip| pending.add(flip));
        let is_done = self.run_all(seed, context, point, pending)?;
        if is_done {
            seed.state.progress.bounds.insert(point, bound);
        }
        Ok(is_done)
    }

    /// The flips that go on from the paths of an earlier, smaller distance.
    fn explore_on(
        &self,
        point: usize,
        seed: &mut Seed,
        context: &Context,
        bound: u32,
    ) -> Vec<PendingFlip> {
        let mut pending = Vec::new();
        for number in 0..seed.state.progress.derived.len() {
            let path = &seed.state.progress.derived[number];
            let reached = path.depth + path.feasible;
            if path.point != point || path.is_done() || reached >= bound {
                continue;
            }
            let flips = self.flips_behind(seed, context.subject, number, bound - reached);
            pending.extend(flips.into_iter().flatten());
        }
        pending
    }

    /// Makes the runs that are pending at a divergence point, and those that follow from them.
    /// Says whether all could be made.
    pub(super) fn run_all(
        &self,
        seed: &mut Seed,
        context: &Context,
        point: usize,
        mut pending: BreadthFirst<PendingFlip>,
    ) -> Result<bool, EngineError> {
        let mut flips = Flips {
            work: self,
            seed: &mut *seed,
            context,
        };
        loop {
            match next_arrival(&mut flips, &mut pending)? {
                Next::Arrival(_) => {}
                Next::Empty => return Ok(true),
                Next::Cut => {
                    seed.memory.pending.insert(point, pending);
                    return Ok(false);
                }
            }
        }
    }
}

/// Explores flips of a test's path and of those that were derived from it.
struct Flips<'f, 'u, 'a> {
    work: &'f Work<'u, 'a>,
    seed: &'f mut Seed,
    context: &'f Context<'f>,
}

impl Explore<PendingFlip> for Flips<'_, '_, '_> {
    /// The number of a derived path.
    type Arrival = usize;
    type Error = EngineError;

    fn is_over(&self) -> bool {
        self.work.is_over()
    }

    fn explore(
        &mut self,
        flip: &PendingFlip,
        worklist: &mut dyn Strategy<PendingFlip>,
    ) -> Result<Visited<usize>, EngineError> {
        let Some(mut new) = self.work.run_flip(self.seed, self.context, flip)? else {
            return Ok(Visited::Nothing);
        };
        let outcomes = std::mem::take(&mut new.outcomes);
        if self.seed.memory.pool.observe(&mut outcomes.into_iter()) {
            new.mark_fresh(&mut self.seed.state.progress.derived);
        }
        self.seed.memory.pool.add(new.refused);
        new.flips.into_iter().for_each(|flip| worklist.add(flip));
        Ok(Visited::Arrived(new.number))
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

/// The first call that gave something else in the later of two runs of a test, in words.
fn first_difference(sites: &Sites, first: &[Answer], later: &[Answer]) -> Option<String> {
    let mut pairs = first.iter().zip(later);
    let (one, other) = pairs.find(|(one, other)| one != other)?;
    // Where the calls themselves are others, something else made the difference.
    if one.site != other.site {
        return None;
    }
    let (file, line, name) = spot::place(sites, one.site);
    let name = if name.is_empty() { "a call" } else { &name };
    Some(format!(
        " (the first call that gave something else is {name} at {file}:{line})"
    ))
}

/// The last call before a branch, in words.
fn last_call(sites: &Sites, branch: SiteId) -> Option<String> {
    let (file, line, name) = spot::call_before(sites, branch)?;
    Some(format!(
        " (the last call before it is {name} at {file}:{line})"
    ))
}
