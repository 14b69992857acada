//! Rewriting a unit before it is instrumented, for a variant of its program (`nearmiss_sites::rewrite`).
//!
//! The rewritten bitcode is what the rest of the tool sees, so the variant's twin has the same changes.

mod boundary;
mod entry;
mod formats;
mod test_code;

use std::path::PathBuf;

use nearmiss_sites::frame;
use nearmiss_sites::rewrite::{Rewrite, absolute};

use crate::llvm::{Module, Opcode, Value};
use crate::unit::{Request, defined_functions};

/// Rewrites the unit as the file says that `request` names, if it names one; gives where the bitcode is then, and what
/// was wanted.
pub fn apply(request: &Request) -> Result<(PathBuf, Rewrite), String> {
    let Some(file) = &request.rewrite else {
        return Ok((request.input.clone(), Rewrite::default()));
    };
    let module = Module::read(&request.input)?;
    let wanted = read(file)?;
    for check in &wanted.checks {
        entry::rewrite(&module, check);
    }
    // What comes last is called first: checks see what a call was given.
    if let Some(boundary) = &wanted.boundary {
        boundary::announce(&module, boundary);
    }
    module
        .verify()
        .map_err(|message| format!("rewriting broke the module: {message}"))?;
    let output = request.output.with_extension("rewritten.bc");
    module.write(&output)?;
    Ok((output, wanted))
}

fn read(file: &std::path::Path) -> Result<Rewrite, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut rewrites: Vec<Rewrite> =
        frame::read_all(&bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    rewrites
        .pop()
        .ok_or_else(|| format!("{}: empty", file.display()))
}

/// The first instruction of a function that is not one of its variables.
fn first_action(function: Value) -> Value {
    let entry = function.blocks()[0].instructions().into_iter();
    let mut actions = entry.filter(|it| it.opcode() != Opcode::LLVMAlloca);
    actions.next().expect("a block has a terminator")
}

/// The source file of a function, by the name that a [`Rewrite`] knows it by.
pub fn file_of(function: Value) -> Option<String> {
    let (directory, name) = function.source_file()?;
    Some(absolute(&directory, &name))
}

/// The functions of a unit whose bodies are its own.
fn own_functions(module: &Module) -> Vec<Value> {
    let mut functions = defined_functions(module);
    functions.retain(|function| !function.is_elsewhere());
    functions
}
