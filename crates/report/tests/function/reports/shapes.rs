//! Values that are passed as a whole, and globals.

use nearmiss_results::{FunctionReport, Memory, Role, Value};

use super::{constant, parameter, report, result, test};
use crate::samples::{integer, integers, pointer, variable};

fn double(value: f64) -> Value {
    Value::Float {
        size: 8,
        bits: value.to_bits(),
    }
}

fn single(value: f32) -> Value {
    Value::Float {
        size: 4,
        bits: value.to_bits().into(),
    }
}

fn enumerator(value: i128, name: &str) -> Value {
    Value::Integer {
        value,
        name: Some(name.into()),
    }
}

fn shape(color: Value, x: f64, flags: i128) -> Value {
    let point = |x, y| Value::Structure(vec![("x".into(), double(x)), ("y".into(), double(y))]);
    let radius = Value::Structure(vec![("radius".into(), single(f32::INFINITY))]);
    Value::Structure(vec![
        ("color".into(), color),
        ("filled".into(), integer(1)),
        ("flags".into(), integer(flags)),
        (
            "corners".into(),
            Value::Array(vec![point(x, -0.0), point(f64::NAN, 1e300)]),
        ),
        (String::new(), radius),
        ("name".into(), pointer(0, 0)),
        ("wide".into(), integer(-(1 << 100))),
        // One and a half: ten bytes of sixteen.
        (
            "weight".into(),
            Value::Bytes(vec![0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x3f]),
        ),
    ])
}

/// Structures by value, unions, enumerations, floating-point numbers, bit-fields, globals.
pub fn shapes() -> FunctionReport {
    let statistics = |total: i128, last: i128| {
        Value::Structure(vec![
            ("total".into(), integer(total)),
            ("history".into(), integers(&[0, last, 0, 0, 0, 0, 0, 0])),
        ])
    };
    let global = |name: &str, ctype: &str, value| variable(name, Role::Global, ctype, value);
    let blocks = vec![constant(
        "shape.name",
        "const char",
        Value::Text(b"a \"box\" ??/ */".to_vec()),
    )];
    let before = Memory {
        variables: vec![
            parameter(
                "shape",
                "struct shape",
                shape(enumerator(5, "GREEN"), 0.5, 6),
            ),
            parameter("color", "enum color", enumerator(6, "BLUE")),
            parameter("by", "float", single(0.25)),
            parameter("letter", "char", integer(b'a'.into())),
            global("moved", "int", integer(3)),
            global("statistics", "struct (unnamed)", statistics(0, 0)),
        ],
        blocks: blocks.clone(),
    };
    let after = Memory {
        variables: vec![
            global("moved", "int", integer(3)),
            global(
                "statistics",
                "struct (unnamed)",
                statistics(u64::MAX.into(), 97),
            ),
            result("struct shape", shape(enumerator(6, "BLUE"), 0.75, 7)),
        ],
        blocks,
    };
    let prototype =
        "struct shape move(struct shape shape, enum color color, float by, char letter)";
    report(
        "shapes.c",
        "move",
        prototype,
        vec![test(1, before, Some(after))],
    )
}
