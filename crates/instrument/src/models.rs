//! Sends calls of libc functions to their models.

use nearmiss_abi::model::{MODELS, Model, PREFIX};

use crate::llvm::{Module, Opcode, Type, Value};

/// Redirects the calls of every modelled function that the module declares as libc does.
/// Functions that the module defines itself, and taken addresses, are left alone.
pub fn redirect(module: &Module) {
    for model in MODELS {
        let Some(function) = module.function(model.name) else {
            continue;
        };
        let ty = function.global_value_type();
        // glibc defines some as inline functions; those bodies are only hints.
        let is_defined_here = !function.is_declaration() && !function.is_elsewhere();
        if is_defined_here || !matches(model, ty) {
            continue;
        }
        let calls: Vec<Value> = function
            .users()
            .into_iter()
            .filter(|user| calls(*user, function))
            .collect();
        if calls.is_empty() {
            continue;
        }
        let replacement = module.declare_as(&format!("{PREFIX}{}", model.name), ty);
        for call in calls {
            call.set_called(replacement);
        }
    }
}

fn calls(user: Value, function: Value) -> bool {
    user.is_instruction()
        && user.opcode() == Opcode::LLVMCall
        && user.called() == function
        && user.called_type() == function.global_value_type()
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
    match letter {
        'v' => ty.is_void(),
        'p' => ty.is_pointer(),
        'i' => ty.is_integer() && ty.scalar_width() == Some(32),
        'f' => ty.is_float(),
        'd' => ty.is_double(),
        'x' => ty.is_long_double(),
        _ => ty.is_integer() && ty.scalar_width() == Some(64),
    }
}
