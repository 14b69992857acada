//! The command `nearmiss`: flags, progress, exit status.
//!
//! The only crate that prints or reads the environment. What is to be done is decided here;
//! how, in `engine`, `cc` and `report`.

mod arguments;
mod commands;
mod compiler;
mod display;
mod environment;
mod files;
mod output;
mod signals;

use std::process::ExitCode;

/// Nothing was found.
const NOTHING: u8 = 0;
/// Something was found.
const FOUND: u8 = 1;
/// Whether a place can be reached is not known.
const UNKNOWN: u8 = 3;
/// The job could not be done.
const TROUBLE: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    commands::sandbox::enter_if_asked(&words);
    if let Some(status) = compiler::compile_if_asked(&words) {
        return ExitCode::from(status);
    }
    let status = commands::carry_out(arguments::parse(words)).unwrap_or_else(|trouble| {
        output::complain(&trouble);
        TROUBLE
    });
    ExitCode::from(status)
}
