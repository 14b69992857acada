//! Flags of `explore` → what `paths` is to do.

use std::path::{Path, PathBuf};

use nearmiss_harness::{Request, require};
use nearmiss_paths::build::{Contracted, Sources};
use nearmiss_paths::{Config, Cover, Mode};

use super::sizes;
use crate::arguments::{self, ExploreArguments, PreMode, PreconditionSource};
use crate::commands::contracts;
use crate::commands::settings::solver;
use crate::{environment, signals};

/// What is to be done, with everything that is made on the way in `directory`.
pub fn config(arguments: &ExploreArguments, directory: &Path) -> Result<Config, String> {
    environment::check_address_space()?;
    let limits = &arguments.common.limits;
    Ok(Config {
        build: sources(arguments)?,
        request: request(arguments)?,
        mode: mode(arguments.common.subject.pre_mode),
        cover: cover(limits.cover),
        reach: None,
        restarts: !arguments.common.no_restarts,
        loops: limits.loops,
        recursion: limits.recursion,
        time: limits.time,
        memory: limits.memory,
        paths: limits.max_paths,
        query_time: limits.query_time,
        run_time: limits.run_time,
        solver: solver(arguments.common.solver.as_deref())?,
        sandbox: environment::sandbox(arguments.common.no_sandbox)?,
        directory: directory.to_path_buf(),
        stop: &signals::STOP,
    })
}

/// What is built.
pub fn sources(arguments: &ExploreArguments) -> Result<Sources, String> {
    let files = arguments
        .files
        .iter()
        .chain(&arguments.common.compile_commands);
    for file in files {
        // Said here, so that nothing is built before a name that is only mistyped.
        std::fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(Sources {
        files: arguments.files.clone(),
        flags: arguments.common.flags.clone(),
        compile_commands: arguments.common.compile_commands.clone(),
        compiler: environment::compiler_config()?,
        marks: Vec::new(),
        wraps: false,
        contracted: contracted(arguments)?,
        refuses: false,
        answers: false,
        objects: None,
    })
}

/// The contracts in force; a precondition that is a file of contracts is such a file.
fn contracted(arguments: &ExploreArguments) -> Result<Contracted, String> {
    let subject = &arguments.common.subject;
    let file = match &subject.pre {
        Some(PreconditionSource::Contracts(file)) => Some(file),
        _ => subject.contracts.as_ref(),
    };
    contracts::wanted(file.map(PathBuf::as_path), subject.no_contracts)
}

fn request(arguments: &ExploreArguments) -> Result<Option<Request>, String> {
    let Some(function) = &arguments.common.subject.function else {
        return Ok(None);
    };
    let (subject, inputs) = (&arguments.common.subject, &arguments.common.inputs);
    let mut request = Request {
        function: function.clone(),
        precondition: match &subject.pre {
            Some(PreconditionSource::Function(name)) => Some(name.clone()),
            Some(PreconditionSource::Source(_)) => Some(format!("{function}_pre")),
            _ => None,
        },
        precondition_file: match &subject.pre {
            Some(PreconditionSource::Source(file)) => Some(from_root(file)?),
            _ => None,
        },
        oracle: subject.oracle.clone(),
        depth: inputs.depth,
        elements: inputs.elements,
        ..Request::default()
    };
    // The file's rules come first: what is said on the command line wins.
    if let Some(file) = &inputs.sizes {
        sizes::add(file, &mut request)?;
    }
    let kinds = [
        &inputs.size,
        &inputs.string,
        &inputs.range,
        &inputs.null,
        &inputs.alias,
        &inputs.stub,
    ];
    request.rules.extend(kinds.into_iter().flatten().cloned());
    request.globals.extend(inputs.global.iter().cloned());
    (request.requirements).extend(subject.require.iter().cloned());
    if let Some(PreconditionSource::Contracts(file)) = &subject.pre {
        has_contract(file, function)?;
    }
    for text in &request.requirements {
        // What is wrong with the words themselves is said before anything is built.
        require::check(text).map_err(|error| error.to_string())?;
    }
    Ok(Some(request))
}

/// A name that means the same in every directory.
fn from_root(file: &Path) -> Result<PathBuf, String> {
    let found = file.canonicalize();
    let path = found.map_err(|error| format!("{}: {error}", file.display()))?;
    match path.to_str() {
        Some(name) if !name.contains(['"', '\n']) => Ok(path),
        _ => Err(format!(
            "{}: no C file can include a file of that name",
            file.display()
        )),
    }
}

/// A file that is to be the precondition has a contract of the function.
fn has_contract(file: &Path, function: &str) -> Result<(), String> {
    let contracts = contracts::read(file)?;
    let mut contracts = contracts.iter();
    match contracts.any(|contract| contract.function == function) {
        true => Ok(()),
        false => Err(format!("{}: no contract of {function}", file.display())),
    }
}

fn mode(mode: PreMode) -> Mode {
    match mode {
        PreMode::Auto => Mode::Auto,
        PreMode::Late => Mode::Late,
        PreMode::Calls => Mode::Calls,
        PreMode::Early => Mode::Early,
        PreMode::Summary => Mode::Summary,
        PreMode::Native => Mode::Native,
    }
}

fn cover(cover: arguments::Cover) -> Cover {
    match cover {
        arguments::Cover::Paths => Cover::Paths,
        arguments::Cover::Branches => Cover::Branches,
        arguments::Cover::Mcdc => Cover::Mcdc,
    }
}
