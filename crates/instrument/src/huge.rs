//! Functions so large that what is done to them must not take more than linear time.
//!
//! A value that is needed in many blocks is a register for all blocks between, and allocating
//! registers for many such values takes time in the square of the function's length. So the variables of a
//! huge function stay in memory, where clang put them, and their labels in the shadow of it: values
//! and labels live no longer than a statement. No pass runs on it, code generation spares it, and its
//! regions are those of [`Grain::Huge`] (see bench/results.md).

use crate::llvm::{Module, Opcode, Value};
use crate::regions::Grain;
use crate::unit::defined_functions;

/// A function with more instructions than this, accesses to its own variables aside, is huge. Lua's
/// interpreter loop and bzip2's decompressor, both of which decide how fast their programs are, have
/// some 20,000.
const HUGE: usize = 25_000;

const MARK: &str = "nearmiss-huge";

/// Marks the huge functions, before any pass. One that must be inlined vanishes.
pub fn mark(module: &Module) {
    const FUNCTION: u32 = u32::MAX;
    for function in defined_functions(module) {
        if is_large(function) && !function.has_attribute(FUNCTION, "alwaysinline") {
            module.set_text_attribute(function, MARK, Some(""));
        }
    }
}

fn is_large(function: Value) -> bool {
    let blocks = function.blocks().into_iter();
    let instructions = blocks.flat_map(|block| block.instructions());
    let counted = instructions.filter(|instruction| !is_of_variable(*instruction));
    counted.take(HUGE + 1).count() > HUGE
}

/// Whether an instruction is a variable or an access to one: those vanish in functions that are not huge.
fn is_of_variable(instruction: Value) -> bool {
    match instruction.opcode() {
        Opcode::LLVMAlloca => true,
        Opcode::LLVMLoad => instruction.operand(0).is_alloca(),
        Opcode::LLVMStore => instruction.operand(1).is_alloca(),
        _ => false,
    }
}

/// Whether a function is marked.
pub fn is_huge(function: Value) -> bool {
    function.has_text_attribute(MARK)
}

/// Where the regions of `function` end in a unit where they end as `wanted`.
pub fn grain_of(function: Value, wanted: Grain) -> Grain {
    match wanted {
        Grain::Coarse | Grain::Short if is_huge(function) => Grain::Huge,
        _ => wanted,
    }
}

/// Runs passes on all but the huge functions, whose variables stay in memory. They are looked for each time, since passes
/// remove functions.
pub fn run_on_others(module: &Module, passes: &str) -> Result<(), String> {
    let left_alone = || {
        defined_functions(module)
            .into_iter()
            .filter(|function| is_huge(*function))
    };
    for function in left_alone() {
        module.forbid_passes(function);
    }
    module.run_passes(passes)?;
    for function in left_alone() {
        function.remove_attribute("optnone");
    }
    Ok(())
}

/// Takes the marks away, and keeps code generation from trying hard where they were; whether there
/// were any.
pub fn unmark(module: &Module) -> bool {
    let functions = huge_functions(module);
    for function in &functions {
        module.set_text_attribute(*function, MARK, None);
        module.forbid_passes(*function);
    }
    !functions.is_empty()
}

fn huge_functions(module: &Module) -> Vec<Value> {
    let mut functions = defined_functions(module);
    functions.retain(|function| is_huge(*function));
    functions
}
