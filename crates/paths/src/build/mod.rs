//! From the user's files to the programs that are run.
//!
//! ```text
//!  FILE.c ─► clang -g ─► functions, debug information ─► Plan ─► harness.c ─► unit.c ─► FILE.c, the file of P …
//!                                                                    │
//!       other C files ───────────────────────────────► nearmiss cc ◄─┘
//!                                                          ▼
//!       objects, archives, -l … ───────────────────────► linker ◄── missing.c: what no file defines
//!                                                          ▼
//!                                      recording ─► twin      (coverage: `crate::coverage`)
//! ```
//!
//! `harness.c` includes the user's file from the root, so that files beside it are found as ever and
//! static functions can be called; reports, `__FILE__` and debug information name it as the user did.

mod analyzer;
mod answers;
mod commands;
mod compile;
mod contracts;
mod declared;
mod error;
mod fuzzer;
mod link;
mod live;
mod look;
mod marks;
mod missing;
mod refusals;
mod source;
mod subject;
mod symbols;
pub(crate) mod tool;
mod unit;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

pub use analyzer::{analyze, function_at, steps as steps_of_flow};
pub use answers::{ANSWERING, MOST_READ, READ};
pub use compile::Objects;
pub use error::BuildError;
pub use fuzzer::bound as fuzzer_bound;
use nearmiss_compile::Checks;
use nearmiss_harness::{Plan, Request};
pub use nearmiss_hoist::applied::Contracted;
use nearmiss_results::Undefined;
use nearmiss_sites::program::Program;
use nearmiss_twin::{Judge, TwinProgram};
pub use refusals::{ALLOCATING, MOST_REFUSED, REFUSED};

pub(crate) use compile::Compiler;
use link::Made;
pub(crate) use link::Recipe;
pub use marks::program::{MarkedUnits, mark_units};
pub use marks::{MarkError, MarkPlace, REACHED, TargetMark, steps as steps_of};
pub use missing::{MISSING, MISSING_STATUS};
use source::Files;
pub use tool::ToolError;
use tool::{Said, word};
use unit::Additions;

/// Where everything is built, in the directory of an exploration.
pub const DIRECTORY: &str = "build";
/// The program that is explored, there.
pub const PROGRAM: &str = "program";

/// What is built, and with what.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The files; the first has the function. Sources, objects and archives.
    pub files: Vec<PathBuf>,
    /// Words for the compiler and linker: `-Iinclude`, `-DX=1`, `-lm`.
    pub flags: Vec<String>,
    /// A `compile_commands.json` to take the flags of each file from.
    pub compile_commands: Option<PathBuf>,
    /// How `nearmiss cc` works.
    pub compiler: nearmiss_compile::Config,
    /// Marks that are set in copies of the files.
    pub marks: Vec<TargetMark>,
    /// Whether signed arithmetic wraps around instead of being undefined.
    pub wraps: bool,
    /// Contracts: that of the function holds for all inputs, those of functions that it calls are checked.
    pub contracted: Contracted,
    /// Whether allocations may fail: [`REFUSED`] says which, and is to be an input.
    pub refuses: bool,
    /// Whether files are inputs, for a function that reads some: [`READ`] are to be inputs then, and [`REFUSED`].
    pub answers: bool,
    /// Objects that were made for other questions about the same files.
    pub objects: Option<Objects>,
}

impl Sources {
    /// How many steps the marks are.
    pub fn steps(&self) -> u8 {
        marks::steps(&self.marks)
    }
}

/// What is run.
#[derive(Debug)]
pub struct Programs {
    /// The instrumented harness, linked.
    pub recording: PathBuf,
    /// Where inputs lie; `None` for a harness of another tool.
    pub plan: Option<Plan>,
    /// The function that is explored; `main` for a harness of another tool.
    pub function: String,
    /// The user's file that has the function, as he named it.
    pub source: PathBuf,
    /// What no file defines. A run that calls such a function ends there, with the status
    /// [`MISSING_STATUS`] and a result row [`MISSING`] that has the function's name.
    pub undefined: Undefined,
    /// Notes for the report.
    pub notes: Vec<String>,
    /// Whether a process may make many runs of it: nothing that it calls outlasts that its memory is put back.
    pub restarts: bool,
    /// How it was made: other programs are made of the same files.
    pub(crate) recipe: Recipe,
}

/// Builds everything in `directory`.
pub fn build(
    sources: &Sources,
    request: Option<&Request>,
    directory: &Path,
) -> Result<Programs, BuildError> {
    let here = std::env::current_dir().map_err(BuildError::CurrentDirectory)?;
    fs::create_dir_all(directory).map_err(|error| BuildError::File(directory.into(), error))?;
    let compiler = Compiler {
        config: nearmiss_compile::Config {
            // What is defined behaviour is no failure, however odd.
            checks: Checks::default(),
            choices_are_branches: true,
            // A check that is lost where the program dies is a lost path.
            fine: true,
            ..sources.compiler.clone()
        },
        directory: here.join(directory),
        objects: sources.objects.clone(),
    };
    let mut files = Files::sort(sources, &here)?;
    if sources.wraps {
        let sources = files.sources.iter_mut();
        sources.for_each(|source| source.words.push("-fwrapv".into()));
    }
    let mut notes = Vec::new();
    let mut included = Vec::new();
    if sources.refuses {
        included.push(refusals::write(&compiler)?);
        let sources = files.sources.iter_mut();
        sources.for_each(|source| source.words.extend(refusals::words()));
    }
    if sources.answers {
        included.push(answers::write(&compiler)?);
        let sources = files.sources.iter_mut();
        sources.for_each(|source| source.words.extend(answers::words()));
    }
    if !sources.marks.is_empty() {
        notes = marks::set(&compiler, &mut files, &sources.marks)?;
    }
    if request.is_none() && sources.steps() > 0 {
        marks::add_counter(&compiler, &mut files, sources.steps())?;
    }
    let contracts = &sources.contracted.contracts;
    let mut additions = Additions {
        steps: sources.steps(),
        files: included,
        ..Additions::default()
    };
    loop {
        let mut subject = subject::find(&compiler, files.clone(), request, contracts, &additions)?;
        subject.notes.extend(notes.iter().cloned());
        match link::make(compiler.clone(), subject)? {
            Made::Programs(mut programs) => {
                programs.note_zero_initialized(&files, request);
                contracts::apply(&mut programs, &sources.contracted)?;
                return Ok(*programs);
            }
            Made::Needs(variables) => additions.variables.extend(variables),
        }
    }
}

impl Programs {
    /// Notes which variables are zeros for lack of a definition.
    fn note_zero_initialized(&mut self, files: &Files, request: Option<&Request>) {
        let is_input = |name: &String| request.is_some_and(|it| it.globals.contains(name));
        let Undefined {
            variables,
            of_threads,
            ..
        } = &self.undefined;
        let zeros = variables.iter().chain(of_threads);
        let notes = zeros
            .filter(|it| !is_input(it))
            .map(|name| missing::note(name, &files.sources));
        self.notes.extend(notes);
    }
}

/// The code of the harness and the file under test, to be executed for all inputs at once; `None` where
/// it cannot be had.
pub fn program(programs: &Programs) -> Option<Program> {
    let recipe = &programs.recipe;
    let directory = &recipe.compiler.directory;
    let (bitcode, exported) = (
        directory.join("subject.bc"),
        directory.join("subject.program"),
    );
    let mut source = recipe.source.clone();
    source.words.extend(recipe.words.iter().cloned());
    // As clang's front end makes it: nothing that was undefined is made use of.
    let options = [
        "-O1",
        "-g0",
        "-Xclang",
        "-disable-llvm-passes",
        "-emit-llvm",
    ];
    let compiled = (recipe.compiler).plain(&source, &recipe.input, &options, &bitcode);
    compiled.ok()?;
    let words = [
        "--input".to_string(),
        word(&bitcode),
        "--program".to_string(),
        word(&exported),
    ];
    let said = tool::run(&recipe.compiler.config.instrument, &words, directory);
    said.and_then(Said::checked).ok()?;
    let bytes = fs::read(&exported).ok()?;
    Program::decode(&bytes).ok()
}

/// The sanitizer twin of the recording program: the judge of findings.
pub fn twin(programs: &Programs) -> Result<TwinProgram, BuildError> {
    let compiler = &programs.recipe.compiler.config;
    twin_of(&programs.recording, Judge::Address, compiler)
}

/// The same of a program that was built by an earlier exploration.
pub fn twin_of(
    program: &Path,
    judge: Judge,
    compiler: &nearmiss_compile::Config,
) -> Result<TwinProgram, BuildError> {
    let directory = program.with_file_name(match judge {
        Judge::Address => "twin",
        Judge::Memory => "memory-twin",
    });
    let config = nearmiss_twin::Config {
        clang: compiler.clang.clone(),
        library_directory: compiler.library_directory.clone(),
        units: directory.join("units"),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        quick: true,
    };
    nearmiss_twin::build(program, &[], judge, &directory, &config).map_err(BuildError::Twin)
}
