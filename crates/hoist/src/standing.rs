//! How a contract stands to the program: it fits, it is stale, or its function is not there.

use std::path::Path;

use nearmiss_contracts::Contract;
use nearmiss_harness::Unit;
use nearmiss_harness::entry::Definition;
use nearmiss_sites::rewrite::absolute;

use crate::{digest, typed};

/// How a contract stands to the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is about this function. Where the source cannot be read, whether the body has changed is not known.
    Fits(Definition),
    /// The function has changed: how.
    Stale(String),
    /// It makes no sense for the function: why.
    Wrong(Vec<String>),
    /// There is no such function.
    Absent,
}

/// How a contract stands to a program with this debug information; `read` reads a source file.
pub fn standing(
    contract: &Contract,
    unit: &Unit,
    read: &dyn Fn(&Path) -> Option<String>,
) -> Standing {
    let definitions = unit.definitions();
    let named = definitions
        .iter()
        .filter(|definition| definition.name == contract.function);
    let subject = &contract.subject;
    let in_file = |definition: &&Definition| match &definition.place {
        Some((file, _)) => Path::new(&absolute("/", file)).ends_with(&subject.file),
        None => true,
    };
    let mut fitting = named.clone().filter(in_file);
    let Some(definition) = fitting.next() else {
        return match named.clone().next() {
            Some(_) => Standing::Stale(format!("{} is not in {}", contract.function, subject.file)),
            None => Standing::Absent,
        };
    };
    if !subject.signature.is_empty() && subject.signature != definition.signature {
        let now = &definition.signature;
        return Standing::Stale(format!("its signature is {now} now"));
    }
    let body = body(definition, read);
    if !subject.body.is_empty() && body.is_some_and(|body| body != subject.body) {
        return Standing::Stale("its body has changed".into());
    }
    let mistakes = typed::mistakes(unit, definition, contract);
    match mistakes.is_empty() {
        true => Standing::Fits(definition.clone()),
        false => Standing::Wrong(mistakes),
    }
}

/// The digest of a function's body; `None` if its source cannot be read.
pub fn body(definition: &Definition, read: &dyn Fn(&Path) -> Option<String>) -> Option<String> {
    let (file, line) = definition.place.as_ref()?;
    digest::of_body(&read(Path::new(file))?, *line)
}
