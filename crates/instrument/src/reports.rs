//! Brings the reports of clang's inserted checks into one shape, and keeps any from being left.
//!
//! clang branches from a check to a block that only calls `__ubsan_handle_*` and comes back.
//! Where inlining finds that a check always fails, the branch is gone, and the report stands
//! amid the program's own code. [`isolate`] gives such a report a block of its own again, behind
//! a branch on a constant, so that everything else sees clang's shape only.
//!
//! The handlers are nowhere defined in an instrumented program, so a call that stayed would be an
//! undefined reference. [`remove_from`] takes them from functions without instrumentation, and
//! [`none_left`] makes sure that there are no others.

use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::llvm::{Block, Module, Opcode, Value};

/// What the names of clang's handlers start with.
const HANDLER_PREFIX: &str = "__ubsan_handle_";

/// The name of the handler that an instruction calls, if it is a report.
pub fn handler(instruction: Value) -> Option<String> {
    if instruction.opcode() != Opcode::LLVMCall || !instruction.called().is_function() {
        return None;
    }
    Some(instruction.called().name()).filter(|name| name.starts_with(HANDLER_PREFIX))
}

/// Gives every report of `function` a block of its own.
pub fn isolate(context: &Context, function: Value) {
    let reports = reports_of(function);
    if reports.is_empty() {
        return;
    }
    let jumps = jumps(function);
    for report in reports {
        if !is_alone(report, &jumps) {
            separate(context, report);
        }
    }
}

/// Removes the reports of a function that is not instrumented.
pub fn remove_from(function: Value) {
    reports_of(function).into_iter().for_each(Value::erase);
}

/// Fails if the module still calls a handler: then the unit is compiled without instrumentation,
/// and the program's report says so.
pub fn none_left(module: &Module) -> Result<(), String> {
    let is_handler = |function: &Value| function.name().starts_with(HANDLER_PREFIX);
    let handlers = module.functions().into_iter().filter(is_handler);
    match handlers
        .into_iter()
        .find(|handler| !handler.users().is_empty())
    {
        Some(handler) => Err(format!("a call of {} is left", handler.name())),
        None => Ok(()),
    }
}

fn reports_of(function: Value) -> Vec<Value> {
    let blocks = function.blocks().into_iter();
    let instructions = blocks.flat_map(Block::instructions);
    instructions
        .filter(|instruction| handler(*instruction).is_some())
        .collect()
}

/// The terminators that lead to each block.
fn jumps(function: Value) -> FxHashMap<Block, Vec<Value>> {
    let mut jumps: FxHashMap<Block, Vec<Value>> = FxHashMap::default();
    for terminator in function.blocks().into_iter().map(Block::terminator) {
        for target in terminator.successors() {
            jumps.entry(target).or_default().push(terminator);
        }
    }
    jumps
}

/// Whether a block is reached by checks only and does nothing but report.
fn is_alone(report: Value, jumps: &FxHashMap<Block, Vec<Value>>) -> bool {
    let block = report.block();
    let terminator = block.terminator();
    let comes_back = match terminator.opcode() {
        Opcode::LLVMUnreachable => true,
        Opcode::LLVMBr => terminator.branch_condition().is_none(),
        _ => false,
    };
    let from_checks = (jumps.get(&block).into_iter().flatten())
        .all(|terminator| terminator.branch_condition().is_some());
    let mut before = std::iter::successors(block.first(), |instruction| instruction.next())
        .take_while(|instruction| *instruction != report);
    comes_back
        && from_checks
        && report.next() == Some(terminator)
        && before.all(|instruction| only_prepares(instruction, block))
}

/// Whether an instruction in front of a report only makes its arguments: widens a value, or puts
/// a wide one into a variable of its own.
fn only_prepares(instruction: Value, block: Block) -> bool {
    use Opcode::*;
    let stays = |value: Value| value.users().into_iter().all(|user| user.block() == block);
    match instruction.opcode() {
        LLVMPHI | LLVMLoad | LLVMCall | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMFence
        | LLVMAlloca | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem => false,
        LLVMStore => {
            let variable = instruction.operand(1);
            variable.is_instruction() && variable.opcode() == LLVMAlloca && stays(variable)
        }
        _ => stays(instruction),
    }
}

/// Moves a report from the middle of its block into a new one, behind a check that always fails.
fn separate(context: &Context, report: Value) {
    let builder = &context.builder;
    let after = report.block();
    let function = after.function();
    let before = builder.split_before(report);
    let alone = builder.append_block(function, c"nm.report");
    alone.move_before(after);
    builder.at_end(before);
    builder.locate_as(report);
    builder.branch(builder.integer(1, 0), after, alone);
    builder.at_end(alone);
    builder.take(report);
    builder.jump(after);
}
