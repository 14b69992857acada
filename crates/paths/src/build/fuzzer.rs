//! libFuzzer targets as functions under test.

use nearmiss_harness::{Request, Rule, RuleKind};

/// The function that libFuzzer calls.
pub const TARGET: &str = "LLVMFuzzerTestOneInput";
/// Bytes of input for a target, unless something else is said.
const BYTES: u32 = 16;

/// The request for a target whose file has this text. The parameters have the names that its author
/// gave them.
pub fn request(text: &str) -> Option<Request> {
    let (data, size) = parameters(text)?;
    let rule = |kind, target: &str, value: &str| Rule {
        kind,
        target: target.to_string(),
        value: value.to_string(),
        is_general: false,
    };
    Some(Request {
        function: TARGET.to_string(),
        rules: vec![
            rule(RuleKind::Size, &data, &size),
            rule(RuleKind::Null, &data, "no"),
            rule(RuleKind::Range, &size, &format!("0..{BYTES}")),
        ],
        elements: BYTES,
        depth: 1,
        ..Request::default()
    })
}

/// What is to be said about the length of a target's inputs.
pub fn bound() -> String {
    format!(
        "inputs have at most {BYTES} bytes: `--function {TARGET} --size data=size --range size=0..N`, with the \
         names of its parameters, says otherwise"
    )
}

/// The names of the two parameters where the target is defined.
fn parameters(text: &str) -> Option<(String, String)> {
    text.match_indices(TARGET).find_map(|(at, _)| {
        let rest = text[at + TARGET.len()..].trim_start().strip_prefix('(')?;
        let (list, after) = rest.split_once(')')?;
        // A declaration, or a call.
        after.trim_start().strip_prefix('{')?;
        let (data, size) = list.split_once(',')?;
        Some((last_name(data)?, last_name(size)?))
    })
}

fn last_name(parameter: &str) -> Option<String> {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let parameter = parameter.trim_end_matches(|letter| !is_name(letter));
    let name = parameter.rsplit(|letter| !is_name(letter)).next()?;
    Some(name.to_string()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_where_the_target_is_defined() {
        let text = "int LLVMFuzzerTestOneInput(const uint8_t *, size_t);\n\
                    int LLVMFuzzerTestOneInput(const uint8_t *Data,\n    size_t Size)\n{";
        let names = parameters(text).unwrap();
        assert_eq!(names, ("Data".to_string(), "Size".to_string()));
        let array = "int LLVMFuzzerTestOneInput (const uint8_t d[], size_t n) {";
        assert_eq!(parameters(array).unwrap().0, "d");
        assert!(parameters("LLVMFuzzerTestOneInput(data, size);").is_none());
    }
}
