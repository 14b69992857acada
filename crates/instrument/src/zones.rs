//! Red zones: bytes behind each variable that belong to none, where all paths of a function are wanted.
//!
//! A pointer that walks out of its variable then comes to memory of which the runtime knows that an
//! access there is wrong, and a path ends there instead of going on with what happened to lie behind.
//! Variables are laid out last, when hooks have their real sizes already. AddressSanitizer does
//! the same in the twin.

use nearmiss_abi::shadow::RED_ZONE;

use crate::context::Context;
use crate::llvm::{Opcode, Value};

/// Puts a red zone behind a variable of a function.
pub fn behind_stack(context: &Context, alloca: Value) {
    let builder = &context.builder;
    builder.before(alloca);
    match alloca.operand(0).constant_integer() {
        Some(1) => {
            let zone = builder.integer_type(8).array(RED_ZONE);
            let ty = builder.struct_type(&[alloca.allocated_type(), zone]);
            let zoned = builder.alloca_one(ty, alloca.alignment());
            alloca.replace_by(zoned);
            alloca.erase();
        }
        _ => {
            let element = context.module.element_size(alloca.allocated_type()).max(1);
            let count = alloca.operand(0);
            let more = builder.integer(
                count.ty().scalar_width().expect("an integer"),
                RED_ZONE.div_ceil(element),
            );
            let zoned = builder.binary(Opcode::LLVMAdd, count, more);
            alloca.set_operand(0, zoned);
        }
    }
}

/// Puts a red zone behind a variable of static storage; `None` where its definition is one of
/// several that the linker puts together.
pub fn behind_global(context: &Context, variable: Value) -> Option<Value> {
    let initializer = variable.initializer()?;
    if variable.has_comdat() || variable.is_tentative() {
        return None;
    }
    let builder = &context.builder;
    let zone = context.module.zero(builder.integer_type(8).array(RED_ZONE));
    let content = builder.constant_struct(&[initializer, zone]);
    Some(context.module.replace_variable(variable, content))
}
