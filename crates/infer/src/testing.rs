//! Prototypes for tests.

use nearmiss_harness::{Declared, Pointee, Prototype, Shape};

/// A function with these parameters.
pub fn prototype(parameters: &[Declared]) -> Prototype {
    Prototype {
        function: "f".into(),
        declaration: "void f()".into(),
        parameters: parameters.to_vec(),
        variadic: false,
    }
}

/// An `int`.
pub fn integer(name: &str) -> Declared {
    let shape = Shape::Integer {
        signed: true,
        bytes: 4,
        constants: Vec::new(),
    };
    declared(name, "int", shape)
}

/// A pointer to characters, or to memory.
pub fn pointer(name: &str, is_char: bool) -> Declared {
    let shape = Shape::Pointer(Pointee {
        spelled: if is_char { "char" } else { "void" }.into(),
        size: 1,
        is_char,
        is_void: !is_char,
        is_const: false,
        is_restrict: false,
        signed: None,
        members: Vec::new(),
    });
    declared(name, "char *", shape)
}

fn declared(name: &str, spelled: &str, shape: Shape) -> Declared {
    Declared {
        name: name.into(),
        spelled: spelled.into(),
        shape,
        offset: 0,
    }
}
