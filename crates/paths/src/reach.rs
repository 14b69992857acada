//! Can this place be reached? An exploration of a function that is after a target, and what its report says
//! about that.

use nearmiss_abi::event::FORBIDDEN_STEP;
use nearmiss_results::{Finding, FunctionReport, ReachReport, ReachVerdict, Status, VERSION};
use nearmiss_search::Tally;

use crate::build::Mark;
use crate::error::ExploreError;
use crate::{Config, explore};

/// The answer, and the exploration that it comes from: its only test, if any, reaches the target.
#[derive(Debug)]
pub struct Reached {
    /// The answer.
    pub report: ReachReport,
    /// The exploration.
    pub exploration: FunctionReport,
}

/// Looks for an input that reaches the target of a configuration.
pub fn reach(config: &Config, tally: &Tally) -> Result<Reached, ExploreError> {
    let exploration = explore(config, tally)?;
    let steps = config.build.steps();
    let marks = |wanted: &dyn Fn(&Mark) -> bool| -> Vec<&Mark> {
        let found = config.build.marks.iter().filter(|mark| wanted(mark));
        found.collect()
    };
    let named = |marks: Vec<&Mark>| marks.iter().map(|mark| mark.place.to_string()).collect();
    let target = marks(&|mark| mark.number + 1 == steps);
    let target = target.first();
    let figures = &exploration.figures;
    let test = exploration.tests.first();
    let failing = config.reach.as_ref().and_then(|reach| reach.failing.as_ref());
    let is_confirmed = |found: &Finding| found.status == Status::Confirmed;
    let is_certain = failing.is_none() || exploration.findings.iter().any(is_confirmed);
    let verdict = match (test, exploration.is_complete()) {
        (Some(_), _) if is_certain => ReachVerdict::Reached,
        (Some(_), _) => ReachVerdict::Unknown,
        (None, true) => ReachVerdict::Infeasible,
        (None, false) => ReachVerdict::Unknown,
    };
    let reason = (verdict == ReachVerdict::Unknown).then(|| match test {
        Some(_) => "a check fails there, but the sanitizer twin does not complain".to_string(),
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
        via: named(marks(&|mark| mark.number + 1 < steps)),
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
        replay: None,
    };
    Ok(Reached {
        report,
        exploration,
    })
}

/// What an answer rests on.
fn assumed(config: &Config, exploration: &FunctionReport, verdict: ReachVerdict) -> Vec<String> {
    let mut assumed = exploration.bounds.clone();
    let notes = exploration.assumed.iter();
    assumed.extend(notes.filter(|note| !exploration.bounds.contains(note)).cloned());
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
    assumed.extend(requirements.iter().map(|it| format!("the input fulfils {it}")));
    if verdict == ReachVerdict::Infeasible {
        assumed.push(FAILURES.into());
        if config.reach.as_ref().is_some_and(|reach| reach.failing.is_some()) {
            assumed.push(ALLOCATIONS.into());
        }
        if config.build.wraps {
            assumed.push(WRAPS.into());
        }
    }
    assumed
}

const FAILURES: &str = "a path ends at its first failure (memory, division, assertion)";
const ALLOCATIONS: &str = "memory is there: an allocation fails only where its size is an input";
const WRAPS: &str = "signed arithmetic wraps around (--overflow error: it is a failure)";
