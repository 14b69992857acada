//! Contracts of functions: programs are run as variants that check them where the functions are entered.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

pub use nearmiss_hoist::applied::Contracted;
use nearmiss_hoist::applied::{Applied, apply, prepare};
use nearmiss_hoist::program::Subject;
use nearmiss_results::Contracts;
use nearmiss_sites::rewrite::EntryCheck;

use crate::Config;
use crate::program::{libraries, loader_variables};

/// The contracts that are about a program, for a variant that differs in more than that.
#[derive(Debug, Default)]
pub struct Beside {
    /// Calls at entries of its functions.
    pub checks: Vec<EntryCheck>,
    /// The C file that has what they call.
    pub sources: Vec<PathBuf>,
    /// Contracts that are not used, and why.
    pub unused: Vec<(String, String)>,
}

/// Makes checks of the contracts that are about a program.
pub fn contracts_beside(
    program: &Path,
    libraries: &[PathBuf],
    config: &Config,
    campaign: &Path,
) -> Result<Beside, String> {
    let wanted = &config.contracted;
    if wanted.contracts.is_empty() {
        return Ok(Beside::default());
    }
    let place = place_of(program, libraries, campaign);
    let subject = subject(program, libraries, config, &place);
    let unit = subject.debug_information()?;
    let prepared = prepare(&unit, &wanted.contracts, &wanted.directory);
    if prepared.is_empty() {
        return Ok(Beside {
            unused: prepared.unused,
            ..Beside::default()
        });
    }
    let file = place.join("beside.c");
    let written = fs::create_dir_all(&place).and_then(|()| fs::write(&file, prepared.source()));
    let file = written.and_then(|()| file.canonicalize());
    let file = file.map_err(|error| format!("{}: {error}", place.display()))?;
    Ok(Beside {
        checks: prepared.entries,
        sources: vec![file],
        unused: prepared.unused,
    })
}

fn place_of(program: &Path, libraries: &[PathBuf], campaign: &Path) -> PathBuf {
    let name = crate::subject::twin_name(program, libraries);
    campaign.join("contracts").join(name)
}

fn subject<'a>(
    program: &'a Path,
    libraries: &'a [PathBuf],
    config: &'a Config,
    directory: &'a Path,
) -> Subject<'a> {
    Subject {
        program,
        libraries,
        compiler: &config.compiler,
        directory,
    }
}

/// The program to be run in the place of another, as it runs in its environment and directory; the directory that its libraries are to be loaded from, if it has
/// any, and what became of the contracts. Where no contract is about it, and where no variant can be built, that is the
/// program itself.
pub fn contracted(
    program: &Path,
    (environment, directory): (&[(OsString, OsString)], &Path),
    config: &Config,
    campaign: &Path,
) -> (PathBuf, Option<PathBuf>, Contracts) {
    let wanted = &config.contracted;
    let itself = program.to_path_buf();
    if wanted.contracts.is_empty() {
        return (itself, None, Contracts::default());
    }
    let variables = loader_variables(environment, directory);
    let libraries = libraries(program, &variables, directory);
    let place = place_of(program, &libraries, campaign);
    let subject = subject(program, &libraries, config, &place);
    match apply(&subject, &wanted.contracts, &wanted.directory) {
        Ok(Applied {
            program,
            library_path,
            used,
            unused,
        }) => {
            let contracts = Contracts { used, unused };
            (program.unwrap_or(itself), library_path, contracts)
        }
        Err(why) => {
            let names = wanted.contracts.iter().map(|it| it.function.clone());
            let unused = names.map(|name| (name, why.clone())).collect();
            let none = Contracts {
                used: Vec::new(),
                unused,
            };
            (itself, None, none)
        }
    }
}

/// The variable that has the loader look into a directory first, with what it was before.
pub fn loading_from(directory: &Path, before: Option<&OsString>) -> (OsString, OsString) {
    let mut value = directory.as_os_str().to_os_string();
    if let Some(before) = before {
        value.push(":");
        value.push(before);
    }
    (LIBRARY_PATH.into(), value)
}

/// Where the loader looks for libraries.
pub const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";
