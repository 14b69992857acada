//! Calls that leave the program's own code: to models of libc, and to functions that nobody
//! here knows.
//!
//! A model says in the name of whose call it fails a check; so every call of one, labels or
//! not, leaves its site in the thread's words first. A function that is only declared may be
//! neither instrumented nor modelled, and so may one that is called by a pointer: in a process
//! that records, the runtime looks at what such a call is given, as far as pointers lead.

use nearmiss_abi::hook::ANYWHERE;
use nearmiss_abi::model::{self, PREFIX, Place, UNCOUNTED_PREFIX, only_captures};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::shadow::MODEL_SITE_OFFSET;
use nearmiss_sites::SiteKind;

use super::is_barrier;
use crate::function::Rewriter;
use crate::guard::Sources;
use crate::llvm::{Module, Value};
use crate::may;
use crate::pointers;

/// What every name of the runtime and of the models starts with.
const OWN_PREFIX: &str = "__nm_";

/// What checks a requirement of a contract: a failure there is one of its call.
const PRECONDITION: &str = "__nm_precondition";

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
    let plain = name.strip_prefix(UNCOUNTED_PREFIX);
    let plain = plain.or_else(|| name.strip_prefix(PREFIX));
    SiteKind::Call(plain.unwrap_or(&name).into())
}

/// Leaves the site of a call of a model, or of a call that may turn out to be one.
pub fn prepare(rewriter: &mut Rewriter<'_>, call: Value) {
    if rewriter.context.is_model_unit {
        return;
    }
    if let Some(translation) = pointers::translation_of(call) {
        let site = rewriter.site_of(call);
        pointers::set_site(translation, site);
    }
    let callee = call.called();
    let leaves_site = |name: String| name.starts_with(PREFIX) || name == PRECONDITION;
    if callee.is_function() && leaves_site(callee.name()) {
        let site = rewriter.site_of(call);
        let word = rewriter.context.thread_word(MODEL_SITE_OFFSET);
        rewriter.context.builder.store(site, word);
    }
}

/// Whatever the call's pointers lead to is looked at, so its region has work to do.
pub fn collect(rewriter: &Rewriter<'_>, call: Value, sources: &mut Sources) {
    sources.recording |= is_noticed(rewriter, call);
}

/// What may be lost in a libc function whatever it is given: bytes that functions of the program's own or the
/// kernel bring later, what the constructors of a library see.
const LOSES: &[(&str, NoteKind)] = &[
    ("fopencookie", NoteKind::Call),
    ("on_exit", NoteKind::Call),
    ("preadv2", NoteKind::Outside),
    ("preadv64v2", NoteKind::Outside),
    ("aio_read", NoteKind::Outside),
    ("aio_read64", NoteKind::Outside),
    ("lio_listio", NoteKind::Outside),
    ("lio_listio64", NoteKind::Outside),
    ("dlopen", NoteKind::Library),
    ("dlmopen", NoteKind::Library),
];

/// Whether `mremap` makes a second mapping of the same memory: the old one has no size.
fn maps_twice(call: Value) -> bool {
    let size = call.arguments().into_iter().nth(1);
    size.is_some_and(|size| size.constant_integer() == Some(0))
}

/// Tells of a call of one of these functions.
fn emit_losing(rewriter: &mut Rewriter<'_>, call: Value) {
    let name = call.called().name();
    let known = LOSES.iter().find(|row| row.0 == name);
    let kind = match known {
        Some((_, kind)) => *kind,
        None if name == "mremap" && maps_twice(call) => NoteKind::ReadBack,
        None => return,
    };
    let site = rewriter.site_of(call);
    let builder = &rewriter.context.builder;
    let (anywhere, size) = (builder.u64(ANYWHERE), builder.u64(0));
    let kind = builder.u32(kind as u32);
    rewriter
        .context
        .hook("opaque", &[anywhere, size, kind, site]);
}

/// Tells of the pointers that are given away.
pub fn emit(rewriter: &mut Rewriter<'_>, call: Value) {
    if !is_noticed(rewriter, call) {
        return;
    }
    if call.called().is_function() {
        emit_losing(rewriter, call);
    }
    let pointers = swallowed_pointers(rewriter, call);
    let site = rewriter.site_of(call);
    let callee = foreign_address(rewriter, call);
    let builder = &rewriter.context.builder;
    if is_misfit(call) {
        let misfit = builder.u64(2);
        rewriter.context.hook("swallowed", &[misfit, callee, site]);
    }
    if pointers.is_empty() {
        let nothing = builder.u64(1);
        rewriter.context.hook("swallowed", &[nothing, callee, site]);
    }
    for pointer in pointers {
        let pointer = builder.unsigned(pointer, 64);
        rewriter.context.hook("swallowed", &[pointer, callee, site]);
    }
}

/// Whether the runtime hears of a call: it gives pointers away, or it is of a function of
/// another unit or library, which may read an input (then that is said of this call).
fn is_noticed(rewriter: &Rewriter<'_>, call: Value) -> bool {
    let is_named = call.called().is_function() && !call.arguments().is_empty();
    may_be_foreign(rewriter, call)
        && (is_named || is_misfit(call) || !swallowed_pointers(rewriter, call).is_empty())
}

/// Whether a libc function that brings input or memory is called by its own name: its model expects
/// to be called otherwise (`models::redirect`), so what it does is not seen.
fn is_misfit(call: Value) -> bool {
    let callee = call.called();
    let model = callee.is_function().then(|| model::find(&callee.name()));
    model
        .flatten()
        .is_some_and(|model| model.place == Place::Runtime)
}

/// Tells of the labelled arguments themselves, which were left for the callee: the next call
/// would leave its own in their place.
pub fn emit_arguments(rewriter: &mut Rewriter<'_>, call: Value) {
    if !may_be_foreign(rewriter, call) {
        return;
    }
    let site = rewriter.site_of(call);
    let callee = foreign_address(rewriter, call);
    let none = rewriter.context.builder.u64(0);
    rewriter.context.hook("swallowed", &[none, callee, site]);
}

/// What the call gives back is recorded.
pub fn collect_answer(rewriter: &Rewriter<'_>, call: Value, sources: &mut Sources) {
    sources.recording |= answers(rewriter, call);
}

/// Tells of what an unknown function gave back. Addresses differ from run to run.
pub fn emit_answer(rewriter: &mut Rewriter<'_>, call: Value) {
    if !answers(rewriter, call) {
        return;
    }
    let site = rewriter.site_of(call);
    let callee = foreign_address(rewriter, call);
    let builder = &rewriter.context.builder;
    let value = builder.unsigned(call, 64);
    let value = match call.ty().is_pointer() {
        true => builder.unsigned(builder.is_not_zero(value), 64),
        false => value,
    };
    rewriter.context.hook("answered", &[value, callee, site]);
}

/// Whether the program may decide by the result of a function that nothing follows.
fn answers(rewriter: &Rewriter<'_>, call: Value) -> bool {
    let width = call.ty().scalar_width();
    call.called().is_function()
        && may_be_foreign(rewriter, call)
        && width.is_some_and(|width| width <= 64)
        && !call.users().is_empty()
        && !call.is_must_tail()
}

/// The address by which the runtime finds out whether the callee is instrumented; 0: it is not.
/// Models that only capture are part of the program, but labels get lost in them.
fn foreign_address(rewriter: &Rewriter<'_>, call: Value) -> Value {
    let callee = call.called();
    let builder = &rewriter.context.builder;
    match callee.is_function() && only_captures(&callee.name()) {
        true => builder.u64(0),
        false => builder.unsigned(callee, 64),
    }
}

/// Whether the callee may be neither instrumented nor modelled.
fn may_be_foreign(rewriter: &Rewriter<'_>, call: Value) -> bool {
    let callee = call.called();
    if rewriter.context.is_model_unit || !is_barrier(call) {
        return false;
    }
    if !callee.is_function() {
        return true;
    }
    (callee.is_declaration() || callee.is_elsewhere())
        && (!callee.name().starts_with(OWN_PREFIX) || only_captures(&callee.name()))
}

/// The pointers that a call gives to a function unknown here, but for those to constants and
/// structs by value, which have a way of their own.
fn swallowed_pointers(rewriter: &Rewriter<'_>, call: Value) -> Vec<Value> {
    if !may_be_foreign(rewriter, call) {
        return Vec::new();
    }
    pointers_of(call)
}

/// Tells of memory that assembly is given, as an operand or by its address.
pub fn emit_assembly(rewriter: &mut Rewriter<'_>, assembly: Value) {
    let pointers = pointers_of(assembly);
    let calls_kernel = calls_kernel(assembly);
    if !is_noticed_assembly(assembly) {
        return;
    }
    let site = rewriter.context.site(SiteKind::Other, assembly);
    let builder = &rewriter.context.builder;
    if calls_kernel {
        let (anywhere, size) = (builder.u64(ANYWHERE), builder.u64(0));
        let kind = builder.u32(NoteKind::Outside as u32);
        rewriter
            .context
            .hook("opaque", &[anywhere, size, kind, site]);
    }
    let kind = builder.u32(NoteKind::Assembly as u32);
    if names_memory(assembly) {
        let (anywhere, size) = (builder.u64(ANYWHERE), builder.u64(0));
        rewriter
            .context
            .hook("opaque", &[anywhere, size, kind, site]);
    }
    for pointer in pointers {
        let pointer = builder.unsigned(pointer, 64);
        rewriter
            .context
            .hook("opaque", &[pointer, builder.u64(0), kind, site]);
    }
}

/// Whether assembly has work to do where nothing in it is symbolic.
pub fn is_noticed_assembly(assembly: Value) -> bool {
    calls_kernel(assembly) || names_memory(assembly) || !pointers_of(assembly).is_empty()
}

/// Whether assembly names a variable itself, which is no operand then.
fn names_memory(assembly: Value) -> bool {
    assembly.called().assembly().contains("(%rip)")
}

/// Whether assembly calls the kernel, which may read an input or give back what was written.
fn calls_kernel(assembly: Value) -> bool {
    let text = assembly.called().assembly();
    ["syscall", "sysenter", "int $0x80", "int $$0x80"]
        .iter()
        .any(|instruction| text.contains(instruction))
}

/// The pointers that a call is given, but for those to constants and structs by value.
pub fn pointers_of(call: Value) -> Vec<Value> {
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
