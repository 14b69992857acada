//! Loads, stores and atomics.
//!
//! A load or store of up to eight bytes knows its site, so that the runtime can check it against
//! the bounds of its object. Wider ones, floats and vectors are checked as ranges; a symbolic
//! address is then fixed.
//!
//! By the time of the hook a store has been done, but a store through a symbolic index may have
//! gone elsewhere, where the old value then stays. So the value that it overwrites is loaded
//! before it, in every process: one load from a line of the cache that is needed anyway.

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;

use rustc_hash::FxHashMap;

use super::arithmetic::Operand;
use super::lose_operands;
use crate::context::Context;
use crate::function::{Label, Rewriter};
use crate::guard::Sources;
use crate::llvm::{Opcode, Type, Value};
use crate::may::{self, MayBeLabelled};
use crate::regions::Region;
use crate::sensitive;

/// What an access does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

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
fn scalar_size(context: &Context, ty: Type) -> Option<u32> {
    let width = ty.scalar_width()?;
    let size = context.module.store_size(ty) as u32;
    // 9 to 15 bytes occur only for odd `_BitInt`s.
    (size <= 8 || width == 128).then_some(size)
}

/// A load.
pub fn load(rewriter: &mut Rewriter<'_>, instruction: Value) -> Vec<Label> {
    let address = rewriter.operand(instruction, 0);
    let Some(size) = scalar_size(rewriter.context, instruction.ty()) else {
        return opaque_load(rewriter, instruction, address);
    };
    if address.label.is_none() && may::is_constant_memory(address.value) {
        return vec![None];
    }
    if size > 8 {
        fix_address(rewriter, instruction, address, size.into(), Access::Read);
        let site = rewriter.site_of(instruction);
        let low = load_part(rewriter, address.value, 0, instruction, site);
        let high = load_part(rewriter, address.value, 8, instruction, site);
        return vec![rewriter.apply(Op::Concat, high, low)];
    }
    let value = rewriter.context.builder.unsigned(instruction, 64);
    let label = match address.label {
        None => {
            let site = rewriter.site_of(instruction);
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

/// An access is about to be made, before which its region ends: if it ends the program, or leaves
/// its object, that was told.
pub fn approach(rewriter: &mut Rewriter<'_>, instruction: Value) {
    let address = rewriter.with_label(address_of(instruction));
    let size = rewriter
        .context
        .module
        .store_size(accessed_type(instruction));
    let Ok(size) = u8::try_from(size) else {
        return;
    };
    if address.label.is_none() && !sensitive::may_leave(instruction) {
        return;
    }
    let size = size.into();
    let label = rewriter.label_or_zero(address.label);
    let write = instruction.opcode() != Opcode::LLVMLoad;
    let site = rewriter.site_of(instruction);
    let builder = &rewriter.context.builder;
    let write = builder.u32(write.into());
    let address_size = address_size(rewriter, address.value, size);
    let base = builder.unsigned(base_of(address.value), 64);
    rewriter
        .context
        .hook("approach", &[label, address_size, base, write, site]);
}

/// The pointer that an address is made of.
fn base_of(mut address: Value) -> Value {
    while address.is_instruction() && address.opcode() == Opcode::LLVMGetElementPtr {
        address = address.operand(0);
    }
    address
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
    let site = rewriter.site_of(instruction);
    let address_size = address_size(rewriter, address, size);
    rewriter
        .context
        .hook("load_symbolic", &[label, address_size, value, site])
}

/// A load of a float, vector or aggregate: concrete, with a note if memory is labelled.
fn opaque_load(rewriter: &mut Rewriter<'_>, instruction: Value, address: Operand) -> Vec<Label> {
    let ty = instruction.ty();
    let size = rewriter.context.module.store_size(ty);
    fix_address(rewriter, instruction, address, size, Access::Read);
    let kind = if ty.is_vector() {
        NoteKind::Vector
    } else if ty.is_struct() || ty.is_array() || ty.is_integer() {
        NoteKind::Operation
    } else {
        NoteKind::Float
    };
    let site = rewriter.site_of(instruction);
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

/// Loads what each store that may be through a symbolic address is about to overwrite. Those
/// of volatile memory, and those that the hook for them does not take, are left alone.
pub fn load_old_values(
    context: &Context,
    regions: &[Region],
    may: &MayBeLabelled,
) -> FxHashMap<Value, Value> {
    let is_wanted = |store: &Value| {
        store.opcode() == Opcode::LLVMStore
            && may.contains(store.operand(1))
            && !store.is_volatile_or_atomic()
            && scalar_size(context, store.operand(0).ty()).is_some_and(|size| size <= 8)
    };
    let stores = regions.iter().flat_map(|region| &region.instructions);
    let stores = stores.copied().filter(is_wanted);
    let load = |store: Value| {
        context.builder.before(store);
        let ty = store.operand(0).ty();
        let old = context.builder.load(ty, store.operand(1));
        (store, old)
    };
    stores.map(load).collect()
}

/// A store.
pub fn store(rewriter: &mut Rewriter<'_>, instruction: Value) -> Vec<Label> {
    let value = rewriter.operand(instruction, 0);
    let address = rewriter.operand(instruction, 1);
    let scalar = scalar_size(rewriter.context, value.value.ty());
    let old = rewriter.old_values.get(&instruction).copied();
    match (scalar, address.label, old) {
        (Some(size), None, _) if size <= 8 => {
            let site = rewriter.site_of(instruction);
            store_label(rewriter, address.value, size, value.label, site);
        }
        (Some(size), Some(label), Some(old)) => {
            let site = rewriter.site_of(instruction);
            let builder = &rewriter.context.builder;
            let arguments = [
                label,
                address_size(rewriter, address.value, size),
                rewriter.label_or_zero(value.label),
                builder.unsigned(value.value, 64),
                builder.unsigned(old, 64),
                site,
            ];
            rewriter.context.hook("store_symbolic", &arguments);
        }
        _ => {
            let size = rewriter.context.module.store_size(value.value.ty());
            fix_address(rewriter, instruction, address, size, Access::Write);
            store_fixed(rewriter, instruction, value, address.value, size);
        }
    }
    vec![None]
}

/// A store to where it went in this run, of a value that may be wide or not a scalar.
fn store_fixed(
    rewriter: &mut Rewriter<'_>,
    instruction: Value,
    value: Operand,
    address: Value,
    size: u64,
) {
    let scalar = scalar_size(rewriter.context, value.value.ty());
    let site = rewriter.site_of(instruction);
    let builder = &rewriter.context.builder;
    match scalar {
        Some(size) if size <= 8 => store_label(rewriter, address, size, value.label, site),
        Some(_) => {
            let label = rewriter.label_or_zero(value.label);
            for (offset, low) in [(0, 0), (8, 64)] {
                let part = [label, builder.u32(low), builder.u32(64)];
                let part = rewriter.context.hook("extract", &part);
                let address = builder.offset(address, builder.u64(offset));
                store_label(rewriter, address, 8, Some(part), site);
            }
        }
        None => {
            let arguments = [builder.unsigned(address, 64), builder.u64(size)];
            rewriter.context.hook("clear", &arguments);
        }
    }
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
    let size = rewriter
        .context
        .module
        .store_size(accessed_type(instruction));
    fix_address(rewriter, instruction, address, size, Access::Write);
    lose_operands(rewriter, instruction, NoteKind::Atomic);
    let is_plain =
        instruction.opcode() == Opcode::LLVMAtomicRMW && instruction.ty().is_integer() && size <= 8;
    let site = rewriter.site_of(instruction);
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

/// An access of a kind that has no hook of its own: its bounds are checked, then its address is
/// what it was in this run.
fn fix_address(
    rewriter: &mut Rewriter<'_>,
    instruction: Value,
    address: Operand,
    size: u64,
    access: Access,
) {
    let size = Operand::concrete(rewriter.context.builder.u64(size));
    check_range(rewriter, instruction, address, size, access);
    fix(rewriter, instruction, address.label, NoteKind::Address);
}

/// Checks that `size` bytes at `address` lie in their object. There is something to check even
/// if both are concrete: the object's size may not be.
pub fn check_range(
    rewriter: &mut Rewriter<'_>,
    instruction: Value,
    address: Operand,
    size: Operand,
    access: Access,
) {
    let site = rewriter.site_of(instruction);
    let builder = &rewriter.context.builder;
    let arguments = [
        builder.unsigned(address.value, 64),
        rewriter.label_or_zero(address.label),
        builder.unsigned(size.value, 64),
        rewriter.label_or_zero(size.label),
        builder.u32((access == Access::Write).into()),
        site,
    ];
    rewriter.context.hook("range", &arguments);
}

/// From here on the labelled value is what it was in this run.
pub fn fix(rewriter: &mut Rewriter<'_>, instruction: Value, label: Label, kind: NoteKind) {
    if let Some(label) = label {
        let site = rewriter.site_of(instruction);
        let kind = rewriter.context.builder.u32(kind as u32);
        rewriter.context.hook("fix", &[label, kind, site]);
    }
}
