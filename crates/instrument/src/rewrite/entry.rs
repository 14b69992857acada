//! Functions that call another one before anything else, with their parameters and the addresses of globals.
//!
//! What records calls changes what the parameters are, and is given their addresses. What checks a contract is given values:
//! addresses of variables would make these objects of a recording process, which costs a hundred nanoseconds a call.

use nearmiss_sites::rewrite::{Argument, EntryCheck, Given};

use super::{file_of, first_action};
use crate::llvm::{Builder, Module, Opcode, Type, Value};
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
    let parameters = &parameters[hidden..];
    match &check.given {
        Given::Places { leave } => call_with_places(module, function, parameters, check, leave),
        Given::Values(given) => call_with_values(module, function, parameters, check, given),
    }
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

/// Calls the check with the values of parameters: in registers, so that an entry costs little where nothing is symbolic.
fn call_with_values(
    module: &Module,
    function: Value,
    parameters: &[Value],
    check: &EntryCheck,
    given: &[Argument],
) {
    let builder = Builder::new(module);
    builder.before(first_action(function));
    let word = builder.integer_type(64);
    let value = |argument: &Argument| {
        let parameter = parameters[argument.parameter];
        let ty = parameter.ty();
        if argument.is_structure {
            return address_of(&builder, function, parameter);
        }
        match ty.is_pointer() || ty.is_integer() && ty.scalar_width().is_some_and(|it| it <= 64) {
            true => builder.unsigned(parameter, 64),
            // No contract is about a floating-point number.
            false => builder.u64(0),
        }
    };
    let is_there = |it: &&Argument| it.parameter < parameters.len();
    let mut arguments: Vec<Value> = given.iter().filter(is_there).map(value).collect();
    let globals = check.globals.iter().map(|name| global(module, name));
    arguments.extend(globals);
    let types: Vec<Type> = arguments.iter().map(|it| it.ty()).collect();
    debug_assert!(types.iter().all(|it| it.is_pointer() || *it == word));
    let ty = module.function_type(module.void_type(), &types, false);
    builder.call(ty, module.declare_as(&check.check, ty), &arguments);
}

/// The address of a structure that is passed in memory, or of a copy of one that is passed in a register.
fn address_of(builder: &Builder, function: Value, parameter: Value) -> Value {
    let is_it = |it: &(usize, Value)| it.1 == parameter;
    let index = function.parameters().into_iter().enumerate().find(is_it);
    let index = index.map_or(0, |it| it.0 as u32);
    if function.parameter_type_attribute(index, "byval").is_some() {
        return parameter;
    }
    let slot = builder.alloca(parameter.ty(), 1);
    builder.store(parameter, slot);
    slot
}

/// The address of a global; null if the unit does not know it.
fn global(module: &Module, name: &str) -> Value {
    let found = module.variables().into_iter().find(|it| it.name() == name);
    let address = found.filter(|it| !it.is_thread_local());
    address.unwrap_or_else(|| module.zero(Builder::new(module).pointer_type()))
}

/// Calls the check with the addresses of parameters, which it may change, and another function where this one returns.
fn call_with_places(
    module: &Module,
    function: Value,
    parameters: &[Value],
    check: &EntryCheck,
    leave: &str,
) {
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
        builder.store(global(module, name), place(parameters.len() + index));
    }
    let ty = module.function_type(module.void_type(), &[pointer], false);
    builder.call(ty, module.declare_as(&check.check, ty), &[places]);
    if !function.has_attribute(u32::MAX, "alwaysinline") {
        module.forbid_inlining(function);
    }
    for (parameter, slot) in parameters.iter().zip(&slots) {
        let now = builder.load(parameter.ty(), *slot);
        replace_uses(*parameter, now, *slot);
    }
    let leave = module.declare_as(leave, ty);
    for block in function.blocks() {
        let end = block.terminator();
        if end.opcode() == Opcode::LLVMRet && !follows_tail_call(end) {
            builder.before(end);
            builder.call(ty, leave, &[places]);
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
