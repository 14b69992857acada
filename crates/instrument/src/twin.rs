//! The unit as its sanitizer twin has it: AddressSanitizer sees in it what it sees in a build without
//! optimisation, although the twin is optimised afterwards.
//!
//! - *What a library function does is not known.* A `strcpy` into memory that is freed without being read
//!   would go, and with it the overflow that AddressSanitizer finds where the call arrives.
//! - *No call is free of effects* for what its prototype says (`pure`, `const`): an unused `strlen` of a bad
//!   pointer stays.
//! - *No access is aligned.* AddressSanitizer looks at the first byte of an aligned access only, at both ends
//!   of another; a pointer need not be aligned as its type asks.

use nearmiss_sites::{Twin, frame};

use crate::llvm::{Module, Opcode, Value};
use crate::unit::{Request, defined_functions, write_file};

/// Writes the twin of the unit in `request.input`, framed.
pub fn write(unit: u64, request: &Request) -> Result<(), String> {
    let module = Module::read(&request.input)?;
    for defined in defined_functions(&module) {
        module.mark_for_sanitizers(defined);
        module.set_tail_calls(defined, false);
    }
    for function in module.functions() {
        if function.name().starts_with("llvm.") {
            continue;
        }
        // AddressSanitizer checks what libc functions access where their calls arrive.
        module.set_library_knowledge(function, false);
        function.remove_attribute("memory");
        let blocks = function.blocks();
        let instructions = blocks.into_iter().flat_map(|block| block.instructions());
        instructions.for_each(prepare);
    }
    let twin = Twin {
        unit,
        bitcode: module.bitcode(),
        options: request.options.clone(),
        command: request.command.clone(),
        keeps_allocations: request.keep_allocations,
    };
    write_file(&request.twin, &frame::write(&twin))
}

fn prepare(instruction: Value) {
    let address = match instruction.opcode() {
        Opcode::LLVMCall => return instruction.remove_attribute("memory"),
        Opcode::LLVMLoad => instruction.operand(0),
        Opcode::LLVMStore => instruction.operand(1),
        _ => return,
    };
    // A variable as a whole is where it is.
    let is_variable = address.is_alloca() || address.is_global_variable();
    if !is_variable && !instruction.is_atomic() {
        instruction.set_alignment(1);
    }
}
