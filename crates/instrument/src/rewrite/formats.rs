//! The code under test announces the formats that it uses: a text of a test that is one is no data (`libc/call_formats.c`).

use nearmiss_abi::boundary::FORMAT;

use crate::llvm::{Builder, Module, Opcode, Value};

/// Functions that take a format, and which argument it is. Of the checked ones (`__printf_chk`) see [`position`].
const TAKING_FORMATS: &[(&str, usize)] = &[
    ("printf", 0),
    ("fprintf", 1),
    ("dprintf", 1),
    ("sprintf", 1),
    ("snprintf", 2),
    ("asprintf", 1),
    ("scanf", 0),
    ("fscanf", 1),
    ("sscanf", 1),
    ("syslog", 1),
    ("warn", 0),
    ("warnx", 0),
    ("err", 1),
    ("errx", 1),
    ("error", 2),
];

/// Announces every format in a function of the code under test that is no literal.
pub fn announce(module: &Module, function: Value) {
    for block in function.blocks() {
        for call in block.instructions() {
            if call.opcode() != Opcode::LLVMCall || !call.called().is_function() {
                continue;
            }
            let position = position(&call.called().name());
            let format = position.and_then(|at| call.arguments().get(at).copied());
            let is_used = |it: &Value| it.ty().is_pointer() && !it.is_constant();
            if let Some(format) = format.filter(is_used) {
                let builder = Builder::new(module);
                builder.before(call);
                let ty = module.function_type(module.void_type(), &[builder.pointer_type()], false);
                builder.call(ty, module.declare_as(FORMAT, ty), &[format]);
            }
        }
    }
}

/// Which argument of a function is a format.
fn position(name: &str) -> Option<usize> {
    let name = name.strip_prefix("__isoc99_").unwrap_or(name);
    let checked = (name.strip_prefix("__")).and_then(|it| it.strip_suffix("_chk"));
    let plain = checked.unwrap_or(name);
    let known = |name: &str| TAKING_FORMATS.iter().find(|it| it.0 == name);
    let (_, at) = known(plain).or_else(|| known(plain.strip_prefix('v')?))?;
    // Checked functions have flags before the format, and the room where there is a buffer.
    let more = match checked {
        None => 0,
        Some(it) if it.ends_with("sprintf") && !it.ends_with("asprintf") => 2,
        Some(it) if it.ends_with("snprintf") => 2,
        Some(_) => 1,
    };
    Some(at + more)
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn formats_are_where_prototypes_have_them() {
        let expected = [
            ("printf", Some(0)),
            ("vsnprintf", Some(2)),
            ("__isoc99_sscanf", Some(1)),
            ("__printf_chk", Some(1)),
            ("__sprintf_chk", Some(3)),
            ("__vsnprintf_chk", Some(4)),
            ("__vasprintf_chk", Some(2)),
            ("__fprintf_chk", Some(2)),
            ("vsyslog", Some(1)),
            ("puts", None),
            ("__memcpy_chk", None),
        ];
        for (name, at) in expected {
            assert_eq!(position(name), at, "{name}");
        }
    }
}
