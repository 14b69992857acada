//! What tests cover: lines, branches, MC/DC, counted by clang.
//!
//! ```text
//!  harness.c ─► clang -fcoverage-mcdc ─► program, served: a fork a run ─► counters in a shared file
//!                                           │ coverage mapping                 │
//!                                           └─────────► Goals ◄────────────────┤ after each run: anything new?
//!                                                                              └► .profraw ─► llvm-cov ─► lcov
//! ```
//!
//! Counters lie in pages that all children share (`libc/coverage.c`), so a test that crashes, or that is
//! killed, is counted like any other, and a run costs a fork and the look at a few kilobytes.

mod decisions;
mod error;
mod goals;
mod image;
mod lines;
mod mapping;
mod md5;
mod pages;
mod profile;
mod program;
mod tools;

use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nearmiss_abi::environment::COVERAGE;
use nearmiss_abi::server::MODE_FUNCTION;
use nearmiss_results::{Coverage, Covered, Uncovered};
use nearmiss_sandbox::Sandbox;
use nearmiss_server::{Request, Server, Settings};
use siphasher::sip::SipHasher13;

use crate::Cover;
use crate::build::Programs;
use crate::executor;
pub use error::CoverageError;
use goals::Goals;
use image::{Function, Image};
use lines::is_named;
use tools::Tools;

/// Runs tests and counts what they cover.
#[derive(Debug)]
pub struct Meter {
    server: Server,
    time: Duration,
    /// The counters, then the bitmaps.
    shared: File,
    counters: Vec<u8>,
    bitmap: Vec<u8>,
    /// Which bytes of the bitmaps belong to the functions that count.
    own_bits: Vec<Range<usize>>,
    goals: Goals,
    /// The profile as it was before the first run.
    template: PathBuf,
    /// The user's file, from the root, and as he named it.
    source: PathBuf,
    name: PathBuf,
    tools: Tools,
}

/// What a run has covered that none before it had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gain {
    /// Outcomes of branches.
    pub branches: usize,
    /// Combinations of conditions of a decision.
    pub combinations: usize,
    /// A name for how often the run came where: runs with different ones went different ways.
    pub way: u64,
}

impl Gain {
    /// Whether it covered anything new that this kind of coverage is about.
    pub fn matters(&self, cover: Cover) -> bool {
        match cover {
            Cover::Paths => true,
            Cover::Branches => self.branches > 0,
            Cover::Mcdc => self.branches > 0 || self.combinations > 0,
        }
    }
}

impl Meter {
    /// Builds the program that counts and starts it, with this environment. `time` is that of one run.
    pub fn start(
        sandbox: &Sandbox,
        programs: &Programs,
        mut environment: Vec<(OsString, OsString)>,
        time: Duration,
    ) -> Result<Meter, CoverageError> {
        let program = program::build(programs)?;
        let image = read_image(&program)?;
        let functions = wanted(&image, programs);
        if functions.is_empty() {
            return Err(CoverageError::NothingCounted(programs.function.clone()));
        }
        let compiler = &programs.recipe.compiler;
        let directory = compiler.directory.join("coverage").join("server");
        let shared = directory.join("counters");
        // A program that finds the file counts on.
        let _ = fs::remove_file(&shared);
        environment.push((COVERAGE.into(), shared.clone().into()));
        let settings = Settings {
            environment,
            record: None,
            working_directory: directory.clone(),
            directory,
            program: program.clone(),
            restarts: executor::restarts_from(programs.restarts),
        };
        let made = fs::create_dir_all(&settings.directory);
        made.map_err(|error| CoverageError::File(settings.directory.clone(), error))?;
        let server = Server::start(sandbox, settings)?;
        let file = File::open(&shared);
        let file = file.map_err(|error| CoverageError::File(shared.clone(), error))?;
        let tools = &compiler.config.clang;
        Ok(Meter {
            server,
            time,
            shared: file,
            counters: vec![0; image.counters_size],
            bitmap: vec![0; image.bitmap_size],
            own_bits: functions.iter().map(|found| found.bitmap.clone()).collect(),
            goals: Goals::of(functions),
            template: shared.with_extension("profraw"),
            source: programs.recipe.source.path.clone(),
            name: programs.source.clone(),
            tools: Tools::beside(tools, &program, &compiler.directory.join("coverage")),
        })
    }

    /// Runs a test; what is new.
    pub fn run(&mut self, rows: &[u8]) -> Result<Gain, CoverageError> {
        let request = Request {
            mode: MODE_FUNCTION,
            rows,
            time: self.time,
            fresh: false,
        };
        self.server.run(&request)?;
        self.look()
    }

    /// Reads the counters.
    fn look(&mut self) -> Result<Gain, CoverageError> {
        let read = |bytes: &mut [u8], offset: usize| {
            let read = self.shared.read_exact_at(bytes, offset as u64);
            read.map_err(CoverageError::Counters)
        };
        let mut bitmap = vec![0; self.bitmap.len()];
        read(&mut bitmap, self.counters.len())?;
        let before = self.counters.clone();
        read(&mut self.counters, 0)?;
        let way = name_of_way(&before, &self.counters);
        let combinations = new_bits(&self.own_bits, &self.bitmap, &bitmap);
        self.bitmap = bitmap;
        Ok(Gain {
            branches: self.goals.update(&self.counters, &self.bitmap),
            combinations,
            way,
        })
    }

    /// Whether there is nothing left to cover. What no input does is never covered.
    pub fn is_full(&self, cover: Cover) -> bool {
        let is_full = |covered: Covered| covered.covered == covered.total;
        match cover {
            Cover::Paths => false,
            Cover::Branches => is_full(self.goals.branches()),
            Cover::Mcdc => is_full(self.goals.branches()) && is_full(self.goals.conditions()),
        }
    }

    /// What is not covered yet, in the order of the text.
    pub fn open(&self, cover: Cover) -> Vec<Uncovered> {
        let mut goals = match cover {
            Cover::Paths => Vec::new(),
            Cover::Branches => self.goals.open_branches(),
            Cover::Mcdc => [self.goals.open_branches(), self.goals.open_conditions()].concat(),
        };
        for goal in &mut goals {
            if is_named(&self.source, &goal.file) {
                goal.file = self.name.display().to_string();
            }
        }
        goals.sort_by_key(|goal| (goal.file.clone(), goal.line, goal.column));
        goals
    }

    /// The numbers for the function itself, and the file for lcov's tools, which is about the user's
    /// whole file, and the header that has the function if that is where it is.
    pub fn report(&self) -> Result<(Coverage, String), CoverageError> {
        let template = fs::read(&self.template);
        let template =
            template.map_err(|error| CoverageError::File(self.template.clone(), error))?;
        let profile = profile::with_counts(&template, &self.counters, &self.bitmap)
            .ok_or(CoverageError::Profile)?;
        self.tools.merge(&profile)?;
        let has_the_function = |name: &str| {
            let mut functions = self.goals.functions();
            functions.any(|function| is_named(&function.path, name))
        };
        let lcov = lines::of_files(&self.tools.lcov()?, |name| {
            is_named(&self.source, name) || has_the_function(name)
        });
        let coverage = Coverage {
            lines: lines::count(&lcov, self.goals.functions()),
            branches: self.goals.branches(),
            mcdc: self.goals.conditions(),
            uncovered: self.open(Cover::Mcdc),
        };
        Ok((coverage, lcov))
    }
}

fn read_image(program: &Path) -> Result<Image, CoverageError> {
    let bytes = fs::read(program).map_err(|error| CoverageError::File(program.into(), error))?;
    Image::read(&bytes).map_err(CoverageError::Mapping)
}

/// The function under test; of another tool's harness every function of its file.
fn wanted(image: &Image, programs: &Programs) -> Vec<Function> {
    let source = &programs.recipe.source;
    let is_wanted = |function: &&Function| match programs.plan {
        Some(_) => function.is_called(&programs.function),
        None => is_named(&source.path, &function.file) || Path::new(&function.file) == source.name,
    };
    image.functions.iter().filter(is_wanted).cloned().collect()
}

/// Counters of all runs before and after one: how often it counted what.
fn name_of_way(before: &[u8], after: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
    for (before, after) in before.chunks(8).zip(after.chunks(8)) {
        number(after).wrapping_sub(number(before)).hash(&mut hasher);
    }
    hasher.finish()
}

fn new_bits(ranges: &[Range<usize>], old: &[u8], new: &[u8]) -> usize {
    let count = |index: usize| (new[index] & !old[index]).count_ones() as usize;
    let indices = ranges.iter().flat_map(|range| range.clone());
    indices.map(count).sum()
}
