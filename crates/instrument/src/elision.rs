//! Allocations that clang leaves out when it optimises.
//!
//! Memory that is only compared with null and freed need not exist: from -O1 on clang removes
//! `malloc` and `calloc` of such memory and takes them for calls that succeed, whatever their
//! size. Scripts of autoconf depend on it (`calloc ((size_t) -1 / 8 + 1, 8)` "works"). As a call
//! of a model the allocation would stay, and the program would answer otherwise than the plain
//! one; so the same is done here, before calls are redirected.

use crate::llvm::{Builder, Module, Opcode, Predicate, Value};

/// The functions whose calls are left out.
const ALLOCATIONS: [&str; 2] = ["malloc", "calloc"];

/// Leaves out the allocations in `module` that nothing accesses.
pub fn leave_out_unused(module: &Module) {
    let builder = Builder::new(module);
    for name in ALLOCATIONS {
        let Some(function) = module.function(name).filter(|f| f.is_declaration()) else {
            continue;
        };
        let calls = function.users().into_iter();
        for call in calls.filter(|user| is_call_of(*user, function)) {
            if is_known_to_clang(call, name) && call.users().into_iter().all(is_idle) {
                leave_out(&builder, call);
            }
        }
    }
}

fn is_call_of(user: Value, function: Value) -> bool {
    user.is_instruction() && user.opcode() == Opcode::LLVMCall && user.called() == function
}

/// Whether the call means libc's function and no other of that name (`-fno-builtin`).
fn is_known_to_clang(call: Value, name: &str) -> bool {
    let caller = call.block().function();
    !call.has_call_attribute("nobuiltin")
        && !caller.has_text_attribute("no-builtins")
        && !caller.has_text_attribute(&format!("no-builtin-{name}"))
}

/// Whether a use of allocated memory does not touch it.
fn is_idle(user: Value) -> bool {
    match user.opcode() {
        Opcode::LLVMICmp => {
            let is_equality = matches!(
                user.predicate(),
                Predicate::LLVMIntEQ | Predicate::LLVMIntNE
            );
            is_equality && user.operands().any(Value::is_null)
        }
        Opcode::LLVMCall => user.called().is_function() && user.called().name() == "free",
        _ => false,
    }
}

/// Removes an allocation: its memory is not null.
fn leave_out(builder: &Builder, call: Value) {
    for user in call.users() {
        if user.opcode() == Opcode::LLVMICmp {
            let differs = user.predicate() == Predicate::LLVMIntNE;
            user.replace_by(builder.integer(1, differs.into()));
        }
        user.erase();
    }
    call.erase();
}
