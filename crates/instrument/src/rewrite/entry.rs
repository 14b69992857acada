//! Functions that call another one before anything else, with the addresses of their parameters and of globals.
//!
//! By their addresses, since how a parameter is passed (extended, in how many registers) is between callers and the
//! function; and because the called function may change what they are.

use nearmiss_sites::rewrite::EntryCheck;

use super::{file_of, first_action};
use crate::llvm::{Builder, Module, Opcode, Value};
use crate::unit::defined_functions;

/// Rewrites the function that is meant, if the unit has it.
pub fn rewrite(module: &Module, check: &EntryCheck) {
    let is_meant =
        |function: &Value| function.name() == check.function && is_in(*function, &check.file);
    let Some(function) = defined_functions(module).into_iter().find(is_meant) else {
        return;
    };
    let hidden = usize::from(function.has_attribute(1, "sret"));
    let parameters = function.parameters();
    let is_plain = parameters.len() == hidden + check.parameters;
    if !is_plain || function.is_elsewhere() || function.has_attribute(u32::MAX, "naked") {
        return;
    }
    call(module, function, &parameters[hidden..], check);
}

/// Whether a function is of this file. What a harness includes may be named without its directory.
fn is_in(function: Value, file: &str) -> bool {
    match function.source_file() {
        Some((directory, name)) if directory.is_empty() && !name.starts_with('/') => {
            file.is_empty() || file.ends_with(&format!("/{name}"))
        }
        _ => file.is_empty() || file_of(function).is_none_or(|found| found == file),
    }
}

fn call(module: &Module, function: Value, parameters: &[Value], check: &EntryCheck) {
    let builder = Builder::new(module);
    let pointer = builder.pointer_type();
    let first = first_action(function);
    builder.before(first);
    let count = (parameters.len() + check.globals.len()).max(1);
    let places = builder.alloca(pointer, count as u64);
    let place = |index: usize| builder.offset(places, builder.u64(8 * index as u64));
    let slots: Vec<Value> = (parameters.iter())
        .map(|parameter| builder.alloca(parameter.ty(), 1))
        .collect();
    for (index, (parameter, slot)) in parameters.iter().zip(&slots).enumerate() {
        builder.store(*parameter, *slot);
        builder.store(*slot, place(index));
    }
    for (index, name) in check.globals.iter().enumerate() {
        let found = module.variables().into_iter().find(|it| it.name() == *name);
        let address = found.filter(|it| !it.is_thread_local());
        let address = address.unwrap_or_else(|| module.zero(pointer));
        builder.store(address, place(parameters.len() + index));
    }
    let ty = module.function_type(module.void_type(), &[pointer], false);
    builder.call(ty, module.declare_as(&check.check, ty), &[places]);
    if check.replaces {
        if !function.has_attribute(u32::MAX, "alwaysinline") {
            module.forbid_inlining(function);
        }
        for (parameter, slot) in parameters.iter().zip(&slots) {
            let now = builder.load(parameter.ty(), *slot);
            replace_uses(*parameter, now, *slot);
        }
    }
    if !check.leave.is_empty() {
        let leave = module.declare_as(&check.leave, ty);
        for block in function.blocks() {
            let end = block.terminator();
            if end.opcode() == Opcode::LLVMRet && !follows_tail_call(end) {
                builder.before(end);
                builder.call(ty, leave, &[places]);
            }
        }
    }
}

/// Whether nothing may stand between a call and this return.
fn follows_tail_call(end: Value) -> bool {
    let mut instructions = end.block().instructions().into_iter().rev().skip(1);
    let before = instructions.next();
    before.is_some_and(|it| it.opcode() == Opcode::LLVMCall && it.is_must_tail())
}

/// What uses a value uses another from now on, but for the store into its slot.
fn replace_uses(value: Value, now: Value, slot: Value) {
    for user in value.users() {
        let is_own_store = user.opcode() == Opcode::LLVMStore && user.operand(1) == slot;
        if is_own_store || user == now {
            continue;
        }
        let uses = (0..user.operand_count()).filter(|at| user.operand(*at) == value);
        for at in uses.collect::<Vec<_>>() {
            user.set_operand(at, now);
        }
    }
}
