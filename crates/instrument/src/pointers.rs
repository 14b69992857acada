//! Calls through pointers: a pointer to a function of libc stays a pointer to that function, wherever
//! it comes from, and is looked up where it is called.
//!
//! ```text
//!   call %f(…)    becomes    %t = __nm_called(%f, signature, site)      inlined: one word is read
//!                            call %t(…)
//! ```
//!
//! The runtime knows the functions whose address a unit takes from a table that the linker gathers. A
//! unit that looks functions up by name has a row for each model, and gives the runtime what was
//! found: `RTLD_NEXT` depends on where the call is, so `dlsym` itself is not replaced.

use nearmiss_abi::model::{MODELS, Model, PREFIX};
use nearmiss_abi::shadow::{LOOKED_UP_SYMBOL, POINTERS_SECTION, TARGET_SYMBOL};
use nearmiss_abi::signature::Signature;

use crate::context::Context;
use crate::llvm::{Opcode, Value};
use crate::models::{self, letter_of};

/// The function that stands before each call through a pointer.
const CALLED: &str = "__nm_called";
/// Its argument that is the site of the call.
const SITE_ARGUMENT: u32 = 2;

/// What not every C library has, and the models need.
const NEWER: &[&str] = &["strlcpy", "strlcat"];

/// Prepares the unit's calls through pointers, and lists the functions that it takes addresses of.
pub fn redirect(context: &Context, functions: &[Value]) {
    let calls: Vec<Value> = calls(functions).collect();
    if calls.iter().any(|call| is_through_pointer(*call)) {
        let called = define_called(context);
        for call in calls.iter().filter(|call| is_through_pointer(**call)) {
            translate(context, called, *call);
        }
    }
    let lookups = calls.iter().filter(|call| is_lookup(**call));
    for lookup in lookups.clone() {
        tell_of_lookup(context, *lookup);
    }
    if context.is_model_unit {
        return;
    }
    let all = lookups.count() > 0;
    let rows: Vec<Value> = MODELS
        .iter()
        .filter_map(|model| row(context, model, all))
        .collect();
    if let Some(first) = rows.first() {
        let table = context.builder.constant_array(first.ty(), &rows);
        context.module.add_table(POINTERS_SECTION, table);
    }
}

/// Whether an instruction is what [`redirect`] has put before a call.
pub fn is_translation(instruction: Value) -> bool {
    instruction.opcode() == Opcode::LLVMCall
        && instruction.called().is_function()
        && instruction.called().name() == CALLED
}

/// What stands before a call through a pointer.
pub fn translation_of(call: Value) -> Option<Value> {
    let called = call.called();
    (called.is_instruction() && is_translation(called)).then_some(called)
}

/// Says at which site a call through a pointer is.
pub fn set_site(translation: Value, site: Value) {
    translation.set_operand(SITE_ARGUMENT, site);
}

fn calls(functions: &[Value]) -> impl Iterator<Item = Value> {
    let blocks = functions.iter().flat_map(|function| function.blocks());
    let instructions = blocks.flat_map(|block| block.instructions());
    instructions.filter(|instruction| instruction.opcode() == Opcode::LLVMCall)
}

fn is_through_pointer(call: Value) -> bool {
    let called = call.called();
    !called.is_inline_assembly() && (called.is_instruction() || called.is_argument())
}

/// `dlsym` and its relatives: handle, name, and what they find.
fn is_lookup(call: Value) -> bool {
    let called = call.called();
    called.is_function()
        && matches!(called.name().as_str(), "dlsym" | "dlvsym")
        && called.is_declaration()
        && call.argument_count() >= 2
        && call.ty().is_pointer()
        && call.operand(1).ty().is_pointer()
}

/// Writes `__nm_called`.
fn define_called(context: &Context) -> Value {
    let (module, builder) = (&context.module, &context.builder);
    let (pointer, word) = (builder.pointer_type(), builder.integer_type(64));
    let ty = module.function_type(pointer, &[pointer, word, word], false);
    let function = module.define_inline(CALLED, ty);
    let target = define_target(context, function);
    let [entry, look, end] =
        [c"entry", c"look", c"end"].map(|name| builder.append_block(function, name));
    let parameters = function.parameters();
    builder.at_end(entry);
    let dispatch = builder.load(builder.integer_type(32), context.dispatch_word());
    builder.branch_unlikely(builder.is_not_zero(dispatch), look, end);
    builder.at_end(look);
    let found = builder.call_hook(target, &parameters);
    builder.jump(end);
    builder.at_end(end);
    let result = builder.phi(pointer);
    result.add_incoming(parameters[0], entry);
    result.add_incoming(found, look);
    builder.return_value(result);
    function
}

/// Writes a function that asks the runtime and keeps all registers, so that the function with the call keeps
/// nothing on its stack for the sake of it.
fn define_target(context: &Context, host: Value) -> Value {
    let (module, builder) = (&context.module, &context.builder);
    let (pointer, word) = (builder.pointer_type(), builder.integer_type(64));
    let function = module.declare_function("nm.target", pointer, &[pointer, word, word], false);
    module.make_cold(function, host);
    let ty = function.global_value_type();
    let target = module.declare_as(TARGET_SYMBOL, ty);
    builder.at_end(builder.append_block(function, c""));
    builder.return_value(builder.call(ty, target, &function.parameters()));
    function
}

fn translate(context: &Context, function: Value, call: Value) {
    let builder = &context.builder;
    let types = call.arguments().into_iter().map(|argument| argument.ty());
    let letters = std::iter::once(call.ty()).chain(types).map(letter_of);
    let signature = Signature::pack(letters);
    builder.before(call);
    let arguments = [call.called(), builder.u64(signature.0), builder.u64(0)];
    let target = builder.call(function.global_value_type(), function, &arguments);
    call.set_called(target);
}

fn tell_of_lookup(context: &Context, lookup: Value) {
    let (module, builder) = (&context.module, &context.builder);
    let Some(next) = lookup.next().filter(|_| !lookup.is_must_tail()) else {
        return;
    };
    let pointer = builder.pointer_type();
    let ty = module.function_type(module.void_type(), &[pointer, pointer], false);
    let function = module.declare_as(LOOKED_UP_SYMBOL, ty);
    builder.before(next);
    builder.locate_as(lookup);
    builder.call(ty, function, &[lookup.operand(1), lookup]);
}

/// The row of a function whose address the unit takes, or of any with `all`.
fn row(context: &Context, model: &Model, all: bool) -> Option<Value> {
    let (module, builder) = (&context.module, &context.builder);
    let function = match module.function(model.name) {
        Some(function) if models::is_defined_here(function) => return None,
        Some(function) => {
            let may_be = models::may_be_declared_as(model, function.global_value_type());
            let users = function.users();
            let is_taken = users
                .iter()
                .any(|user| !models::is_call_of(*user, function));
            if !(may_be && (is_taken || all)) {
                return None;
            }
            function
        }
        None if all && !NEWER.contains(&model.name) && !module.has_global(model.name) => {
            let ty = module.function_type(module.void_type(), &[], false);
            let function = module.declare_as(model.name, ty);
            module.set_optional(function);
            function
        }
        None => return None,
    };
    let ty = function.global_value_type();
    let replacement = module.declare_as(&format!("{PREFIX}{}", model.name), ty);
    let mut signature = Signature::pack(model.signature.chars());
    if model.touches_memory {
        signature = signature.touching_memory();
    }
    let name = builder.text(module, model.name);
    Some(builder.constant_struct(&[function, replacement, builder.u64(signature.0), name]))
}
