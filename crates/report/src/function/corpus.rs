//! An input as a file of libFuzzer's corpus, named after its content: writing one twice changes nothing.

use nearmiss_results::{Memory, PathTest, Role, Value};

use crate::function::rows;
use crate::function::sha256::sha256;

/// The function that libFuzzer calls.
pub const TARGET: &str = "LLVMFuzzerTestOneInput";

/// The bytes that a fuzzer would hand over: what the target's first parameter points to, else the rows'
/// contents one behind the other.
pub fn content(function: &str, test: &PathTest) -> Vec<u8> {
    let data = match function {
        TARGET => data(&test.before),
        _ => None,
    };
    data.unwrap_or_else(|| {
        let rows = rows::read(&test.rows);
        rows.into_iter().flat_map(|row| row.content).collect()
    })
}

/// The name of a file with this content.
pub fn name(content: &[u8]) -> String {
    sha256(content)[..40].to_string()
}

fn data(before: &Memory) -> Option<Vec<u8>> {
    let mut parameters = before
        .variables
        .iter()
        .filter(|it| it.role == Role::Parameter);
    match parameters.next()?.value {
        Value::Null => Some(Vec::new()),
        Value::Pointer { block, index } => {
            let content = bytes(&before.blocks.get(block)?.content)?;
            content
                .get(usize::try_from(index).ok()?..)
                .map(<[u8]>::to_vec)
        }
        _ => None,
    }
}

fn bytes(content: &Value) -> Option<Vec<u8>> {
    match content {
        Value::Text(bytes) | Value::Bytes(bytes) => Some(bytes.clone()),
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::Integer { value, .. } => Some(*value as u8),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::samples::{block, integers, pointer, test, variable};

    #[test]
    fn a_target_gets_its_bytes_and_others_their_rows() {
        let mut test = test(1);
        test.rows = b"\x01\0\0\0\0\0\0\0\x02\0\0\0xab".to_vec();
        test.before.variables = vec![variable(
            "data",
            Role::Parameter,
            "uint8_t *",
            pointer(0, 0),
        )];
        test.before.blocks = vec![block("data", "uint8_t", integers(&[1, 255]))];
        assert_eq!(content(TARGET, &test), [1, 255]);
        assert_eq!(content("f", &test), b"ab");
        test.before.variables[0].value = Value::Null;
        assert_eq!(content(TARGET, &test), b"");
    }
}
