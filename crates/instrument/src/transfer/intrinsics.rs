//! LLVM's intrinsics: bits, minima, saturation, overflow, block memory.

mod compute;

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;

use super::memory::Access;
use super::{lose_operands, memory, stack};
use crate::function::{Label, Rewriter};
use crate::guard::Sources;
use crate::llvm::{Predicate, Value};
use compute::{
    absolute, bit_reverse, byte_swap, extreme, first_operand, funnel_shift, overflow, saturate,
    unary,
};

/// How the result's label is made.
type Rule = fn(&mut Rewriter<'_>, Value) -> Vec<Label>;

/// Intrinsics whose result is a function of their operands; names without the type at the end.
const RULES: &[(&str, Rule)] = &[
    ("llvm.ctpop", |rewriter, call| {
        unary(rewriter, call, Op::CtPop)
    }),
    ("llvm.ctlz", |rewriter, call| {
        unary(rewriter, call, Op::CtLz)
    }),
    ("llvm.cttz", |rewriter, call| {
        unary(rewriter, call, Op::CtTz)
    }),
    ("llvm.bswap", byte_swap),
    ("llvm.bitreverse", bit_reverse),
    ("llvm.fshl", |rewriter, call| {
        funnel_shift(rewriter, call, true)
    }),
    ("llvm.fshr", |rewriter, call| {
        funnel_shift(rewriter, call, false)
    }),
    ("llvm.abs", absolute),
    ("llvm.smin", |rewriter, call| {
        extreme(rewriter, call, Op::Slt, Predicate::LLVMIntSLT, false)
    }),
    ("llvm.smax", |rewriter, call| {
        extreme(rewriter, call, Op::Slt, Predicate::LLVMIntSLT, true)
    }),
    ("llvm.umin", |rewriter, call| {
        extreme(rewriter, call, Op::Ult, Predicate::LLVMIntULT, false)
    }),
    ("llvm.umax", |rewriter, call| {
        extreme(rewriter, call, Op::Ult, Predicate::LLVMIntULT, true)
    }),
    ("llvm.uadd.sat", |rewriter, call| {
        saturate(rewriter, call, true, false)
    }),
    ("llvm.usub.sat", |rewriter, call| {
        saturate(rewriter, call, false, false)
    }),
    ("llvm.sadd.sat", |rewriter, call| {
        saturate(rewriter, call, true, true)
    }),
    ("llvm.ssub.sat", |rewriter, call| {
        saturate(rewriter, call, false, true)
    }),
    ("llvm.sadd.with.overflow", |rewriter, call| {
        overflow(rewriter, call, Op::Add, Op::SAddOverflow)
    }),
    ("llvm.uadd.with.overflow", |rewriter, call| {
        overflow(rewriter, call, Op::Add, Op::UAddOverflow)
    }),
    ("llvm.ssub.with.overflow", |rewriter, call| {
        overflow(rewriter, call, Op::Sub, Op::SSubOverflow)
    }),
    ("llvm.usub.with.overflow", |rewriter, call| {
        overflow(rewriter, call, Op::Sub, Op::USubOverflow)
    }),
    ("llvm.smul.with.overflow", |rewriter, call| {
        overflow(rewriter, call, Op::Mul, Op::SMulOverflow)
    }),
    ("llvm.umul.with.overflow", |rewriter, call| {
        overflow(rewriter, call, Op::Mul, Op::UMulOverflow)
    }),
    ("llvm.expect", first_operand),
    ("llvm.ptr.annotation", first_operand),
    ("llvm.launder.invariant.group", first_operand),
    ("llvm.ssa.copy", first_operand),
];

/// Intrinsics that move memory, or start or end its life.
const EFFECTS: &[(&str, Effect)] = &[
    ("llvm.memcpy", Effect::Copy),
    ("llvm.memmove", Effect::Copy),
    ("llvm.memset", Effect::Fill),
    ("llvm.lifetime.start", Effect::Birth),
    ("llvm.lifetime.end", Effect::End),
    ("llvm.stackrestore", Effect::Restore),
    ("llvm.va_start", Effect::VariadicStart),
];

/// Intrinsics that say something about operands without using their values.
const SILENT: &[&str] = &[
    "llvm.dbg",
    "llvm.lifetime",
    "llvm.assume",
    "llvm.is.constant",
    "llvm.objectsize",
    "llvm.va_",
    "llvm.prefetch",
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    Copy,
    Fill,
    Birth,
    End,
    Restore,
    VariadicStart,
}

fn rule(name: &str) -> Option<Rule> {
    RULES
        .iter()
        .find(|(base, _)| is_named(name, base))
        .map(|(_, rule)| *rule)
}

fn effect(name: &str) -> Option<Effect> {
    EFFECTS
        .iter()
        .find(|(base, _)| is_named(name, base))
        .map(|(_, effect)| *effect)
}

/// Whether `name` is `base`, perhaps with types behind it.
fn is_named(name: &str, base: &str) -> bool {
    name.strip_prefix(base)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether the intrinsic's result is a function of its operands' labels.
pub fn has_rule(name: &str) -> bool {
    rule(name).is_some()
}

/// Adds what can make the intrinsic's work symbolic.
pub fn collect(rewriter: &Rewriter<'_>, call: Value, sources: &mut Sources) {
    if !super::is_intrinsic(call) {
        return super::collect_operands(rewriter, call, sources);
    }
    let name = call.called().name();
    match effect(&name) {
        Some(Effect::Birth | Effect::Restore | Effect::VariadicStart) => sources.recording = true,
        Some(Effect::End) => stack::collect_end(rewriter, call, sources),
        Some(kind) => {
            super::collect_operands(rewriter, call, sources);
            match call.operand(2).constant_integer() {
                Some(size) => {
                    sources.add_memory(call.operand(0), size, 1);
                    if kind == Effect::Copy {
                        sources.add_memory(call.operand(1), size, 1);
                    }
                }
                None => sources.recording = true,
            }
        }
        None if is_silent(&name) => {}
        None => super::collect_operands(rewriter, call, sources),
    }
}

fn is_silent(name: &str) -> bool {
    SILENT.iter().any(|silent| name.starts_with(silent))
}

/// Writes the hooks of an intrinsic; the labels of its result.
pub fn transfer(rewriter: &mut Rewriter<'_>, call: Value) -> Vec<Label> {
    let name = call.called().name();
    if let Some(effect) = effect(&name) {
        emit_effect(rewriter, call, effect);
        return vec![None];
    }
    if is_silent(&name) {
        return vec![None];
    }
    match rule(&name) {
        Some(rule) if rewriter.may.contains(call) => rule(rewriter, call),
        Some(_) => vec![None],
        None => lose_operands(rewriter, call, NoteKind::Operation),
    }
}

/// Memory is about to be moved, before which its region ends: if that ends the program, its checks
/// were told. What is told twice is recorded once.
pub fn approach(rewriter: &mut Rewriter<'_>, call: Value) {
    match effect(&call.called().name()) {
        Some(Effect::Copy) => check_block(rewriter, call, &[0, 1]),
        Some(Effect::Fill) => check_block(rewriter, call, &[0]),
        _ => {}
    }
}

fn emit_effect(rewriter: &mut Rewriter<'_>, call: Value, effect: Effect) {
    match effect {
        Effect::Copy => {
            check_block(rewriter, call, &[0, 1]);
            let builder = &rewriter.context.builder;
            let arguments = [0, 1, 2].map(|index| builder.unsigned(call.operand(index), 64));
            rewriter.context.hook("copy", &arguments);
        }
        Effect::Fill => {
            check_block(rewriter, call, &[0]);
            let label = rewriter.label_or_zero(rewriter.label_of(call.operand(1)));
            let builder = &rewriter.context.builder;
            let (to, size) = (
                builder.unsigned(call.operand(0), 64),
                builder.unsigned(call.operand(2), 64),
            );
            rewriter.context.hook("fill", &[to, size, label]);
        }
        Effect::Birth => stack::emit_start(rewriter, call),
        Effect::End => stack::emit_end(rewriter, call),
        Effect::Restore => stack::emit_restore(rewriter, call),
        Effect::VariadicStart => {
            let Some(buffer) = rewriter.kept_arguments else {
                return;
            };
            let fixed = rewriter.function.parameters().len() as u32;
            let builder = &rewriter.context.builder;
            let (list, buffer) = (
                builder.unsigned(call.operand(0), 64),
                builder.unsigned(buffer, 64),
            );
            rewriter
                .context
                .hook("va_start", &[list, buffer, builder.u32(fixed)]);
        }
    }
}

/// Checks the bounds of a block operation (the destination is its first operand), then fixes
/// its addresses and its size.
fn check_block(rewriter: &mut Rewriter<'_>, call: Value, addresses: &[u32]) {
    let size = rewriter.operand(call, 2);
    for &index in addresses {
        let address = rewriter.operand(call, index);
        let access = if index == 0 {
            Access::Write
        } else {
            Access::Read
        };
        memory::check_range(rewriter, call, address, size, access);
    }
    for &index in addresses {
        let label = rewriter.label_of(call.operand(index));
        memory::fix(rewriter, call, label, NoteKind::Address);
    }
    let size = rewriter.label_of(call.operand(2));
    memory::fix(rewriter, call, size, NoteKind::Size);
}
