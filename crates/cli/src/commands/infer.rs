//! `nearmiss infer`: what must hold for a safe call of a function.

mod many;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nearmiss_harness::Prototype;
use nearmiss_infer::{
    Fuzzing, InferConfig, InferError, Origin, Progress, Subject, WhiteBox, Wishes,
};
use nearmiss_report::precondition;
use nearmiss_results::PreconditionReport;

use crate::arguments::{EffortArguments, Form, Format, FuzzingChoice, InferArguments};
use crate::display::{Display, Mode, precondition::Inference};
use crate::{FOUND, NOTHING, environment, output, signals};

/// Infers preconditions, prints and writes them.
pub fn infer(arguments: &InferArguments) -> Result<u8, String> {
    let directory = directory(arguments)?;
    let config = config(arguments, &directory)?;
    let prototypes = config
        .subject
        .prototypes(&directory)
        .map_err(|error| error.to_string())?;
    signals::install();
    let Some(function) = &arguments.function else {
        return many::infer(arguments, &config, &prototypes);
    };
    let prototype = find(&prototypes, function)?;
    let progress = Arc::new(Progress::default());
    let display = Display::start(
        Inference::new(progress.clone()),
        Mode::choose(arguments.quiet),
    );
    let report = one(arguments, &config, &prototypes, prototype, &progress);
    display.finish();
    let report = report?;
    tell(&report, arguments)?;
    if let Some(path) = &arguments.result.output {
        many::keep(path, std::slice::from_ref(&report))?;
    }
    Ok(match report.relation.as_deref() {
        None | Some("exact") => NOTHING,
        Some(_) => FOUND,
    })
}

/// One function.
fn one(
    arguments: &InferArguments,
    config: &InferConfig,
    prototypes: &[Prototype],
    prototype: &Prototype,
    progress: &Progress,
) -> Result<PreconditionReport, String> {
    let specification = arguments.result.compare.as_ref();
    let makers = nearmiss_infer::makers(prototypes, prototype);
    let report = nearmiss_infer::infer(config, prototype, &makers, specification, progress);
    report.map_err(|error| {
        let is_opaque = matches!(error, InferError::Opaque(_));
        let hint = match is_opaque && !makers.is_empty() {
            false => String::new(),
            true => format!(
                "; infer a wrapper that gets it from {}",
                makers.join(" or ")
            ),
        };
        format!("{}: {error}{hint}", prototype.function)
    })
}

fn find<'a>(prototypes: &'a [Prototype], function: &str) -> Result<&'a Prototype, String> {
    prototypes
        .iter()
        .find(|prototype| prototype.function == function)
        .ok_or_else(|| {
            let others = prototypes
                .iter()
                .map(|prototype| prototype.function.clone());
            let others =
                others.filter(|name| name.contains(function) || function.contains(name.as_str()));
            InferError::NoFunction(function.into(), others.take(8).collect()).to_string()
        })
}

fn tell(report: &PreconditionReport, arguments: &InferArguments) -> Result<(), String> {
    let text = match (arguments.result.form, arguments.result.format) {
        (Some(Form::Formula), _) => format!("{}\n", report.formula),
        (Some(Form::C), _) => report.c.clone(),
        (Some(Form::Assert), _) => report.asserts.clone(),
        (Some(Form::Acsl), _) => report.acsl.clone(),
        (Some(Form::Contract), _) => report.contract.clone(),
        (Some(Form::Require), _) => match &report.require {
            Some(require) => format!("{require}\n"),
            None => return Err("explore --require has no word for a term of it".into()),
        },
        (None, Format::Json) => report.to_json(),
        (None, Format::Text) => precondition::text(report),
    };
    output::result(text.as_bytes())
}

/// What is to be done.
fn config(arguments: &InferArguments, directory: &Path) -> Result<InferConfig, String> {
    let (variables, effort) = (&arguments.variables, &arguments.effort);
    Ok(InferConfig {
        subject: subject(arguments)?,
        wishes: Wishes {
            ranges: variables.range.clone(),
            sentinels: variables.sentinel.clone(),
            before: variables.before,
            elements: variables.elements,
            aliases: !variables.no_alias,
            opaque: variables.opaque,
            magic: variables.magic.clone(),
        },
        predicates: variables.predicate.clone(),
        fuzzing: match effort.fuzzing {
            FuzzingChoice::Smart => Fuzzing::Smart,
            FuzzingChoice::Naive => Fuzzing::Naive,
        },
        tests: effort.tests,
        assignments: effort.assignments,
        seed: effort.seed,
        linear: !variables.no_linear,
        time: effort.time,
        white_box: white_box(effort)?,
        sandbox: environment::sandbox(arguments.no_sandbox)?,
        directory: directory.to_path_buf(),
        stop: &signals::STOP,
    })
}

/// How long paths are explored, if they are.
fn white_box(effort: &EffortArguments) -> Result<Option<WhiteBox>, String> {
    const USUAL: Duration = Duration::from_secs(20);
    if effort.no_explore {
        return Ok(None);
    }
    let time = match effort.prove {
        true => effort.time,
        false => effort.time.min(USUAL),
    };
    let compiler = environment::compiler_config()?;
    Ok(Some(WhiteBox { compiler, time }))
}

fn subject(arguments: &InferArguments) -> Result<Subject, String> {
    let is_source = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "c");
    let origin = match (&arguments.header, arguments.files.iter().find(is_source)) {
        (Some(_), Some(file)) => {
            return Err(format!(
                "a header or a file, not both: {} is C",
                file.display()
            ));
        }
        (Some(header), None) => Origin::Header(header.clone()),
        (None, Some(file)) => Origin::Source(file.clone()),
        (None, None) => return Err("no C file among the files; for objects name a --header".into()),
    };
    let mut linked = Vec::new();
    for file in &arguments.files {
        fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
        if origin != Origin::Source(file.clone()) {
            linked.push(file.display().to_string());
        }
    }
    let is_linked = |word: &&String| {
        word.starts_with("-l") || word.starts_with("-L") || word.starts_with("-Wl,")
    };
    linked.extend(arguments.flags.iter().filter(is_linked).cloned());
    Ok(Subject {
        origin,
        clang: environment::compiler_config()?.clang,
        flags: arguments
            .flags
            .iter()
            .filter(|word| !is_linked(word))
            .cloned()
            .collect(),
        linked,
    })
}

/// Where runners are built and run.
fn directory(arguments: &InferArguments) -> Result<PathBuf, String> {
    let directory = environment::directory()?
        .join(&arguments.campaign.dir)
        .join("infer");
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    directory
        .canonicalize()
        .map_err(|error| format!("{}: {error}", directory.display()))
}
