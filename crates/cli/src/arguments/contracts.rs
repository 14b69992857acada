//! Flags of `contracts`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What is printed below the flags.
const CHECK_HELP: &str = "\
With sources (or objects that were compiled with -g) every contract is compared with its function: the names and types of
what it is about, and whether the function has changed since the contract was derived. Words for the compiler
come behind --.

Examples:
  nearmiss contracts check nearmiss.contracts
  nearmiss contracts check nearmiss.contracts table.c --form acsl
  nearmiss contracts check nearmiss.contracts src/*.c -- -Iinclude

Exit status: 0 all of them fit, 1 some are stale or make no sense, 2 nearmiss could not do its job.";

/// What can be done with contracts.
#[derive(Debug, Subcommand)]
pub enum ContractsCommand {
    /// Read a file of contracts, compare it with sources, and print it in other languages
    #[command(after_help = CHECK_HELP)]
    Check(CheckArguments),
}

/// Arguments of `contracts check`.
#[derive(Args, Debug)]
pub struct CheckArguments {
    /// The file of contracts
    pub file: PathBuf,
    /// Sources, or objects with debug information
    pub sources: Vec<PathBuf>,
    /// Print only one form
    #[arg(long, value_enum)]
    pub form: Option<ContractForm>,
    /// Words for the compiler: -Iinclude
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<OsString>,
}

/// A language that contracts are printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ContractForm {
    /// A C function with assertions
    Assert,
    /// A contract of Frama-C
    Acsl,
    /// Clauses of CBMC
    Cbmc,
}
