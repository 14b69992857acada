//! Calls that leave the program's own code: to models of libc, and to functions that nobody
//! here knows.
//!
//! A model says in the name of whose call it fails a check; so every call of one, labels or
//! not, leaves its site in the thread's words first. A function that is only declared may be
//! neither instrumented nor modelled: if a pointer to labelled memory goes there, the runtime
//! is told that labels may be swallowed. It looks at the memory's summary itself.

use nearmiss_abi::model::{PREFIX, only_captures};
use nearmiss_abi::shadow::MODEL_SITE_OFFSET;
use nearmiss_sites::SiteKind;

use super::is_barrier;
use crate::function::Rewriter;
use crate::guard::Sources;
use crate::llvm::{Module, Value};
use crate::may;

/// What every name of the runtime and of the models starts with.
const OWN_PREFIX: &str = "__nm_";

/// Whether the unit is a part of the models: its calls are not the program's.
pub fn is_model_unit(module: &Module) -> bool {
    let is_model =
        |function: &Value| !function.is_declaration() && function.name().starts_with(PREFIX);
    module.functions().iter().any(is_model)
}

/// What the site of a call says, or of another access.
pub fn site_kind(instruction: Value) -> SiteKind {
    if !is_barrier(instruction) {
        return SiteKind::Access;
    }
    let callee = instruction.called();
    let name = match callee.is_function() {
        true => callee.name(),
        false => String::new(),
    };
    SiteKind::Call(name.strip_prefix(PREFIX).unwrap_or(&name).into())
}

/// Leaves the site of a call of a model.
pub fn prepare(rewriter: &mut Rewriter<'_>, call: Value) {
    let callee = call.called();
    let is_of_model = callee.is_function() && callee.name().starts_with(PREFIX);
    if is_of_model && !rewriter.context.is_model_unit {
        let site = rewriter.site_of(call);
        let word = rewriter.context.thread_word(MODEL_SITE_OFFSET);
        rewriter.context.builder.store(site, word);
    }
}

/// Adds the memory that the call's pointers point to.
pub fn collect(rewriter: &Rewriter<'_>, call: Value, sources: &mut Sources) {
    for pointer in swallowed_pointers(rewriter, call) {
        sources.add_memory(pointer, 1, 1);
    }
}

/// Tells of the pointers that are given away.
pub fn emit(rewriter: &mut Rewriter<'_>, call: Value) {
    let pointers = swallowed_pointers(rewriter, call);
    if pointers.is_empty() {
        return;
    }
    let site = rewriter.site_of(call);
    let builder = &rewriter.context.builder;
    let callee = builder.unsigned(call.called(), 64);
    for pointer in pointers {
        let pointer = builder.unsigned(pointer, 64);
        rewriter.context.hook("swallowed", &[pointer, callee, site]);
    }
}

/// The pointers that a call gives to a function unknown here, but for those to constants and
/// structs by value, which have a way of their own.
fn swallowed_pointers(rewriter: &Rewriter<'_>, call: Value) -> Vec<Value> {
    let callee = call.called();
    let is_unknown = callee.is_function()
        && (callee.is_declaration() || callee.is_elsewhere())
        && (!callee.name().starts_with(OWN_PREFIX) || only_captures(&callee.name()))
        && !rewriter.context.is_model_unit;
    if !is_unknown {
        return Vec::new();
    }
    let arguments = call.arguments().into_iter().enumerate();
    let pointers = arguments.filter(|(position, argument)| {
        argument.ty().is_pointer()
            && may_point_to_labels(*argument)
            && call
                .parameter_type_attribute(*position as u32, "byval")
                .is_none()
    });
    pointers.map(|(_, pointer)| pointer).collect()
}

fn may_point_to_labels(pointer: Value) -> bool {
    let is_in_memory = pointer.is_instruction()
        || pointer.is_argument()
        || may::underlying_global(pointer).is_some();
    is_in_memory && !may::is_constant_memory(pointer)
}
