//! What arrives: tests, with what is to be thought of them, and what was lost on the way.

use std::collections::BTreeMap;

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::{EventKind, PHASE_FUNCTION, PHASE_ORACLE};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_harness::{INPUT, Plan, RETURNED, VERDICT};
use nearmiss_judge::{spot, steps};
use nearmiss_results::{Memory, PathTest, Role, Step, Value, Variable, Verdict};
use nearmiss_server::Ended;
use nearmiss_sites::Sites;
use nearmiss_trace::Event;

use crate::explorer::Arrival;
use crate::findings::Failed;
use crate::guide::Guide;
use crate::input::{Channels, Input, is_answer};

/// The signal of a division that cannot be done.
const SIGFPE: i32 = 8;

/// The row by which a stub of a function that no file defines says its name.
const MISSING: &str = "missing";

/// What has arrived so far.
#[derive(Debug, Default)]
pub struct Collection {
    /// The tests.
    pub tests: Vec<PathTest>,
    /// Those that failed.
    pub failed: Vec<Failed>,
    /// What was lost: kind and place, how often at most in one run.
    pub notes: BTreeMap<(NoteKind, SiteId), u64>,
    /// Of those, what was lost without a trace: paths may be missing because of it.
    pub losses: u64,
    /// Functions that were called and that no file defines.
    pub missing: BTreeMap<String, u64>,
    /// Recordings that stopped before their run did, or contradict themselves.
    pub damaged: u64,
    /// Runs that did not end in time.
    pub endless: u64,
    /// Runs that died before the check could be recorded that would say why.
    pub unexplained: u64,
    /// Results of the numbers of paths, for later runs on them.
    verdicts: BTreeMap<usize, Verdict>,
}

/// What tests are described with.
pub struct Describer<'a> {
    /// Where inputs lie; `None` for a harness of another tool.
    pub plan: Option<&'a Plan>,
    /// Names of channels.
    pub channels: &'a Channels,
    /// Places.
    pub sites: &'a Sites,
    /// The way to a target: what lies behind the last place from which it can be reached does not count.
    pub guide: Option<&'a Guide>,
    /// The steps that make up the way to a target, if there is one: paths are told up to the last.
    pub steps: Option<u8>,
    /// Whether the run that is taken came to the target.
    pub has_reached: bool,
}

impl Collection {
    /// Takes a run in; gives the number of the test that it became, from 1.
    pub fn take(&mut self, describer: &Describer<'_>, arrival: &Arrival) -> Option<usize> {
        self.note(describer, arrival);
        let is_lost = |guide: &Guide| guide.is_behind(arrival.events());
        if describer.guide.is_some_and(is_lost) && !describer.has_reached {
            return None;
        }
        let mut verdict = self.verdict(describer, arrival);
        let known = self.verdicts.get(&arrival.number);
        // A known path is of interest again only if the oracle finds its first fault there.
        let is_worse = verdict == Verdict::Fail && known != Some(&Verdict::Fail);
        if !arrival.is_new && !is_worse {
            // Nor is it if it violates no contract that other runs on it keep to.
            let violated = arrival.violated()?;
            verdict = Verdict::Failure(failure(describer.sites, violated));
        } else {
            self.verdicts.insert(arrival.number, verdict.clone());
        }
        let number = self.tests.len() + 1;
        let recorded = &arrival.recorded;
        let (before, after) = describer.memories(&recorded.input, &recorded.results);
        let rows = recorded.input.rows(describer.channels);
        let is_verdict = matches!(verdict, Verdict::Failure(_));
        if is_verdict || arrival.violated().is_some() {
            self.failed.push(Failed {
                test: number,
                check: check(describer.sites, arrival),
                is_verdict,
            });
        }
        self.tests.push(PathTest {
            number,
            before,
            after,
            rows,
            verdict,
            path: path(describer, arrival.events()),
        });
        Some(number)
    }

    /// Drops the newest test, with what was found on it.
    pub fn drop_last(&mut self) {
        let number = self.tests.len();
        self.tests.pop();
        self.failed.retain(|failed| failed.test != number);
    }

    /// What is to be thought of a run.
    fn verdict(&mut self, describer: &Describer<'_>, arrival: &Arrival) -> Verdict {
        let recorded = &arrival.recorded;
        if let Some(name) = recorded.result(MISSING) {
            let name = String::from_utf8_lossy(name).into_owned();
            *self.missing.entry(name.clone()).or_default() += 1;
            return Verdict::Ended(format!("calls {name}, which no file defines"));
        }
        // A division that ends the program takes along the check that would say how to avoid it.
        let has_died = recorded.ended == Some(Ended::Signal(SIGFPE)) && !arrival.was_foreseen;
        if has_died
            && arrival
                .failed()
                .is_some_and(|event| event.condition.is_none())
        {
            self.unexplained += 1;
        }
        match arrival.failed() {
            Some(event) if event.phase >= PHASE_ORACLE => return Verdict::Fail,
            Some(event) => return Verdict::Failure(failure(describer.sites, event)),
            None => {}
        }
        match (recorded.ended, recorded.result(RETURNED)) {
            (Some(Ended::Signal(signal)), _) => {
                self.unexplained += 1;
                Verdict::Failure(format!("signal {signal}"))
            }
            (None, _) => {
                self.endless += 1;
                Verdict::Ended("did not end in time".into())
            }
            // A harness of another tool has a `main` of its own.
            (Some(Ended::Exited(0)), None) if describer.plan.is_none() => Verdict::None,
            (Some(Ended::Exited(status)), None) => Verdict::Ended(format!("exit {status}")),
            (Some(Ended::Exited(_)), Some(_)) => match recorded.says_yes(VERDICT) {
                Some(true) => Verdict::Pass,
                Some(false) => Verdict::Fail,
                None => Verdict::None,
            },
        }
    }

    /// Remembers what a run lost. What was concretized is a condition of the path, and its other values
    /// are tried; what is in no event is gone. A run that was to fail is the one before up to there, and
    /// nothing counts behind.
    fn note(&mut self, describer: &Describer<'_>, arrival: &Arrival) {
        if arrival.was_foreseen {
            return;
        }
        let path = &arrival.recorded.path;
        // That a run did not end is said of it already.
        let is_behind = |guide: &Guide| guide.is_behind(arrival.events());
        let is_over = describer.guide.is_some_and(is_behind);
        let is_cut = path.stopped && !arrival.recorded.is_unended() && !is_over;
        self.damaged += u64::from(is_cut || path.inconsistent > 0);
        for note in &path.notes {
            let Some(kind) = NoteKind::from_code(note.kind) else {
                continue;
            };
            let site = SiteId(note.site);
            if describer.guide.is_some_and(|guide| !guide.matters(site)) {
                continue;
            }
            // These are always concretized, here or at an earlier place that concretized the same.
            if matches!(kind, NoteKind::Address | NoteKind::Size | NoteKind::Jump) {
                continue;
            }
            let is_concretized = |event: &Event| {
                event.kind == EventKind::Concretized
                    && event.site == site
                    && event.reason == Some(kind)
            };
            if path.events.iter().any(is_concretized) {
                continue;
            }
            let count = self.notes.entry((kind, site)).or_default();
            *count = (*count).max(note.count.into());
            self.losses += 1;
        }
    }
}

impl Describer<'_> {
    /// What the function was given, and what was there afterwards.
    fn memories(&self, input: &Input, results: &[(String, Vec<u8>)]) -> (Memory, Option<Memory>) {
        let Some(plan) = self.plan else {
            return (self.foreign(input), None);
        };
        let staging = (0..).map_while(|number| Some((number, self.channels.name(number)?)));
        let mut staging = staging.filter(|(_, (name, _))| *name == INPUT.as_bytes());
        let number = staging.next().map(|(number, _)| number);
        let staging = number.and_then(|number| input.content(number));
        let staging = staging.unwrap_or_default();
        let has_returned = results.iter().any(|(name, _)| name == RETURNED);
        let after = has_returned.then(|| plan.decode_results(staging, results));
        (plan.decode(staging), after)
    }

    /// The inputs of a harness of another tool: names and bytes.
    fn foreign(&self, input: &Input) -> Memory {
        let channels = (0..).map_while(|number| Some((number, self.channels.name(number)?)));
        let inputs = channels.filter(|(_, (name, _))| !is_answer(name));
        let variables = inputs.filter_map(|(number, (name, index))| {
            let name = String::from_utf8_lossy(name);
            let name = match index {
                0 => name.into_owned(),
                index => format!("{name}[{index}]"),
            };
            let content = input.content(number)?;
            Some(Variable {
                name,
                role: Role::Parameter,
                ctype: format!("unsigned char [{}]", content.len()),
                value: foreign_value(content),
            })
        });
        Memory {
            variables: variables.collect(),
            blocks: Vec::new(),
        }
    }
}

/// Bytes as a number where they have the size of one.
fn foreign_value(content: &[u8]) -> Value {
    let signed = |bits: u32| {
        let bytes = content.iter().rev();
        let value = bytes.fold(0i128, |value, byte| value << 8 | i128::from(*byte));
        (value << (128 - bits)) >> (128 - bits)
    };
    match content.len() {
        1 | 2 | 4 | 8 => Value::Integer {
            value: signed(8 * content.len() as u32),
            name: None,
        },
        _ => Value::Bytes(content.to_vec()),
    }
}

/// The steps of the function itself, and the values that were concretized: they may decide what follows.
fn path(describer: &Describer<'_>, events: &[Event]) -> Vec<Step> {
    let is_before_target = |event: &&Event| {
        let steps = describer.steps;
        steps.is_none_or(|steps| event.steps_passed < steps)
    };
    let own = |event: &&Event| {
        let is_step = event.is_step() || event.kind == EventKind::Concretized;
        event.phase == PHASE_FUNCTION && is_step
    };
    let decisions = events.iter().take_while(is_before_target).filter(own);
    let taken = |event| steps::taken(describer.sites, event);
    decisions.map(taken).collect()
}

/// The check at which a run failed.
fn check(sites: &Sites, arrival: &Arrival) -> Option<spot::Check> {
    let event = arrival.failed().or(arrival.violated())?;
    spot::check(sites, event.site, event.failure)
}

/// A failure in words: what, and where.
fn failure(sites: &Sites, event: &Event) -> String {
    match spot::check(sites, event.site, event.failure) {
        Some(check) => format!(
            "{} at {}:{}",
            check.spot.kind.name(),
            check.spot.file,
            check.spot.line
        ),
        None => event.failure.unwrap_or(Kind::Crash).name().to_string(),
    }
}
