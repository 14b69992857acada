//! clang with instrumentation: C sources to instrumented objects and programs.
//!
//! Recorders are compiled from the recipes that objects keep ([`recipe`]), variants from the bitcode of recorders
//! ([`compile_rewritten`]), and programs around a single function from their sources ([`build_in`]). Each C source takes
//! three steps: clang's front end writes bitcode with its checks, `nearmiss-instrument` instruments it, clang makes
//! machine code of it. A program is linked with the runtime.

mod bitcode;
pub mod checks;
mod compile;
pub mod config;
mod link;
pub mod plan;
pub mod recipe;
mod run;
mod version_script;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nearmiss_cc::process::{self, Failure};
pub use nearmiss_cc::{Language, command, options};

pub use bitcode::compile_rewritten;
pub use checks::Checks;
pub use config::Config;
pub use link::wrap_main;
pub use plan::{Plan, plan};
pub use version_script::admit_hooks_in_link;

/// Does what the command line says in `directory`; everything that clang has to say goes to `messages`. Whether it was
/// done.
pub fn build_in(
    directory: &Path,
    words: &[String],
    config: &Config,
    messages: &mut dyn Write,
) -> bool {
    let done = match plan(words, config) {
        Plan::Build { compilations, link } => temporary_directory().and_then(|temporary| {
            run::Build::new(config, directory, temporary.path(), messages)
                .run(&compilations, link.as_ref())
        }),
        Plan::Unchanged => Err(Failure::Trouble(format!(
            "not a command that builds something: {}",
            words.join(" ")
        ))),
    };
    match done {
        Ok(()) => true,
        // The tool has said why.
        Err(Failure::Status(_)) => false,
        Err(failure) => {
            process::say(messages, &failure.to_string());
            false
        }
    }
}

/// An object file with the record of a link.
pub fn object_file(link: &nearmiss_sites::Link) -> Vec<u8> {
    nearmiss_cc::link::object_file(link, &[])
}

/// The archives that are linked into a program, in order.
pub fn archives(directory: &Path) -> Vec<PathBuf> {
    let models = directory.join(config::MODELS_ARCHIVE);
    let runtime = directory.join(config::RUNTIME_ARCHIVE);
    // While the models are compiled they do not exist.
    let models = models.exists().then_some(models);
    models.into_iter().chain([runtime]).collect()
}

fn temporary_directory() -> Result<tempfile::TempDir, Failure> {
    let made = tempfile::Builder::new()
        .prefix("nearmiss-compile-")
        .tempdir();
    made.map_err(|error: io::Error| process::trouble(Path::new("temporary directory"), &error))
}
