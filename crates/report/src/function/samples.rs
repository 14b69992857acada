//! Short ways to make memory, for the tests of this crate.

use nearmiss_results::{Block, Memory, PathTest, Role, Value, Variable, Verdict};

/// A number.
pub fn integer(value: i128) -> Value {
    Value::Integer { value, name: None }
}

/// An array of numbers.
pub fn integers(values: &[i128]) -> Value {
    Value::Array(values.iter().copied().map(integer).collect())
}

/// A pointer.
pub fn pointer(block: usize, index: u64) -> Value {
    Value::Pointer { block, index }
}

/// A variable.
pub fn variable(name: &str, role: Role, ctype: &str, value: Value) -> Variable {
    Variable {
        name: name.into(),
        role,
        ctype: ctype.into(),
        value,
    }
}

/// A block that may be written.
pub fn block(name: &str, element: &str, content: Value) -> Block {
    Block {
        name: name.into(),
        element: element.into(),
        constant: false,
        freed: false,
        content,
    }
}

/// A test of which nothing is known.
#[allow(dead_code, reason = "each test file uses some of these")]
pub fn test(number: usize) -> PathTest {
    PathTest {
        number,
        before: Memory::default(),
        after: None,
        rows: Vec::new(),
        verdict: Verdict::None,
        path: Vec::new(),
    }
}
