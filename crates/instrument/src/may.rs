//! Which values may ever carry a label.
//!
//! Labels enter a function through its arguments, through loads and through calls. A value
//! that is reached from none of them is concrete in every run and costs nothing: loop counters
//! that start at constants, addresses of variables, comparisons of those.

use rustc_hash::FxHashSet;

use crate::aggregate;
use crate::llvm::{Opcode, Value};

/// The values of one function that may carry a label.
#[derive(Debug, Default)]
pub struct MayBeLabelled(FxHashSet<Value>);

impl MayBeLabelled {
    /// Analyses `function`.
    pub fn analyse(function: Value) -> MayBeLabelled {
        let mut labelled = MayBeLabelled::default();
        let mut work: Vec<Value> = Vec::new();
        work.extend(
            function
                .parameters()
                .into_iter()
                .filter(|value| aggregate::can_carry(value.ty())),
        );
        for block in function.blocks() {
            work.extend(
                block
                    .instructions()
                    .into_iter()
                    .filter(|instruction| is_source(*instruction)),
            );
        }
        while let Some(value) = work.pop() {
            if labelled.0.insert(value) {
                work.extend(
                    value
                        .users()
                        .into_iter()
                        .filter(|user| passes_on(*user, value)),
                );
            }
        }
        labelled
    }

    /// Whether `value` may carry a label.
    pub fn contains(&self, value: Value) -> bool {
        self.0.contains(&value)
    }
}

/// Whether labels enter the function by this instruction.
fn is_source(instruction: Value) -> bool {
    if !aggregate::can_carry(instruction.ty()) {
        return false;
    }
    match instruction.opcode() {
        Opcode::LLVMLoad => !is_constant_memory(instruction.operand(0)),
        Opcode::LLVMCall => crate::transfer::is_barrier(instruction),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
        _ => false,
    }
}

/// Whether the result of `user` may be labelled because its operand `value` is.
fn passes_on(user: Value, value: Value) -> bool {
    if !user.is_instruction() || !aggregate::can_carry(user.ty()) {
        return false;
    }
    match user.opcode() {
        Opcode::LLVMFPToSI | Opcode::LLVMFPToUI | Opcode::LLVMFCmp | Opcode::LLVMExtractElement => {
            false
        }
        Opcode::LLVMLoad => user.operand(0) == value,
        Opcode::LLVMCall => crate::transfer::is_pure_intrinsic(user),
        _ => true,
    }
}

/// Whether an address lies in a constant of the program, whose bytes are never labelled.
pub fn is_constant_memory(address: Value) -> bool {
    match underlying_global(address) {
        Some(global) => global.is_global_constant(),
        None => false,
    }
}

/// The global variable that an address is computed from, if that can be seen.
pub fn underlying_global(mut address: Value) -> Option<Value> {
    loop {
        if address.is_global_variable() {
            return Some(address);
        }
        let is_step = if address.is_instruction() {
            address.opcode() == Opcode::LLVMGetElementPtr
        } else {
            address.constant_opcode() == Some(Opcode::LLVMGetElementPtr)
        };
        if !is_step {
            return None;
        }
        address = address.operand(0);
    }
}
