//! Every function of a header or file: in parallel, resumable, with a table at the end.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use nearmiss_contracts::Contract;
use nearmiss_harness::Prototype;
use nearmiss_infer::{InferConfig, Progress};
use nearmiss_report::precondition;
use nearmiss_results::PreconditionReport;

use super::one;
use crate::arguments::{Format, InferArguments};
use crate::display::{Display, Mode, precondition::Inference};
use crate::{NOTHING, output, signals};

/// Infers them all. What a file of contracts has already is left as it is.
pub fn infer(
    arguments: &InferArguments,
    config: &InferConfig,
    prototypes: &[Prototype],
) -> Result<u8, String> {
    if prototypes.is_empty() {
        return Err(format!("{} has no function", config.subject.name()));
    }
    let known = match &arguments.result.output {
        Some(path) => contracts(path)?,
        None => Vec::new(),
    };
    let is_known = |prototype: &&Prototype| {
        known
            .iter()
            .any(|contract| contract.function == prototype.function)
    };
    let open: Vec<&Prototype> = prototypes
        .iter()
        .filter(|prototype| !is_known(prototype))
        .collect();
    let progress = Arc::new(Progress::default());
    let display = Display::start(
        Inference::new(progress.clone()),
        Mode::choose(arguments.quiet),
    );
    let reports = in_parallel(arguments, config, &open, &progress);
    display.finish();
    let reports = reports?;
    let text = match arguments.result.format {
        Format::Json => nearmiss_report::precondition::json(&reports),
        Format::Text => precondition::table(&reports, prototypes.len() - open.len()),
    };
    output::result(text.as_bytes())?;
    Ok(NOTHING)
}

fn in_parallel(
    arguments: &InferArguments,
    config: &InferConfig,
    open: &[&Prototype],
    progress: &Progress,
) -> Result<Vec<PreconditionReport>, String> {
    let jobs = arguments.effort.jobs.map_or_else(
        || thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, PreconditionReport)>> = Mutex::new(Vec::new());
    let work = |job: usize| -> Result<(), String> {
        let directory = config.directory.join(format!("job-{job}"));
        fs::create_dir_all(&directory)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        let config = InferConfig {
            directory,
            ..config.clone()
        };
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(prototype) = open
                .get(index)
                .filter(|_| !signals::STOP.load(Ordering::Relaxed))
            else {
                return Ok(());
            };
            let own = Progress::default();
            let report =
                one(arguments, &config, prototype, &own).unwrap_or_else(|why| PreconditionReport {
                    version: nearmiss_results::VERSION,
                    function: prototype.function.clone(),
                    file: config.subject.name(),
                    prototype: prototype.declaration.clone(),
                    skipped: Some(why),
                    ..PreconditionReport::default()
                });
            // A function that was stopped in the middle is begun again next time.
            let stopped = signals::STOP.load(Ordering::Relaxed);
            let mut done = done.lock().expect("no thread panics");
            progress.tests.fetch_add(report.tests, Ordering::Relaxed);
            done.push((index, report));
            progress.enter(&format!("{} of {} functions", done.len(), open.len()));
            if let (Some(path), Some((_, report)), false) =
                (&arguments.result.output, done.last(), stopped)
            {
                keep(path, std::slice::from_ref(report))?;
            }
        }
    };
    let results: Vec<Result<(), String>> = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..jobs)
            .map(|job| scope.spawn(move || work(job)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"))
            .collect()
    });
    results.into_iter().collect::<Result<Vec<()>, String>>()?;
    let mut done = done.into_inner().expect("no thread panics");
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, report)| report).collect())
}

/// The contracts of a file; none if it is not there.
fn contracts(path: &Path) -> Result<Vec<Contract>, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(_) if !path.exists() => return Ok(Vec::new()),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    if !text.starts_with(nearmiss_contracts::file::HEAD) {
        return Err(format!(
            "{} has no contracts in it, so it is not written over: remove it, or choose another name",
            path.display()
        ));
    }
    nearmiss_contracts::read(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Puts contracts into a file; those of the same functions are replaced.
pub fn keep(path: &Path, reports: &[PreconditionReport]) -> Result<(), String> {
    let mut all = contracts(path)?;
    for report in reports.iter().filter(|report| report.skipped.is_none()) {
        let new = nearmiss_contracts::read(&report.contract)?;
        all.retain(|old| old.function != report.function);
        all.extend(new);
    }
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    // A file that is only half written would be refused the next time.
    let new = path.with_added_extension("new");
    fs::write(&new, nearmiss_contracts::write(&all)).map_err(failed)?;
    fs::rename(&new, path).map_err(failed)
}
