//! Compiling many units, some at a time, each once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::TwinError;
use crate::claims::Claim;

/// Does `work` for each item with an object of its own, `most` at a time. The same object may be wanted twice.
pub fn each<T: Sync>(
    most: usize,
    items: &[(PathBuf, T)],
    work: impl Fn(&(PathBuf, T)) -> Result<(), TwinError> + Sync,
) -> Result<(), TwinError> {
    let mut jobs: Vec<&(PathBuf, T)> = items.iter().collect();
    jobs.sort_by_key(|(object, _)| object);
    jobs.dedup_by_key(|(object, _)| object);
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let worker = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = work(job) {
                // Nothing else needs to be tried.
                next.store(jobs.len(), Ordering::Relaxed);
                *failure.lock().expect("no thread panics") = Some(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..most.clamp(1, jobs.len().max(1)) {
            scope.spawn(worker);
        }
    });
    failure
        .into_inner()
        .expect("no thread panics")
        .map_or(Ok(()), Err)
}

/// Makes a file, unless that was done. Another thread waits rather than do the same work; another process may do it,
/// so what is unfinished has a name of its own.
pub fn once(
    object: &Path,
    make: impl FnOnce(&Path) -> Result<(), TwinError>,
) -> Result<(), TwinError> {
    let _claim = Claim::of(object);
    if object.exists() {
        return Ok(());
    }
    let unfinished = object.with_extension(format!("{}.o", std::process::id()));
    make(&unfinished)?;
    fs::rename(&unfinished, object).map_err(|error| TwinError::file(object, error))
}
