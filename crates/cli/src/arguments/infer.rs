//! Flags of `infer`: the function, its variables and predicates, how much is tested, and what is written.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use nearmiss_contracts::Formula;

use super::values::{duration, identifier};
use super::{CampaignArguments, Format};

/// What is printed below the flags.
pub const HELP: &str = "\
Calls the function on arguments that lie between guard pages, on every side of all comparisons
of sizes, lengths and numbers, and learns which calls are safe. The result is likely, not
proved: it rests on tests. With a C file instead of a header, undefined behaviour counts as a
failure too.

Terms of formulas: a parameter n, bounds(p) elements from p to the end of its block, strlen(p)
(bounds(p) if no zero is there), p->member, p == NULL; before(p), least(p), greatest(p),
find(p, '/') where they were asked for.

Examples:
  nearmiss infer --header string.h --function strcpy
  nearmiss infer --header string.h --output string.contracts      # every function of it
  nearmiss infer ring.c --function ring_push --form c
  nearmiss infer vector.c --function dot --predicate 'n < 8'
  nearmiss infer --header zlib.h --function adler32 -- -lz
  nearmiss infer --header string.h --function memchr --compare 'n <= bounds(s)'

Exit status: 0 there is a precondition, 1 with --compare: it is not exact, 2 nearmiss could not
do its job.";

/// Arguments of `infer`.
#[derive(Args, Debug)]
pub struct InferArguments {
    /// The C file with the function; then objects and archives that it needs
    #[arg(value_name = "FILE", required_unless_present = "header")]
    pub files: Vec<PathBuf>,
    /// The header that declares the function: string.h
    #[arg(long, value_name = "NAME")]
    pub header: Option<String>,
    /// The function; without it every function of the header or file
    #[arg(long, short, value_parser = identifier, value_name = "NAME")]
    pub function: Option<String>,
    #[command(flatten)]
    pub variables: VariableArguments,
    #[command(flatten)]
    pub effort: EffortArguments,
    #[command(flatten)]
    pub result: PreconditionArguments,
    #[command(flatten)]
    pub campaign: CampaignArguments,
    /// Show nothing but the result: no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Run tests without a sandbox
    #[arg(long)]
    pub no_sandbox: bool,
    /// Words for the compiler and the linker: -Iinclude -lz
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}

/// What formulas are made of.
#[derive(Args, Debug)]
#[command(next_help_heading = "Variables and predicates")]
pub struct VariableArguments {
    /// A predicate of your own: 'n < 8', 'bounds(p) >= n * m'
    #[arg(long, value_name = "FORMULA", value_parser = formula)]
    pub predicate: Vec<Formula>,
    /// A number that arguments are compared with: a flag, a limit
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub magic: Vec<i64>,
    /// Values that a number or a size may have: n=0..10, 'bounds(p)=0..4'
    #[arg(long, value_name = "V=LO..HI", value_parser = range, allow_hyphen_values = true)]
    pub range: Vec<(String, i64, i64)>,
    /// Where the first of a character is in a block: path=/
    #[arg(long, value_name = "P=C", value_parser = sentinel)]
    pub sentinel: Vec<(String, u8)>,
    /// How many elements lie before pointers
    #[arg(long)]
    pub before: bool,
    /// The least and greatest elements of arrays of numbers
    #[arg(long)]
    pub elements: bool,
    /// No two pointers lead to the same block
    #[arg(long)]
    pub no_alias: bool,
    /// Call functions of a header although they need what only the library can make: NULL instead
    #[arg(long)]
    pub opaque: bool,
    /// Look for no linear predicates
    #[arg(long)]
    pub no_linear: bool,
}

/// How much is tested.
#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
pub struct EffortArguments {
    /// How contents of blocks are chosen
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub fuzzing: FuzzingChoice,
    /// Tests of an assignment that seems safe
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub tests: usize,
    /// Most assignments; beyond, some are chosen at random
    #[arg(long, default_value_t = 12_000, value_name = "N")]
    pub assignments: usize,
    /// What random choices start from: the same number gives the same tests
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Time for one function, without building: 90, 90s, 5m
    #[arg(long, default_value = "60s", value_parser = duration)]
    pub time: Duration,
    /// Functions that are looked at in parallel [default: one for each processor]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// With a C file: explore paths for as long as --time says, not only for 20 s
    #[arg(long, requires = "files")]
    pub prove: bool,
    /// With a C file: tests only, no paths are explored
    #[arg(long, conflicts_with = "prove")]
    pub no_explore: bool,
}

/// How contents are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FuzzingChoice {
    /// From small pools of characters that all strings of a test share
    #[default]
    Smart,
    /// Any bytes: for comparison
    Naive,
}

/// What is printed and written.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results")]
pub struct PreconditionArguments {
    /// How to show the report
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print the precondition only, in this form
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "format")]
    pub form: Option<Form>,
    /// Write contracts into a file: those of other functions in it stay, and are not inferred again
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Compare with a specification: exact, safe (lets fewer calls through), permissive
    #[arg(long, value_name = "FORMULA", value_parser = formula, requires = "function")]
    pub compare: Option<Formula>,
}

/// A form of a precondition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// One line
    Formula,
    /// A C function that gives back 1 for a safe call
    C,
    /// A C function with an assertion for each part
    Assert,
    /// ACSL, for Frama-C
    Acsl,
    /// A block of nearmiss.contracts
    Contract,
    /// What explore --require reads
    Require,
}

fn formula(text: &str) -> Result<Formula, String> {
    nearmiss_contracts::parse(text).map_err(|error| error.to_string())
}

/// `n=0..10`.
fn range(text: &str) -> Result<(String, i64, i64), String> {
    let expected = || "expected V=LO..HI with LO up to HI".to_string();
    let (name, ends) = text.rsplit_once('=').ok_or_else(expected)?;
    let (low, high) = ends.split_once("..").ok_or_else(expected)?;
    let (low, high) = (
        low.parse().map_err(|_| expected())?,
        high.parse().map_err(|_| expected())?,
    );
    if low > high || high - low > 100_000 {
        return Err(expected());
    }
    Ok((name.to_string(), low, high))
}

/// `path=/`.
fn sentinel(text: &str) -> Result<(String, u8), String> {
    let parts = text.split_once('=').filter(|(_, byte)| byte.len() == 1);
    let (name, byte) = parts.ok_or("expected P=C with one character")?;
    Ok((name.to_string(), byte.as_bytes()[0]))
}
