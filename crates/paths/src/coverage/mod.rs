//! What tests cover: lines, branches, MC/DC, counted by clang.
//!
//! ```text
//!  harness.c ─► clang -fcoverage-mcdc ─► program, served: a fork a run ─► counters in a shared file
//!                                           │ coverage mapping                 │
//!                                           └─────────► Outcomes ◄─────────────┤ after each run: anything new?
//!                                                                              └► .profraw ─► llvm-cov: the report
//! ```
//!
//! Counters lie in pages that all children share (`libc/coverage.c`), so a test that crashes, or that is
//! killed, is counted like any other, and a run costs a fork and the look at a few kilobytes.

mod goals;
mod image;
mod mapping;
mod md5;
mod numbers;
mod profile;
mod program;
mod tools;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nearmiss_abi::environment::COVERAGE;
use nearmiss_abi::server::MODE_FUNCTION;
use nearmiss_results::Coverage;
use nearmiss_sandbox::Sandbox;
use nearmiss_server::{Request, Server, Settings};

use crate::Cover;
use crate::build::Programs;
pub use goals::Goal;
use goals::Outcomes;
use image::Image;
use numbers::Numbers;
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
    own_bits: Vec<std::ops::Range<usize>>,
    outcomes: Outcomes,
    /// The profile as it was before the first run.
    template: PathBuf,
    /// The user's file, from the root, and as he named it.
    source: PathBuf,
    name: PathBuf,
    tools: Tools,
    /// What `llvm-cov` said last, if nothing has been covered since.
    numbers: Option<(Numbers, String)>,
}

/// What a run has covered that none before it had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gain {
    /// Outcomes of branches.
    pub branches: usize,
    /// Combinations of conditions of a decision.
    pub combinations: usize,
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
    /// Builds the program that counts and starts it. `time` is that of one run.
    pub fn start(sandbox: &Sandbox, programs: &Programs, time: Duration) -> Result<Meter, String> {
        let program = program::build(programs)?;
        let image = read_image(&program)?;
        let functions = wanted(&image, programs);
        if functions.is_empty() {
            return Err(format!("clang counts nothing of {}", programs.function));
        }
        let compiler = &programs.recipe.compiler;
        let directory = compiler.directory.join("coverage").join("server");
        let shared = directory.join("counters");
        // A program that finds the file does not use it.
        let _ = fs::remove_file(&shared);
        let settings = Settings {
            environment: vec![(COVERAGE.into(), shared.clone().into())],
            record: None,
            working_directory: directory.clone(),
            directory,
            program: program.clone(),
        };
        fs::create_dir_all(&settings.directory).map_err(|error| error.to_string())?;
        let server = Server::start(sandbox, settings).map_err(|error| error.to_string())?;
        let file = File::open(&shared).map_err(|error| told(&shared, &error))?;
        let tools = &compiler.config.clang;
        Ok(Meter {
            server,
            time,
            shared: file,
            counters: vec![0; image.counters_size],
            bitmap: vec![0; image.bitmap_size],
            own_bits: functions.iter().map(|found| found.bitmap.clone()).collect(),
            outcomes: Outcomes::of(functions),
            template: shared.with_extension("profraw"),
            source: programs.recipe.source.path.clone(),
            name: programs.source.clone(),
            tools: Tools::beside(tools, &program, &compiler.directory.join("coverage")),
            numbers: None,
        })
    }

    /// Runs a test; what is new.
    pub fn run(&mut self, rows: &[u8]) -> Result<Gain, String> {
        let request = Request {
            mode: MODE_FUNCTION,
            rows,
            time: self.time,
        };
        self.server
            .run(&request)
            .map_err(|error| error.to_string())?;
        let gain = self.look()?;
        if gain != Gain::default() {
            self.numbers = None;
        }
        Ok(gain)
    }

    /// Reads the counters.
    fn look(&mut self) -> Result<Gain, String> {
        let read = |bytes: &mut [u8], offset: usize| {
            let read = self.shared.read_exact_at(bytes, offset as u64);
            read.map_err(|error| format!("counters of coverage: {error}"))
        };
        let mut bitmap = vec![0; self.bitmap.len()];
        read(&mut bitmap, self.counters.len())?;
        read(&mut self.counters, 0)?;
        let combinations = new_bits(&self.own_bits, &self.bitmap, &bitmap);
        self.bitmap = bitmap;
        Ok(Gain {
            branches: self.outcomes.update(&self.counters),
            combinations,
        })
    }

    /// Whether there is nothing left to cover. An outcome that no input has is never covered.
    pub fn is_full(&mut self, cover: Cover) -> bool {
        let (all, covered) = self.outcomes.seen();
        match cover {
            Cover::Paths => false,
            Cover::Branches => covered == all,
            Cover::Mcdc => {
                covered == all
                    && (self.numbers()).is_ok_and(|(numbers, _)| numbers.conditions.is_empty())
            }
        }
    }

    /// What is not covered yet, in the order of the text.
    pub fn open(&mut self, cover: Cover) -> Vec<Goal> {
        let mut goals = match cover {
            Cover::Paths => return Vec::new(),
            Cover::Branches | Cover::Mcdc => self.outcomes.open(),
        };
        if cover == Cover::Mcdc
            && let Ok((numbers, _)) = self.numbers()
        {
            goals.extend(numbers.conditions);
        }
        let name = self.name.display().to_string();
        for goal in goals
            .iter_mut()
            .filter(|goal| self.source.ends_with(&goal.file))
        {
            goal.file.clone_from(&name);
        }
        goals.sort_by_key(|goal| (goal.file.clone(), goal.line, goal.column));
        goals
    }

    /// The numbers for the function itself, and the file for lcov's tools, which is about the user's
    /// whole file.
    pub fn report(&mut self) -> Result<(Coverage, String), String> {
        let (numbers, lcov) = self.numbers()?;
        Ok((numbers.coverage, lcov))
    }

    /// What `llvm-cov` makes of the counters.
    fn numbers(&mut self) -> Result<(Numbers, String), String> {
        if let Some(known) = &self.numbers {
            return Ok(known.clone());
        }
        let template = fs::read(&self.template).map_err(|error| told(&self.template, &error))?;
        let profile = profile::with_counts(&template, &self.counters, &self.bitmap)
            .ok_or("clang's profile is of an unknown form")?;
        self.tools.merge(&profile)?;
        let lcov = plain_names(&self.tools.lcov(&self.source)?);
        let functions: Vec<_> = self.outcomes.functions().collect();
        let numbers = numbers::count(&self.tools.export()?, &lcov, &functions);
        Ok(self.numbers.insert((numbers, lcov)).clone())
    }
}

fn read_image(program: &Path) -> Result<Image, String> {
    let bytes = fs::read(program).map_err(|error| told(program, &error))?;
    Image::read(&bytes).map_err(|error| error.to_string())
}

/// The function under test; of another tool's harness every function of its file.
fn wanted(image: &Image, programs: &Programs) -> Vec<image::Function> {
    let is_in_file =
        |function: &&image::Function| programs.recipe.source.path.ends_with(&function.file);
    let is_wanted = |function: &&image::Function| match programs.plan {
        Some(_) => function.is_called(&programs.function),
        None => is_in_file(function),
    };
    image.functions.iter().filter(is_wanted).cloned().collect()
}

fn new_bits(ranges: &[std::ops::Range<usize>], old: &[u8], new: &[u8]) -> usize {
    let count = |index: usize| (new[index] & !old[index]).count_ones() as usize;
    ranges
        .iter()
        .flat_map(|range| range.clone())
        .map(count)
        .sum()
}

/// lcov's rows name static functions by their unit, which is ours.
fn plain_names(lcov: &str) -> String {
    let plain = |line: &str| match line.split_once(',') {
        Some((head, name)) if head.starts_with("FN:") || head.starts_with("FNDA:") => {
            format!(
                "{head},{}\n",
                name.rsplit([':', ';']).next().unwrap_or(name)
            )
        }
        _ => format!("{line}\n"),
    };
    lcov.lines().map(plain).collect()
}

fn told(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
