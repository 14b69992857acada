//! Flags of `explore`: the function, its inputs, how far to go, and what is written.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use nearmiss_harness::Rule;
use nearmiss_report::function::Framework as TestFramework;

use super::rules;
use super::values::{duration, identifier, size, variable};
use super::{CampaignArguments, Format};

/// What is printed below the flags.
pub const HELP: &str = "\
One test for each path of the function, on inputs that the precondition accepts; which partial
paths no such input takes; what fails on the way. The report goes to standard output.

A precondition is a C function over the same parameters that returns non-zero for inputs that
count; an oracle has the same parameters, then the function's result (and, if it wants them,
old values: see docs/explore.md), and returns zero for a wrong result. Both lie in the same
file, or in another one named beside it.

Examples:
  nearmiss explore merge.c                                  # which functions are there?
  nearmiss explore tritype.c --function tritype
  nearmiss explore merge.c --function merge --pre merge_pre --oracle merge_ok \\
      --size t1=n1 --size t2=n2 --size t3=n1+n2 --range n1=0..3 --range n2=0..3
  nearmiss explore sort.c --function sort --size t=n --range n=0..5 \\
      --require 'forall i in 0..n: t[i] >= 0'
  nearmiss explore parse.c --function parse --string text=6 --tests parse_test.c
  nearmiss explore lib/a.c lib/b.o --function f -- -Iinclude -DLIMIT=4 -lm
  nearmiss explore klee_harness.c                           # KLEE, Test-Comp, libFuzzer

Exit status: 0 nothing found, 1 failures or results that the oracle rejects, 2 nearmiss could
not do its job.";

/// Arguments of `explore`.
#[derive(Args, Debug)]
pub struct ExploreArguments {
    /// The C file with the function; then other files that it needs: C, objects, archives
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What `explore` and `reach` have in common: a function, its inputs, how far to go, what is written.
#[derive(Args, Debug)]
pub struct CommonArguments {
    #[command(flatten)]
    pub subject: SubjectArguments,
    #[command(flatten)]
    pub campaign: CampaignArguments,
    /// Take each file's compiler flags from this compile_commands.json
    #[arg(long, value_name = "FILE")]
    pub compile_commands: Option<PathBuf>,
    /// Show nothing but the report: no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Run invented inputs without a sandbox
    ///
    /// The function then does whatever the invented input makes it do, to your files too.
    #[arg(long)]
    pub no_sandbox: bool,
    /// Make a process for each run
    ///
    /// By default one process makes many runs, with its memory put back in between, where a function changes
    /// nothing but memory.
    #[arg(long)]
    pub no_restarts: bool,
    /// Use another solver: a command that reads SMT-LIB 2 from its standard input
    #[arg(long, value_name = "COMMAND")]
    pub solver: Option<String>,
    #[command(flatten)]
    pub inputs: InputArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
    #[command(flatten)]
    pub results: ResultArguments,
    /// Words for the compiler and the linker: -Iinclude -DX=1 -lm
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}

/// What is explored.
#[derive(Args, Debug)]
pub struct SubjectArguments {
    /// The function to explore; without it: a harness with a main, or a libFuzzer target
    #[arg(long, short, value_parser = identifier, value_name = "NAME")]
    pub function: Option<String>,
    /// The C function that says which inputs count: same parameters, non-zero for yes; or a file of contracts, or a C
    /// file with FUNCTION_pre, as nearmiss infer writes them
    #[arg(long, value_parser = precondition, value_name = "NAME", requires = "function")]
    pub pre: Option<PreconditionSource>,
    /// The C function that judges a result: zero for wrong
    #[arg(long, value_parser = identifier, value_name = "NAME", requires = "function")]
    pub oracle: Option<String>,
    /// When the precondition is looked at
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub pre_mode: PreMode,
    /// A condition that holds for all inputs: 'a < b', 'forall i in 0..n: t[i] > 0'
    #[arg(long, value_name = "EXPR", requires = "function")]
    pub require: Vec<String>,
    /// Contracts: what the function's own requires holds for all inputs, those of others are checked where these are
    /// entered [default: nearmiss.contracts, if it is there]
    #[arg(long, value_name = "FILE")]
    pub contracts: Option<PathBuf>,
    /// Use no contracts
    #[arg(long, conflicts_with = "contracts")]
    pub no_contracts: bool,
}

/// Where a precondition is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreconditionSource {
    /// A C function.
    Function(String),
    /// A file of contracts, as `nearmiss infer --output` writes it.
    Contracts(PathBuf),
    /// A C file, as `nearmiss infer --form c` writes it.
    Source(PathBuf),
}

/// The name of a function, or else of a file.
fn precondition(text: &str) -> Result<PreconditionSource, String> {
    match identifier(text) {
        Ok(function) => Ok(PreconditionSource::Function(function)),
        Err(_) if !Path::new(text).is_file() => Err(why_no_precondition(text)),
        Err(_) if text.ends_with(".c") => Ok(PreconditionSource::Source(text.into())),
        Err(_) => Ok(PreconditionSource::Contracts(text.into())),
    }
}

fn why_no_precondition(text: &str) -> String {
    format!("{text} is neither the name of a C function nor a file")
}

/// When a precondition is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PreMode {
    /// Whichever suits the precondition
    #[default]
    Auto,
    /// After each partial path of the function, under its conditions
    Late,
    /// Likewise, by calls of the precondition alone
    Calls,
    /// Before the function, as part of every path
    Early,
    /// Its accepting paths first, as one condition; what is left of it late
    Summary,
    /// Only --require and --range; the precondition counts what they let through
    Native,
}

/// How inputs are made.
#[derive(Args, Debug)]
#[command(next_help_heading = "Inputs")]
pub struct InputArguments {
    /// How many elements a pointer points to: t=4, t=0..8, t=n, t=n*m (void *: bytes)
    #[arg(long, value_name = "P=N", value_parser = rules::size, requires = "function")]
    pub size: Vec<Rule>,
    /// A pointer to a zero-terminated string, of at most so many bytes: s, s=12
    #[arg(long, value_name = "P[=N]", value_parser = rules::string, requires = "function")]
    pub string: Vec<Rule>,
    /// Values that an integer may have: n=0..10 (both ends count)
    #[arg(long, value_name = "V=LO..HI", value_parser = rules::range, requires = "function",
          allow_hyphen_values = true)]
    pub range: Vec<Rule>,
    /// A pointer that may be null, or is not: p, p=no
    #[arg(long, value_name = "P[=no]", value_parser = rules::null, requires = "function")]
    pub null: Vec<Rule>,
    /// A pointer that may point to what another one does: p=q
    #[arg(long, value_name = "P=Q", value_parser = rules::alias, requires = "function")]
    pub alias: Vec<Rule>,
    /// A function that no file defines is a stub, its results are inputs: f; also what it, or what a pointer
    /// to functions leads to, writes through its pointers: f=writes
    #[arg(long, value_name = "F[=writes]", value_parser = rules::stub, requires = "function")]
    pub stub: Vec<Rule>,
    /// A file with such rules, one a line: size t=n
    #[arg(long, value_name = "FILE", requires = "function")]
    pub sizes: Option<PathBuf>,
    /// A global variable that is an input too
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = variable,
          requires = "function")]
    pub global: Vec<String>,
    /// How deep lists and trees are
    #[arg(long, default_value_t = nearmiss_harness::DEFAULT_DEPTH, value_name = "N")]
    pub depth: u32,
    /// Most elements where nothing else is said
    #[arg(long, default_value_t = nearmiss_harness::DEFAULT_ELEMENTS, value_name = "N")]
    pub elements: u32,
}

/// How far to go.
#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
pub struct LimitArguments {
    /// What the tests are to cover
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub cover: Cover,
    /// Most iterations of a loop in a row [default: as many as there are]
    #[arg(long, value_name = "K")]
    pub loops: Option<u32>,
    /// Most activations of a function at the same time [default: as many as there are]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub recursion: Option<u32>,
    /// Time for the exploration, without building: 90, 90s, 5m, 500ms
    #[arg(long, default_value = "60s", value_parser = duration)]
    pub time: Duration,
    /// Memory for the exploration: 500M, 4G
    #[arg(long, default_value = "4G", value_parser = size, value_name = "SIZE")]
    pub memory: u64,
    /// Most paths
    #[arg(long, value_name = "N")]
    pub max_paths: Option<u64>,
    /// Time for one query to the solver
    #[arg(long, default_value = "5s", value_parser = duration, value_name = "TIME")]
    pub query_time: Duration,
    /// Time for one run of the function
    #[arg(long, default_value = "1s", value_parser = duration, value_name = "TIME")]
    pub run_time: Duration,
}

/// What the tests are to cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Cover {
    /// Every path
    #[default]
    Paths,
    /// Every branch, both ways
    Branches,
    /// Every condition, shown to matter on its own
    Mcdc,
}

/// What is told and written. No file of yours is written over.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results")]
pub struct ResultArguments {
    /// How to show the report
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Write the report into a file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show all tests and infeasible partial paths, not the first ones
    #[arg(long)]
    pub all: bool,
    /// Write the tests as a C file that compiles on its own
    #[arg(long, value_name = "FILE.c", requires = "function")]
    pub tests: Option<PathBuf>,
    /// What the C file is written for
    #[arg(
        long,
        value_enum,
        default_value_t,
        requires = "tests",
        value_name = "NAME"
    )]
    pub framework: Framework,
    /// Write the inputs as KLEE's .ktest files
    #[arg(long, value_name = "DIR")]
    pub ktest: Option<PathBuf>,
    /// Write the inputs as a Test-Comp test suite
    #[arg(long, value_name = "DIR")]
    pub test_comp: Option<PathBuf>,
    /// Write the inputs as a libFuzzer corpus
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// Write what the tests cover, for lcov and genhtml
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
}

impl From<Framework> for TestFramework {
    fn from(framework: Framework) -> TestFramework {
        match framework {
            Framework::Assert => TestFramework::Plain,
            Framework::Cmocka => TestFramework::Cmocka,
            Framework::Unity => TestFramework::Unity,
            Framework::Check => TestFramework::Check,
            Framework::Gtest => TestFramework::GoogleTest,
        }
    }
}

/// A test framework for C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Framework {
    /// Plain assert, with a main of its own
    #[default]
    Assert,
    /// CMocka
    Cmocka,
    /// Unity
    Unity,
    /// Check
    Check,
    /// GoogleTest
    Gtest,
}
