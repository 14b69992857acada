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
    let batch = Batch {
        arguments,
        config,
        prototypes,
        open,
        progress: &progress,
        next: AtomicUsize::new(0),
        done: Mutex::new(Vec::new()),
    };
    let reports = in_parallel(&batch);
    display.finish();
    let reports = reports?;
    let text = match arguments.result.format {
        Format::Json => nearmiss_report::precondition::json(&reports),
        Format::Text => precondition::table(&reports, prototypes.len() - batch.open.len()),
    };
    output::result(text.as_bytes())?;
    Ok(NOTHING)
}

fn in_parallel(batch: &Batch<'_>) -> Result<Vec<PreconditionReport>, String> {
    let jobs = batch.arguments.effort.jobs.map_or_else(
        || thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let results: Vec<Result<(), String>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs)
            .map(|job| scope.spawn(move || batch.work(job)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"))
            .collect()
    });
    results.into_iter().collect::<Result<Vec<()>, String>>()?;
    let mut done = batch.done.lock().expect("no thread panics").clone();
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, report)| report).collect())
}

/// Functions that are looked at side by side.
struct Batch<'a> {
    arguments: &'a InferArguments,
    config: &'a InferConfig,
    prototypes: &'a [Prototype],
    open: Vec<&'a Prototype>,
    progress: &'a Progress,
    next: AtomicUsize,
    done: Mutex<Vec<(usize, PreconditionReport)>>,
}

impl Batch<'_> {
    /// Takes one function after the other, in a directory of its own.
    fn work(&self, job: usize) -> Result<(), String> {
        let directory = self.config.directory.join(format!("job-{job}"));
        fs::create_dir_all(&directory)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        let config = InferConfig {
            directory,
            ..self.config.clone()
        };
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let is_stopped = signals::STOP.load(Ordering::Relaxed);
            let Some(prototype) = self.open.get(index).filter(|_| !is_stopped) else {
                return Ok(());
            };
            let report = self.report(&config, prototype);
            self.finish(index, report)?;
        }
    }

    fn report(&self, config: &InferConfig, prototype: &Prototype) -> PreconditionReport {
        let own = Progress::default();
        let report = one(self.arguments, config, self.prototypes, prototype, &own);
        report.unwrap_or_else(|why| PreconditionReport {
            version: nearmiss_results::VERSION,
            function: prototype.function.clone(),
            file: config.subject.name(),
            prototype: prototype.declaration.clone(),
            skipped: Some(why),
            ..PreconditionReport::default()
        })
    }

    /// Keeps a report. A function that was stopped in the middle is begun again next time.
    fn finish(&self, index: usize, report: PreconditionReport) -> Result<(), String> {
        let is_stopped = signals::STOP.load(Ordering::Relaxed);
        let mut done = self.done.lock().expect("no thread panics");
        self.progress
            .tests
            .fetch_add(report.tests, Ordering::Relaxed);
        if let (Some(path), false) = (&self.arguments.result.output, is_stopped) {
            keep(path, std::slice::from_ref(&report))?;
        }
        done.push((index, report));
        let count = format!("{} of {} functions", done.len(), self.open.len());
        self.progress.enter(&count);
        Ok(())
    }
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
