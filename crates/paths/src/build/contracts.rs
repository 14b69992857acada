//! Contracts of the functions under test: what the explored function's own requires holds for all inputs, those of the
//! functions that it enters are checked.

use std::fs;
use std::path::Path;

use nearmiss_contracts::{Contract, print};
use nearmiss_harness::{Request, Unit};
use nearmiss_hoist::applied::{self, Contracted};
use nearmiss_hoist::program::Subject;
use nearmiss_hoist::standing::{Standing, standing};

use super::Programs;
use super::error::BuildError;

/// A request with what the function's contract requires, and what is to be said of that.
pub fn required(
    request: &Request,
    contracts: &[Contract],
    unit: &Unit,
) -> (Request, Option<String>) {
    let mut request = request.clone();
    let is_own = |it: &&Contract| it.function == request.function && !it.requires.is_empty();
    let Some(contract) = contracts.iter().find(is_own) else {
        return (request, None);
    };
    let name = &contract.function;
    let read = |path: &Path| fs::read_to_string(path).ok();
    let note = match standing(contract, unit, &read) {
        Standing::Fits(_) => {
            let words = |formula| print::text(formula, print::Dialect::Require);
            let new: Vec<String> = contract.requires.iter().map(words).collect();
            let note = format!(
                "the contract of {name} holds for all inputs: {}",
                new.join(" && ")
            );
            request.requirements.extend(new);
            note
        }
        Standing::Stale(why) => unused(name, &format!("stale: {why}")),
        Standing::Wrong(mistakes) => unused(name, &mistakes.join("; ")),
        Standing::Absent => return (request, None),
    };
    (request, Some(note))
}

fn unused(function: &str, why: &str) -> String {
    format!("the contract of {function} was not used: {why}")
}

/// Has the program check contracts wherever functions are entered.
pub fn apply(programs: &mut Programs, contracted: &Contracted) -> Result<(), BuildError> {
    if contracted.contracts.is_empty() {
        return Ok(());
    }
    let compiler = &programs.recipe.compiler;
    let place = compiler.directory.join("contracts");
    let subject = Subject {
        program: &programs.recording,
        libraries: &[],
        compiler: &compiler.config,
        directory: &place,
    };
    let applied = applied::apply(&subject, &contracted.contracts, &contracted.directory)
        .map_err(BuildError::Contracts)?;
    let own = &programs.function;
    for (name, why) in applied.unused.iter().filter(|(name, _)| name != own) {
        programs.notes.push(unused(name, why));
    }
    let Some(variant) = applied.program else {
        return Ok(());
    };
    let others: Vec<&str> = (applied.used.iter())
        .filter(|name| *name != own)
        .map(String::as_str)
        .collect();
    if !others.is_empty() {
        let names = others.join(", ");
        let note = format!("contracts are checked where these are entered: {names}");
        programs.notes.push(note);
    }
    // Later commands find the program where it always is.
    fs::rename(&variant, &programs.recording)
        .map_err(|error| BuildError::File(variant.clone(), error))
}
