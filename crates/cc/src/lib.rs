//! The user's own compiler, wrapped.
//!
//! `nearmiss cc` runs the compiler that the user has, with the user's words: files, messages, exit status and machine
//! code are that compiler's. What is added serves later analyses and is never loaded by a program:
//!
//! ```text
//!  compile   a.c ─► cc ─► a.o                      + .nearmiss.recipe: command, directory, sources
//!  link      a.o b.o ─► cc ─► program              + .nearmiss.link: the words of the link
//!                                                  + the capture library, asleep until a suite is captured
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | [`options`], [`command`], [`response`] | a command line, read |
//! | [`plan`] | what is added to which command |
//! | [`sources`], [`dependencies`] | the files that a compilation read |
//! | [`elf`] | a section at the end of an object |
//! | [`link`] | the record of a link, and what a link gets |
//! | [`run`], [`process`], [`signals`] | carrying it out |

pub mod command;
pub mod config;
pub mod dependencies;
pub mod elf;
pub mod link;
pub mod options;
pub mod plan;
pub mod process;
pub mod response;
mod run;
pub mod signals;
pub mod sources;

use std::ffi::OsString;
use std::io;
use std::path::Path;

pub use config::{Config, Language};

use process::Failure;

/// The status of a wrapper that could not do its job.
const STATUS_TROUBLE: i32 = 2;

/// Does what the command line says (the words after the wrapper's name) and gives the exit status. Where nothing is
/// added, the compiler takes the place of this process.
pub fn main_with(arguments: &[OsString], config: &Config) -> i32 {
    match carry_out(arguments, config) {
        Ok(()) => 0,
        Err(Failure::Status(status)) => status,
        Err(Failure::Signal(signal)) => signals::die_by(signal),
        Err(failure) => {
            process::say(&mut io::stderr(), &failure.to_string());
            STATUS_TROUBLE
        }
    }
}

fn carry_out(arguments: &[OsString], config: &Config) -> Result<(), Failure> {
    let own = arguments.iter().filter(|word| *word != config::NO_SOURCE);
    let own: Vec<OsString> = own.cloned().collect();
    let keeps_sources = config.keeps_sources && own.len() == arguments.len();
    // A word that is no text is rare enough to be left to the compiler alone.
    let words: Option<Vec<String>> = (own.iter())
        .map(|word| word.to_str().map(str::to_string))
        .collect();
    let read = |name: &str| std::fs::read_to_string(name).ok();
    let directory =
        std::env::current_dir().map_err(|error| process::trouble(Path::new("."), &error))?;
    let planned = words.map(|words| {
        let expanded = response::expand(&words, &read);
        (plan::plan(&expanded, &directory, config.language), words)
    });
    let Some((plan::Plan::Build(build), words)) = planned else {
        return Err(process::replace_by(
            &config.compiler,
            &own,
            &config.variables,
        ));
    };
    signals::install();
    let build = run::Build {
        config,
        directory: &directory,
        words: &words,
        command: &build,
        keeps_sources,
    };
    build.run()
}
