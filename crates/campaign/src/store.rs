//! The campaign's directory: what nearmiss remembers between two commands.
//!
//! ```text
//!  .nearmiss/
//!    lock                 held while a nearmiss works here
//!    report.json          what the last command found
//!    inputs/NM-1/         the input of a finding: capsule.json and its files
//!    twins/               the sanitizer twins of programs
//!
//!    runs/1/              the program that `run` recorded
//!      capsule.json         the program, its arguments, environment, directory and inputs
//!      stdin, stdout        what it was fed, what it said (if that was not to be seen)
//!      files/NAME           contents of files that it changed or removed
//!      traces/PID.trace     what it recorded
//!
//!    tests/T1/            an execution of the suite of `test`; the same execution keeps its number
//!      test.json            what it is recognised by
//!      capsule.json, stdin, files/NAME
//!    tests/environments/  their environments, each once
//!    programs/            programs that the suite removed or replaced, or that lay in temporary directories
//!    captures/            what the suite's programs leave, as long as it runs
//!    suite.out            what the suite printed (if that was not to be seen)
//!
//!    run/, test/          what is known of the paths of each: see [`Kind`]
//!    explore-F/           what `explore` made of function F: a campaign of its own, with lock,
//!                         report.json and the programs
//! ```
//!
//! `run` and `test` do not touch each other's executions and results; report and inputs are those
//! of the command that came last.
//!
//! Files appear by being renamed, so a kill at any moment leaves whole files only. A run gets a
//! directory of its own; the one before it is removed when its report has been replaced.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nearmiss_results::Report;

use crate::error::CampaignError;

/// Where campaigns are kept if nobody says otherwise.
pub const USUAL_DIRECTORY: &str = ".nearmiss";

/// An open campaign.
#[derive(Debug)]
pub struct Campaign {
    root: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

impl Campaign {
    /// Opens a campaign's directory, which is made if it is not there.
    pub fn open(directory: &Path) -> Result<Campaign, CampaignError> {
        let failed = |error| CampaignError::Directory(directory.to_path_buf(), error);
        make_private(directory).map_err(failed)?;
        let root = directory.canonicalize().map_err(failed)?;
        let lock = File::create(root.join("lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Campaign { root, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(CampaignError::Busy(root)),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where inputs of findings are kept.
    pub fn inputs(&self) -> PathBuf {
        self.root.join("inputs")
    }

    /// Where what is known of the tests of a kind of command is kept.
    pub fn work(&self, kind: Kind) -> Work {
        Work {
            directory: self.root.join(kind.name()),
        }
    }

    /// Turns an error of a file in here into one that names this directory.
    pub fn failed(&self, error: io::Error) -> CampaignError {
        CampaignError::Directory(self.root.clone(), error)
    }

    /// Makes sure that there is room for a small recording at least, so that a full disk is
    /// said before the program runs and not mistaken for a path without checks.
    fn reserve_room(&self) -> Result<(), CampaignError> {
        const LEAST_ROOM: usize = 4 << 20;
        let probe = self.root.join("room");
        let written = fs::write(&probe, vec![0; LEAST_ROOM]);
        let removed = fs::remove_file(&probe);
        written.and(removed).map_err(|error| self.failed(error))
    }

    /// A directory for a new run.
    pub fn new_run(&self) -> Result<RunDirectory, CampaignError> {
        self.reserve_room()?;
        let runs = self.root.join("runs");
        let make = || -> io::Result<PathBuf> {
            fs::create_dir_all(&runs)?;
            let last = numbers(&runs)?.into_iter().max().unwrap_or(0);
            let path = runs.join((last + 1).to_string());
            fs::create_dir(&path)?;
            fs::create_dir(path.join("traces"))?;
            fs::create_dir(path.join("captures"))?;
            fs::create_dir(path.join("inputs"))?;
            Ok(path)
        };
        make()
            .map(|path| RunDirectory { path })
            .map_err(|error| self.failed(error))
    }

    /// Removes all runs but this one.
    pub fn keep_only(&self, run: &RunDirectory) -> Result<(), CampaignError> {
        let runs = self.root.join("runs");
        let clean = || -> io::Result<()> {
            for number in numbers(&runs)? {
                let path = runs.join(number.to_string());
                if path != run.path {
                    fs::remove_dir_all(path)?;
                }
            }
            Ok(())
        };
        clean().map_err(|error| self.failed(error))
    }

    /// Removes inputs that are of no finding.
    pub fn clean_inputs(&self) -> Result<(), CampaignError> {
        let inputs = self.inputs();
        let clean = || -> io::Result<()> {
            if !inputs.exists() {
                return Ok(());
            }
            for entry in fs::read_dir(&inputs)? {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if name.starts_with("new-") || name.ends_with(".new") {
                    fs::remove_dir_all(&path)?;
                }
            }
            Ok(())
        };
        clean().map_err(|error| self.failed(error))
    }

    /// Replaces the report.
    pub fn write_report(&self, report: &Report) -> Result<(), CampaignError> {
        write_atomically(&self.root.join("report.json"), report.to_json().as_bytes())
            .map_err(|error| self.failed(error))
    }
}

/// Reads the report of a campaign.
pub fn read_report(directory: &Path) -> Result<Report, CampaignError> {
    let path = directory.join("report.json");
    match fs::read_to_string(&path) {
        Ok(text) => {
            Report::from_json(&text).map_err(|error| CampaignError::Report(path, error.to_string()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(CampaignError::NoReport(directory.to_path_buf()))
        }
        Err(error) => Err(CampaignError::Report(path, error.to_string())),
    }
}

/// The commands that explore. Each keeps its own results; report and inputs of findings are those
/// of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `nearmiss run`.
    Run,
    /// `nearmiss test`.
    Test,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Test => "test",
        }
    }
}

/// Where what is known of tests is kept.
#[derive(Clone, Debug)]
pub struct Work {
    directory: PathBuf,
}

impl Work {
    /// Where the new paths from a test are kept.
    pub fn paths(&self, digest: u64) -> PathBuf {
        self.directory.join("paths").join(format!("{digest:016x}"))
    }

    /// Where results of tests are kept.
    pub fn units(&self) -> PathBuf {
        self.directory.join("units")
    }

    /// Where traces are made, read and removed.
    pub fn scratch(&self) -> PathBuf {
        self.directory.join("scratch")
    }

    /// Removes what is known of tests other than these.
    pub fn keep_only(&self, digests: &[u64]) -> io::Result<()> {
        for directory in [self.directory.join("paths"), self.units()] {
            let Ok(entries) = fs::read_dir(&directory) else {
                continue;
            };
            for entry in entries {
                let path = entry?.path();
                let name = path.file_stem().and_then(|name| name.to_str());
                let digest = name.and_then(|name| u64::from_str_radix(name, 16).ok());
                if digest.is_some_and(|digest| digests.contains(&digest)) {
                    continue;
                }
                match path.is_dir() {
                    true => fs::remove_dir_all(path)?,
                    false => fs::remove_file(path)?,
                }
            }
        }
        Ok(())
    }
}

/// The directory of one run.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// A file or directory in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where the run is captured; gone when it has been read.
    pub fn captures(&self) -> PathBuf {
        self.join("captures")
    }

    /// Where the run is recorded.
    pub fn traces(&self) -> PathBuf {
        self.join("traces")
    }

    /// The directory of a new input.
    pub fn input(&self, id: &str) -> PathBuf {
        self.join("inputs").join(id)
    }
}

/// Makes a directory of a campaign that nobody else may look into.
pub fn make_private_part(directory: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(directory)?;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700))
}

/// Makes the campaign's directory, which nobody else may look into: what it keeps of programs may
/// have secrets in it. A directory of the user's own keeps its permissions.
fn make_private(directory: &Path) -> io::Result<()> {
    let is_campaign = directory.join("lock").exists();
    if directory.is_dir() && !is_campaign {
        return Ok(());
    }
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {
            fs::set_permissions(directory, fs::Permissions::from_mode(0o700))
        }
        made => made,
    }
}

fn numbers(directory: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(directory)? {
        numbers.extend(
            entry?
                .file_name()
                .to_str()
                .and_then(|name| name.parse::<u64>().ok()),
        );
    }
    Ok(numbers)
}

/// Writes a file so that it is there as a whole or as it was before. Nobody else may read it.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let temporary = path.with_file_name(name);
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = options
        .open(&temporary)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Whatever is left of it is of no use to anybody.
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_results::Summary;

    #[test]
    fn runs_are_numbered_and_cleaned_up() {
        let directory = tempfile::tempdir().unwrap();
        let campaign = Campaign::open(&directory.path().join("a/b")).unwrap();
        let first = campaign.new_run().unwrap();
        let second = campaign.new_run().unwrap();
        assert!(first.traces().is_dir() && second.traces().ends_with("runs/2/traces"));
        campaign.keep_only(&second).unwrap();
        assert!(!first.traces().exists() && second.traces().is_dir());
    }

    #[test]
    fn only_the_user_can_look_inside() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let directory = tempfile::tempdir().unwrap();
        let made = directory.path().join("a/.nearmiss");
        drop(Campaign::open(&made).unwrap());
        assert_eq!(mode(&made), 0o700);
        // One that an older nearmiss made.
        fs::set_permissions(&made, fs::Permissions::from_mode(0o755)).unwrap();
        drop(Campaign::open(&made).unwrap());
        assert_eq!(mode(&made), 0o700);
        // A directory of the user's own.
        let own = directory.path().join("own");
        fs::create_dir(&own).unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
        drop(Campaign::open(&own).unwrap());
        assert_eq!(mode(&own), 0o755);
        let file = own.join("file");
        write_atomically(&file, b"x").unwrap();
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn one_nearmiss_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let campaign = Campaign::open(directory.path()).unwrap();
        assert!(matches!(
            Campaign::open(directory.path()),
            Err(CampaignError::Busy(_))
        ));
        drop(campaign);
        assert!(Campaign::open(directory.path()).is_ok());
    }

    #[test]
    fn reports_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        assert!(matches!(
            read_report(directory.path()),
            Err(CampaignError::NoReport(_))
        ));
        let report = Report::new(Vec::new(), Summary::default());
        Campaign::open(directory.path())
            .unwrap()
            .write_report(&report)
            .unwrap();
        assert_eq!(read_report(directory.path()).unwrap(), report);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let error = Campaign::open(Path::new("/proc/nearmiss"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("/proc/nearmiss: ") && error.contains("--dir"),
            "{error}"
        );
    }
}
