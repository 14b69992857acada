//! White box: all paths of a function are explored on small inputs that a formula lets through, so either one of them fails, or
//! none can.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use nearmiss_contracts::print::{Dialect, text};
use nearmiss_contracts::{Attribute, Comparison, Formula};
use nearmiss_harness::{Prototype, Request, Rule, RuleKind, Shape};
use nearmiss_infer::InferConfig;
use nearmiss_paths::build::Sources;
use nearmiss_paths::{Config, Cover, Mode};
use nearmiss_report::words::counted;
use nearmiss_results::{FunctionReport, PreconditionReport};
use nearmiss_search::Tally;

use crate::arguments::InferArguments;
use crate::{environment, signals};

/// Most elements of a block, and most bytes of a string.
const LARGEST: u32 = 4;

/// What the exploration says, as a sentence.
pub fn prove(
    arguments: &InferArguments,
    config: &InferConfig,
    prototype: &Prototype,
    report: &PreconditionReport,
) -> Result<String, String> {
    let formula = nearmiss_contracts::parse(&report.formula).map_err(|error| error.to_string())?;
    let request = match request(prototype, &formula) {
        Ok(request) => request,
        Err(why) => return Ok(format!("Not explored: {why}.")),
    };
    let directory = config.directory.join("explored");
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let config = Config {
        build: Sources {
            files: arguments.files.clone(),
            flags: arguments.flags.clone(),
            compile_commands: None,
            compiler: environment::compiler_config()?,
            marks: Vec::new(),
            wraps: false,
        },
        request: Some(request),
        mode: Mode::Auto,
        cover: Cover::Paths,
        loops: None,
        recursion: None,
        time: arguments.effort.time,
        memory: 4 << 30,
        paths: None,
        query_time: Duration::from_secs(5),
        run_time: Duration::from_secs(1),
        solver: None,
        sandbox: environment::sandbox(arguments.no_sandbox)?,
        directory,
        reach: None,
        stop: &signals::STOP,
    };
    let tally = Arc::new(Tally::default());
    match nearmiss_paths::explore(&config, &tally) {
        Ok(explored) => Ok(sentence(&explored)),
        Err(error) => Ok(format!("Not explored: {error}.")),
    }
}

fn sentence(explored: &FunctionReport) -> String {
    let paths = counted(explored.tests.len() as u64, "path");
    let lost = explored.incomplete.first().or(explored.bounds.first());
    match (explored.findings.first(), lost) {
        (Some(finding), _) => format!(
            "Explored: the formula lets a call through that fails: {} at {}:{}:{}.",
            finding.kind.name(),
            finding.file,
            finding.line,
            finding.column
        ),
        (None, Some(why)) => {
            format!("Explored: no call fails on {paths}, but there may be more: {why}.")
        }
        (None, None) => format!(
            "Explored: no call that the formula lets through fails ({paths}, for sizes up to {LARGEST} and numbers up to {}).",
            LARGEST + 2
        ),
    }
}

/// The formula as requirements, and small sizes for all pointers. The error says what exploration has no word for.
fn request(prototype: &Prototype, formula: &Formula) -> Result<Request, String> {
    let conjuncts = formula.conjuncts();
    let is_string = |name: &str| conjuncts.iter().any(|part| says_terminated(part, name));
    let has_size = |name: &str| {
        let terms = formula.terms();
        terms
            .iter()
            .any(|term| term.place == name && term.attribute == Attribute::Find(0))
    };
    let mut rules = Vec::new();
    let mut rule = |kind: RuleKind, words: String| -> Result<(), String> {
        rules.push(Rule::parse(kind, &words).map_err(|error| error.to_string())?);
        Ok(())
    };
    for parameter in &prototype.parameters {
        let name = &parameter.name;
        match &parameter.shape {
            Shape::Pointer(_) if is_string(name) => {
                rule(RuleKind::String, format!("{name}={LARGEST}"))?
            }
            Shape::Pointer(_) if has_size(name) => {
                return Err(format!(
                    "{name} need not be a string, and exploration has no word for its length"
                ));
            }
            Shape::Pointer(of) if of.members.is_empty() => {
                rule(RuleKind::Size, format!("{name}=0..{LARGEST}"))?;
                rule(RuleKind::Null, name.clone())?;
            }
            Shape::Pointer(_) => return Err(format!("{name} leads to a structure")),
            Shape::Integer {
                signed, constants, ..
            } if constants.is_empty() => {
                let low = if *signed { -2 } else { 0 };
                rule(RuleKind::Range, format!("{name}={low}..{}", LARGEST + 2))?;
            }
            _ => {}
        }
    }
    let open = |part: &&&Formula| {
        !prototype
            .parameters
            .iter()
            .any(|p| says_terminated(part, &p.name))
    };
    let requirements = conjuncts
        .iter()
        .filter(open)
        .map(|part| text(part, Dialect::Require));
    Ok(Request {
        function: prototype.function.clone(),
        rules,
        requirements: requirements.collect(),
        depth: nearmiss_harness::DEFAULT_DEPTH,
        elements: nearmiss_harness::DEFAULT_ELEMENTS,
        ..Request::default()
    })
}

/// `bounds(p) > strlen(p)`
fn says_terminated(part: &Formula, name: &str) -> bool {
    let is = |side: &Formula, wanted: Attribute| matches!(side, Formula::Term(term) if term.place == name && term.attribute == wanted);
    matches!(part, Formula::Compare(Comparison::Greater, left, right)
        if is(left, Attribute::Bounds) && is(right, Attribute::Find(0)))
}
