//! Stack memory: lives of variables start and end.
//!
//! Only processes that record have work here, so the guard asks just that.

use nearmiss_abi::op::Op;

use super::arithmetic::Operand;
use crate::function::{Label, Rewriter};
use crate::guard::Sources;
use crate::llvm::{Opcode, Value};
use crate::regions::Grain;

/// Whether variables start to live at the entry, because nothing else marks it.
pub fn collect_entry(rewriter: &Rewriter<'_>, sources: &mut Sources) {
    sources.recording |= !rewriter.stack.unmarked().is_empty();
}

/// Their lives start.
pub fn emit_entry(rewriter: &Rewriter<'_>) {
    for &(address, size) in rewriter.stack.unmarked() {
        emit(rewriter, birth(rewriter, address), address, size);
    }
}

/// Whether lives end where the function returns.
pub fn collect_return(rewriter: &Rewriter<'_>, sources: &mut Sources) {
    sources.recording |=
        rewriter.stack.has_dynamic() || rewriter.stack.unmarked_objects().next().is_some();
}

/// The lives of variables without markers end, and of all that a function made room for as it
/// ran: somewhere below its frame's address.
pub fn emit_return(rewriter: &Rewriter<'_>) {
    if rewriter.stack.has_dynamic() {
        let builder = &rewriter.context.builder;
        emit_release(rewriter, builder.stack_pointer(), builder.frame_address());
    }
    for (address, size) in rewriter.stack.unmarked_objects() {
        emit(rewriter, "stack_object_ends", address, size);
    }
}

/// `llvm.lifetime.start`.
pub fn emit_start(rewriter: &Rewriter<'_>, marker: Value) {
    if let Some(size) = marked_size(marker) {
        let variable = marker.operand(1);
        emit(rewriter, birth(rewriter, variable), variable, size);
    }
}

/// The hook with which the life of a variable starts.
fn birth(rewriter: &Rewriter<'_>, variable: Value) -> &'static str {
    let is_object = rewriter.stack.is_object(variable) && variable.is_alloca();
    if rewriter.grain == Grain::Fine && is_object {
        "stack_block"
    } else {
        "stack_object"
    }
}

/// Whether `llvm.lifetime.end` ends the life of an object.
pub fn collect_end(rewriter: &Rewriter<'_>, marker: Value, sources: &mut Sources) {
    sources.recording |= rewriter.stack.is_object(marker.operand(1));
}

/// `llvm.lifetime.end`.
pub fn emit_end(rewriter: &Rewriter<'_>, marker: Value) {
    let variable = marker.operand(1);
    if let Some(size) = marked_size(marker)
        && rewriter.stack.is_object(variable)
    {
        emit(rewriter, "stack_object_ends", variable, size);
    }
}

/// The size that a lifetime marker gives; some mean "all of it" and give none.
fn marked_size(marker: Value) -> Option<u64> {
    let size = marker.operand(0).constant_integer();
    size.filter(|size| *size != u64::MAX)
}

fn emit(rewriter: &Rewriter<'_>, hook: &str, address: Value, size: u64) {
    let builder = &rewriter.context.builder;
    let arguments = [builder.unsigned(address, 64), builder.u64(size)];
    rewriter.context.hook(hook, &arguments);
}

/// `llvm.stackrestore`: whatever lies below the place that the stack pointer goes back to ends.
pub fn emit_restore(rewriter: &Rewriter<'_>, restore: Value) {
    if let Some(lowest) = rewriter.stack.released(restore) {
        emit_release(rewriter, lowest, restore.operand(0));
    }
}

fn emit_release(rewriter: &Rewriter<'_>, lowest: Value, end: Value) {
    let builder = &rewriter.context.builder;
    let [lowest, end] = [lowest, end].map(|address| builder.unsigned(address, 64));
    let size = builder.binary(Opcode::LLVMSub, end, lowest);
    rewriter.context.hook("stack_object_ends", &[lowest, size]);
}

/// Whether an `alloca` makes an object as the function runs.
pub fn collect_alloca(rewriter: &Rewriter<'_>, alloca: Value, sources: &mut Sources) {
    sources.recording |= rewriter.stack.is_dynamic(alloca);
}

/// A variable-length array or `alloca`: an object, perhaps of symbolic size.
pub fn alloca(rewriter: &mut Rewriter<'_>, alloca: Value) -> Vec<Label> {
    if rewriter.stack.is_dynamic(alloca) {
        let size = size_of(rewriter, alloca);
        let builder = &rewriter.context.builder;
        let address = builder.unsigned(alloca, 64);
        match size.label {
            None => {
                let arguments = [address, size.value];
                rewriter.context.hook(birth(rewriter, alloca), &arguments);
            }
            Some(label) => {
                let site = rewriter.site_of(alloca);
                let arguments = [address, size.value, label, site];
                rewriter.context.hook("stack_object_sized", &arguments);
            }
        }
    }
    vec![None]
}

/// How many bytes an `alloca` makes room for.
fn size_of(rewriter: &Rewriter<'_>, alloca: Value) -> Operand {
    let count = rewriter.operand(alloca, 0);
    let builder = &rewriter.context.builder;
    let count = Operand {
        label: rewriter.resize(count, 64),
        value: builder.unsigned(count.value, 64),
    };
    let element = rewriter
        .context
        .module
        .element_size(alloca.allocated_type());
    if element == 1 {
        return count;
    }
    let element = builder.u64(element);
    Operand {
        label: rewriter.apply(Op::Mul, count, Operand::concrete(element)),
        value: builder.binary(Opcode::LLVMMul, count.value, element),
    }
}
