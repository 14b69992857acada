//! Sends calls of libc functions to their models.
//!
//! A declaration need not be libc's own: without a prototype (`extern char *malloc();`, or no
//! declaration at all) a call passes what its arguments happen to be. Such a call is made the
//! call that the model expects, with integers extended or cut as the registers show them.

use nearmiss_abi::model::{MODELS, Model, PREFIX, UNCOUNTED_PREFIX, is_counted};

use crate::context::Context;
use crate::llvm::{Opcode, Type, Value};

/// Redirects the calls of every modelled function that the module only declares; calls through
/// pointers are for [`crate::pointers`].
pub fn redirect(context: &Context) {
    for model in MODELS {
        let Some(function) = context.module.function(model.name) else {
            continue;
        };
        if is_defined_here(function) {
            continue;
        }
        let users = function.users().into_iter();
        let calls: Vec<Value> = users.filter(|user| is_call_of(*user, function)).collect();
        for call in calls {
            send(context, model, call);
        }
    }
}

/// Whether the module has the function's code. glibc defines some as inline functions; those
/// bodies are only hints.
pub fn is_defined_here(function: Value) -> bool {
    !function.is_declaration() && !function.is_elsewhere()
}

/// Whether `user` calls `function` by its name.
pub fn is_call_of(user: Value, function: Value) -> bool {
    user.is_instruction() && user.opcode() == Opcode::LLVMCall && user.called() == function
}

/// Whether a declaration may be libc's: with its types, or without a prototype.
pub fn may_be_declared_as(model: &Model, ty: Type) -> bool {
    matches(model, ty) || (ty.is_variadic() && ty.parameters().is_empty())
}

fn send(context: &Context, model: &Model, call: Value) {
    let is_uncounted = is_counted(model.name) && call.users().is_empty();
    let prefix = if is_uncounted {
        UNCOUNTED_PREFIX
    } else {
        PREFIX
    };
    let symbol = format!("{prefix}{}", model.name);
    if matches(model, call.called_type()) {
        let replacement = context.module.declare_as(&symbol, call.called_type());
        call.set_called(replacement);
        return;
    }
    let Some(arguments) = convertible(model, call) else {
        return;
    };
    let ty = function_type(context, model);
    let replacement = context.module.declare_as(&symbol, ty);
    let builder = &context.builder;
    builder.before(call);
    let arguments: Vec<Value> = arguments
        .into_iter()
        .map(|(argument, letter)| converted(context, argument, letter))
        .collect();
    let result = builder.call(ty, replacement, &arguments);
    if !call.ty().is_void() && !call.users().is_empty() {
        call.replace_by(result_as(context, result, call.ty()));
    }
    call.erase();
}

/// The arguments that the model takes of a call which was declared otherwise, each with the letter of
/// what it is to become (`.`: stays as it is). `None` where that is not plainly the function of libc:
/// then it may be another one of that name. Integers of a declared prototype only become wider.
fn convertible(model: &Model, call: Value) -> Option<Vec<(Value, char)>> {
    let (fixed, is_variadic) = fixed_letters(model);
    let mut letters = fixed.chars();
    let result = letters.next()?;
    let has_prototype = !is_without_prototype(call.called());
    let given = call.arguments();
    let wanted = letters.clone().count();
    let is_result_fine = call.ty().is_void() || fits_loosely(result, call.ty()) || result == 'v';
    let is_count_fine = given.len() >= wanted && (!has_prototype || given.len() == wanted);
    if !is_result_fine || !is_count_fine || call.is_must_tail() {
        return None;
    }
    let is_fine = |(argument, letter): (&Value, char)| {
        let ty = argument.ty();
        let narrows = letter == 'i' && ty.scalar_width() == Some(64);
        let is_null = letter == 'p' && argument.constant_integer() == Some(0);
        (fits_loosely(letter, ty) && !(has_prototype && narrows)) || is_null
    };
    if !given.iter().zip(letters.clone()).all(is_fine) {
        return None;
    }
    let rest = is_variadic.then_some('.').into_iter().cycle();
    Some(given.into_iter().zip(letters.chain(rest)).collect())
}

/// The letters of a model's result and parameters with a name, and whether others follow. `open` is
/// declared with two parameters and `...`, but modelled with three.
fn fixed_letters(model: &Model) -> (&'static str, bool) {
    match model.signature.strip_suffix("i.") {
        Some(fixed) => (fixed, true),
        None => match model.signature.strip_suffix('.') {
            Some(fixed) => (fixed, true),
            None => (model.signature, false),
        },
    }
}

fn is_without_prototype(function: Value) -> bool {
    let ty = function.global_value_type();
    ty.is_variadic() && ty.parameters().is_empty()
}

fn function_type(context: &Context, model: &Model) -> Type {
    let (fixed, is_variadic) = fixed_letters(model);
    let types: Vec<Type> = fixed
        .chars()
        .map(|letter| type_of(context, letter))
        .collect();
    context
        .module
        .function_type(types[0], &types[1..], is_variadic)
}

fn type_of(context: &Context, letter: char) -> Type {
    match letter {
        'v' => context.module.void_type(),
        'p' => context.builder.pointer_type(),
        'i' => context.builder.integer_type(32),
        'f' | 'd' | 'x' => context.module.float_type(letter),
        _ => context.builder.integer_type(64),
    }
}

fn converted(context: &Context, argument: Value, letter: char) -> Value {
    let builder = &context.builder;
    match letter {
        'i' => builder.unsigned(argument, 32),
        // As the upper half of a register is that was written as an `int`.
        'l' => builder.unsigned(argument, 64),
        'p' if !argument.ty().is_pointer() => builder.pointer(builder.unsigned(argument, 64)),
        _ => argument,
    }
}

/// What the caller takes the result for. Nothing that returns nothing leaves anything to use.
fn result_as(context: &Context, result: Value, ty: Type) -> Value {
    let builder = &context.builder;
    if result.ty().is_void() {
        return context.module.zero(ty);
    }
    match ty.scalar_width() {
        Some(width) if ty.is_integer() => builder.unsigned(result, width),
        _ => result,
    }
}

/// Whether a declaration has the signature that the model was written for.
fn matches(model: &Model, ty: Type) -> bool {
    let (letters, variadic) = match model.signature.strip_suffix('.') {
        Some(letters) => (letters, true),
        None => (model.signature, false),
    };
    let mut letters = letters.chars();
    let mut fits = |ty: Type| letters.next().is_some_and(|letter| fits(letter, ty));
    let declared = fits(ty.return_type()) && ty.parameters().into_iter().all(&mut fits);
    // `open` is declared with two parameters and `...`, but modelled with three.
    let rest: Vec<char> = letters.collect();
    declared && ty.is_variadic() == variadic && (rest.is_empty() || (variadic && rest == ['i']))
}

fn fits(letter: char, ty: Type) -> bool {
    letter_of(ty) == letter
}

/// Whether a type is the letter's, or an integer of the other width.
fn fits_loosely(letter: char, ty: Type) -> bool {
    fits(letter, ty) || (matches!(letter, 'i' | 'l') && matches!(letter_of(ty), 'i' | 'l'))
}

/// The letter of a type; `?` where no model has one.
pub fn letter_of(ty: Type) -> char {
    if ty.is_void() {
        'v'
    } else if ty.is_pointer() {
        'p'
    } else if ty.is_float() {
        'f'
    } else if ty.is_double() {
        'd'
    } else if ty.is_long_double() {
        'x'
    } else {
        match ty.scalar_width().filter(|_| ty.is_integer()) {
            Some(16) => 's',
            Some(32) => 'i',
            Some(64) => 'l',
            _ => '?',
        }
    }
}
