//! The compiler driver: a pure plan of the command line, then running it.
//!
//! `nearmiss cc` takes the command lines that clang takes and leaves the files that clang
//! leaves; C sources become instrumented objects, programs and shared libraries are linked
//! with the runtime. What a build system can notice (messages, exit status, files of
//! dependencies) is clang's own.

mod beside;
mod bitcode;
pub mod checks;
pub mod command;
mod compile;
pub mod config;
mod dependencies;
mod frames;
mod link;
pub mod options;
pub mod plan;
mod process;
mod record;
pub mod response;
mod run;
mod signals;
mod version_script;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

pub use bitcode::compile_rewritten;
pub use checks::Checks;
pub use config::{Config, Language};
pub use link::wrap_main;
pub use plan::{Plan, plan};
use process::Failure;
pub use record::{archives, object_file};
pub use version_script::admit_hooks_in_link;

/// The status of a driver that could not do its job.
const STATUS_TROUBLE: i32 = 2;

/// Does what the command line says (the words after the compiler's name), with messages on
/// standard error, and gives the exit status. A command that is clang's alone does not return:
/// clang takes the place of this process.
pub fn main_with(arguments: &[OsString], config: &Config) -> i32 {
    run_with(arguments, config, &mut io::stderr())
}

/// As [`main_with`], with messages to `messages`.
pub fn run_with(arguments: &[OsString], config: &Config, messages: &mut dyn Write) -> i32 {
    match carry_out(arguments, config, messages) {
        Ok(()) => 0,
        Err(Failure::Status(status)) => status,
        Err(Failure::Signal(signal)) => signals::die_by(signal),
        Err(failure) => {
            run::say(messages, &failure.to_string());
            STATUS_TROUBLE
        }
    }
}

fn carry_out(
    arguments: &[OsString],
    config: &Config,
    messages: &mut dyn Write,
) -> Result<(), Failure> {
    let Plan::Build { compilations, link } = plan_words(arguments, config) else {
        if let Some(word) = unreadable(arguments, config) {
            let word = word.to_string_lossy();
            run::say(
                messages,
                &format!(
                    "{word} is not UTF-8: what is compiled with that word is not instrumented"
                ),
            );
        }
        return Err(process::replace_by(config.compiler(), arguments));
    };
    signals::install();
    let directory =
        std::env::current_dir().map_err(|error| process::trouble(Path::new("."), &error))?;
    let temporary = temporary_directory()?;
    run::Build::new(config, &directory, temporary.path(), messages)
        .run(&compilations, link.as_ref())
}

/// As a library: does what the command line says in `directory`; everything that clang has to say
/// goes to `messages`, and signals stay as they are. Whether it was done.
pub fn build_in(
    directory: &Path,
    words: &[String],
    config: &Config,
    messages: &mut dyn Write,
) -> bool {
    let done = match plan(words, config) {
        Plan::Build { compilations, link } => temporary_directory().and_then(|temporary| {
            run::Build::new(config, directory, temporary.path(), messages)
                .hearing_clang()
                .run(&compilations, link.as_ref())
        }),
        Plan::Unchanged => Err(Failure::Trouble(format!(
            "not a command that builds something: {}",
            words.join(" ")
        ))),
    };
    match done {
        Ok(()) => true,
        // clang has said why.
        Err(Failure::Status(_)) => false,
        Err(failure) => {
            run::say(messages, &failure.to_string());
            false
        }
    }
}

fn temporary_directory() -> Result<tempfile::TempDir, Failure> {
    tempfile::Builder::new()
        .prefix("nearmiss-cc-")
        .tempdir()
        .map_err(|error| process::trouble(Path::new("temporary directory"), &error))
}

fn plan_words(arguments: &[OsString], config: &Config) -> Plan {
    let words: Option<Vec<String>> = (arguments.iter())
        .map(|argument| argument.to_str().map(str::to_string))
        .collect();
    // A name that is not UTF-8 is rare enough to be left to clang, with a message.
    let read = |name: &str| std::fs::read_to_string(name).ok();
    words.map_or(Plan::Unchanged, |words| {
        plan(&response::expand(&words, &read), config)
    })
}

/// The word that keeps a command from being instrumented because it is not UTF-8.
fn unreadable<'a>(arguments: &'a [OsString], config: &Config) -> Option<&'a OsString> {
    let word = arguments.iter().find(|word| word.to_str().is_none())?;
    let words = arguments.iter().map(|word| word.to_string_lossy().into());
    let words: Vec<String> = words.collect();
    matches!(plan(&words, config), Plan::Build { .. }).then_some(word)
}
