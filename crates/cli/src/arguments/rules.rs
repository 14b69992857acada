//! Rules about inputs, as flags and as lines of a sizes file.

use nearmiss_harness::{Rule, RuleKind};

/// The words of a sizes file: a line is one of them and a rule.
pub const WORDS: [(&str, RuleKind); 5] = [
    ("size", RuleKind::Size),
    ("string", RuleKind::String),
    ("range", RuleKind::Range),
    ("null", RuleKind::Null),
    ("alias", RuleKind::Alias),
];

/// `t=4`, `t=0..8`, `t=n`.
pub fn size(text: &str) -> Result<Rule, String> {
    rule(RuleKind::Size, text)
}

/// `s`, `s=12`.
pub fn string(text: &str) -> Result<Rule, String> {
    rule(RuleKind::String, text)
}

/// `n=0..10`.
pub fn range(text: &str) -> Result<Rule, String> {
    rule(RuleKind::Range, text)
}

/// `p`, `p=no`.
pub fn null(text: &str) -> Result<Rule, String> {
    rule(RuleKind::Null, text)
}

/// `p=q`.
pub fn alias(text: &str) -> Result<Rule, String> {
    rule(RuleKind::Alias, text)
}

/// A rule of a kind; what is plainly wrong with it is said here, the rest when the function is known.
pub fn rule(kind: RuleKind, text: &str) -> Result<Rule, String> {
    let (target, value) = match text.split_once('=') {
        Some((target, value)) => (target.trim(), Some(value.trim())),
        None => (text.trim(), None),
    };
    let is_sound = match (kind, value) {
        (RuleKind::String | RuleKind::Null, None) => true,
        (_, None | Some("")) => false,
        (RuleKind::Size | RuleKind::Alias, _) => true,
        (RuleKind::String, Some(most)) => most.parse::<u32>().is_ok(),
        (RuleKind::Range, Some(range)) => is_range(range),
        (RuleKind::Null, Some(answer)) => ["yes", "no"].contains(&answer),
    };
    if target.is_empty() || !is_sound {
        return Err(format!("expected {}", expected(kind)));
    }
    Ok(Rule {
        kind,
        target: target.to_string(),
        value: value.unwrap_or_default().to_string(),
    })
}

fn expected(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Size => "a pointer and how many elements it points to: t=4, t=0..8, t=n",
        RuleKind::String => "a pointer, and perhaps how many bytes at most: s, s=12",
        RuleKind::Range => "an integer and its values: n=0..10",
        RuleKind::Null => "a pointer, and perhaps no: p, p=no",
        RuleKind::Alias => "two pointers: p=q",
    }
}

/// Two numbers, the smaller first; `7` alone is a range too.
fn is_range(text: &str) -> bool {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    match (number(low), number(high)) {
        (Some(low), Some(high)) => low <= high,
        _ => false,
    }
}

fn number(text: &str) -> Option<i128> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let number = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    number
        .ok()
        .filter(|_| !digits.starts_with(['+', '-']))
        .map(|number| sign * number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_a_target_and_perhaps_a_value() {
        let made = size("list->items = n * 2").unwrap();
        assert_eq!(
            (made.target.as_str(), made.value.as_str()),
            ("list->items", "n * 2")
        );
        assert_eq!(string("s").unwrap().value, "");
        assert_eq!(null("p=no").unwrap().value, "no");
        assert_eq!(range("n=-3..0x10").unwrap().value, "-3..0x10");
    }

    #[test]
    fn what_is_plainly_wrong_is_refused_with_an_example() {
        for (result, example) in [
            (size("t"), "t=4"),
            (size("=4"), "t=4"),
            (size("t="), "t=4"),
            (string("s=long"), "s=12"),
            (range("n"), "n=0..10"),
            (range("n=5..2"), "n=0..10"),
            (range("n=a..b"), "n=0..10"),
            (range("n=--3..5"), "n=0..10"),
            (null("p=maybe"), "p=no"),
            (alias("p"), "p=q"),
        ] {
            let said = result.unwrap_err();
            assert!(said.contains(example), "{said}");
        }
    }
}
