//! LLVM's intrinsics: bits, minima, saturation, overflow, block memory.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;

use super::arithmetic::Operand;
use super::memory::Access;
use super::{lose_operands, memory, stack};
use crate::function::{Label, Rewriter};
use crate::guard::Sources;
use crate::llvm::{Opcode, Predicate, Value};

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

fn first_operand(rewriter: &mut Rewriter<'_>, call: Value) -> Vec<Label> {
    rewriter.labels_of(call.operand(0))
}

fn unary(rewriter: &mut Rewriter<'_>, call: Value, op: Op) -> Vec<Label> {
    let a = rewriter.operand(call, 0);
    let unused = Operand::concrete(rewriter.context.builder.integer(a.width(), 0));
    vec![rewriter.apply(op, a, unused)]
}

fn overflow(rewriter: &mut Rewriter<'_>, call: Value, op: Op, test: Op) -> Vec<Label> {
    let (a, b) = (rewriter.operand(call, 0), rewriter.operand(call, 1));
    vec![rewriter.apply(op, a, b), rewriter.apply(test, a, b)]
}

fn extreme(
    rewriter: &mut Rewriter<'_>,
    call: Value,
    op: Op,
    predicate: Predicate,
    largest: bool,
) -> Vec<Label> {
    let (a, b) = (rewriter.operand(call, 0), rewriter.operand(call, 1));
    let value = rewriter
        .context
        .builder
        .compare(predicate, a.value, b.value);
    let less = Operand {
        label: rewriter.apply(op, a, b),
        value,
    };
    vec![if largest {
        rewriter.choose(less, b, a)
    } else {
        rewriter.choose(less, a, b)
    }]
}

impl Rewriter<'_> {
    /// An operation and its label.
    fn compute(&self, op: Op, opcode: Opcode, a: Operand, b: Operand) -> Operand {
        Operand {
            label: self.apply(op, a, b),
            value: self.context.builder.binary(opcode, a.value, b.value),
        }
    }

    fn constant(&self, width: u32, value: u64) -> Operand {
        Operand::concrete(self.context.builder.integer(width, value))
    }
}

fn absolute(rewriter: &mut Rewriter<'_>, call: Value) -> Vec<Label> {
    let a = rewriter.operand(call, 0);
    let zero = rewriter.constant(a.width(), 0);
    let negated = rewriter.compute(Op::Sub, Opcode::LLVMSub, zero, a);
    let value = rewriter
        .context
        .builder
        .compare(Predicate::LLVMIntSLT, a.value, zero.value);
    let is_negative = Operand {
        label: rewriter.apply(Op::Slt, a, zero),
        value,
    };
    vec![rewriter.choose(is_negative, negated, a)]
}

/// `fshl(a, b, s)`: `a << s | (b >> 1) >> (w - 1 - s)` with `s` modulo the width, so that no
/// distance reaches the width.
fn funnel_shift(rewriter: &mut Rewriter<'_>, call: Value, left: bool) -> Vec<Label> {
    let [a, b, distance] = [0, 1, 2].map(|index| rewriter.operand(call, index));
    let width = a.width();
    if !width.is_power_of_two() || width > 64 {
        return lose_operands(rewriter, call, NoteKind::Operation);
    }
    let last = rewriter.constant(width, u64::from(width) - 1);
    let one = rewriter.constant(width, 1);
    let distance = rewriter.compute(Op::And, Opcode::LLVMAnd, distance, last);
    let rest = rewriter.compute(Op::Sub, Opcode::LLVMSub, last, distance);
    let (high, low) = if left {
        let shifted = rewriter.compute(Op::LShr, Opcode::LLVMLShr, b, one);
        let low = rewriter.compute(Op::LShr, Opcode::LLVMLShr, shifted, rest);
        (rewriter.compute(Op::Shl, Opcode::LLVMShl, a, distance), low)
    } else {
        let shifted = rewriter.compute(Op::Shl, Opcode::LLVMShl, a, one);
        let high = rewriter.compute(Op::Shl, Opcode::LLVMShl, shifted, rest);
        (
            high,
            rewriter.compute(Op::LShr, Opcode::LLVMLShr, b, distance),
        )
    };
    vec![rewriter.apply(Op::Or, high, low)]
}

fn saturate(rewriter: &mut Rewriter<'_>, call: Value, is_sum: bool, is_signed: bool) -> Vec<Label> {
    let (a, b) = (rewriter.operand(call, 0), rewriter.operand(call, 1));
    let width = a.width();
    if width > 64 {
        return lose_operands(rewriter, call, NoteKind::Operation);
    }
    let (op, opcode) = if is_sum {
        (Op::Add, Opcode::LLVMAdd)
    } else {
        (Op::Sub, Opcode::LLVMSub)
    };
    let test = match (is_sum, is_signed) {
        (true, true) => Op::SAddOverflow,
        (false, true) => Op::SSubOverflow,
        (true, false) => Op::UAddOverflow,
        (false, false) => Op::USubOverflow,
    };
    let exact = rewriter.compute(op, opcode, a, b);
    let is_saturated = rewriter
        .context
        .builder
        .compare(Predicate::LLVMIntNE, exact.value, call);
    let overflows = Operand {
        label: rewriter.apply(test, a, b),
        value: is_saturated,
    };
    let bound = match (is_signed, is_sum) {
        (true, _) => signed_bound(rewriter, a),
        (false, true) => rewriter.constant(width, u64::MAX),
        (false, false) => rewriter.constant(width, 0),
    };
    vec![rewriter.choose(overflows, bound, exact)]
}

/// Where a signed operation saturates: it has the sign of `a`, so all ones below the sign,
/// flipped if `a` is negative.
fn signed_bound(rewriter: &Rewriter<'_>, a: Operand) -> Operand {
    let width = a.width();
    let last = rewriter.constant(width, u64::from(width) - 1);
    let sign = rewriter.compute(Op::AShr, Opcode::LLVMAShr, a, last);
    let largest = rewriter.constant(width, (1u64 << (width - 1)) - 1);
    rewriter.compute(Op::Xor, Opcode::LLVMXor, sign, largest)
}

/// Bytes in reverse order, joined pairwise: 2, 4 or 8 of them.
fn byte_swap(rewriter: &mut Rewriter<'_>, call: Value) -> Vec<Label> {
    let a = rewriter.operand(call, 0);
    if !matches!(a.width(), 16 | 32 | 64) {
        return lose_operands(rewriter, call, NoteKind::Operation);
    }
    vec![swap_bytes(rewriter, a)]
}

fn swap_bytes(rewriter: &Rewriter<'_>, a: Operand) -> Label {
    let builder = &rewriter.context.builder;
    let width = a.width();
    let byte = |number: u32| {
        let shifted = builder.binary(
            Opcode::LLVMLShr,
            a.value,
            builder.integer(width, u64::from(8 * number)),
        );
        let label = a.label.map(|label| {
            rewriter
                .context
                .hook("extract", &[label, builder.u32(8 * number), builder.u32(8)])
        });
        Operand {
            label,
            value: builder.unsigned(shifted, 8),
        }
    };
    // The lowest byte becomes the highest.
    let mut parts: Vec<Operand> = (0..width / 8).map(byte).collect();
    while parts.len() > 1 {
        let join = |pair: &[Operand]| join_halves(rewriter, pair[0], pair[1]);
        parts = parts.chunks(2).map(join).collect();
    }
    parts[0].label
}

fn join_halves(rewriter: &Rewriter<'_>, high: Operand, low: Operand) -> Operand {
    let builder = &rewriter.context.builder;
    let width = 2 * high.width();
    let shifted = builder.binary(
        Opcode::LLVMShl,
        builder.unsigned(high.value, width),
        builder.integer(width, u64::from(high.width())),
    );
    let value = builder.or(shifted, builder.unsigned(low.value, width));
    Operand {
        label: rewriter.apply(Op::Concat, high, low),
        value,
    }
}

/// Swaps neighbouring bits, pairs and nibbles, then bytes.
fn bit_reverse(rewriter: &mut Rewriter<'_>, call: Value) -> Vec<Label> {
    let mut a = rewriter.operand(call, 0);
    let width = a.width();
    if !matches!(width, 8 | 16 | 32 | 64) {
        return lose_operands(rewriter, call, NoteKind::Operation);
    }
    for (distance, pattern) in [(1, 0x55), (2, 0x33), (4, 0x0f)] {
        let mask = rewriter.constant(width, u64::from_ne_bytes([pattern; 8]));
        let distance = rewriter.constant(width, distance);
        let upper = rewriter.compute(Op::LShr, Opcode::LLVMLShr, a, distance);
        let upper = rewriter.compute(Op::And, Opcode::LLVMAnd, upper, mask);
        let lower = rewriter.compute(Op::And, Opcode::LLVMAnd, a, mask);
        let lower = rewriter.compute(Op::Shl, Opcode::LLVMShl, lower, distance);
        a = rewriter.compute(Op::Or, Opcode::LLVMOr, upper, lower);
    }
    vec![if width == 8 {
        a.label
    } else {
        swap_bytes(rewriter, a)
    }]
}
