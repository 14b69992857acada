//! Contracts applied to a program: a variant of it that checks them wherever their functions are entered.

use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_contracts::Contract;
use nearmiss_harness::Unit;
use nearmiss_sites::rewrite::{EntryCheck, Given};

use crate::checker::{self, Check};
use crate::program::{Subject, entry, shown};
use crate::standing::{Standing, standing};

/// The contracts that are checked.
#[derive(Clone, Debug, Default)]
pub struct Contracted {
    /// The contracts.
    pub contracts: Vec<Contract>,
    /// The directory that files are named from.
    pub directory: PathBuf,
}

/// A program that checks contracts.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// The variant; `None` if no contract is about it.
    pub program: Option<PathBuf>,
    /// The directory with variants of its libraries, if it has any.
    pub library_path: Option<PathBuf>,
    /// The functions whose contracts are checked.
    pub used: Vec<String>,
    /// Contracts that are not, and why.
    pub unused: Vec<(String, String)>,
}

/// Contracts as code, and where it is called.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    checks: Vec<Check>,
    /// The calls at the entries of their functions.
    pub entries: Vec<EntryCheck>,
    /// The functions whose contracts are checked.
    pub used: Vec<String>,
    /// Contracts that are not, and why.
    pub unused: Vec<(String, String)>,
}

impl Prepared {
    /// The C file that the entries call.
    pub fn source(&self) -> String {
        checker::file(&self.checks)
    }

    /// Whether no contract is about the program.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Contracts as code for a program with this debug information; files are named as in `directory`.
pub fn prepare(unit: &Unit, contracts: &[Contract], directory: &Path) -> Prepared {
    let mut prepared = Prepared::default();
    for contract in contracts.iter().filter(|it| !it.requires.is_empty()) {
        let name = contract.function.clone();
        let function = match standing(contract, unit, &|path| fs::read_to_string(path).ok()) {
            Standing::Fits(function) => function,
            Standing::Stale(why) => {
                prepared.unused.push((name, format!("stale: {why}")));
                continue;
            }
            Standing::Wrong(mistakes) => {
                prepared.unused.push((name, mistakes.join("; ")));
                continue;
            }
            // A file of contracts may be of several programs.
            Standing::Absent => continue,
        };
        let (file, line) = function.place.clone().unwrap_or_default();
        let file = shown(&file, directory);
        let number = prepared.checks.len();
        match checker::check(unit, &function, contract, number, (&file, line)) {
            Ok(check) => {
                let call = EntryCheck {
                    given: Given::Values(check.arguments.clone()),
                    ..entry(&function, &check.globals, check.name.clone())
                };
                prepared.entries.push(call);
                prepared.checks.push(check);
                prepared.used.push(name);
            }
            Err(why) => prepared.unused.push((name, why)),
        }
    }
    prepared
}

/// Applies contracts to a program; files are named as in `directory`.
pub fn apply(
    subject: &Subject,
    contracts: &[Contract],
    directory: &Path,
) -> Result<Applied, String> {
    if contracts.is_empty() {
        return Ok(Applied::default());
    }
    let prepared = prepare(&subject.debug_information()?, contracts, directory);
    let mut applied = Applied {
        used: prepared.used.clone(),
        unused: prepared.unused.clone(),
        ..Applied::default()
    };
    if !prepared.is_empty() {
        let variant = subject.variant("contracts", &prepared.source(), prepared.entries)?;
        applied.program = Some(variant.program);
        applied.library_path = variant.library_path;
    }
    Ok(applied)
}
