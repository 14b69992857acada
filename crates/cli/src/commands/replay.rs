//! `nearmiss replay`: an input that fails, once more.

use std::path::Path;
use std::time::Duration;

use nearmiss_engine::complaint::complaints;
use nearmiss_engine::{Config, Options, Output};
use nearmiss_sandbox::Ended;

use crate::{FOUND, NOTHING, environment, output, signals};

/// Replays a finding: what the program says goes where it would go.
pub fn replay(id: &str, twin: bool, no_sandbox: bool, directory: &Path) -> Result<u8, String> {
    let compiler = environment::compiler_config()?;
    let config = Config {
        directory: directory.to_path_buf(),
        time: Duration::ZERO,
        question_time: Duration::ZERO,
        run_time: None,
        distance: Some(0),
        runs: None,
        jobs: 1,
        checks: None,
        sandbox: environment::sandbox(no_sandbox)?,
        solver: None,
        channels: String::new(),
        options: Options::default(),
        output: Output::Through,
        clang: compiler.clang,
        library_directory: compiler.library_directory,
        stop: &signals::STOP,
    };
    let outcome = nearmiss_engine::replay(id, twin, &config).map_err(|error| error.to_string())?;
    output::result(&outcome.stdout)?;
    output::message(&outcome.stderr);
    let end = match (outcome.exceeded, outcome.ended) {
        (Some(limit), _) => limit.to_string(),
        (None, Ended::Exited(status)) => format!("ended with status {status}"),
        (None, Ended::Signal(signal)) => format!("was killed by signal {signal}"),
    };
    output::complain(&format!("{id}: the program {end}"));
    let failed = !complaints(&outcome.stderr, outcome.ended).is_empty();
    Ok(if failed { FOUND } else { NOTHING })
}
