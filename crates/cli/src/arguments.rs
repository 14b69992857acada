//! The command line: every flag, with the words that explain it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod analysis;
mod contracts;
mod explore;
mod hoist;
mod infer;
mod reach;
mod rules;
pub mod values;

pub use analysis::AnalysisArguments;
pub use contracts::{CheckArguments, ContractForm, ContractsCommand};
pub use explore::{
    Cover, ExploreArguments, Framework, PreMode, PreconditionSource, ResultArguments,
};
pub use hoist::HoistArguments;
pub use infer::{EffortArguments, Form, FuzzingChoice, InferArguments};
use nearmiss_engine::{Calls, CallsOf};
pub use reach::{Overflow, ReachArguments};
use values::{pattern, percent, size, subject};

/// Your tests pass. nearmiss finds the inputs right next to them that fail.
#[derive(Debug, Parser)]
#[command(name = "nearmiss", version, after_help = EXAMPLE, disable_help_subcommand = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Example:
  nearmiss cc -g packet.c -o packet      # as any C compiler; in a build: CC=\"nearmiss cc\"
  nearmiss run -- ./packet packet.bin    # runs it once, then looks for inputs that fail
  nearmiss replay NM-1                   # shows the first of them under the sanitizers
  nearmiss test -- make check            # the same for every program that a test suite runs
  nearmiss explore sum.c --function sum  # a test for every path of one function
  nearmiss reach sum.c:7 --function sum  # an input that comes to that line, or a proof that none does
  nearmiss infer sum.c --function sum    # what must hold for a safe call of it

Exit status: 0 nothing found, 1 failures found, 2 nearmiss could not do its job.";

/// Reads the command line; ends the process with a message if it makes no sense.
pub fn parse(words: Vec<OsString>) -> Command {
    CommandLine::parse_from(words).command
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile by your own compiler; what analyses need later is added to objects and programs
    ///
    /// All arguments are the compiler's: `nearmiss cc -g -O1 -c x.c`. Also callable as
    /// nearmiss-cc, and as nearmiss-c++ for programs that have C++ in them. NEARMISS_CC and NEARMISS_CXX name the
    /// compilers (cc, c++).
    #[command(disable_help_flag = true)]
    Cc {
        /// Arguments of the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Run a program once and look for inputs next to its own that make it fail
    #[command(after_help = RUN_HELP)]
    Run(RunArguments),
    /// Run a test suite and look for failures next to every execution in it
    #[command(after_help = TEST_HELP)]
    Test(TestArguments),
    /// Make a test for every path of one function
    #[command(after_help = explore::HELP)]
    Explore(Box<ExploreArguments>),
    /// Infer what must hold for a safe call of a function
    #[command(after_help = infer::HELP)]
    Infer(Box<InferArguments>),
    /// Derive what must hold when functions are called, from their unit tests
    #[command(after_help = hoist::HELP)]
    Hoist(HoistArguments),
    /// Look at contracts: what must hold when functions are called
    #[command(subcommand)]
    Contracts(ContractsCommand),
    /// Find an input that comes to a place in the source, or prove that there is none
    #[command(after_help = reach::HELP)]
    Reach(Box<ReachArguments>),
    /// Show the findings of the last run and of explorations, or one of them
    #[command(after_help = SHOW_HELP)]
    Show {
        /// The finding: NM-1
        id: Option<String>,
        /// A finding next to a unit test, as a test function of its own
        #[arg(long, requires = "id")]
        as_test: bool,
        /// The framework of that function [default: the one that the unit test uses]
        #[arg(long, value_enum, requires = "as_test")]
        framework: Option<Framework>,
        #[command(flatten)]
        explored: ExploredArguments,
        #[command(flatten)]
        campaign: CampaignArguments,
    },
    /// Run the input of a finding once more, in the sandbox
    #[command(after_help = REPLAY_HELP)]
    Replay(ReplayArguments),
    /// Print the report of the last run again
    #[command(after_help = REPORT_HELP)]
    Report {
        /// How to show it
        #[arg(long, value_enum, default_value_t)]
        format: Format,
        /// Print only figures, all rows of one table, with tabs between the cells: for plots
        #[arg(long, value_enum, value_name = "TABLE", conflicts_with = "format")]
        statistics: Option<Statistics>,
        /// The report of the last exploration of this function
        #[arg(long, value_parser = subject, value_name = "NAME", conflicts_with = "statistics")]
        function: Option<String>,
        /// Every row of that report
        #[arg(long, requires = "function")]
        all: bool,
        #[command(flatten)]
        campaign: CampaignArguments,
    },
    /// List the functions of the C library that are known, and how calls of them are treated
    Libc {
        /// How to show it
        #[arg(long, value_enum, default_value_t)]
        format: Format,
        /// Only those of one header: stdio.h
        header: Option<String>,
    },
    /// Say whether invented inputs can be run without harm on this system
    Sandbox,
    /// Look at what programs record
    #[command(subcommand)]
    Trace(TraceCommand),
}

/// What can be done with traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Print a trace as text
    Dump {
        /// The trace: .nearmiss/runs/1/traces/PID.trace
        file: PathBuf,
    },
}

/// Where the campaign is.
#[derive(Args, Debug)]
pub struct CampaignArguments {
    /// Directory with recorded runs, inputs and findings
    #[arg(long, default_value = ".nearmiss", value_name = "DIR")]
    pub dir: PathBuf,
}

/// Which exploration is meant.
#[derive(Args, Debug)]
pub struct ExploredArguments {
    /// Of the last exploration of this function
    #[arg(long, value_parser = subject, value_name = "NAME")]
    pub function: Option<String>,
    /// A test of that exploration, by its number
    #[arg(long, value_name = "N", requires = "function", conflicts_with = "id")]
    pub test: Option<usize>,
}

const SHOW_HELP: &str = "\
Examples:
  nearmiss show                             # a line for each finding
  nearmiss show NM-1
  nearmiss show NM-1 --function merge       # of `nearmiss explore merge.c --function merge`
  nearmiss show --function merge --test 7   # a path: its input, its result, its decisions";

const REPLAY_HELP: &str = "\
The sanitizer twin is the build that judged the finding; the program itself may not show it.
What was explored always runs as its twin.

Exit status: 1 if it fails, 0 if it does not, 2 if it could not be run.

Examples:
  nearmiss replay NM-1
  nearmiss replay NM-1 --program
  nearmiss replay NM-1 --function merge
  nearmiss replay --function merge --test 7";

/// Arguments of `replay`.
#[derive(Args, Debug)]
pub struct ReplayArguments {
    /// The finding: NM-1
    #[arg(required_unless_present = "test")]
    pub id: Option<String>,
    /// Run the program itself instead of its sanitizer twin
    #[arg(long, conflicts_with = "twin")]
    pub program: bool,
    /// Run the program's sanitizer twin, as is usual
    #[arg(long, hide = true)]
    pub twin: bool,
    /// Run without a sandbox
    #[arg(long)]
    pub no_sandbox: bool,
    #[command(flatten)]
    pub explored: ExploredArguments,
    #[command(flatten)]
    pub campaign: CampaignArguments,
}

const REPORT_HELP: &str = "\
Example: unique and total checks of each program, as a table for a spreadsheet or gnuplot
  nearmiss report --statistics programs | cut -f 1,4,5 > checks.tsv
What `nearmiss explore` found out about a function, again:
  nearmiss report --function merge --all";

const RUN_HELP: &str = "\
The program runs as it would without nearmiss. The report goes to standard error. With
--format json and without --output the report, and nothing else, goes to standard output, and
the program's own standard output into the campaign's directory. Standard input that is a pipe
is read to its end first.

Examples:
  nearmiss run -- ./packet packet.bin
  echo 5 3 | nearmiss run --time 5m --checks out-of-bounds-read,assertion -- ./table
  nearmiss run --format json -- ./packet packet.bin > report.json";

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArguments {
    #[command(flatten)]
    pub analysis: AnalysisArguments,
    /// Record the program while it runs, instrumented, for you: for servers, devices, and whatever it would not meet
    /// again in a second run
    #[arg(long)]
    pub live: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

const TEST_HELP: &str = "\
The suite runs as it would without nearmiss: same output, same verdicts, nothing in its
environment. Every program in it that was compiled by nearmiss is watched, however deep under
make, shells, perl or timeouts it is started, and run again in the sandbox afterwards: first
every check on its own path is asked whether any input can make it fail (distance 0), then
branches next to it are turned, over all tests, one distance after the other.

What nearmiss itself has to say goes to standard error, after the suite has ended. With
--format json and without --output the report, and nothing else, goes to standard output, and
the suite's own standard output into the campaign's directory.

Ctrl-C while the suite runs ends the suite; what it ran until then is looked at. Ctrl-C after
that ends the work with a report. The same command goes on where it was left.

Examples:
  CC=\"nearmiss cc\" ./configure && make && nearmiss test -- make check
  nearmiss test --time 1h --jobs 4 -- make -j4 check
  nearmiss test --distance 0 -- ctest                 # the tests' own paths only
  nearmiss test --sample 10% -- ./run-tests.sh        # a tenth of the tests, chosen at random
  nearmiss test --output report.json --format json -- meson test

Exit status: 0 the suite passes and nothing was found, 1 failures were found or the suite
fails, 2 nearmiss could not do its job.";

/// Arguments of `test`.
#[derive(Args, Debug)]
pub struct TestArguments {
    #[command(flatten)]
    pub analysis: AnalysisArguments,
    #[command(flatten)]
    pub suite: SuiteArguments,
    /// The command that runs the suite
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// How much of a suite is looked at.
#[derive(Args, Debug)]
#[command(next_help_heading = "Suite")]
pub struct SuiteArguments {
    /// Look at a random part of the tests, and say what is likely missed: 10%
    #[arg(long, value_parser = percent, value_name = "N%")]
    pub sample: Option<f64>,
    /// What the choice of --sample starts from: the same number chooses the same tests
    #[arg(long, default_value_t = 1, value_name = "N", requires = "sample")]
    pub seed: u64,
    /// Most different executions that are kept
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub executions: u64,
    /// Which programs have calls from test code into the code under test as their inputs
    #[arg(long, value_enum, default_value_t = CallsChoice::UnitTests, value_name = "WHICH")]
    pub calls: CallsChoice,
    /// Arguments of calls that are inputs besides the data that pointers lead to; their values are often the caller's promise
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KINDS")]
    pub arguments: Vec<ArgumentKind>,
    /// Files that are test code: 'tests/*', 'try_*.c' [default: by their names, and the file with main]
    #[arg(long, value_parser = pattern, value_delimiter = ',', value_name = "GLOB")]
    pub tests: Vec<String>,
    /// Room on the disk for what the tests read: 500M, 2G
    #[arg(long, default_value = "2G", value_parser = size, value_name = "SIZE")]
    pub disk: u64,
}

/// Which programs of a suite have calls as their inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CallsChoice {
    /// None
    None,
    /// Test programs that read nothing from outside
    UnitTests,
    /// All
    All,
}

/// Arguments of calls that are inputs on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArgumentKind {
    /// Numbers that do not say how large data is
    Scalars,
    /// Numbers in the test's own structures that pointers lead to
    Structs,
}

impl SuiteArguments {
    /// What the engine makes of calls.
    pub fn calls(&self) -> Calls {
        Calls {
            of: match self.calls {
                CallsChoice::None => CallsOf::None,
                CallsChoice::UnitTests => CallsOf::UnitTests,
                CallsChoice::All => CallsOf::All,
            },
            tests: self.tests.clone(),
            has_numbers: self.arguments.contains(&ArgumentKind::Scalars),
            has_structures: self.arguments.contains(&ArgumentKind::Structs),
        }
    }
}

/// A way to show a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// A table of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Statistics {
    /// Each program: checks in all and by line of code, new paths, findings, times
    Programs,
    /// Each test: its checks, its time in the suite, recorded, and of the analysis
    Tests,
    /// Each distance: what it cost and gave
    Distances,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use nearmiss_abi::check::Kind;

    #[test]
    fn the_table_of_flags_is_sound() {
        CommandLine::command().debug_assert();
    }

    fn command(line: &str) -> Command {
        let words = line.split_whitespace().map(OsString::from);
        CommandLine::try_parse_from(words).unwrap().command
    }

    #[test]
    fn arguments_of_run() {
        let line = "nearmiss run --checks shift,assertion --channels argv --env --length 9 \
                    -- ./p --time -x";
        let Command::Run(run) = command(line) else {
            panic!("another command");
        };
        let analysis = run.analysis;
        let kinds = analysis.kinds().unwrap();
        assert_eq!(kinds, [Kind::Assertion, Kind::Shift].into());
        assert_eq!(analysis.inputs.channel_set().to_string(), "ae");
        assert_eq!(analysis.inputs.length, 9);
        assert_eq!(
            analysis.inputs.elements,
            nearmiss_abi::environment::DEFAULT_ELEMENTS
        );
        assert_eq!(run.command, ["./p", "--time", "-x"]);
    }

    #[test]
    fn arguments_of_test() {
        let line = "nearmiss test --sample 12.5% --disk 1M -j3 --distance 0 -- make -k check";
        let Command::Test(test) = command(line) else {
            panic!("another command");
        };
        assert_eq!((test.suite.sample, test.suite.seed), (Some(12.5), 1));
        assert_eq!((test.suite.disk, test.suite.executions), (1 << 20, 10_000));
        let budget = test.analysis.budget;
        assert_eq!((budget.jobs, budget.distance), (Some(3), Some(0)));
        assert_eq!(test.command, ["make", "-k", "check"]);
    }

    #[test]
    fn arguments_of_explore() {
        let line = "nearmiss explore a.c b.o --function f --range n=-3..4 --size t=n --size u=2 \
                    --pre-mode late --cover mcdc --global g,h -- -Iinclude -lm";
        let Command::Explore(explore) = command(line) else {
            panic!("another command");
        };
        assert_eq!(explore.files, [PathBuf::from("a.c"), PathBuf::from("b.o")]);
        assert_eq!(explore.common.subject.function.as_deref(), Some("f"));
        assert_eq!(explore.common.subject.pre_mode, PreMode::Late);
        assert_eq!(explore.common.inputs.range[0].value, "-3..4");
        assert_eq!(explore.common.inputs.size.len(), 2);
        assert_eq!(explore.common.inputs.global, ["g", "h"]);
        assert_eq!(explore.common.limits.cover, Cover::Mcdc);
        assert_eq!(explore.common.flags, ["-Iinclude", "-lm"]);
    }

    #[test]
    fn mistakes_are_refused() {
        for line in [
            "nearmiss",
            "nearmiss run",
            "nearmiss run --checks x -- p",
            "nearmiss replay",
            "nearmiss replay --test 3",
            "nearmiss replay NM-1 --function f --test 3",
            "nearmiss show --function ../f",
            "nearmiss test",
            "nearmiss test --jobs 0 -- p",
            "nearmiss test --sample 0% -- p",
            "nearmiss test --seed 3 -- p",
            "nearmiss explore",
            "nearmiss explore x.c --pre p",
            "nearmiss explore x.c --function f --framework unity",
            "nearmiss explore x.c --function f --range n=3..1",
            "nearmiss explore x.c --function 2f",
            "nearmiss explore x.c --function f --recursion 0",
        ] {
            let words = line.split(' ').map(OsString::from);
            assert!(CommandLine::try_parse_from(words).is_err(), "{line}");
        }
    }
}
