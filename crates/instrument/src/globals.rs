//! Lists the variables of static storage that a unit defines, so that the runtime knows where
//! each starts and ends: rows of [`GlobalRow`](nearmiss_abi::shadow::GlobalRow) in a section that
//! the linker gathers.
//!
//! With `--gc-sections`, GNU ld keeps such a section because of the symbols at its ends, and
//! with it every variable listed; lld drops it, and the variables are then of unknown bounds.
//! Rows that each belong to their variable (`SHF_LINK_ORDER`) would do neither, but lld refuses
//! them for strings and GNU ld cannot link them with `-r`.

use nearmiss_abi::shadow::GLOBALS_SECTION;

use crate::context::Context;
use crate::llvm::Value;

/// Adds the table.
pub fn list(context: &Context) {
    let (module, builder) = (&context.module, &context.builder);
    let row = |variable: Value| {
        let size = module.element_size(variable.global_value_type());
        (size > 0).then(|| builder.constant_struct(&[variable, builder.u64(size)]))
    };
    let listed = module.variables().into_iter().filter(|v| is_listed(*v));
    let rows: Vec<Value> = listed.filter_map(row).collect();
    if let Some(first) = rows.first() {
        let table = builder.constant_array(first.ty(), &rows);
        module.add_table(GLOBALS_SECTION, table);
    }
}

/// Whether a variable is an object of the program that lies where the compiler puts it. What is
/// in a section of the user's may be an element of an array that the linker makes.
fn is_listed(variable: Value) -> bool {
    !variable.is_declaration()
        && !variable.is_elsewhere()
        && !variable.is_thread_local()
        && !variable.has_section()
        && !variable.name().starts_with("llvm.")
        && !variable.name().starts_with("__nm_")
}
