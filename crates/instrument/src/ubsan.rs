//! What clang's inserted checks say about themselves: the static data of `__ubsan_handle_*`.

use nearmiss_abi::check::Kind;

use crate::llvm::{Opcode, Value};
use crate::sitemap::Place;

/// An inserted check.
#[derive(Debug)]
pub struct Described {
    /// What goes wrong.
    pub kind: Kind,
    /// In words.
    pub message: String,
    /// Where.
    pub place: Place,
    /// A second failure that the same branch guards against.
    pub second: Option<(Kind, String)>,
}

/// Reads the static data of a call of `handler`. A check that has no row here, or whose data is
/// not to be seen, is told by the handler's name: a failure that clang reports is never dropped.
pub fn describe(call: Value, handler: &str) -> Described {
    let handler = handler
        .trim_start_matches("__ubsan_handle_")
        .trim_end_matches("_abort");
    let described = static_data(call).and_then(|data| describe_known(call, handler, data));
    described.unwrap_or_else(|| Described {
        kind: Kind::Abort,
        message: format!("inserted check: {}", handler.replace('_', " ")),
        place: Place::of(call),
        second: None,
    })
}

fn describe_known(call: Value, handler: &str, data: Value) -> Option<Described> {
    let place = place(data.operand(0));
    let ty = |index: u32| type_name(data, index);
    let mut second = None;
    let (kind, message) = match handler {
        "add_overflow" => overflow("addition", data),
        "sub_overflow" => overflow("subtraction", data),
        "mul_overflow" => overflow("multiplication", data),
        "negate_overflow" => overflow("negation", data),
        "divrem_overflow" => {
            second = Some((
                Kind::SignedOverflow,
                format!("division overflow in type {}", ty(1)),
            ));
            (
                Kind::DivisionByZero,
                format!("division by zero in type {}", ty(1)),
            )
        }
        "shift_out_of_bounds" => (Kind::Shift, format!("invalid shift of type {}", ty(1))),
        "out_of_bounds" => (
            access_kind(call),
            format!("index out of bounds for type {}", ty(1)),
        ),
        "type_mismatch_v1" => (
            Kind::NullDereference,
            format!("null pointer of type {}", ty(1)),
        ),
        "nonnull_arg" | "nullability_arg" => (Kind::NullDereference, "null argument".into()),
        "implicit_conversion" => (
            Kind::Truncation,
            format!("implicit conversion from {} to {}", ty(1), ty(2)),
        ),
        "builtin_unreachable" => (Kind::Abort, "code marked unreachable".into()),
        "missing_return" => (Kind::Abort, "end of a function without return".into()),
        "vla_bound_not_positive" => (
            Kind::OutOfBoundsWrite,
            "size of an array is not positive".into(),
        ),
        _ => return None,
    };
    Some(Described {
        kind,
        message,
        place,
        second,
    })
}

fn static_data(call: Value) -> Option<Value> {
    let data = call.operand(0);
    if !data.is_global_variable() {
        return None;
    }
    data.initializer()
}

fn overflow(operation: &str, data: Value) -> (Kind, String) {
    match is_signed(data.operand(1)) {
        true => (
            Kind::SignedOverflow,
            format!("signed {operation} overflow in type {}", type_name(data, 1)),
        ),
        false => (
            Kind::UnsignedOverflow,
            format!(
                "unsigned {operation} wraps around in type {}",
                type_name(data, 1)
            ),
        ),
    }
}

/// `Loc = { ptr file, i32 line, i32 column }`.
fn place(location: Value) -> Place {
    if location.operand_count() < 3 {
        return Place::default();
    }
    let file = location.operand(0);
    let file = if file.is_global_variable() {
        file.initializer().and_then(Value::constant_string)
    } else {
        None
    };
    let number = |index: u32| location.operand(index).constant_integer().unwrap_or(0) as u32;
    Place {
        file,
        line: number(1),
        column: number(2),
    }
}

/// `TypeDesc = { i16 kind, i16 info, name }`.
fn type_descriptor(data: Value, index: u32) -> Option<Value> {
    if index >= data.operand_count() {
        return None;
    }
    let descriptor = data.operand(index);
    if descriptor.is_global_variable() {
        descriptor.initializer()
    } else {
        None
    }
}

fn type_name(data: Value, index: u32) -> String {
    type_descriptor(data, index)
        .and_then(|descriptor| descriptor.operand(2).constant_string())
        .unwrap_or_else(|| "?".into())
}

fn is_signed(descriptor: Value) -> bool {
    let descriptor = if descriptor.is_global_variable() {
        descriptor.initializer()
    } else {
        None
    };
    let info = descriptor.and_then(|descriptor| descriptor.operand(1).constant_integer());
    info.is_none_or(|info| info & 1 == 1)
}

/// Whether the access that an index check guards is a read or a write: the first address
/// computed where the program goes on says so.
fn access_kind(report: Value) -> Kind {
    let Some(&next) = report.block().terminator().successors().first() else {
        return Kind::OutOfBoundsRead;
    };
    let mut instructions = next.instructions().into_iter();
    let address =
        instructions.find(|instruction| instruction.opcode() == Opcode::LLVMGetElementPtr);
    match address {
        Some(address) if is_written(address, 3) => Kind::OutOfBoundsWrite,
        _ => Kind::OutOfBoundsRead,
    }
}

/// Whether the memory at `address`, or at an address derived from it, is stored to.
fn is_written(address: Value, depth: u32) -> bool {
    depth > 0
        && address.users().into_iter().any(|user| match user.opcode() {
            Opcode::LLVMStore => user.operand(1) == address,
            Opcode::LLVMGetElementPtr => is_written(user, depth - 1),
            _ => false,
        })
}
