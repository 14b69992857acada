//! `nearmiss contracts check`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nearmiss_contracts::{Contract, code};
use nearmiss_engine::Contracted;
use nearmiss_harness::entry::Definition;
use nearmiss_harness::{PROBE_FLAGS, Unit};
use nearmiss_hoist::standing::{Standing, standing};

use crate::arguments::{CheckArguments, ContractForm};
use crate::{FOUND, NOTHING, environment, output};

/// The file of contracts that is used where none is named.
pub const CONTRACTS: &str = "nearmiss.contracts";

/// Checks a file of contracts, and prints it.
pub fn check(arguments: &CheckArguments) -> Result<u8, String> {
    let contracts = read(&arguments.file)?;
    let unit = debug_information(arguments)?;
    let mut text = String::new();
    let mut all_fit = true;
    for contract in &contracts {
        let read = |path: &Path| fs::read_to_string(path).ok();
        let stands = unit.as_ref().map(|unit| standing(contract, unit, &read));
        all_fit &= matches!(stands, None | Some(Standing::Fits(_)));
        text += &told(contract, stands.as_ref(), arguments.form);
    }
    output::result(text.as_bytes())?;
    Ok(if all_fit { NOTHING } else { FOUND })
}

/// The contracts of a file.
pub fn read(path: &Path) -> Result<Vec<Contract>, String> {
    let named = |why: &str| format!("{}: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|error| named(&error.to_string()))?;
    nearmiss_contracts::read(&text).map_err(|error| named(&error))
}

/// The contracts that are checked: those of the file that was named, or of the usual one if it is there.
pub fn wanted(file: Option<&Path>, none: bool) -> Result<Contracted, String> {
    let directory = environment::directory()?;
    let usual = directory.join(CONTRACTS);
    let file = match (file, none) {
        (_, true) => return Ok(Contracted::default()),
        (Some(file), _) => file,
        (None, _) if usual.is_file() => &usual,
        (None, _) => return Ok(Contracted::default()),
    };
    Ok(Contracted {
        contracts: read(file)?,
        directory,
    })
}

fn told(contract: &Contract, stands: Option<&Standing>, form: Option<ContractForm>) -> String {
    let mut text = format!("{}: {}", contract.function, origin(contract));
    text += &match stands {
        None => "\n".to_string(),
        Some(Standing::Fits(definition)) => format!("; fits {}\n", definition.signature),
        Some(Standing::Stale(why)) => format!("; stale: {why}\n"),
        Some(Standing::Absent) => "; stale: there is no such function\n".to_string(),
        Some(Standing::Wrong(mistakes)) => format!("; wrong:\n  {}\n", mistakes.join("\n  ")),
    };
    let definition = match stands {
        None => None,
        Some(Standing::Fits(definition)) => Some(definition),
        Some(_) => return text,
    };
    text + &evidence(contract) + &forms(contract, definition, form)
}

/// Which calls showed the requirements.
fn evidence(contract: &Contract) -> String {
    let line = |(number, shown): (&usize, &String)| {
        let formula = contract.requires.get(*number)?;
        Some(format!("  {formula}: {shown}\n"))
    };
    contract.shown.iter().filter_map(line).collect()
}

fn origin(contract: &Contract) -> String {
    match contract.from.as_str() {
        "" => "written by hand".to_string(),
        from => format!("from {from}"),
    }
}

fn forms(contract: &Contract, known: Option<&Definition>, form: Option<ContractForm>) -> String {
    let formula = contract.formula();
    let is_wanted = |one: ContractForm| form.is_none_or(|form| form == one);
    let mut text = String::new();
    if is_wanted(ContractForm::Assert) {
        let unknown = || {
            contract
                .parameters
                .iter()
                .map(|name| format!("long {name}"))
        };
        let signature = code::Signature {
            function: contract.function.clone(),
            parameters: known.map_or_else(|| unknown().collect(), |it| it.declared.clone()),
        };
        text += &code::asserts(&signature, &formula);
    }
    if is_wanted(ContractForm::Acsl) {
        text += &code::acsl(&formula);
    }
    if is_wanted(ContractForm::Cbmc) {
        text += &code::cbmc(&formula);
    }
    text
}

/// What the debug information of all given files says; `None` if none are given.
fn debug_information(arguments: &CheckArguments) -> Result<Option<Unit>, String> {
    let mut unit: Option<Unit> = None;
    for source in &arguments.sources {
        let named = |why: String| format!("{}: {why}", source.display());
        let object = match source.extension().is_some_and(|end| end == "c") {
            true => compiled(source, arguments)?,
            false => fs::read(source).map_err(|error| named(error.to_string()))?,
        };
        let added = match &mut unit {
            Some(unit) => unit.add(&object),
            None => Unit::read(&object).map(|first| unit = Some(first)),
        };
        added.map_err(|error| named(error.to_string()))?;
    }
    Ok(unit)
}

fn compiled(source: &PathBuf, arguments: &CheckArguments) -> Result<Vec<u8>, String> {
    let compiler = environment::compiler_config()?;
    let result = Command::new(&compiler.clang)
        .args(PROBE_FLAGS)
        .args(["-c", "-o", "/dev/stdout"])
        .arg(source)
        .args(&arguments.flags)
        .output();
    let result = result.map_err(|error| format!("{}: {error}", compiler.clang.display()))?;
    match result.status.success() {
        true => Ok(result.stdout),
        false => Err(String::from_utf8_lossy(&result.stderr).into_owned()),
    }
}
