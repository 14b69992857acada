//! Variables of static storage that a function reads, and that something may change.

use rustc_hash::FxHashSet;

use crate::llvm::{Module, Opcode, Value};

/// The variables that may have other values than their first, in a module that is not instrumented: all but
/// constants, and variables of the unit that are only read in it.
pub fn changing(module: &Module) -> FxHashSet<Value> {
    let variables = module.variables().into_iter();
    variables
        .filter(|variable| is_of_program(*variable) && may_change(*variable))
        .collect()
}

/// The names of those among `changing` that `function` reads, or whose address it gives away.
pub fn read_by(function: Value, changing: &FxHashSet<Value>) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let mut names = Vec::new();
    for block in function.blocks() {
        for instruction in block.instructions() {
            let mut work: Vec<Value> = sources(instruction);
            while let Some(value) = work.pop() {
                // Operands may also be blocks and metadata.
                if !value.is_constant() || value.is_function() || !seen.insert(value) {
                    continue;
                }
                if changing.contains(&value) {
                    names.push(value.name());
                }
                // What a variable points to from the start may be read through it.
                match value.is_global_variable() {
                    true => work.extend(value.initializer()),
                    false => work.extend(value.operands()),
                }
            }
        }
    }
    names
}

/// What an instruction reads: a store does not read where it writes to.
fn sources(instruction: Value) -> Vec<Value> {
    match instruction.opcode() {
        Opcode::LLVMStore => vec![instruction.operand(0)],
        _ => instruction.operands().collect(),
    }
}

fn is_of_program(variable: Value) -> bool {
    let name = variable.name();
    // The data of clang's reports have no name.
    !name.is_empty() && !name.starts_with("llvm.") && !name.starts_with("__nm_")
}

/// Whether other units know the variable, or it is used otherwise than for reading.
fn may_change(variable: Value) -> bool {
    if variable.is_global_constant() {
        return false;
    }
    let mut work = vec![variable];
    let mut seen = FxHashSet::default();
    while let Some(place) = work.pop() {
        for user in place.users().into_iter().filter(|user| seen.insert(*user)) {
            let is_address = user.is_constant() && !user.is_global_variable();
            match user.is_instruction().then(|| user.opcode()) {
                // Something that is not in the program may write to it: a device, another process.
                Some(Opcode::LLVMLoad) if user.is_volatile_or_atomic() => return true,
                Some(Opcode::LLVMLoad | Opcode::LLVMICmp) => {}
                Some(Opcode::LLVMGetElementPtr | Opcode::LLVMSelect | Opcode::LLVMPHI) => {
                    work.push(user);
                }
                // What clang's checks look at.
                Some(Opcode::LLVMPtrToInt | Opcode::LLVMAnd) => work.push(user),
                Some(Opcode::LLVMCall) if is_report(user) => {}
                None if is_address => work.push(user),
                _ => return true,
            }
        }
    }
    !variable.is_local()
}

fn is_report(call: Value) -> bool {
    call.called().is_function() && call.called().name().starts_with("__ubsan_")
}
