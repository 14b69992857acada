//! Loads, stores, atomics and stack memory.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_sites::SiteKind;

use super::arithmetic::Operand;
use super::lose_operands;
use crate::function::{Label, Rewriter};
use crate::guard::Sources;
use crate::llvm::{Opcode, Type, Value};
use crate::may;

/// Adds what can make an access symbolic.
pub fn collect(rewriter: &Rewriter<'_>, instruction: Value, sources: &mut Sources) {
    super::collect_operands(rewriter, instruction, sources);
    let address = address_of(instruction);
    if !may::is_constant_memory(address) {
        let size = rewriter
            .context
            .module
            .store_size(accessed_type(instruction));
        sources.add_memory(address, size, instruction.alignment().into());
    }
}

fn address_of(instruction: Value) -> Value {
    let is_store = instruction.opcode() == Opcode::LLVMStore;
    instruction.operand(is_store.into())
}

fn accessed_type(instruction: Value) -> Type {
    match instruction.opcode() {
        Opcode::LLVMStore => instruction.operand(0).ty(),
        Opcode::LLVMLoad => instruction.ty(),
        _ => instruction.operand(1).ty(),
    }
}

/// Bytes of a type that carries one label and that hooks can take: up to 16.
fn scalar_size(rewriter: &Rewriter<'_>, ty: Type) -> Option<u32> {
    let width = ty.scalar_width()?;
    let size = rewriter.context.module.store_size(ty) as u32;
    // 9 to 15 bytes occur only for odd `_BitInt`s.
    (size <= 8 || width == 128).then_some(size)
}

/// A load.
pub fn load(rewriter: &mut Rewriter<'_>, instruction: Value) -> Vec<Label> {
    let address = rewriter.operand(instruction, 0);
    let Some(size) = scalar_size(rewriter, instruction.ty()) else {
        return opaque_load(rewriter, instruction, address);
    };
    if address.label.is_none() && may::is_constant_memory(address.value) {
        return vec![None];
    }
    if size > 8 {
        fix_address(rewriter, instruction, address);
        let site = access_site(rewriter, instruction);
        let low = load_part(rewriter, address.value, 0, instruction, site);
        let high = load_part(rewriter, address.value, 8, instruction, site);
        return vec![rewriter.apply(Op::Concat, high, low)];
    }
    let value = rewriter.context.builder.unsigned(instruction, 64);
    let label = match address.label {
        None => {
            let site = access_site(rewriter, instruction);
            load_label(rewriter, address.value, size, value, site)
        }
        Some(label) => load_symbolic(rewriter, instruction, address.value, label, size, value),
    };
    let whole = rewriter.context.builder.integer(size * 8, 0);
    let loaded = Operand {
        label: Some(label),
        value: whole,
    };
    vec![rewriter.resize(loaded, instruction.ty().scalar_width().expect("a scalar"))]
}

fn access_site(rewriter: &mut Rewriter<'_>, instruction: Value) -> Value {
    rewriter.context.site(SiteKind::Access, instruction)
}

/// The packed word of an address and a size.
fn address_size(rewriter: &Rewriter<'_>, address: Value, size: u32) -> Value {
    let builder = &rewriter.context.builder;
    builder.or(
        builder.unsigned(address, 64),
        builder.u64(u64::from(size) << 56),
    )
}

fn load_label(
    rewriter: &Rewriter<'_>,
    address: Value,
    size: u32,
    value: Value,
    site: Value,
) -> Value {
    let address_size = address_size(rewriter, address, size);
    rewriter.context.hook("load", &[address_size, value, site])
}

/// One half of a 128-bit load.
fn load_part(
    rewriter: &Rewriter<'_>,
    address: Value,
    offset: u64,
    whole: Value,
    site: Value,
) -> Operand {
    let builder = &rewriter.context.builder;
    let shifted = builder.binary(Opcode::LLVMLShr, whole, builder.integer(128, offset * 8));
    let value = builder.unsigned(shifted, 64);
    let address = builder.offset(address, builder.u64(offset));
    Operand {
        label: Some(load_label(rewriter, address, 8, value, site)),
        value,
    }
}

fn load_symbolic(
    rewriter: &mut Rewriter<'_>,
    instruction: Value,
    address: Value,
    label: Value,
    size: u32,
    value: Value,
) -> Value {
    let site = rewriter.context.site(SiteKind::Access, instruction);
    let address_size = address_size(rewriter, address, size);
    rewriter
        .context
        .hook("load_symbolic", &[label, address_size, value, site])
}

/// A load of a float, vector or aggregate: concrete, with a note if memory is labelled.
fn opaque_load(rewriter: &mut Rewriter<'_>, instruction: Value, address: Operand) -> Vec<Label> {
    fix_address(rewriter, instruction, address);
    let ty = instruction.ty();
    let kind = if ty.is_vector() {
        NoteKind::Vector
    } else if ty.is_struct() || ty.is_array() || ty.is_integer() {
        NoteKind::Operation
    } else {
        NoteKind::Float
    };
    let site = rewriter.context.site(SiteKind::Access, instruction);
    let size = rewriter.context.module.store_size(ty);
    let builder = &rewriter.context.builder;
    let arguments = [
        builder.unsigned(address.value, 64),
        builder.u64(size),
        builder.u32(kind as u32),
        site,
    ];
    rewriter.context.hook("opaque", &arguments);
    vec![None]
}

/// A store.
pub fn store(rewriter: &mut Rewriter<'_>, instruction: Value) -> Vec<Label> {
    let value = rewriter.operand(instruction, 0);
    let address = rewriter.operand(instruction, 1);
    fix_address(rewriter, instruction, address);
    let site = access_site(rewriter, instruction);
    let builder = &rewriter.context.builder;
    match scalar_size(rewriter, value.value.ty()) {
        Some(size) if size <= 8 => store_label(rewriter, address.value, size, value.label, site),
        Some(_) => {
            let label = rewriter.label_or_zero(value.label);
            let half = |low| {
                rewriter
                    .context
                    .hook("extract", &[label, builder.u32(low), builder.u32(64)])
            };
            let (low, high) = (half(0), half(64));
            store_label(rewriter, address.value, 8, Some(low), site);
            store_label(
                rewriter,
                builder.offset(address.value, builder.u64(8)),
                8,
                Some(high),
                site,
            );
        }
        None => {
            let size = rewriter.context.module.store_size(value.value.ty());
            rewriter.context.hook(
                "clear",
                &[builder.unsigned(address.value, 64), builder.u64(size)],
            );
        }
    }
    vec![None]
}

fn store_label(rewriter: &Rewriter<'_>, address: Value, size: u32, label: Label, site: Value) {
    let address_size = address_size(rewriter, address, size);
    rewriter.context.hook(
        "store",
        &[address_size, rewriter.label_or_zero(label), site],
    );
}

/// The old value keeps its label, the new one is concrete.
pub fn atomic(rewriter: &mut Rewriter<'_>, instruction: Value) -> Vec<Label> {
    let address = rewriter.operand(instruction, 0);
    fix_address(rewriter, instruction, address);
    lose_operands(rewriter, instruction, NoteKind::Atomic);
    let size = rewriter
        .context
        .module
        .store_size(accessed_type(instruction));
    let is_plain =
        instruction.opcode() == Opcode::LLVMAtomicRMW && instruction.ty().is_integer() && size <= 8;
    let site = access_site(rewriter, instruction);
    let builder = &rewriter.context.builder;
    let old = is_plain.then(|| {
        load_label(
            rewriter,
            address.value,
            size as u32,
            builder.unsigned(instruction, 64),
            site,
        )
    });
    if old.is_none() {
        let builder = &rewriter.context.builder;
        let kind = builder.u32(NoteKind::Atomic as u32);
        rewriter.context.hook(
            "opaque",
            &[
                builder.unsigned(address.value, 64),
                builder.u64(size),
                kind,
                site,
            ],
        );
    }
    let builder = &rewriter.context.builder;
    rewriter.context.hook(
        "clear",
        &[builder.unsigned(address.value, 64), builder.u64(size)],
    );
    vec![old]
}

/// A stack allocation of symbolic size.
pub fn alloca(rewriter: &mut Rewriter<'_>, instruction: Value) -> Vec<Label> {
    let size = rewriter.operand(instruction, 0);
    fix(rewriter, instruction, size.label, NoteKind::Size);
    vec![None]
}

fn fix_address(rewriter: &mut Rewriter<'_>, instruction: Value, address: Operand) {
    fix(rewriter, instruction, address.label, NoteKind::Address);
}

/// From here on the labelled value is what it was in this run.
pub fn fix(rewriter: &mut Rewriter<'_>, instruction: Value, label: Label, kind: NoteKind) {
    if let Some(label) = label {
        let site = rewriter.context.site(SiteKind::Access, instruction);
        let kind = rewriter.context.builder.u32(kind as u32);
        rewriter.context.hook("fix", &[label, kind, site]);
    }
}
