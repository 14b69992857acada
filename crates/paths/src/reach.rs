//! Can this place be reached? An exploration of a function that is after a target, and what its report says
//! about that.

use nearmiss_abi::event::FORBIDDEN_STEP;
use nearmiss_flow::FlowGraph;
use nearmiss_results::{Finding, FunctionReport, ReachReport, ReachVerdict, Status, VERSION};
use nearmiss_search::Tally;
use nearmiss_trace::Event;

use crate::build::{MOST_READ, MOST_REFUSED, Programs, REACHED, TargetMark};
use crate::error::ExploreError;
use crate::explorer::{Arrival, Explorer};
use crate::guide::Guide;
use crate::{Config, explore};

/// The answer, and the exploration that it comes from: its tests, of which there may be as many as are wanted, reach the target.
#[derive(Debug)]
pub struct ReachOutcome {
    /// The answer.
    pub report: ReachReport,
    /// The exploration.
    pub exploration: FunctionReport,
}

impl ReachOutcome {
    /// Whether a run failed before it came to the target: what lies behind that was not looked at.
    pub fn has_failed_before(&self) -> bool {
        self.exploration.failed_before > 0
    }

    /// Of several tests the one at this place is the answer.
    pub fn choose(&mut self, place: usize) {
        self.exploration.tests.swap(0, place);
        self.exploration.tests.truncate(1);
        if let Some(test) = self.exploration.tests.first_mut() {
            test.number = 1;
            self.report.memory = Some(test.before.clone());
            self.report.path.clone_from(&test.path);
        }
    }
}

/// Looks for an input that reaches the target of a configuration.
pub fn reach(config: &Config, tally: &Tally) -> Result<ReachOutcome, ExploreError> {
    let mut exploration = explore(config, tally)?;
    for after in exploration
        .tests
        .iter_mut()
        .filter_map(|test| test.after.as_mut())
    {
        // The harness's own word is no result of the function.
        after.variables.retain(|variable| variable.name != REACHED);
    }
    let steps = config.build.steps();
    let marks = |wanted: &dyn Fn(&TargetMark) -> bool| -> Vec<&TargetMark> {
        let found = config.build.marks.iter().filter(|mark| wanted(mark));
        found.collect()
    };
    let named = |marks: Vec<&TargetMark>| marks.iter().map(|mark| mark.place.to_string()).collect();
    // What is to fail lies behind all marks.
    let is_failing = (config.reach.as_ref()).is_some_and(|reach| reach.failing.is_some());
    let last = u16::from(steps) + u16::from(is_failing);
    let target = marks(&|mark| u16::from(mark.number) + 1 == last);
    let target = target.first();
    let figures = &exploration.figures;
    let test = exploration.tests.first();
    let failing = config
        .reach
        .as_ref()
        .and_then(|reach| reach.failing.as_ref());
    let is_confirmed = |found: &Finding| found.status == Status::Confirmed;
    let is_certain = failing.is_none() || exploration.findings.iter().any(is_confirmed);
    let verdict = match (test, exploration.is_complete()) {
        (Some(_), _) if is_certain => ReachVerdict::Reached,
        (Some(_), _) => ReachVerdict::Unknown,
        (None, true) => ReachVerdict::Infeasible,
        (None, false) => ReachVerdict::Unknown,
    };
    let reason = (verdict == ReachVerdict::Unknown).then(|| match test {
        Some(_) => {
            let of_twin = |it: &&String| it.contains("sanitizer twin");
            let trouble = exploration.incomplete.iter().find(of_twin).cloned();
            trouble.unwrap_or_else(|| NOT_CONFIRMED.to_string())
        }
        None => exploration.incomplete.join("; "),
    });
    let named_lines = failing.map(|lines| format!("{}:{}", lines.file.display(), lines.first));
    let report = ReachReport {
        version: VERSION,
        target: target
            .map(|mark| mark.place.to_string())
            .or(named_lines)
            .unwrap_or_default(),
        when: target.and_then(|mark| mark.when.clone()),
        via: named(marks(&|mark| u16::from(mark.number) + 1 < last)),
        not_through: named(marks(&|mark| mark.number == FORBIDDEN_STEP)),
        function: exploration.function.clone(),
        verdict,
        runs: figures.runs,
        queries: figures.questions,
        pruned: figures.pruned,
        seconds: figures.seconds,
        input: None,
        memory: test.map(|test| test.before.clone()),
        path: test.map_or_else(Vec::new, |test| test.path.clone()),
        reason,
        assumed: assumed(config, &exploration, verdict),
        ..ReachReport::default()
    };
    Ok(ReachOutcome {
        report,
        exploration,
    })
}

/// Whether what cannot lead to a target is left out.
pub(crate) fn is_guided(config: &Config) -> bool {
    config.reach.as_ref().is_some_and(|reach| reach.is_guided)
}

/// The way to the target, if there is one.
pub(crate) fn guide(config: &Config, programs: &Programs) -> Result<Option<Guide>, ExploreError> {
    let Some(reach) = &config.reach else {
        return Ok(None);
    };
    let flows = nearmiss_twin::flows_of(&programs.recording, &[])?;
    // A stub of what no file defines ends the run.
    let graph = FlowGraph::new(&flows, &programs.undefined.functions);
    if let Some(lines) = &reach.failing {
        let sites = nearmiss_twin::sites_of(&programs.recording);
        let place = || format!("{}:{}", lines.file.display(), lines.first);
        let guide = Guide::to_failure(graph, &sites, lines, config.build.steps());
        return guide.map(Some).ok_or_else(|| ExploreError::NoCode(place()));
    }
    let no_code = |step: u8| {
        let mut marks = config.build.marks.iter();
        let mark = marks.find(|mark| mark.number == step);
        ExploreError::NoCode(mark.map_or(String::new(), |mark| mark.place.to_string()))
    };
    let guide = Guide::new(graph, config.build.steps());
    guide.map(Some).map_err(no_code)
}

/// Whether a run came to the target, before anything failed; or failed at it, if that is wanted.
pub(crate) fn has_reached(config: &Config, explorer: &Explorer<'_>, arrival: &Arrival) -> bool {
    let Some(reach) = &config.reach else {
        return false;
    };
    if let Some(lines) = &reach.failing {
        let sites = &explorer.workspace.sites;
        let failed = arrival.failed();
        let steps = config.build.steps();
        let is_it = |event: &Event| event.steps_passed >= steps && lines.have(sites, event.site);
        return failed.is_some_and(is_it);
    }
    let steps = config.build.steps();
    let failed_before = |event: &Event| event.steps_passed < steps;
    arrival.recorded.path.steps_passed >= steps && !arrival.failed().is_some_and(failed_before)
}

/// What an answer rests on.
fn assumed(config: &Config, exploration: &FunctionReport, verdict: ReachVerdict) -> Vec<String> {
    if verdict == ReachVerdict::Reached {
        // An input that was run needs no assumption.
        return Vec::new();
    }
    let mut assumed = exploration.bounds.clone();
    assumed.extend_from_slice(&exploration.conventions);
    let notes = exploration.assumed.iter();
    assumed.extend(
        notes
            .filter(|note| !exploration.bounds.contains(note))
            .cloned(),
    );
    let request = config.request.as_ref();
    if let Some(precondition) = request.and_then(|it| it.precondition.as_ref()) {
        assumed.push(format!("the input is accepted by {precondition}"));
    }
    let rules = request.map_or(&[][..], |it| &it.rules).iter();
    let rules = rules.filter(|rule| !rule.is_general);
    assumed.extend(rules.map(|rule| {
        let (word, target) = (rule.kind.word(), &rule.target);
        match rule.value.as_str() {
            "" => format!("--{word} {target}"),
            value => format!("--{word} {target}={value}"),
        }
    }));
    let requirements = request.map_or(&[][..], |it| &it.requirements);
    assumed.extend(
        requirements
            .iter()
            .map(|it| format!("the input fulfils {it}")),
    );
    if verdict == ReachVerdict::Infeasible {
        assumed.push(FAILURES.into());
        assumed.push(UNWRITTEN.into());
        assumed.push(ADDRESSES.into());
        if config
            .reach
            .as_ref()
            .is_some_and(|reach| reach.failing.is_some())
        {
            if config.build.answers {
                assumed.push(format!("of what is read from files the first {MOST_READ} bytes are inputs, then they end"));
                assumed.push(ONE_SEQUENCE.into());
            }
            assumed.push(match config.build.refuses {
                true if config.build.answers => format!(
                    "of allocations, opened and closed files only the first {MOST_REFUSED} may fail"
                ),
                true => format!("of allocations only the first {MOST_REFUSED} may fail"),
                false => ALLOCATIONS.into(),
            });
        }
        if config.build.wraps {
            assumed.push(WRAPS.into());
        }
    }
    assumed
}

const NOT_CONFIRMED: &str = "a check fails there, but the sanitizer twin does not complain";
const FAILURES: &str = "a path ends at its first failure (memory, division, assertion)";
const UNWRITTEN: &str = "memory that was never written is not read";
const ADDRESSES: &str = "memory lies where it lies here: an address as a number is no input";
const ALLOCATIONS: &str = "memory is there: an allocation fails only where its size is an input";
const ONE_SEQUENCE: &str = "all files that are read give one sequence of bytes, a call as many as it asks for; what fails leaves `errno` as it was";
const WRAPS: &str = "signed arithmetic wraps around (--overflow error: it is a failure)";
