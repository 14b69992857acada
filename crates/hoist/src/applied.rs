//! Contracts applied to a program: a variant of it that checks them wherever their functions are entered.

use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_contracts::Contract;

use crate::checker::{self, Check};
use crate::program::{Subject, entry, shown};
use crate::standing::{Standing, standing};

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

/// Applies contracts to a program; files are named as in `directory`.
pub fn apply(
    subject: &Subject,
    contracts: &[Contract],
    directory: &Path,
) -> Result<Applied, String> {
    let mut applied = Applied::default();
    if contracts.is_empty() {
        return Ok(applied);
    }
    let unit = subject.debug_information()?;
    let (mut checks, mut entries): (Vec<Check>, Vec<_>) = (Vec::new(), Vec::new());
    for contract in contracts.iter().filter(|it| !it.requires.is_empty()) {
        let name = contract.function.clone();
        let function = match standing(contract, &unit, &|path| fs::read_to_string(path).ok()) {
            Standing::Fits(function) => function,
            Standing::Stale(why) => {
                applied.unused.push((name, format!("stale: {why}")));
                continue;
            }
            Standing::Wrong(mistakes) => {
                applied.unused.push((name, mistakes.join("; ")));
                continue;
            }
            // A file of contracts may be of several programs.
            Standing::Absent => continue,
        };
        let (file, line) = function.place.clone().unwrap_or_default();
        let file = shown(&file, directory);
        match checker::check(&unit, &function, contract, checks.len(), (&file, line)) {
            Ok(check) => {
                entries.push(entry(&function, &check.globals, check.name.clone()));
                checks.push(check);
                applied.used.push(name);
            }
            Err(why) => applied.unused.push((name, why)),
        }
    }
    if !checks.is_empty() {
        let variant = subject.variant("contracts", &checker::file(&checks), entries)?;
        applied.program = Some(variant.program);
        applied.library_path = variant.library_path;
    }
    Ok(applied)
}
