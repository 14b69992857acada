//! Lists the variables of static storage that a unit defines, so that the runtime knows where
//! each starts and ends: rows of [`GlobalRow`](nearmiss_abi::shadow::GlobalRow) in a section that
//! the linker gathers.
//!
//! The linker keeps the section, also with `--gc-sections`, and with it every variable listed. What
//! is kept must not bring in what the user counts on being dropped: where variables have
//! sections of their own (`-fdata-sections`), those that lead to a function or to another unit
//! are left out.
//!
//! Rows that each belong to their variable (`SHF_LINK_ORDER`) would need no such care, but lld refuses
//! them for strings and GNU ld cannot link them with `-r`.

use nearmiss_abi::shadow::{GLOBALS_SECTION, ZONED};
use rustc_hash::FxHashSet;

use crate::context::Context;
use crate::llvm::Value;
use crate::regions::Grain;
use crate::zones;

/// Adds the table. `may_be_dropped`: the linker may be asked to drop variables one by one. With a fine
/// grain a red zone lies behind each of them.
pub fn list(context: &Context, may_be_dropped: bool, grain: Grain) {
    let (module, builder) = (&context.module, &context.builder);
    let row = |variable: Value| {
        let size = module.element_size(variable.global_value_type());
        if size == 0 {
            return None;
        }
        let zoned = match grain {
            Grain::Fine => zones::behind_global(context, variable),
            Grain::Coarse | Grain::Huge | Grain::Short => None,
        };
        let fields = match zoned {
            Some(zoned) => [zoned, builder.u64(size | ZONED)],
            None => [variable, builder.u64(size)],
        };
        Some(fields)
    };
    let listed = module
        .variables()
        .into_iter()
        .filter(|variable| is_listed(*variable) && !(may_be_dropped && leads_outside(*variable)));
    // A row is a constant, which would not follow a variable that is replaced: so all are first.
    let listed: Vec<Value> = listed.collect();
    let fields: Vec<[Value; 2]> = listed.into_iter().filter_map(row).collect();
    let rows = fields.iter().map(|fields| builder.constant_struct(fields));
    let rows: Vec<Value> = rows.collect();
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

/// Whether whoever keeps the variable keeps a function or needs another unit.
fn leads_outside(variable: Value) -> bool {
    let mut seen = FxHashSet::default();
    let mut work = vec![variable];
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        if value.is_global_variable() {
            match value.initializer() {
                Some(initializer) => work.push(initializer),
                None => return true,
            }
        } else if value.is_function() {
            return true;
        } else {
            work.extend(value.operands());
        }
    }
    false
}
