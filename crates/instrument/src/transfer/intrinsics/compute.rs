//! What intrinsics compute, as terms: each from simpler operations, with the values beside the labels.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;

use super::super::arithmetic::Operand;
use super::super::lose_operands;
use crate::function::{Label, Rewriter};
use crate::llvm::{Opcode, Predicate, Value};

pub fn first_operand(rewriter: &mut Rewriter<'_>, call: Value) -> Vec<Label> {
    rewriter.labels_of(call.operand(0))
}

pub fn unary(rewriter: &mut Rewriter<'_>, call: Value, op: Op) -> Vec<Label> {
    let a = rewriter.operand(call, 0);
    let unused = Operand::concrete(rewriter.context.builder.integer(a.width(), 0));
    vec![rewriter.apply(op, a, unused)]
}

pub fn overflow(rewriter: &mut Rewriter<'_>, call: Value, op: Op, test: Op) -> Vec<Label> {
    let (a, b) = (rewriter.operand(call, 0), rewriter.operand(call, 1));
    vec![rewriter.apply(op, a, b), rewriter.apply(test, a, b)]
}

pub fn extreme(
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

pub fn absolute(rewriter: &mut Rewriter<'_>, call: Value) -> Vec<Label> {
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
pub fn funnel_shift(rewriter: &mut Rewriter<'_>, call: Value, left: bool) -> Vec<Label> {
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

pub fn saturate(
    rewriter: &mut Rewriter<'_>,
    call: Value,
    is_sum: bool,
    is_signed: bool,
) -> Vec<Label> {
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
pub fn byte_swap(rewriter: &mut Rewriter<'_>, call: Value) -> Vec<Label> {
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
pub fn bit_reverse(rewriter: &mut Rewriter<'_>, call: Value) -> Vec<Label> {
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
