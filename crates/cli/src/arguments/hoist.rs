//! Flags of `hoist`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::CampaignArguments;
use super::values::duration;

/// What is printed below the flags.
pub const HELP: &str = "\
Runs the unit tests once for each function. What each call of it is given (numbers, what pointers lead to, the globals
that it reads) counts as input; every check that the call meets, in the function and in all it calls, becomes
a requirement: on this path, this must hold. All of them together, made shorter, are the contract of the function.
Calls are then made again with other inputs, in a sanitizer build and a sandbox: what a requirement does not need goes, and each
is shown by a call that violates it and fails, and one that keeps to it and does not.
nearmiss run and nearmiss test check contracts wherever the functions are entered.

Blocks of the file that are written by hand stay as they are; those that nearmiss hoist wrote are replaced.

Examples:
  nearmiss hoist --function set -- ./unit_tests
  nearmiss hoist --function 'buf_*' --output buf.contracts -- ./test_buf

Exit status: 0 there are contracts, 1 nothing was revealed, 2 nearmiss could not do its job.";

/// Arguments of `hoist`.
#[derive(Args, Debug)]
pub struct HoistArguments {
    /// The functions: names, or patterns such as 'buf_*'
    #[arg(
        long,
        short,
        required = true,
        value_delimiter = ',',
        value_name = "NAME"
    )]
    pub function: Vec<String>,
    /// Where contracts are written
    #[arg(long, value_name = "FILE", default_value = "nearmiss.contracts")]
    pub output: PathBuf,
    /// Calls with other inputs that are made for a function, to find out what its requirements need and to show each of
    /// them; 0: none
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub runs: usize,
    /// Stop after this long: what was not looked at is named
    #[arg(long, default_value = "2m", value_parser = duration)]
    pub time: Duration,
    /// Make these calls with your own rights
    #[arg(long)]
    pub no_sandbox: bool,
    #[command(flatten)]
    pub campaign: CampaignArguments,
    /// The program of unit tests, compiled by nearmiss cc, and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}
