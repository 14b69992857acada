//! The programs and twins of one thread that are forked for every run instead of started.
//!
//! Whether a program can be forked is decided by trying: after a few runs that have all but their inputs in
//! common a fork server is started, and the run that was just made is made by it once more. If the two
//! agree, the runs to come are its own; if not, or if the program cannot be forked at all, each has
//! a process of its own, as before.
//!
//! What would be wrong is a constructor that looks at the input of a run: it saw that of the server. Recorded
//! runs show it, whatever the input is: where it was looked at, the trace of a process of its own has
//! labels that the other has not. Twins record nothing, so they are forked only where the program is, and
//! a program with parts that are not instrumented never is.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use nearmiss_sandbox::{ForkServer, Outcome, Sandbox, SandboxError, Spec};

/// Runs before a program's first fork server is started: most tests have few. Once it is known that it can be forked, the first
/// run in another world is made alone, for comparison, and those behind it are not.
const FIRST: u32 = 2;
/// Servers and candidates that a thread knows at a time.
const MOST_KNOWN: usize = 12;
/// A server that serves fewer runs than this costs more than it saves.
const WORTH: u32 = 8;

/// A run that a fork server may make.
pub trait ForkedRun {
    /// What the run leaves.
    type Result;
    /// Why there is nothing.
    type Error: From<SandboxError>;

    /// Makes the run by a process of its own.
    fn alone(&self) -> Result<Self::Result, Self::Error>;
    /// What a fork server has besides, where `directory` is its own.
    fn equip(&self, spec: &mut Spec, directory: &Path);
    /// What a run by the fork server left; nothing if that cannot be read.
    fn read(&self, outcome: Outcome, directory: &Path) -> Option<Self::Result>;
    /// The file ([`Spec::executed`]) that must have been found fit to be forked before this one may be.
    fn relies_on(&self) -> Option<&Path> {
        None
    }
    /// Whether two runs on the same input went the same way.
    fn agree(&self, one: &Self::Result, other: &Self::Result) -> bool;
}

/// The fork servers of a thread.
#[derive(Debug)]
pub struct ForkServers {
    /// Where they have their directories.
    directory: PathBuf,
    /// Those that were used last come first.
    known: RefCell<Vec<Known>>,
    /// Whether programs are fit to be forked, as far as was tried, by the file that is executed: a program's
    /// recorder and twins have its path ([`Spec::stand_ins`]).
    fit: RefCell<HashMap<PathBuf, bool>>,
}

/// A program in a world, which some runs had.
#[derive(Debug)]
struct Known {
    spec: Spec,
    state: State,
}

#[derive(Debug)]
enum State {
    /// So many runs were made by processes of their own.
    Alone(u32),
    Forked(Served),
    /// It cannot be forked.
    Refused,
}

/// A fork server at work.
#[derive(Debug)]
struct Served {
    server: ForkServer,
    directory: PathBuf,
    runs: u32,
}

impl ForkServers {
    /// None yet.
    pub fn new(directory: PathBuf) -> ForkServers {
        ForkServers {
            directory,
            known: RefCell::default(),
            fit: RefCell::default(),
        }
    }

    /// Makes a run, by a fork server if there is one, or may be.
    pub fn run<R: ForkedRun>(
        &self,
        sandbox: &Sandbox,
        spec: &Spec,
        run: &R,
    ) -> Result<R::Result, R::Error> {
        let is_fit = |program: &Path| self.fit.borrow().get(program) == Some(&true);
        let may_be_forked = run.relies_on().is_none_or(is_fit);
        if !sandbox.forks() || !spec.fits_fork_server() || !may_be_forked {
            return run.alone();
        }
        let mut known = self.known.borrow_mut();
        let place = known.iter().position(|known| known.spec.is_alike(spec));
        let mut entry = match place {
            Some(place) => known.remove(place),
            None => Known::new(spec, if is_fit(spec.executed()) { FIRST } else { 0 }),
        };
        let result = entry.run(sandbox, spec, run, &self.directory);
        self.learn(&entry);
        known.insert(0, entry);
        known.truncate(MOST_KNOWN);
        result
    }

    /// One that cannot be forked in one world is not in any other.
    fn learn(&self, entry: &Known) {
        let is_fit = match entry.state {
            State::Alone(_) => return,
            State::Forked(_) => true,
            State::Refused => false,
        };
        let mut fit = self.fit.borrow_mut();
        let known = fit
            .entry(entry.spec.executed().to_path_buf())
            .or_insert(is_fit);
        *known &= is_fit;
    }

    /// Ends all of them.
    pub fn end(&self) {
        self.known.borrow_mut().clear();
    }
}

impl Known {
    /// A program of which so many runs might as well have been made.
    fn new(spec: &Spec, runs: u32) -> Known {
        Known {
            spec: spec.clone(),
            state: State::Alone(runs),
        }
    }

    fn run<R: ForkedRun>(
        &mut self,
        sandbox: &Sandbox,
        spec: &Spec,
        run: &R,
        directory: &Path,
    ) -> Result<R::Result, R::Error> {
        match &mut self.state {
            State::Refused => run.alone(),
            State::Alone(runs) if *runs < FIRST => {
                *runs += 1;
                run.alone()
            }
            State::Alone(_) => {
                let result = run.alone()?;
                let served = Served::start(sandbox, &self.spec, run, directory).ok();
                let served = served.and_then(|served| served.if_agrees(spec, run, &result));
                self.state = served.map_or(State::Refused, State::Forked);
                Ok(result)
            }
            State::Forked(served) => {
                let result = served.run(spec, run)?;
                if !served.server.is_alive() {
                    self.state = match served.runs < WORTH {
                        true => State::Refused,
                        false => State::Alone(FIRST),
                    };
                }
                result.map_or_else(|| run.alone(), Ok)
            }
        }
    }
}

impl Served {
    fn start<R: ForkedRun>(
        sandbox: &Sandbox,
        spec: &Spec,
        run: &R,
        directory: &Path,
    ) -> Result<Served, SandboxError> {
        let directory = new_directory(directory)?;
        let mut spec = spec.clone();
        run.equip(&mut spec, &directory);
        Ok(Served {
            server: sandbox.fork_server(&spec)?,
            directory,
            runs: 0,
        })
    }

    /// This, if the run that was made goes the same way here.
    fn if_agrees<R: ForkedRun>(
        mut self,
        spec: &Spec,
        run: &R,
        expected: &R::Result,
    ) -> Option<Served> {
        let result = self.run(spec, run).ok().flatten()?;
        (self.server.is_alive() && run.agree(&result, expected)).then_some(self)
    }

    fn run<R: ForkedRun>(
        &mut self,
        spec: &Spec,
        run: &R,
    ) -> Result<Option<R::Result>, SandboxError> {
        self.runs += 1;
        let outcome = self.server.run(spec)?;
        Ok(outcome.and_then(|outcome| run.read(outcome, &self.directory)))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // What is in it is of no use any more.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A directory that no server had.
fn new_directory(parent: &Path) -> io::Result<PathBuf> {
    for number in 0.. {
        let directory = parent.join(format!("forks-{number}"));
        match fs::create_dir_all(parent).and_then(|()| fs::create_dir(&directory)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| directory),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The trace of a program that is forked: the one that was there first. Those of programs that its
/// runs executed are removed.
pub fn take_trace(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?.flatten();
    let mut traces: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    if traces.len() > 1 {
        // The server was there before its runs, and its file is never made again.
        let created = |path: &PathBuf| fs::metadata(path).and_then(|it| it.created()).ok();
        traces.sort_by_key(created);
        for path in traces.drain(1..) {
            let _ = fs::remove_file(path);
        }
    }
    traces.pop()
}

/// A trace that was read is not to be read again: the next run writes into the same file, and one that
/// ends before it has written anything must not leave what was recorded before it.
pub fn spend_trace(file: &Path) {
    let spent = fs::File::options().write(true).open(file);
    let _ = spent.and_then(|file| file.write_all_at(&[0; 8], 0));
}
