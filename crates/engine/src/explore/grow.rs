//! The stage of longer inputs: what repeats in a test's input is repeated more often, and the twin decides.
//!
//! Nothing is predicted of such runs, so none of them is a divergence; only what was seen to fail is reported.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use nearmiss_abi::check::Kind;
use nearmiss_campaign::capsule::Capsule;
use nearmiss_judge::Complaint;
use nearmiss_judge::complaint::Place;
use nearmiss_sandbox::{Ended, Limits};
use nearmiss_search::{BreadthFirst, Node, Strategy, depth_bound};
use siphasher::sip::SipHasher13;

use super::derived::{Context, Extent, PendingFlip, Prediction};
use super::neighbours::OwnRoute;
use super::seed::Seed;
use super::{Work, locked};
use crate::analyse::{Forks, Task, can_flip};
use crate::confirmer::{Case, Confirmer, Known};
use crate::defects;
use crate::error::EngineError;
use crate::growth::numbers::with_numbers;
use crate::growth::trial::{Attempt, Ladder};
use crate::growth::{Growing, ShapedInput, Shapes, emptied};
use crate::inputs;
use crate::invent::Alteration;
use crate::subject::Subject;
use crate::worker::{TwinAnswer, tight_limits};

/// Most numbers that are tried for what the solver says of them.
const MAX_NUMBERS: usize = 64;
/// Runs that had to be ended, after which no more are made of what grows: each takes seconds.
const MAX_UNENDED: u32 = 2;
/// Most parts of a test's input with which blocks are filled.
const MAX_TO_FILL: usize = 16;
/// Inputs of another shape leave the test's path at no event.
const NO_POINT: usize = usize::MAX;

/// What tells failures apart while the least input that shows one is looked for.
type FailureName = (Vec<Kind>, Option<Place>);

/// Frames of the twin are larger than the program's: that its stack is used up says little of the program.
const STACK_USED_UP: &str = "stack-overflow";

/// Inputs grow by no more than these at first: they are run in little time, and hold what overflows most buffers.
const FIRST_BYTES: usize = 8 << 10;

/// Where calls are the input all that may grow is repeated so often before anything is repeated more often, in the calls of all
/// tests: there are many of them, each with a few short texts.
const FIRST_TURNS: u64 = 16;

/// How far a thing that may grow has its turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Up to [`FIRST_TURNS`].
    Few,
    /// In inputs of up to [`FIRST_BYTES`].
    Short,
    /// In longer ones.
    Long,
}

/// What is tried with a thing that may grow.
struct Step {
    /// Its number.
    number: usize,
    /// Most turns that are put in.
    most: u64,
    /// Whether there is no room for more.
    is_last: bool,
    /// How far it has its turn now.
    reach: Reach,
}

/// Which numbers of turns are tried.
#[derive(Clone, Copy)]
enum Climb {
    /// More and more.
    Turns,
    /// Those that fill a block which the program makes larger.
    FilledBlocks,
}

/// What became of a thing that may grow.
struct Tried {
    /// Whether one more is refused as many are.
    is_refused: bool,
    /// How many more blocks were made larger.
    enlarged: u64,
}

/// A test whose input grows.
struct Grown<'g> {
    subject: &'g Subject,
    route: &'g OwnRoute,
    /// What the twin says of its own input.
    own: TwinAnswer,
    limits: Limits,
    /// Where longer inputs are written.
    directory: PathBuf,
}

impl Work<'_, '_> {
    /// Tries what may grow, one after the other, until all was tried or the unit's time is over. Where other tests wait for
    /// their turn, a first one ends with a few turns of everything.
    pub(super) fn grow(&self, seed: &mut Seed, others_wait: bool) -> Result<(), EngineError> {
        if self.is_over() {
            return Ok(());
        }
        let Some((subject, mut route)) = self.begin(seed)? else {
            return Ok(());
        };
        if seed.state.progress.grown_to.take().is_some() {
            // It was done with another maximum.
            seed.state.progress.grown = 0;
            seed.state.progress.repeated = 0;
        }
        let shapes = Shapes::of(
            &route.traced.path,
            &route.traced.terms,
            &subject.program.sites,
            &seed.test.capsule.arguments,
        );
        seed.state.progress.not_grown = shapes.left_out;
        if seed.state.progress.grown == 0 && !self.run_emptied(seed, &subject, &route)? {
            return self.save(seed);
        }
        // Runs of the twin are cheap; the solver is asked behind them.
        let is_done = self.try_all(seed, &subject, &route, &shapes.growing, others_wait)?
            && self.try_numbers(seed, &subject, &mut route)?
            && self.run_shapes(seed, &subject, &route, shapes.next)?;
        if is_done {
            seed.state.progress.grown_to = Some(self.explorer.shared.config.grow);
        }
        self.save(seed)
    }

    /// Where calls are the input: each parameter of each function once without data. Says whether all was tried.
    fn run_emptied(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        route: &OwnRoute,
    ) -> Result<bool, EngineError> {
        let mut inputs = emptied(&route.channels);
        inputs.retain(|name, _| locked(&self.explorer.grown).insert(*name));
        self.run_shapes(seed, subject, route, inputs.into_values().collect())
    }

    /// Numbers of the input as values: what makes a check fail, or a decision go another way, whatever its digits.
    /// Says whether all was tried.
    fn try_numbers(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        route: &mut OwnRoute,
    ) -> Result<bool, EngineError> {
        let traced = &mut route.traced;
        let Some(mut numbered) = with_numbers(&traced.path, &mut traced.terms) else {
            return Ok(true);
        };
        let is_flipped = |number: &usize| can_flip(&numbered.path.events[*number]);
        let these = numbered.events.iter().copied().filter(is_flipped).collect();
        let task = Task {
            checks_from: Some(0),
            forks: Forks::These(these),
            fork_time: self.fork_time(seed),
        };
        std::mem::swap(&mut traced.path, &mut numbered.path);
        let deadline = Instant::now() + self.left() / 2;
        let analysis = self.worker.analyse(traced, subject, &task, deadline);
        std::mem::swap(&mut traced.path, &mut numbered.path);
        locked(&self.explorer.figures)
            .statistics
            .merge(&analysis.statistics);
        let failing = analysis.places.iter().flatten().map(|one| &one.changes);
        let flips = analysis.forks.iter().flat_map(|fork| &fork.flips);
        let models = failing.chain(flips.map(|flip| &flip.changes));
        let inputs: Vec<ShapedInput> = models
            .take(MAX_NUMBERS)
            .map(|model| ShapedInput {
                contents: numbered.contents(model),
                arguments: None,
            })
            .collect();
        self.run_shapes(seed, subject, route, inputs)
    }

    /// Tries what may grow, one after the other. Says whether all was tried.
    fn try_all(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        route: &OwnRoute,
        all: &[Growing],
        others_wait: bool,
    ) -> Result<bool, EngineError> {
        let steps = self.steps(seed, route, all);
        if steps.len() <= seed.state.progress.grown && self.to_fill(seed, &steps).is_empty() {
            return Ok(true);
        }
        let shared = self.explorer.shared;
        let limits = tight_limits(shared.config, route.traced.time);
        let capsule = &seed.test.capsule;
        let Ok(own) = self.worker.ask_twin(subject, capsule, &limits) else {
            return Ok(true);
        };
        let grown = Grown {
            subject,
            route,
            own,
            limits,
            directory: shared.new_directory(),
        };
        let mut is_done = true;
        let first = steps.get(seed.state.progress.grown).map(|step| step.reach);
        while let Some(step) = steps.get(seed.state.progress.grown).filter(|_| is_done) {
            if others_wait && first == Some(Reach::Few) && step.reach != Reach::Few {
                is_done = false;
                break;
            }
            if step.reach == Reach::Long && !self.fill_blocks(seed, &grown, all, &steps)? {
                is_done = false;
                break;
            }
            let growing = &all[step.number];
            let is_wanted = match step.reach {
                Reach::Few => self.is_first_of_kind(growing, route),
                Reach::Short | Reach::Long => !seed.memory.refused.contains(&step.number),
            };
            if is_wanted {
                let tried = self.try_to_grow(seed, &grown, growing, step.most, Climb::Turns)?;
                if tried.is_refused && step.reach != Reach::Few {
                    seed.memory.refused.insert(step.number);
                }
                // Only single bytes fill a block exactly, whatever its size.
                if step.reach == Reach::Short && growing.size(&seed.test.capsule.arguments) == 1 {
                    seed.memory.enlarging.insert(step.number, tried.enlarged);
                }
            }
            is_done = !self.is_over();
            seed.state.progress.grown += usize::from(is_done);
            seed.state.progress.repeated += usize::from(is_done && step.is_last);
        }
        if is_done {
            is_done = self.fill_blocks(seed, &grown, all, &steps)?;
        }
        // What is left behind is removed with the campaign's other leftovers.
        let _ = std::fs::remove_dir_all(&grown.directory);
        Ok(is_done)
    }

    /// Whether nothing alike has grown in the calls of any test.
    fn is_first_of_kind(&self, growing: &Growing, route: &OwnRoute) -> bool {
        match growing {
            Growing::Parts(parts) => {
                let likeness = parts.likeness(&route.traced.path.channels);
                locked(&self.explorer.grown).insert(likeness)
            }
            Growing::Arguments(_) => true,
        }
    }

    /// Fills blocks that the program makes larger to their last bytes. Says whether all was tried.
    fn fill_blocks(
        &self,
        seed: &mut Seed,
        grown: &Grown,
        all: &[Growing],
        steps: &[Step],
    ) -> Result<bool, EngineError> {
        for number in self.to_fill(seed, steps) {
            let Some(step) = steps.iter().find(|step| step.number == number) else {
                continue;
            };
            self.try_to_grow(seed, grown, &all[number], step.most, Climb::FilledBlocks)?;
            if self.is_over() {
                return Ok(false);
            }
            seed.memory.enlarging.remove(&number);
        }
        seed.memory.enlarging.clear();
        Ok(true)
    }

    /// The parts whose repetition makes blocks larger. Those that do so equally often probably fill the same blocks: one of
    /// each such group comes first.
    fn to_fill(&self, seed: &Seed, steps: &[Step]) -> Vec<usize> {
        let mut met: HashMap<u64, usize> = HashMap::new();
        let mut parts: Vec<(usize, usize)> = Vec::new();
        for (number, enlarged) in &seed.memory.enlarging {
            if *enlarged > 0 && steps.iter().any(|step| step.number == *number) {
                let group = met.entry(*enlarged).or_default();
                parts.push((*group, *number));
                *group += 1;
            }
        }
        parts.sort_unstable();
        parts.truncate(MAX_TO_FILL);
        parts.into_iter().map(|(_, number)| number).collect()
    }

    /// What is tried with each thing that may grow: where calls are the input, all of them with a few turns; then all of them in
    /// inputs that take little time, then those for which there is more room, in longer ones.
    fn steps(&self, seed: &Seed, route: &OwnRoute, all: &[Growing]) -> Vec<Step> {
        let wanted = self.explorer.shared.config.grow;
        let channels = &route.traced.path.channels;
        let most = |growing: &Growing, bytes: usize| {
            growing.most_turns(channels, &seed.test.capsule.arguments, wanted, bytes)
        };
        let numbered = || all.iter().enumerate();
        let is_of_calls = !seed.test.calls.is_empty();
        let few = numbered()
            .filter(|_| is_of_calls)
            .map(|(number, growing)| Step {
                number,
                most: most(growing, FIRST_BYTES).min(FIRST_TURNS),
                is_last: false,
                reach: Reach::Few,
            });
        let short = numbered().map(|(number, growing)| {
            let most_first = most(growing, FIRST_BYTES);
            Step {
                number,
                most: most_first,
                is_last: most_first == most(growing, usize::MAX),
                reach: Reach::Short,
            }
        });
        let short: Vec<Step> = short.collect();
        let long = short.iter().filter(|step| !step.is_last).map(|step| Step {
            number: step.number,
            most: most(&all[step.number], usize::MAX),
            is_last: true,
            reach: Reach::Long,
        });
        let long: Vec<Step> = long.collect();
        few.chain(short).chain(long).collect()
    }

    /// Runs inputs of other shapes as derived paths: what they record is looked at, as that of a flip is, and they
    /// become starting points. Says whether all could be run.
    fn run_shapes(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        route: &OwnRoute,
        inputs: Vec<ShapedInput>,
    ) -> Result<bool, EngineError> {
        let capsule = Arc::new(seed.test.capsule.clone());
        let mut pending = BreadthFirst::default();
        for input in inputs {
            let mut hasher = SipHasher13::new();
            (seed.state.digest, &input).hash(&mut hasher);
            let name = hasher.finish();
            pending.add(PendingFlip {
                capsule: capsule.clone(),
                channels: route.channels.clone(),
                alteration: Alteration::Shape(input),
                outcome: (name, 0),
                node: Node(name),
                prediction: Prediction::Nothing,
                point: NO_POINT,
                depth: 1,
                leaves: None,
                staleness: 0,
                moves_lines: false,
                is_about_refused: false,
            });
        }
        let context = Context {
            subject,
            own: &route.channels,
            extent: Extent::Bound {
                distance: 1,
                bound: depth_bound(1),
            },
        };
        self.run_all(seed, &context, NO_POINT, pending)
    }

    /// Tries one thing: more and more of it, then the least that fails.
    fn try_to_grow(
        &self,
        seed: &mut Seed,
        grown: &Grown,
        growing: &Growing,
        most: u64,
        climb: Climb,
    ) -> Result<Tried, EngineError> {
        let (capsule, path) = (&seed.test.capsule, &grown.route.traced.path);
        let case = Case {
            test: &seed.test,
            own: &grown.route.channels,
            capsule,
            path,
            distance: 1,
        };
        let known = Known {
            baseline: seed.baseline.as_deref().unwrap_or_default(),
            found: &seed.state.found,
            everywhere: &self.explorer.defects,
        };
        let trials = self.trials(grown.subject, grown.limits.clone());
        let mut confirmer = Confirmer::new(trials, case, known);
        let seen: RefCell<Vec<(FailureName, Complaint)>> = RefCell::default();
        let mut unended = 0;
        let mut attempt = |turns: u64| {
            if !self.may_try(!seen.borrow().is_empty()) || unended >= MAX_UNENDED {
                return None;
            }
            let answer = self.run_grown(capsule, grown, growing, turns)?;
            unended += u32::from(answer.exceeded.is_some() && answer.complaints.is_empty());
            let (answer_said, enlarged) = (said(&answer), answer.enlarged);
            let mut news = confirmer.news(answer.complaints);
            news.retain(|complaint| !complaint.text.contains(STACK_USED_UP));
            let failures = news.iter().map(name).collect();
            let named = news.into_iter().map(|it| (name(&it), it));
            seen.borrow_mut().extend(named);
            Some(Attempt {
                failures,
                answer: answer_said,
                enlarged,
            })
        };
        // What can be no nearer than what is known is not looked for.
        let size = growing.size(&capsule.arguments).max(1);
        let nearer = |failure: &FailureName| {
            let seen = seen.borrow();
            let it = seen.iter().find(|(name, _)| name == failure);
            let known = it.and_then(|(_, complaint)| confirmer.known_cost(complaint));
            known.map_or(u64::MAX, |cost| cost.saturating_sub(1) / size)
        };
        let own = Attempt {
            failures: Vec::new(),
            answer: said(&grown.own),
            enlarged: grown.own.enlarged,
        };
        let ladder = Ladder::new(own, &mut attempt).of_calls(!seed.test.calls.is_empty());
        let climbed = match climb {
            Climb::Turns => ladder.climb(most, &nearer),
            Climb::FilledBlocks => ladder.fill(most, &nearer),
        };
        for (failure, turns) in climbed.failures {
            confirmer.tell_longer(growing, turns, &|it| name(it) == failure)?;
        }
        let found = std::mem::take(&mut confirmer.found);
        self.add(&found)?;
        defects::take_in(&mut seed.state.found, found);
        Ok(Tried {
            is_refused: climbed.is_refused,
            enlarged: climbed.enlarged,
        })
    }

    /// Whether there is time for one more run: a failure that was seen is made as small as it can be, whatever the
    /// unit's share.
    fn may_try(&self, has_failed: bool) -> bool {
        match has_failed {
            true => !self.explorer.is_over(),
            false => !self.is_over(),
        }
    }

    /// What the twin says of the test's input with so many turns more.
    fn run_grown(
        &self,
        capsule: &Capsule,
        grown: &Grown,
        growing: &Growing,
        turns: u64,
    ) -> Option<TwinAnswer> {
        let channels = &grown.route.traced.path.channels;
        let longer = growing.grown(channels, &capsule.arguments, turns);
        let written = inputs::write_shaped(capsule, channels, &longer, &grown.directory).ok()?;
        let answer = (self.worker).ask_twin_to_the_end(grown.subject, &written, &grown.limits);
        answer.ok()
    }
}

fn name(complaint: &Complaint) -> FailureName {
    let mut place = complaint.places.first().cloned();
    if complaint.kinds == [Kind::Hang] {
        // Where in its loop it was stopped is a matter of chance.
        place = place.map(|place| Place {
            line: 0,
            column: 0,
            ..place
        });
    }
    (complaint.kinds.clone(), place)
}

/// How a program ended, whether it had to be ended, and whether it complained.
fn said(answer: &TwinAnswer) -> (Ended, bool, bool) {
    (answer.ended, answer.exceeded.is_some(), answer.is_silent)
}
