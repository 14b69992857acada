//! How each instruction moves labels: what its guard looks at, and its hooks.
//!
//! [`collect`] says what can bring labels into a region, [`emit`] writes the hooks of its
//! instructions, in program order, into the region's cold block. An instruction that has no
//! rule here makes its result concrete and leaves a note where a labelled operand is lost.

pub mod arithmetic;
pub mod calls;
pub mod control;
pub mod foreign;
pub mod intrinsics;
pub mod memory;
pub mod stack;

use nearmiss_abi::note::NoteKind;
use nearmiss_sites::SiteKind;

use crate::function::{Label, Rewriter};
use crate::guard::Sources;
use crate::llvm::{Opcode, Value};
use crate::pointers;
use crate::regions::{Grain, Region};
use crate::sensitive;

/// Whether an instruction ends a region: a call of a function that may move labels itself.
pub fn is_barrier(instruction: Value) -> bool {
    instruction.opcode() == Opcode::LLVMCall
        && !is_intrinsic(instruction)
        && !is_inline_assembly(instruction)
        && !pointers::is_translation(instruction)
}

/// Whether the processor may end the program here, for want of a divisor.
pub fn may_divide_by_zero(instruction: Value) -> bool {
    use Opcode::*;
    let divides = matches!(
        instruction.opcode(),
        LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem
    );
    divides && instruction.operand(1).constant_integer().is_none()
}

/// Whether control leaves the function here, by clang's own `longjmp`: nothing behind it is executed.
pub fn leaves_by_jump(instruction: Value) -> bool {
    instruction.opcode() == Opcode::LLVMCall
        && is_intrinsic(instruction)
        && instruction.called().name() == "llvm.eh.sjlj.longjmp"
}

/// Whether a call is of an intrinsic, or of what stands before a call through a pointer, whose result is a function of its operands' labels.
pub fn is_pure_intrinsic(instruction: Value) -> bool {
    pointers::is_translation(instruction)
        || is_intrinsic(instruction) && intrinsics::has_rule(&instruction.called().name())
}

/// Whether a call is of an LLVM intrinsic.
pub fn is_intrinsic(instruction: Value) -> bool {
    let callee = instruction.called();
    callee.is_function() && callee.intrinsic_id() != 0
}

fn is_inline_assembly(instruction: Value) -> bool {
    instruction.called().is_inline_assembly()
}

/// Adds everything that can bring a label into `region`.
pub fn collect(rewriter: &Rewriter<'_>, region: &Region, sources: &mut Sources) {
    if region.is_entry {
        calls::collect_entry(rewriter, sources);
    }
    for &instruction in &region.instructions {
        match instruction.opcode() {
            Opcode::LLVMLoad
            | Opcode::LLVMStore
            | Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg => {
                memory::collect(rewriter, instruction, sources);
            }
            Opcode::LLVMAlloca => stack::collect_alloca(rewriter, instruction, sources),
            Opcode::LLVMCall if is_barrier(instruction) => {
                calls::collect_returned(instruction, sources);
                foreign::collect_answer(rewriter, instruction, sources);
            }
            Opcode::LLVMCall if is_inline_assembly(instruction) => {
                collect_operands(rewriter, instruction, sources);
                sources.recording |= foreign::is_noticed_assembly(instruction);
            }
            Opcode::LLVMCall => intrinsics::collect(rewriter, instruction, sources),
            _ => collect_operands(rewriter, instruction, sources),
        }
    }
    collect_operands(rewriter, region.end, sources);
    // Every access is looked at before it is made, on whatever data.
    sources.recording |= region.grain == Grain::Fine && sensitive::may_leave(region.end);
    if is_barrier(region.end) {
        calls::collect_arguments(rewriter, region.end, sources);
        foreign::collect(rewriter, region.end, sources);
    }
    if region.end.opcode() == Opcode::LLVMCallBr {
        sources.recording |= foreign::is_noticed_assembly(region.end);
    }
    if region.end.opcode() == Opcode::LLVMRet {
        stack::collect_return(rewriter, sources);
    }
}

/// Adds the labels of all operands.
pub fn collect_operands(rewriter: &Rewriter<'_>, instruction: Value, sources: &mut Sources) {
    for operand in instruction
        .operands()
        .filter(|operand| rewriter.may.contains(*operand))
    {
        for label in rewriter.labels_of(operand) {
            sources.add_label(label);
        }
    }
}

/// Writes the hooks of `region` into its cold block.
pub fn emit(rewriter: &mut Rewriter<'_>, region: &Region) {
    if region.is_entry {
        calls::emit_entry(rewriter);
    }
    for &instruction in &region.instructions {
        let labels = transfer(rewriter, instruction);
        rewriter.define(instruction, labels);
    }
    match region.end.opcode() {
        Opcode::LLVMCall if is_barrier(region.end) => {
            foreign::emit(rewriter, region.end);
            calls::emit_pass(rewriter, region.end);
        }
        Opcode::LLVMCall => intrinsics::approach(rewriter, region.end),
        Opcode::LLVMLoad
        | Opcode::LLVMStore
        | Opcode::LLVMAtomicRMW
        | Opcode::LLVMAtomicCmpXchg => memory::approach(rewriter, region.end),
        Opcode::LLVMRet => {
            calls::emit_return(rewriter, region.end);
            stack::emit_return(rewriter);
        }
        _ => control::emit_end(rewriter, region.end),
    }
}

/// Writes the hooks of one instruction; the labels of its result.
fn transfer(rewriter: &mut Rewriter<'_>, instruction: Value) -> Vec<Label> {
    use Opcode::*;
    if instruction.ty().is_vector() && instruction.opcode() != LLVMLoad {
        return lose_operands(rewriter, instruction, NoteKind::Vector);
    }
    match instruction.opcode() {
        LLVMLoad => memory::load(rewriter, instruction),
        LLVMStore => memory::store(rewriter, instruction),
        LLVMAtomicRMW | LLVMAtomicCmpXchg => memory::atomic(rewriter, instruction),
        LLVMAlloca => stack::alloca(rewriter, instruction),
        LLVMCall if is_barrier(instruction) => {
            foreign::emit_answer(rewriter, instruction);
            calls::emit_returned(rewriter, instruction)
        }
        LLVMCall if is_inline_assembly(instruction) => {
            foreign::emit_assembly(rewriter, instruction);
            lose_operands(rewriter, instruction, NoteKind::Assembly)
        }
        // The pointer that the program calls, whatever is called in its place.
        LLVMCall if pointers::is_translation(instruction) => {
            rewriter.labels_of(instruction.operand(0))
        }
        LLVMCall => intrinsics::transfer(rewriter, instruction),
        LLVMBr => control::check(rewriter, instruction),
        LLVMExtractValue => arithmetic::extract_value(rewriter, instruction),
        LLVMInsertValue => arithmetic::insert_value(rewriter, instruction),
        LLVMUIToFP | LLVMSIToFP => lose_operands(rewriter, instruction, NoteKind::Float),
        LLVMBitCast if instruction.ty().scalar_width().is_none() => {
            lose_operands(rewriter, instruction, NoteKind::Float)
        }
        LLVMInsertElement | LLVMShuffleVector | LLVMExtractElement => {
            lose_operands(rewriter, instruction, NoteKind::Vector)
        }
        _ if !rewriter.may.contains(instruction) => vec![None],
        LLVMFreeze => rewriter.labels_of(instruction.operand(0)),
        _ => arithmetic::transfer(rewriter, instruction),
    }
}

/// The operands' labels are lost; the result is concrete.
pub fn lose_operands(
    rewriter: &mut Rewriter<'_>,
    instruction: Value,
    kind: NoteKind,
) -> Vec<Label> {
    let operands: Vec<Value> = instruction
        .operands()
        .filter(|operand| rewriter.may.contains(*operand))
        .collect();
    let labels: Vec<Value> = operands
        .into_iter()
        .flat_map(|operand| rewriter.labels_of(operand))
        .flatten()
        .collect();
    if !labels.is_empty() {
        let site = rewriter.context.site(SiteKind::Other, instruction);
        let kind = rewriter.context.builder.u32(kind as u32);
        for label in labels {
            rewriter.context.hook("lost", &[label, kind, site]);
        }
    }
    vec![None]
}
