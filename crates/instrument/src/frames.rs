//! Functions whose frames would be more than twice the plain ones, in code that is not optimised.
//!
//! How large a frame is, is known once code is generated: the compiler driver compares it with what
//! [`write_plain`] estimates, and has the unit instrumented once more with a list of the functions that
//! need too much. Those keep their variables in memory, where clang put them, and their labels in the shadow of
//! it, so that no value lives longer than a statement. Most functions are better off without.

use std::path::Path;

use nearmiss_sites::frame;
use nearmiss_sites::stack_frames::{PlainFrames, Thrift, ThriftyFrames};

use crate::llvm::{Module, Opcode, Value};
use crate::unit::{defined_functions, write_file};

/// What a frame holds beside variables: the return address and the frame pointer.
const LINKAGE: u64 = 16;

/// Frames are as aligned as the stack.
const ALIGNMENT: u64 = 16;

/// Writes what the frame of each function takes in the plain program, before any pass: clang gives each
/// variable a slot of its own there, and hardly any to values.
pub fn write_plain(module: &Module, path: &Path) -> Result<(), String> {
    let functions = defined_functions(module).into_iter();
    let frames: PlainFrames = functions
        .map(|function| (function.name(), plain(module, function)))
        .collect();
    write_file(path, &frame::write(&frames))
}

fn plain(module: &Module, function: Value) -> u64 {
    let blocks = function.blocks().into_iter();
    let instructions = blocks.flat_map(|block| block.instructions());
    let variables = instructions.filter(|it| it.opcode() == Opcode::LLVMAlloca);
    let sizes = variables.map(|variable| {
        let count = variable.operand(0).constant_integer().unwrap_or(0);
        count * module.element_size(variable.allocated_type())
    });
    LINKAGE + sizes.sum::<u64>().next_multiple_of(ALIGNMENT)
}

/// Marks the functions that `path` lists, before any pass.
pub fn mark(module: &Module, path: &Path) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let listed = frame::read_all::<ThriftyFrames>(&bytes).map_err(|error| error.to_string())?;
    for function in defined_functions(module) {
        let name = function.name();
        if let Some(thrift) = listed.iter().find_map(|frames| frames.get(&name)) {
            module.set_text_attribute(function, mark_of(*thrift), Some(""));
        }
    }
    Ok(())
}

/// How the frame of `function` is kept small, if it is marked.
pub fn thrift_of(function: Value) -> Option<Thrift> {
    let mut kinds = Thrift::ALL.into_iter();
    kinds.find(|thrift| function.has_text_attribute(mark_of(*thrift)))
}

/// Takes the marks away.
pub fn unmark(module: &Module) {
    for function in defined_functions(module) {
        for thrift in Thrift::ALL {
            module.set_text_attribute(function, mark_of(thrift), None);
        }
    }
}

fn mark_of(thrift: Thrift) -> &'static str {
    match thrift {
        Thrift::InMemory => "nearmiss-in-memory",
        Thrift::GuardsOutside => "nearmiss-guards-outside",
    }
}
