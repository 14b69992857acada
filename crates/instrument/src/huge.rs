//! Functions so large that what is done to them must not take more than linear time.
//!
//! Passes that share values between blocks make many of them live through the whole function, and
//! register allocation then takes time in the square of its length: a value shared is a register for
//! all blocks between. So a huge function's variables become registers, its control flow is tidied up,
//! and no more; its regions are those of [`Grain::Huge`]. Generated functions of 4,000 lines took
//! 13 times clang's time at -O2 before (see bench/results.md).

use crate::llvm::{Module, Value};
use crate::regions::Grain;
use crate::unit::defined_functions;

/// A function with more instructions than this before instrumentation is huge. Lua's interpreter loop
/// and bzip2's decompressor, both of which decide how fast their programs are, have 20,000.
const HUGE: usize = 25_000;

const MARK: &str = "nearmiss-huge";

/// Marks the huge functions. One that must be inlined is judged in its callers.
pub fn mark(module: &Module) {
    const FUNCTION: u32 = u32::MAX;
    for function in defined_functions(module) {
        if is_large(function) && !function.has_attribute(FUNCTION, "alwaysinline") {
            module.set_text_attribute(function, MARK, Some(""));
        }
    }
}

fn is_large(function: Value) -> bool {
    let mut left = HUGE;
    function.blocks().into_iter().any(|block| {
        let size = block.instructions().len();
        let is_over = size > left;
        left = left.saturating_sub(size);
        is_over
    })
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

/// Runs passes on all but the huge functions. Whether there are any is asked anew each time, since
/// passes remove functions.
pub fn run_on_others(module: &Module, passes: &str) -> Result<(), String> {
    for function in huge_functions(module) {
        module.forbid_passes(function);
    }
    module.run_passes(passes)?;
    for function in huge_functions(module) {
        function.remove_attribute("optnone");
    }
    Ok(())
}

/// Takes the marks away; whether there were any.
pub fn unmark(module: &Module) -> bool {
    let functions = huge_functions(module);
    for function in &functions {
        module.set_text_attribute(*function, MARK, None);
    }
    !functions.is_empty()
}

fn huge_functions(module: &Module) -> Vec<Value> {
    let mut functions = defined_functions(module);
    functions.retain(|function| is_huge(*function));
    functions
}
