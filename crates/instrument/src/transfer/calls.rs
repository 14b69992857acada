//! Calls: labels on their way to a callee and back.

use nearmiss_abi::hook::{CLASS_FLOAT, CLASS_INTEGER, CLASS_OTHER};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::shadow::*;
use nearmiss_abi::term::LABEL_BITS;

use super::memory::fix;
use super::{foreign, is_barrier, lose_operands, stack};
use crate::aggregate;
use crate::function::{Label, Rewriter};
use crate::guard::Sources;
use crate::llvm::Value;

/// Adds what can arrive with labels when the function is entered.
pub fn collect_entry(rewriter: &Rewriter<'_>, sources: &mut Sources) {
    let may_arrive = |parameter: &Value| rewriter.may.contains(*parameter);
    sources.arrival |=
        rewriter.function.parameters().iter().any(may_arrive) || rewriter.kept_arguments.is_some();
    sources.recording |= !structs_by_value(rewriter).is_empty();
    stack::collect_entry(rewriter, sources);
}

/// Takes the labels of arguments and clears stack memory whose life starts here.
pub fn emit_entry(rewriter: &mut Rewriter<'_>) {
    let builder = &rewriter.context.builder;
    let parameters = rewriter.function.parameters();
    let may_arrive = parameters
        .iter()
        .any(|parameter| rewriter.may.contains(*parameter));
    if may_arrive || rewriter.kept_arguments.is_some() {
        rewriter
            .context
            .hook("enter", &[builder.unsigned(rewriter.function, 64)]);
    }
    if let Some(buffer) = rewriter.kept_arguments {
        rewriter
            .context
            .hook("keep_arguments", &[builder.unsigned(buffer, 64)]);
    }
    for (position, parameter) in parameters.into_iter().enumerate().take(MAX_ARGUMENTS) {
        if rewriter.may.contains(parameter) && parameter.ty().scalar_width().is_some() {
            let builder = &rewriter.context.builder;
            let word = rewriter
                .context
                .thread_word(ARGUMENTS_OFFSET + 4 * position);
            let label = builder.load(builder.integer_type(32), word);
            rewriter.define(parameter, vec![Some(label)]);
        }
    }
    stack::emit_entry(rewriter);
    take_by_value(rewriter);
}

/// The parameters that are structs passed by value in memory, with their sizes.
fn structs_by_value(rewriter: &Rewriter<'_>) -> Vec<(Value, u64)> {
    let parameters = rewriter.function.parameters().into_iter().enumerate();
    let by_value = parameters.filter_map(|(position, parameter)| {
        let ty = rewriter
            .function
            .parameter_type_attribute(position as u32, "byval")?;
        Some((parameter, rewriter.context.module.store_size(ty)))
    });
    by_value.collect()
}

/// Gives the copies of structs passed by value the labels of what they are copies of.
fn take_by_value(rewriter: &Rewriter<'_>) {
    let builder = &rewriter.context.builder;
    for (number, (address, size)) in structs_by_value(rewriter).into_iter().enumerate() {
        let to = builder.unsigned(address, 64);
        if number >= MAX_BY_VALUE {
            rewriter.context.hook("clear", &[to, builder.u64(size)]);
            continue;
        }
        let word = rewriter.context.thread_word(BY_VALUE_OFFSET + 8 * number);
        let from = builder.load(builder.integer_type(64), word);
        // Nothing lies at address 0: a copy from there is concrete.
        rewriter
            .context
            .hook("copy", &[to, from, builder.u64(size)]);
        builder.store(builder.u64(0), word);
    }
}

/// Adds the labels of a call's arguments.
pub fn collect_arguments(rewriter: &Rewriter<'_>, call: Value, sources: &mut Sources) {
    sources.recording |= call.is_must_tail();
    for (position, argument) in call.arguments().into_iter().enumerate() {
        if let Some(ty) = call.parameter_type_attribute(position as u32, "byval") {
            let size = rewriter.context.module.store_size(ty);
            sources.add_memory(argument, size, 1);
        }
    }
}

/// Leaves the labels of the arguments for the callee.
pub fn emit_pass(rewriter: &mut Rewriter<'_>, call: Value) {
    if call.is_must_tail() {
        let function = rewriter.context.builder.unsigned(rewriter.function, 64);
        rewriter.context.hook("tails", &[function]);
    }
    let by_value = pass_by_value(rewriter, call);
    let callee = call.called();
    let callee_label = if callee.is_instruction() || callee.is_argument() {
        rewriter.label_of(callee)
    } else {
        None
    };
    fix(rewriter, call, callee_label, NoteKind::Jump);
    let labels = argument_labels(rewriter, call);
    if labels.iter().all(Option::is_none) && by_value == 0 {
        return;
    }
    let site = rewriter.site_of(call);
    let fixed = call.called_type().parameters().len();
    let builder = &rewriter.context.builder;
    for (position, (label, argument)) in labels.iter().zip(call.arguments()).enumerate() {
        let class = match position < fixed {
            true => CLASS_INTEGER,
            false if is_by_value(call, position) => CLASS_OTHER,
            false => class_of(argument),
        };
        let label = builder.or(
            rewriter.label_or_zero(*label),
            builder.u32(class << LABEL_BITS),
        );
        builder.store(
            label,
            rewriter
                .context
                .thread_word(ARGUMENTS_OFFSET + 4 * position),
        );
    }
    builder.store(
        builder.u32(labels.len() as u32),
        rewriter.context.thread_word(COUNT_OFFSET),
    );
    builder.store(site, rewriter.context.thread_word(CALL_SITE_OFFSET));
    builder.store(
        builder.unsigned(callee, 64),
        rewriter.context.thread_word(CALLEE_OFFSET),
    );
    foreign::emit_arguments(rewriter, call);
}

/// Says where the structs lie that the call passes by value: the callee gets copies that are
/// made behind the IR's back. How many there are.
///
/// A variadic function does not know of any: their labels are lost.
fn pass_by_value(rewriter: &mut Rewriter<'_>, call: Value) -> usize {
    let fixed = call.called_type().parameters().len();
    let mut count = 0;
    for (position, argument) in call.arguments().into_iter().enumerate() {
        let Some(ty) = call.parameter_type_attribute(position as u32, "byval") else {
            continue;
        };
        if count < MAX_BY_VALUE && position < fixed {
            let word = rewriter.context.thread_word(BY_VALUE_OFFSET + 8 * count);
            let builder = &rewriter.context.builder;
            builder.store(builder.unsigned(argument, 64), word);
        } else {
            let site = rewriter.site_of(call);
            let size = rewriter.context.module.store_size(ty);
            let builder = &rewriter.context.builder;
            let kind = builder.u32(NoteKind::Operation as u32);
            let address = builder.unsigned(argument, 64);
            rewriter
                .context
                .hook("opaque", &[address, builder.u64(size), kind, site]);
        }
        count += 1;
    }
    count
}

fn is_by_value(call: Value, position: usize) -> bool {
    call.parameter_type_attribute(position as u32, "byval")
        .is_some()
}

fn argument_labels(rewriter: &Rewriter<'_>, call: Value) -> Vec<Label> {
    let arguments = call.arguments().into_iter().take(MAX_ARGUMENTS);
    let label = |argument: Value| {
        argument
            .ty()
            .scalar_width()
            .and_then(|_| rewriter.label_of(argument))
    };
    arguments.map(label).collect()
}

fn class_of(argument: Value) -> u32 {
    let ty = argument.ty();
    match ty.scalar_width() {
        Some(width) if width <= 64 => CLASS_INTEGER,
        _ if ty.is_float_or_double() => CLASS_FLOAT,
        _ => CLASS_OTHER,
    }
}

/// What every call needs, labels or not: zeroes the returned labels, so that afterwards they are
/// this call's.
pub fn prepare(rewriter: &mut Rewriter<'_>, end: Value) {
    if !is_barrier(end) {
        return;
    }
    // An instrumented callee writes to memory whatever its source says.
    for attribute in ["memory", "speculatable", "nosync"] {
        end.remove_attribute(attribute);
    }
    rewriter.context.builder.before(end);
    foreign::prepare(rewriter, end);
    let offsets = [RETURNED_OFFSET, RETURNED_SECOND_OFFSET];
    for offset in offsets.into_iter().take(returned_words(end) as usize) {
        let builder = &rewriter.context.builder;
        builder.store(builder.u32(0), rewriter.context.thread_word(offset));
    }
}

/// How many labels a call's result may come with: at most two.
fn returned_words(call: Value) -> u32 {
    if call.is_must_tail() {
        0
    } else {
        aggregate::label_count(call.ty()).min(2) as u32
    }
}

/// Adds the labels that a call may have returned.
pub fn collect_returned(call: Value, sources: &mut Sources) {
    sources.returned = sources.returned.max(returned_words(call));
}

/// The labels of a call's result.
pub fn emit_returned(rewriter: &mut Rewriter<'_>, call: Value) -> Vec<Label> {
    let count = aggregate::label_count(call.ty());
    if returned_words(call) == 0 {
        return vec![None; count.max(1)];
    }
    let callee = rewriter.context.builder.unsigned(call.called(), 64);
    if let Some(width) = call.ty().scalar_width() {
        let value = rewriter.context.builder.unsigned(call, 64);
        return vec![Some(returned(rewriter, callee, value, width, 0))];
    }
    let fields = if call.ty().is_struct() {
        call.ty().fields()
    } else {
        Vec::new()
    };
    let mut labels = vec![None; count];
    for (index, field) in fields.into_iter().enumerate().take(2) {
        if let Some(width) = field.scalar_width().filter(|width| *width <= 64) {
            let value = rewriter.context.builder.extract_field(call, index as u32);
            let value = rewriter.context.builder.unsigned(value, 64);
            labels[index] = Some(returned(rewriter, callee, value, width, index as u32));
        }
    }
    labels
}

fn returned(rewriter: &Rewriter<'_>, callee: Value, value: Value, width: u32, index: u32) -> Value {
    let builder = &rewriter.context.builder;
    rewriter.context.hook(
        "returned",
        &[callee, value, builder.u32(width), builder.u32(index)],
    )
}

/// Leaves the labels of the result for the caller.
pub fn emit_return(rewriter: &mut Rewriter<'_>, end: Value) {
    if end.operand_count() == 0 {
        return;
    }
    let value = end.operand(0);
    let labels = rewriter.labels_of(value);
    if labels.iter().all(Option::is_none) {
        return;
    }
    // Only the first two fields of a small struct have a word each.
    let is_flat =
        value.ty().scalar_width().is_some() || (labels.len() == 2 && value.ty().is_struct());
    if !is_flat {
        lose_operands(rewriter, end, NoteKind::Operation);
        return;
    }
    let builder = &rewriter.context.builder;
    let offsets = [RETURNED_OFFSET, RETURNED_SECOND_OFFSET];
    for (label, offset) in labels.iter().zip(offsets) {
        builder.store(
            rewriter.label_or_zero(*label),
            rewriter.context.thread_word(offset),
        );
    }
    builder.store(
        builder.unsigned(rewriter.function, 64),
        rewriter.context.thread_word(RETURNED_BY_OFFSET),
    );
}
