//! Rules about inputs, in the words of the command line, of a sizes file, and of attributes.

use crate::HarnessError;
use crate::formula::Amount;
use crate::path::Path;

/// What is said of a stub that writes through its pointers.
pub(crate) const WRITES: &str = "writes";

/// A rule about one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it says: [`RuleKind`].
    pub kind: RuleKind,
    /// Which input: `t`, `list->next`, `s.items`, `rows[]`; or a member of a structure wherever it
    /// is: `node.next`.
    pub target: String,
    /// What follows the `=`, as the user wrote it; empty if nothing does.
    pub value: String,
    /// Whether it was written for many functions: then it is no mistake if this one has no such input.
    pub is_general: bool,
}

/// What a rule is about; each is an option of `nearmiss explore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// `--size t=4`, `t=0..8`, `t=n`, `t=n*m`: how many elements a pointer points to (bytes for `void *`).
    Size,
    /// `--string s`, `s=12`: a zero-terminated string of at most so many bytes.
    String,
    /// `--range n=0..10`: values that an integer may have.
    Range,
    /// `--null p`, `p=no`: whether a pointer may be null.
    Null,
    /// `--alias p=q`: a pointer that may point to what another one does.
    Alias,
    /// `--stub f`, `f=writes`: a function pointer, or a function that nobody defines, is a stub; what it
    /// writes through its pointers is input too.
    Stub,
}

impl RuleKind {
    /// All kinds.
    pub const ALL: [RuleKind; 6] = [
        RuleKind::Size,
        RuleKind::String,
        RuleKind::Range,
        RuleKind::Null,
        RuleKind::Alias,
        RuleKind::Stub,
    ];

    /// The word in a sizes file; the option without its dashes.
    pub const fn word(self) -> &'static str {
        match self {
            RuleKind::Size => "size",
            RuleKind::String => "string",
            RuleKind::Range => "range",
            RuleKind::Null => "null",
            RuleKind::Alias => "alias",
            RuleKind::Stub => "stub",
        }
    }

    /// What a rule of this kind looks like.
    const fn example(self) -> &'static str {
        match self {
            RuleKind::Size => "t=4, t=0..8, t=n or t=n*m",
            RuleKind::String => "s or s=12",
            RuleKind::Range => "n=0..10",
            RuleKind::Null => "p or p=no",
            RuleKind::Alias => "p=q",
            RuleKind::Stub => "f or f=writes",
        }
    }
}

impl Rule {
    /// Reads what follows an option: `t=4`, `p`, `p=no`.
    pub fn parse(kind: RuleKind, text: &str) -> Result<Rule, HarnessError> {
        let (target, value) = match text.split_once('=') {
            Some((target, value)) => (target.trim(), Some(value.trim())),
            None => (text.trim(), None),
        };
        let bad = |why: &str| {
            let (word, example) = (kind.word(), kind.example());
            HarnessError(format!("--{word} {text}: {why}; write {example}"))
        };
        Path::parse(target).map_err(|error| bad(&error.0))?;
        let needs_value = matches!(kind, RuleKind::Size | RuleKind::Range | RuleKind::Alias);
        match value {
            None | Some("") if needs_value => return Err(bad("what follows the `=` is missing")),
            _ => {}
        }
        let value = value.unwrap_or_default().to_string();
        let well_formed = match kind {
            RuleKind::Size => Amount::parse(&value).map(drop),
            RuleKind::String => value_or(&value, "0")
                .parse::<u64>()
                .map(drop)
                .map_err(|_| HarnessError(format!("`{value}` is not a number"))),
            RuleKind::Range => range(&value).map(drop),
            RuleKind::Null => match value_or(&value, "yes") {
                "yes" | "no" => Ok(()),
                _ => Err(HarnessError(format!("`{value}` is neither yes nor no"))),
            },
            RuleKind::Alias => Path::parse(&value).map(drop),
            RuleKind::Stub => match value.as_str() {
                "" | WRITES => Ok(()),
                _ => Err(HarnessError(format!("`{value}` is not {WRITES}"))),
            },
        };
        well_formed.map_err(|error| bad(&error.0))?;
        let target = target.to_string();
        Ok(Rule {
            kind,
            target,
            value,
            is_general: false,
        })
    }

    /// The rule that an attribute of `nearmiss.h` says of what it stands at: `count=n`.
    pub(crate) fn from_tag(tag: &str) -> Option<(RuleKind, &str)> {
        let (word, value) = tag.split_once('=').unwrap_or((tag, ""));
        let kind = match word {
            "count" => RuleKind::Size,
            "string" => RuleKind::String,
            "range" => RuleKind::Range,
            "nullable" => RuleKind::Null,
            "stub" => RuleKind::Stub,
            _ => return None,
        };
        Some((kind, value.trim()))
    }
}

fn value_or<'a>(value: &'a str, default: &'a str) -> &'a str {
    if value.is_empty() { default } else { value }
}

/// Reads `0..10`, `-5..5`, `7`.
pub(crate) fn range(text: &str) -> Result<(i128, i128), HarnessError> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| {
        number(text.trim()).ok_or_else(|| HarnessError(format!("`{text}` is not a number")))
    };
    let (low, high) = (number(low)?, number(high)?);
    if low > high {
        return Err(HarnessError(format!("{low} is more than {high}")));
    }
    Ok((low, high))
}

/// A number as C writes it: decimal, hexadecimal, a character.
pub(crate) fn number(text: &str) -> Option<i128> {
    if let Some(digits) = text.strip_prefix('-') {
        return Some(-number(digits)?);
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return i128::from_str_radix(digits, 16).ok();
    }
    if let [b'\'', character, b'\''] = text.as_bytes() {
        return Some(i128::from(*character));
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_a_target_and_perhaps_a_value() {
        let said = |kind, text| {
            let rule = Rule::parse(kind, text).expect(text);
            (rule.target, rule.value)
        };
        let pair = |target: &str, value: &str| (target.to_string(), value.to_string());
        assert_eq!(said(RuleKind::Size, "t = n*m"), pair("t", "n*m"));
        assert_eq!(said(RuleKind::Range, "n=-1..0x10"), pair("n", "-1..0x10"));
        assert_eq!(said(RuleKind::Range, "s='a'..'z'"), pair("s", "'a'..'z'"));
        assert_eq!(said(RuleKind::String, "s"), pair("s", ""));
        assert_eq!(said(RuleKind::Null, "p->next = no"), pair("p->next", "no"));
        assert_eq!(said(RuleKind::Alias, "p=q"), pair("p", "q"));
    }

    #[test]
    fn errors_say_what_to_write() {
        use RuleKind::{Null, Range, Size, String};
        let bad = [
            (
                Size,
                "t",
                "--size t: what follows the `=` is missing; write t=4",
            ),
            (Range, "n=5..2", "--range n=5..2: 5 is more than 2"),
            (Size, "t=3 +", "a number or an input is missing"),
            (Size, "t=(n", "a `)` is missing"),
            (Size, "t=n/2", "what is `/2`?"),
            (Size, "t=-3..4", "-3 is no number of elements"),
            (Null, "p=maybe", "neither yes nor no"),
            (String, "s=many", "is not a number"),
            (Size, "3t=4", "is not the name of an input"),
        ];
        for (kind, text, expected) in bad {
            let error = Rule::parse(kind, text).expect_err(text);
            assert!(error.0.contains(expected), "{text}: {}", error.0);
        }
    }
}
