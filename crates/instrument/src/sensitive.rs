//! Sensitive operations: what works on this run's data and could go wrong on other data.
//!
//! Where exploration looks for neighbouring paths depends on how near they are to such an operation,
//! also where its data are concrete in this run (on a path to which some branch led). So the guard of
//! a region that has any looks at one word more, which in a process that records sends the first
//! such region behind an event into its cold block (`abi::shadow::SummaryWords::calm`). A plain
//! store in each region would be simpler; it cost 3 to 10 % of a program that does not record.
//!
//! Sensitive are accesses through pointers, whether with an index or not, unless the pointer is
//! plainly a variable and a constant; divisions by what is no constant; assertions; calls of models
//! that move memory. Arithmetic that may overflow is not: a loop is full of it.

use nearmiss_abi::model::{self, PREFIX};

use crate::checks::Failures;
use crate::context::Context;
use crate::llvm::{Opcode, Value};
use crate::regions::Region;
use crate::transfer;

/// Whether `region` has a sensitive operation. The accesses of models do not count: their calls do.
pub fn has_sensitive(context: &Context, failures: &Failures, region: &Region) -> bool {
    let calls = is_sensitive_call(region.end);
    let end = Some(region.end).filter(|_| region.has_end());
    let mut instructions = region.instructions.iter().copied().chain(end);
    !context.is_model_unit
        && (calls || instructions.any(|instruction| is_sensitive(failures, instruction)))
}

/// Says that something sensitive was done.
pub fn emit(context: &Context) {
    let builder = &context.builder;
    builder.store(builder.u32(0), context.calm_word());
}

fn is_sensitive(failures: &Failures, instruction: Value) -> bool {
    use Opcode::*;
    let is_constant = |operand: Value| operand.constant_integer().is_some();
    match instruction.opcode() {
        LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => is_computed(instruction.operand(0)),
        LLVMStore => is_computed(instruction.operand(1)),
        LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem => !is_constant(instruction.operand(1)),
        LLVMBr => {
            let check = failures.check(instruction);
            check.is_some_and(|check| check.failure.back.is_none())
        }
        LLVMCall if transfer::is_intrinsic(instruction) => moves_memory(instruction),
        _ => false,
    }
}

/// Whether an instruction changes memory, or may end the program for want of any.
pub fn touches_memory(instruction: Value) -> bool {
    use Opcode::*;
    match instruction.opcode() {
        LLVMLoad => is_computed(instruction.operand(0)),
        LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg => true,
        LLVMCall => transfer::is_intrinsic(instruction) && is_of_memory(instruction),
        _ => false,
    }
}

/// Whether an instruction accesses memory at an address that need not be that of a variable.
pub fn may_leave(instruction: Value) -> bool {
    use Opcode::*;
    match instruction.opcode() {
        LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => is_computed(instruction.operand(0)),
        LLVMStore => is_computed(instruction.operand(1)),
        LLVMCall => transfer::is_intrinsic(instruction) && moves_memory(instruction),
        _ => false,
    }
}

fn is_of_memory(call: Value) -> bool {
    let name = call.called().name();
    let moves = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."];
    moves.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether an intrinsic moves memory, but for whole variables.
fn moves_memory(call: Value) -> bool {
    if !is_of_memory(call) {
        return false;
    }
    let pointers = |argument: &Value| argument.ty().is_pointer();
    let mut pointers = call.arguments().into_iter().filter(pointers);
    let size = call.arguments()[2];
    size.constant_integer().is_none() || pointers.any(is_computed)
}

fn is_sensitive_call(end: Value) -> bool {
    if !transfer::is_barrier(end) || !end.called().is_function() {
        return false;
    }
    let name = end.called().name();
    let found = name.strip_prefix(PREFIX).and_then(model::find);
    found.is_some_and(|model| model.touches_memory)
}

/// Whether an address is anything but a variable and a constant.
fn is_computed(mut address: Value) -> bool {
    loop {
        let opcode = if address.is_instruction() {
            Some(address.opcode())
        } else {
            address.constant_opcode()
        };
        match opcode {
            Some(Opcode::LLVMGetElementPtr) => {
                let is_constant = |index: Value| index.constant_integer().is_some();
                if !address.operands().skip(1).all(is_constant) {
                    return true;
                }
                address = address.operand(0);
            }
            Some(Opcode::LLVMAlloca) => return false,
            Some(Opcode::LLVMCall) => return !is_errno(address),
            _ => return !address.is_global_variable(),
        }
    }
}

/// `errno` is a variable, for all that its address comes from a call.
fn is_errno(call: Value) -> bool {
    call.called().is_function() && call.called().name() == "__errno_location"
}
