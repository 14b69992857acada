//! The command line: every flag, with the words that explain it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use nearmiss_abi::check::Kind;
use nearmiss_abi::environment;

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
  nearmiss replay NM-1 --twin            # shows the first of them under the sanitizers

Exit status: 0 nothing found, 1 failures found, 2 nearmiss could not do its job.";

/// Reads the command line; ends the process with a message if it makes no sense.
pub fn parse(words: Vec<OsString>) -> Command {
    CommandLine::parse_from(words).command
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile as clang does, with instrumentation
    ///
    /// All arguments are the compiler's: `nearmiss cc -g -O1 -c x.c`. Also callable as
    /// nearmiss-cc, and as nearmiss-c++ for linking programs that have C++ in them.
    #[command(disable_help_flag = true)]
    Cc {
        /// Arguments of the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Run a program once and look for inputs next to its own that make it fail
    #[command(after_help = RUN_HELP)]
    Run(RunArguments),
    /// Show the findings of the last run, or one of them
    Show {
        /// The finding: NM-1
        id: Option<String>,
        #[command(flatten)]
        campaign: CampaignArguments,
    },
    /// Run the input of a finding once more, in the sandbox
    Replay {
        /// The finding: NM-1
        id: String,
        /// Run the program's sanitizer twin instead of the program itself
        #[arg(long)]
        twin: bool,
        /// Run without a sandbox
        #[arg(long)]
        no_sandbox: bool,
        #[command(flatten)]
        campaign: CampaignArguments,
    },
    /// Print the report of the last run again
    #[command(after_help = REPORT_HELP)]
    Report {
        /// How to show it
        #[arg(long, value_enum, default_value_t)]
        format: Format,
        /// Print only figures, all rows of one table, with tabs between the cells: for plots
        #[arg(long, value_enum, value_name = "TABLE", conflicts_with = "format")]
        statistics: Option<Statistics>,
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

const REPORT_HELP: &str = "\
Example: unique and total checks of each program, as a table for a spreadsheet or gnuplot
  nearmiss report --statistics programs | cut -f 1,4,5 > checks.tsv";

const RUN_HELP: &str = "\
The program runs as it would without nearmiss. The report goes to standard error. With
--format json the report, and nothing else, goes to standard output, and the program's own
standard output into the campaign's directory. Standard input that is a pipe is read to its
end first.

Examples:
  nearmiss run -- ./packet packet.bin
  echo 5 3 | nearmiss run --time 5m --checks out-of-bounds-read,assertion -- ./table
  nearmiss run --format json -- ./packet packet.bin > report.json";

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArguments {
    #[command(flatten)]
    pub campaign: CampaignArguments,
    /// Time for the analysis: 90, 90s, 5m, 500ms
    #[arg(long, default_value = "60s", value_parser = duration)]
    pub time: Duration,
    /// Time for one question to the solver
    #[arg(long, default_value = "500ms", value_parser = duration, value_name = "TIME")]
    pub query_time: Duration,
    /// How to show the report
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Look for these kinds of failure only: assertion,out-of-bounds-read,…
    #[arg(long, value_delimiter = ',', value_parser = kind, value_name = "LIST")]
    pub checks: Option<Vec<Kind>>,
    /// Run invented inputs without a sandbox
    ///
    /// The program then does whatever the invented input makes it do, to your files too.
    #[arg(long)]
    pub no_sandbox: bool,
    /// Use another solver: a command that reads SMT-LIB 2 from its standard input
    #[arg(long, value_name = "COMMAND")]
    pub solver: Option<String>,
    /// Which inputs may be changed
    #[arg(long, value_delimiter = ',', value_enum, value_name = "LIST",
          default_values_t = [Channel::Argv, Channel::Stdin, Channel::Files, Channel::Named])]
    pub channels: Vec<Channel>,
    /// Environment variables are inputs too
    #[arg(long)]
    pub env: bool,
    /// What the program reads from pipes other than standard input is input too
    #[arg(long)]
    pub pipes: bool,
    /// What the program reads from sockets is input too
    #[arg(long)]
    pub sockets: bool,
    /// Longest that an argument, a line or a file may become; 0: lengths stay as they are
    #[arg(long, default_value_t = environment::DEFAULT_LENGTH, value_name = "BYTES")]
    pub length: u64,
    /// Bytes of each input that are looked at
    #[arg(long, default_value_t = environment::DEFAULT_INPUT, value_name = "BYTES")]
    pub input: u64,
    /// Elements that an access with a symbolic index may be about; beyond, the index is fixed
    #[arg(long, default_value_t = environment::DEFAULT_ELEMENTS, value_name = "N")]
    pub elements: u64,
    /// Elements that all stores with a symbolic index may be about, in the whole run
    #[arg(long, default_value_t = environment::DEFAULT_UPDATES, value_name = "N")]
    pub updates: u64,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
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

/// A source of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Channel {
    /// Arguments of the command line
    Argv,
    /// Standard input
    Stdin,
    /// Files that the program reads
    Files,
    /// Memory that a harness names
    Named,
}

impl RunArguments {
    /// The letters of `abi::environment::OPTION_CHANNELS`.
    pub fn channel_letters(&self) -> String {
        let more = [(self.env, 'e'), (self.pipes, 'p'), (self.sockets, 's')];
        let more = more.into_iter().filter(|(wanted, _)| *wanted);
        let letters = self.channels.iter().map(|channel| channel.letter());
        letters.chain(more.map(|(_, letter)| letter)).collect()
    }
}

impl Channel {
    /// The letter of `abi::environment::OPTION_CHANNELS`.
    pub fn letter(self) -> char {
        match self {
            Channel::Argv => 'a',
            Channel::Stdin => 'i',
            Channel::Files => 'f',
            Channel::Named => 'n',
        }
    }
}

/// `90`, `90s`, `1.5m`, `2h`, `500ms`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a number and one of ms, s, m, h".into()),
    };
    let number: f64 = digits
        .parse()
        .map_err(|_| "expected a number and one of ms, s, m, h".to_string())?;
    Duration::try_from_secs_f64(number * unit)
        .ok()
        .filter(|time| *time <= Duration::from_secs(365 * 24 * 3600))
        .ok_or_else(|| "out of range".to_string())
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        format!("there is no such kind; there are {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_of_flags_is_sound() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn durations() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        for bad in ["", "s", "5x", "-1", "1e300h", "ms"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn arguments_of_run() {
        let line = "nearmiss run --checks shift,assertion --channels argv --env --length 9 \
                    -- ./p --time -x";
        let words = line.split(' ').map(OsString::from);
        let Command::Run(run) = CommandLine::try_parse_from(words).unwrap().command else {
            panic!("another command");
        };
        assert_eq!(run.checks, Some(vec![Kind::Shift, Kind::Assertion]));
        assert_eq!(run.channels, [Channel::Argv]);
        assert_eq!(run.channel_letters(), "ae");
        assert_eq!(
            (run.length, run.elements),
            (9, environment::DEFAULT_ELEMENTS)
        );
        assert_eq!(run.command, ["./p", "--time", "-x"]);
        assert_eq!(run.time, Duration::from_secs(60));
    }

    #[test]
    fn mistakes_are_refused() {
        for line in [
            "nearmiss",
            "nearmiss run",
            "nearmiss run --checks x -- p",
            "nearmiss replay",
        ] {
            let words = line.split(' ').map(OsString::from);
            assert!(CommandLine::try_parse_from(words).is_err(), "{line}");
        }
    }
}
