//! Rules about inputs, in the words of the command line, of a sizes file, and of attributes.

use crate::HarnessError;
use crate::formula::Amount;
use crate::path::Path;

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
}

impl RuleKind {
    /// All kinds.
    pub const ALL: [RuleKind; 5] = [
        RuleKind::Size,
        RuleKind::String,
        RuleKind::Range,
        RuleKind::Null,
        RuleKind::Alias,
    ];

    /// The word in a sizes file; the option without its dashes.
    pub const fn word(self) -> &'static str {
        match self {
            RuleKind::Size => "size",
            RuleKind::String => "string",
            RuleKind::Range => "range",
            RuleKind::Null => "null",
            RuleKind::Alias => "alias",
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
        let needs_value = !matches!(kind, RuleKind::String | RuleKind::Null);
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
        };
        well_formed.map_err(|error| bad(&error.0))?;
        let target = target.to_string();
        Ok(Rule {
            kind,
            target,
            value,
        })
    }

    /// Reads a sizes file: lines `size t = n`, `range n = 0..10`, `string s = 8`, `null p`,
    /// `alias p = q`; `#` starts a comment. Errors have the line's number.
    pub fn parse_file(text: &str) -> Result<Vec<Rule>, HarnessError> {
        let mut rules = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let at = |why: &str| HarnessError(format!("line {}: {why}", number + 1));
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let kind = RuleKind::ALL.into_iter().find(|kind| kind.word() == word);
            let kind = kind.ok_or_else(|| {
                at(&format!(
                    "`{word}` is none of size, string, range, null, alias"
                ))
            })?;
            rules.push(Rule::parse(kind, rest).map_err(|error| at(&error.0))?);
        }
        Ok(rules)
    }

    /// The rule that an attribute of `nearmiss.h` says of what it stands at: `count=n`.
    pub(crate) fn from_tag(tag: &str) -> Option<(RuleKind, &str)> {
        let (word, value) = tag.split_once('=').unwrap_or((tag, ""));
        let kind = match word {
            "count" => RuleKind::Size,
            "string" => RuleKind::String,
            "range" => RuleKind::Range,
            "nullable" => RuleKind::Null,
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
    fn rules_are_read_from_options_and_files() {
        let rule = Rule::parse(RuleKind::Size, "t = n*m").expect("a rule");
        assert_eq!((rule.target.as_str(), rule.value.as_str()), ("t", "n*m"));
        let text = "# sizes\nsize t = n # elements\n\nrange n = -1..0x10\nstring s\nnull p = no\nalias p=q\n";
        let rules = Rule::parse_file(text).expect("rules");
        let kinds: Vec<RuleKind> = rules.iter().map(|rule| rule.kind).collect();
        assert_eq!(rules.len(), 5);
        assert_eq!(kinds[1], RuleKind::Range);
        assert_eq!(rules[3].value, "no");
    }

    #[test]
    fn errors_say_where_and_what_to_write() {
        let bad = [
            (
                "size t\n",
                "line 1: --size t: what follows the `=` is missing; write t=4",
            ),
            (
                "\nrange n = 5..2",
                "line 2: --range n = 5..2: 5 is more than 2",
            ),
            ("sizes t = 3", "line 1: `sizes` is none of"),
            ("size t = 3 +", "a number or an input is missing"),
            ("size t = (n", "a `)` is missing"),
            ("size t = n/2", "what is `/2`?"),
            ("size t = -3..4", "-3 is no number of elements"),
            ("null p = maybe", "neither yes nor no"),
            ("string s = many", "is not a number"),
            ("size 3t = 4", "is not the name of an input"),
        ];
        for (text, expected) in bad {
            let error = Rule::parse_file(text).expect_err(text);
            assert!(error.0.contains(expected), "{text}: {}", error.0);
        }
    }
}
