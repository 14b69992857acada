//! Flags that `run` and `test` share: how much work is done, on which inputs, and how it is told.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use nearmiss_abi::channel::{ChannelKind, ChannelSet};
use nearmiss_abi::check::Kind;
use nearmiss_abi::environment;
use nearmiss_search::strategy::RuleName;

use super::values::{CheckWord, check, duration};
use super::{CampaignArguments, Format};

/// Repetitions of one part of an input: enough for a buffer of 4 KiB and for a table of 1000 rows.
const DEFAULT_GROW: u64 = 5000;

/// What is looked for, and what may be used up.
#[derive(Args, Debug)]
pub struct AnalysisArguments {
    #[command(flatten)]
    pub campaign: CampaignArguments,
    #[command(flatten)]
    pub budget: BudgetArguments,
    /// Look for these kinds of failure only: assertion,out-of-bounds-read,…; also: default, all, unreachable
    #[arg(long, value_delimiter = ',', value_parser = check, value_name = "LIST")]
    pub checks: Option<Vec<CheckWord>>,
    /// Do not look for reads of memory that was never written
    #[arg(long)]
    pub no_uninitialised: bool,
    /// Check the contracts of this file where functions are entered [default: nearmiss.contracts, if it is
    /// there]
    #[arg(long, value_name = "FILE")]
    pub contracts: Option<PathBuf>,
    /// Check no contracts
    #[arg(long, conflicts_with = "contracts")]
    pub no_contracts: bool,
    #[command(flatten)]
    pub inputs: InputArguments,
    /// How to show the report
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Write the report into a file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show nothing but the report: no limits, no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Run invented inputs without a sandbox
    ///
    /// The program then does whatever the invented input makes it do, to your files too.
    #[arg(long)]
    pub no_sandbox: bool,
    /// Start a process for every run instead of forking the program before main
    ///
    /// Slower. What is found is the same, unless the program does before main what its runs must not share.
    #[arg(long)]
    pub no_fork_server: bool,
    /// Use another solver: a command that reads SMT-LIB 2 from its standard input
    #[arg(long, value_name = "COMMAND")]
    pub solver: Option<String>,
}

/// What may be used up.
#[derive(Args, Debug)]
#[command(next_help_heading = "Budget")]
pub struct BudgetArguments {
    /// Time for the analysis: 90, 90s, 5m, 500ms [default: 60s for run, 10m for test]
    #[arg(long, value_parser = duration)]
    pub time: Option<Duration>,
    /// How far from the recorded path to look, in branches; 0: the path itself only [default: as
    /// far as time lasts]
    #[arg(long, value_name = "N")]
    pub distance: Option<u32>,
    /// Maximum of runs in the sandbox [default: as many as there is time for]
    #[arg(long, value_name = "N")]
    pub runs: Option<u64>,
    /// Rules by which new paths are chosen as starting points, in turns: new, refused, fresh, newest, nearest, rarest, random
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_values_t = RuleName::USUAL)]
    pub search: Vec<RuleName>,
    /// Work at so many tests at the same time [default: one for each processor]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Time for one query to the solver
    #[arg(long, default_value = "500ms", value_parser = duration, value_name = "TIME")]
    pub query_time: Duration,
    /// Time for one run in the sandbox [default: in proportion to the recorded run]
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub run_time: Option<Duration>,
}

/// Which inputs may change, and how much of them.
#[derive(Args, Debug)]
#[command(next_help_heading = "Inputs")]
pub struct InputArguments {
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
    /// How often a part of the input (a byte, a word, a line, an argument) may be repeated to make it longer;
    /// 0: never
    #[arg(long, default_value_t = DEFAULT_GROW, value_name = "N")]
    pub grow: u64,
    /// Bytes of each input that are looked at [default: 65536 for run, 4096 for test]
    #[arg(long, value_name = "BYTES")]
    pub input: Option<u64>,
    /// Elements that an access with a symbolic index may be about; beyond, the index is fixed
    #[arg(long, default_value_t = environment::DEFAULT_ELEMENTS, value_name = "N")]
    pub elements: u64,
    /// Elements that all stores with a symbolic index may be about, in the whole run
    #[arg(long, default_value_t = environment::DEFAULT_UPDATES, value_name = "N")]
    pub updates: u64,
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

impl Channel {
    fn kind(self) -> ChannelKind {
        match self {
            Channel::Argv => ChannelKind::Argument,
            Channel::Stdin => ChannelKind::Stdin,
            Channel::Files => ChannelKind::File,
            Channel::Named => ChannelKind::Named,
        }
    }
}

impl AnalysisArguments {
    /// The kinds of failure that are looked for; all if `None`.
    pub fn kinds(&self) -> Option<BTreeSet<Kind>> {
        let listed = self.checks.as_ref();
        let listed = listed.map(|words| {
            let kinds = words.iter().flat_map(|word| word.kinds());
            kinds.collect::<BTreeSet<Kind>>()
        });
        if !self.no_uninitialised {
            return listed;
        }
        let mut kinds = listed.unwrap_or_else(|| Kind::ALL.iter().copied().collect());
        kinds.remove(&Kind::UninitialisedRead);
        Some(kinds)
    }

    /// The kinds whose checks are wanted beside the usual ones.
    pub fn on_demand(&self) -> Vec<Kind> {
        let words = self.checks.iter().flatten();
        words.flat_map(|word| word.on_demand()).collect()
    }
}

impl InputArguments {
    /// The channels that are inputs.
    pub fn channel_set(&self) -> ChannelSet {
        let more = [
            (self.env, ChannelKind::Environment),
            (self.pipes, ChannelKind::Pipe),
            (self.sockets, ChannelKind::Socket),
        ];
        let more = more.into_iter().filter(|(wanted, _)| *wanted);
        let kinds = self.channels.iter().map(|channel| channel.kind());
        let kinds = kinds.chain(more.map(|(_, kind)| kind));
        kinds.fold(ChannelSet::NONE, ChannelSet::with)
    }
}
