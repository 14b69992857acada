//! Arithmetic, comparisons, casts, selections and address computations.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;

use super::{control, lose_operands};
use crate::aggregate;
use crate::function::{Label, Rewriter};
use crate::llvm::{Opcode, Predicate, Type, Value};

/// A value with its label.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The label; `None` where it is known to be 0.
    pub label: Label,
    /// The value.
    pub value: Value,
}

impl Operand {
    /// A value that is concrete in every run.
    pub fn concrete(value: Value) -> Operand {
        Operand { label: None, value }
    }

    /// Its width.
    pub fn width(self) -> u32 {
        self.value
            .ty()
            .scalar_width()
            .expect("operands are scalars")
    }
}

/// The operation of a binary instruction.
pub fn operation(opcode: Opcode) -> Option<Op> {
    Some(match opcode {
        Opcode::LLVMAdd => Op::Add,
        Opcode::LLVMSub => Op::Sub,
        Opcode::LLVMMul => Op::Mul,
        Opcode::LLVMUDiv => Op::UDiv,
        Opcode::LLVMSDiv => Op::SDiv,
        Opcode::LLVMURem => Op::URem,
        Opcode::LLVMSRem => Op::SRem,
        Opcode::LLVMAnd => Op::And,
        Opcode::LLVMOr => Op::Or,
        Opcode::LLVMXor => Op::Xor,
        Opcode::LLVMShl => Op::Shl,
        Opcode::LLVMLShr => Op::LShr,
        Opcode::LLVMAShr => Op::AShr,
        _ => return None,
    })
}

/// The operation of a predicate, and whether its operands change places.
pub fn comparison(predicate: Predicate) -> (Op, bool) {
    match predicate {
        Predicate::LLVMIntEQ => (Op::Eq, false),
        Predicate::LLVMIntNE => (Op::Ne, false),
        Predicate::LLVMIntULT => (Op::Ult, false),
        Predicate::LLVMIntULE => (Op::Ule, false),
        Predicate::LLVMIntUGT => (Op::Ult, true),
        Predicate::LLVMIntUGE => (Op::Ule, true),
        Predicate::LLVMIntSLT => (Op::Slt, false),
        Predicate::LLVMIntSLE => (Op::Sle, false),
        Predicate::LLVMIntSGT => (Op::Slt, true),
        Predicate::LLVMIntSGE => (Op::Sle, true),
    }
}

/// The labels of the result of `instruction`.
pub fn transfer(rewriter: &mut Rewriter<'_>, instruction: Value) -> Vec<Label> {
    use Opcode::*;
    if !instruction
        .operands()
        .all(|operand| operand.ty().scalar_width().is_some())
    {
        return lose_operands(rewriter, instruction, NoteKind::Operation);
    }
    let label = match instruction.opcode() {
        LLVMICmp => {
            let (op, swapped) = comparison(instruction.predicate());
            let (a, b) = (
                rewriter.operand(instruction, 0),
                rewriter.operand(instruction, 1),
            );
            let label = if swapped {
                rewriter.apply(op, b, a)
            } else {
                rewriter.apply(op, a, b)
            };
            if matches!(op, Op::Eq | Op::Ne) && label.is_some() {
                tell_compared(rewriter, instruction);
            }
            label
        }
        LLVMZExt => {
            let mut value = rewriter.operand(instruction, 0);
            if is_logical(value.value) && control::decide_choice(rewriter, instruction) {
                value.label = None;
            }
            rewriter.cast(Op::ZExt, value, width_of(instruction))
        }
        LLVMSExt => rewriter.cast(
            Op::SExt,
            rewriter.operand(instruction, 0),
            width_of(instruction),
        ),
        LLVMTrunc | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMAddrSpaceCast => {
            rewriter.resize(rewriter.operand(instruction, 0), width_of(instruction))
        }
        LLVMSelect => {
            let [mut condition, a, b] = [0, 1, 2].map(|index| rewriter.operand(instruction, index));
            if control::decide_choice(rewriter, instruction) {
                condition.label = None;
            }
            rewriter.choose(condition, a, b)
        }
        LLVMGetElementPtr => element_address(rewriter, instruction),
        opcode => match operation(opcode) {
            Some(op) => rewriter.apply(
                op,
                rewriter.operand(instruction, 0),
                rewriter.operand(instruction, 1),
            ),
            None => return lose_operands(rewriter, instruction, NoteKind::Operation),
        },
    };
    vec![label]
}

/// Tells the runtime that bytes at two addresses are compared, if that is what a comparison does: what lies behind
/// them is likely to be compared next.
fn tell_compared(rewriter: &mut Rewriter<'_>, comparison: Value) {
    let addresses = [0, 1].map(|index| address_of_byte(comparison.operand(index)));
    let [Some(left), Some(right)] = addresses else {
        return;
    };
    // Models give their hints themselves.
    if rewriter.context.is_model_unit {
        return;
    }
    let site = rewriter.site_of(comparison);
    let builder = &rewriter.context.builder;
    let addresses = [left, right].map(|address| builder.unsigned(address, 64));
    (rewriter.context).hook("compared", &[addresses[0], addresses[1], site]);
}

/// Where a value was read from, if it is a byte, or one that was widened.
fn address_of_byte(value: Value) -> Option<Value> {
    let is = |value: Value, opcode| value.is_instruction() && value.opcode() == opcode;
    let is_wide = is(value, Opcode::LLVMZExt) || is(value, Opcode::LLVMSExt);
    let byte = if is_wide { value.operand(0) } else { value };
    let is_byte = is(byte, Opcode::LLVMLoad) && byte.ty().scalar_width() == Some(8);
    is_byte.then(|| byte.operand(0))
}

/// Whether a value is what `&&` or `||` made of its sides.
fn is_logical(value: Value) -> bool {
    let is_phi = value.is_instruction() && value.opcode() == Opcode::LLVMPHI;
    is_phi && width_of(value) == 1
}

fn width_of(value: Value) -> u32 {
    value.ty().scalar_width().expect("a scalar")
}

impl Rewriter<'_> {
    /// Operand `index` of `instruction` with its label.
    pub fn operand(&self, instruction: Value, index: u32) -> Operand {
        self.with_label(instruction.operand(index))
    }

    /// A value with its label.
    pub fn with_label(&self, value: Value) -> Operand {
        Operand {
            label: self.label_of(value),
            value,
        }
    }

    /// The label, 0 if there is none.
    pub fn label_or_zero(&self, label: Label) -> Value {
        label.unwrap_or_else(|| self.context.builder.u32(0))
    }

    /// The label of `op` on `a` and `b`, which are of one width.
    pub fn apply(&self, op: Op, a: Operand, b: Operand) -> Label {
        let builder = &self.context.builder;
        if a.label.is_none() && b.label.is_none() {
            return None;
        }
        let width = a.width();
        let op_width = builder.u32(op as u32 | width << 8);
        if width <= 64 {
            let (a_label, b_label) = (self.label_or_zero(a.label), self.label_or_zero(b.label));
            let (a_value, b_value) = (builder.unsigned(a.value, 64), builder.unsigned(b.value, 64));
            return Some(
                self.context
                    .hook("binary", &[op_width, a_label, b_label, a_value, b_value]),
            );
        }
        // The runtime compares these low halves with the terms'.
        let (a_low, b_low) = (builder.unsigned(a.value, 64), builder.unsigned(b.value, 64));
        let (a_term, b_term) = (self.wide_term(a), self.wide_term(b));
        let result = self
            .context
            .hook("binary", &[op_width, a_term, b_term, a_low, b_low]);
        self.unless_concrete(&[a.label, b.label], result)
    }

    /// A wide operand as a term, a constant one if it has no label.
    fn wide_term(&self, operand: Operand) -> Value {
        let builder = &self.context.builder;
        let low = builder.unsigned(operand.value, 64);
        let width = operand.width();
        let shifted = match width {
            0..=64 => builder.u64(0),
            _ => {
                let distance = builder.integer(width, 64);
                builder.unsigned(
                    builder.binary(Opcode::LLVMLShr, operand.value, distance),
                    64,
                )
            }
        };
        let constant = self
            .context
            .hook("constant", &[builder.u32(width), low, shifted]);
        match operand.label {
            Some(label) => builder.select(builder.is_not_zero(label), label, constant),
            None => constant,
        }
    }

    /// `result`, or 0 if all of `labels` are 0 in this run.
    fn unless_concrete(&self, labels: &[Label], result: Value) -> Label {
        let builder = &self.context.builder;
        let any = labels
            .iter()
            .flatten()
            .copied()
            .reduce(|a, b| builder.or(a, b))?;
        Some(builder.select(builder.is_not_zero(any), result, builder.u32(0)))
    }

    /// The label of a zero or sign extension to `width`.
    pub fn cast(&self, op: Op, a: Operand, width: u32) -> Label {
        let label = a.label?;
        let cast = self
            .context
            .builder
            .u32(op as u32 | a.width() << 8 | width << 16);
        Some(self.context.hook("cast", &[cast, label]))
    }

    /// The label of a truncation or zero extension to `width`.
    pub fn resize(&self, a: Operand, width: u32) -> Label {
        match a.width().cmp(&width) {
            std::cmp::Ordering::Less => self.cast(Op::ZExt, a, width),
            std::cmp::Ordering::Equal => a.label,
            std::cmp::Ordering::Greater => self.cast(Op::Extract, a, width),
        }
    }

    /// The label of `condition ? a : b`.
    pub fn choose(&self, condition: Operand, a: Operand, b: Operand) -> Label {
        let builder = &self.context.builder;
        if condition.label.is_none() && a.label.is_none() && b.label.is_none() {
            return None;
        }
        let Some(condition_label) = condition.label else {
            let (a, b) = (self.label_or_zero(a.label), self.label_or_zero(b.label));
            return Some(builder.select(condition.value, a, b));
        };
        let width = a.width();
        let truth = builder.unsigned(condition.value, 32);
        let truth = builder.binary(Opcode::LLVMShl, truth, builder.u32(8));
        let width_truth = builder.or(truth, builder.u32(width));
        if width <= 64 {
            let (a_label, b_label) = (self.label_or_zero(a.label), self.label_or_zero(b.label));
            let (a_value, b_value) = (builder.unsigned(a.value, 64), builder.unsigned(b.value, 64));
            let arguments = [
                width_truth,
                condition_label,
                a_label,
                b_label,
                a_value,
                b_value,
            ];
            return Some(self.context.hook("select", &arguments));
        }
        let (a_low, b_low) = (builder.unsigned(a.value, 64), builder.unsigned(b.value, 64));
        let (a_term, b_term) = (self.wide_term(a), self.wide_term(b));
        let result = self.context.hook(
            "select",
            &[width_truth, condition_label, a_term, b_term, a_low, b_low],
        );
        self.unless_concrete(&[condition.label, a.label, b.label], result)
    }
}

/// `getelementptr`: the base plus each index times the size of what it steps over.
fn element_address(rewriter: &mut Rewriter<'_>, instruction: Value) -> Label {
    let mut total = rewriter.operand(instruction, 0);
    total.value = rewriter.context.builder.unsigned(total.value, 64);
    let mut ty = instruction.element_source_type();
    for position in 1..instruction.operand_count() {
        let index = rewriter.operand(instruction, position);
        let offset = if position > 1 && ty.is_struct() {
            let field = index
                .value
                .constant_integer()
                .expect("field numbers are constant") as u32;
            let offset = rewriter.context.module.field_offset(ty, field);
            ty = ty.fields()[field as usize];
            Operand::concrete(rewriter.context.builder.u64(offset))
        } else {
            if position > 1 {
                ty = ty.element();
            }
            scaled_index(rewriter, index, ty)
        };
        total = add(rewriter, total, offset);
    }
    total.label
}

fn scaled_index(rewriter: &Rewriter<'_>, index: Operand, element: Type) -> Operand {
    let builder = &rewriter.context.builder;
    let (label, value) = match index.width().cmp(&64) {
        std::cmp::Ordering::Less => (
            rewriter.cast(Op::SExt, index, 64),
            builder.signed(index.value, 64),
        ),
        _ => (
            rewriter.resize(index, 64),
            builder.unsigned(index.value, 64),
        ),
    };
    let size = Operand::concrete(builder.u64(rewriter.context.module.element_size(element)));
    let index = Operand { label, value };
    Operand {
        label: rewriter.apply(Op::Mul, index, size),
        value: builder.binary(Opcode::LLVMMul, value, size.value),
    }
}

fn add(rewriter: &Rewriter<'_>, a: Operand, b: Operand) -> Operand {
    let value = rewriter
        .context
        .builder
        .binary(Opcode::LLVMAdd, a.value, b.value);
    Operand {
        label: rewriter.apply(Op::Add, a, b),
        value,
    }
}

/// The labels of the leaves that are taken out.
pub fn extract_value(rewriter: &Rewriter<'_>, instruction: Value) -> Vec<Label> {
    let whole = instruction.operand(0);
    let labels = rewriter.labels_of(whole);
    let (first, count) = aggregate::locate(whole.ty(), &instruction.aggregate_indices());
    labels
        .get(first..first + count)
        .map_or_else(|| vec![None], <[Label]>::to_vec)
}

/// The labels of the whole with some leaves replaced.
pub fn insert_value(rewriter: &Rewriter<'_>, instruction: Value) -> Vec<Label> {
    let (whole, part) = (instruction.operand(0), instruction.operand(1));
    let mut labels = rewriter.labels_of(whole);
    let (first, count) = aggregate::locate(whole.ty(), &instruction.aggregate_indices());
    let part = rewriter.labels_of(part);
    for (offset, label) in part.into_iter().enumerate().take(count) {
        if let Some(place) = labels.get_mut(first + offset) {
            *place = label;
        }
    }
    labels
}
