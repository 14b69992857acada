//! Flags of `reach`: the target, the way to it, and where everything begins.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nearmiss_paths::build::MarkPlace;

use super::explore::CommonArguments;
use super::values::place;

/// What is printed below the flags.
pub const HELP: &str = "\
Finds an input of a function with which a place in the source is reached, or proves that there is
none, or says what stood in the way. The control-flow graph leads: what cannot lead to the target
is neither asked about nor run.

A target is FILE:LINE, a function, a label, or FUNCTION:LABEL. --when is a C expression over what is
in scope there; it is compiled there, and your file is not changed. Inputs of the function are
described as for `nearmiss explore`.

A program built by `nearmiss cc`, or the command of a test suite, behind -- is the other entry: its runs
are the tests from which the search begins, the nearest first.

Examples:
  nearmiss reach parse.c:120 --function parse
  nearmiss reach alloc.c:36 --function load --when 'size < 0' --size header=64
  nearmiss reach fail --function parse --via parse.c:88 --not-through parse.c:101 parse.c
  nearmiss reach lib/a.c:77 lib/a.c lib/b.c --function f -- -Iinclude -DLIMIT=4
  nearmiss reach reach_error harness.c                 # KLEE, Test-Comp: a main of its own
  nearmiss reach parse.c:120 --when 'depth > 8' -- ./prog test.txt   # a whole program, from that test
  nearmiss reach --diff HEAD~1 -- make check           # is each changed line reached from some test?
  nearmiss reach --analyze lib/*.c -- -Iinclude        # clang's alarms, judged
  nearmiss reach --sarif report.sarif lib/*.c --sarif-output judged.sarif

Exit status: 1 reached, 0 infeasible (proved), 3 not known, 2 nearmiss could not do its job. Of several
alarms or targets: 1 if one is confirmed or reached, 0 if all are refuted, else 3.";

/// Arguments of `reach`.
#[derive(Args, Debug)]
pub struct ReachArguments {
    /// What is to be reached (FILE:LINE, a function, a label, FUNCTION:LABEL); then C files, objects and
    /// archives, if the target's own file is not all that is needed. With --sarif or --analyze: files only
    #[arg(value_name = "TARGET", required_unless_present_any = ["sarif", "diff"])]
    pub words: Vec<String>,
    /// Every line that a change adds is a target: since a revision of git, or in a file with a patch
    #[arg(long, value_name = "REV|FILE", conflicts_with_all = ["sarif", "analyze", "when", "via"])]
    pub diff: Option<String>,
    /// Judge the alarms of this report of a static analyser: can something fail there?
    #[arg(long, value_name = "FILE", conflicts_with_all = ["when", "via", "not_through"])]
    pub sarif: Option<PathBuf>,
    /// Run clang's static analyser on the C files, and judge its alarms
    #[arg(long, conflicts_with_all = ["sarif", "when", "via", "not_through"])]
    pub analyze: bool,
    /// Write the analyser's report with the verdicts in it: what was refuted is suppressed
    #[arg(long, value_name = "FILE")]
    pub sarif_output: Option<PathBuf>,
    /// What must hold at the target: a C expression over what is in scope there
    #[arg(long, value_name = "EXPR")]
    pub when: Option<String>,
    /// What must be passed before, in this order
    #[arg(long, value_name = "PLACE", value_parser = place)]
    pub via: Vec<MarkPlace>,
    /// What must not be passed
    #[arg(long, value_name = "PLACE", value_parser = place)]
    pub not_through: Vec<MarkPlace>,
    /// What signed overflow is on the way
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub overflow: Overflow,
    /// Explore depth first and leave nothing out, for comparison
    #[arg(long)]
    pub unguided: bool,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What signed overflow is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Overflow {
    /// Numbers wrap around, as the machine's do
    #[default]
    Wrap,
    /// A failure, at which a path ends
    Error,
}
