//! Contracts of functions: programs are run as variants that check them where the functions are entered.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use nearmiss_contracts::Contract;
use nearmiss_hoist::applied::{Applied, apply};
use nearmiss_hoist::program::Subject;
use nearmiss_results::Contracts;

use crate::Config;
use crate::program::{libraries, loader_variables};

/// The contracts that a campaign checks.
#[derive(Clone, Debug, Default)]
pub struct Contracted {
    /// The contracts.
    pub contracts: Vec<Contract>,
    /// The directory that files are named from.
    pub directory: PathBuf,
}

/// The program to be run in the place of another, and what became of the contracts. Where no contract is about it, and
/// where no variant can be built, that is the program itself.
pub fn contracted(
    program: &Path,
    environment: &[(OsString, OsString)],
    config: &Config,
    campaign: &Path,
) -> (PathBuf, Contracts) {
    let wanted = &config.contracted;
    let itself = program.to_path_buf();
    if wanted.contracts.is_empty() {
        return (itself, Contracts::default());
    }
    let libraries = libraries(program, &loader_variables(environment));
    let place = campaign
        .join("contracts")
        .join(crate::subject::twin_name(program, &libraries));
    let subject = Subject {
        program,
        libraries: &libraries,
        compiler: &config.compiler,
        directory: &place,
    };
    match apply(&subject, &wanted.contracts, &wanted.directory) {
        Ok(Applied {
            program,
            used,
            unused,
            ..
        }) => (program.unwrap_or(itself), Contracts { used, unused }),
        Err(why) => {
            let names = wanted.contracts.iter().map(|it| it.function.clone());
            let unused = names.map(|name| (name, why.clone())).collect();
            let none = Contracts {
                used: Vec::new(),
                unused,
            };
            (itself, none)
        }
    }
}
