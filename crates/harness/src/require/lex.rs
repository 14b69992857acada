//! A requirement as words.

use super::Trouble;
use super::types::CType;

/// A word and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    pub kind: Kind,
    pub at: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Number(i128, CType),
    Name(String),
    Symbol(&'static str),
    End,
}

/// Longer ones first, so that `<<` is not two words.
const SYMBOLS: &[&str] = &[
    "..=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "=>", "->", "..", "+", "-", "*", "/",
    "%", "&", "|", "^", "~", "!", "<", ">", "(", ")", "[", "]", ".", ":", ",",
];

/// The words, with [`Kind::End`] as the last.
pub(super) fn words(text: &str) -> Result<Vec<Word>, Trouble> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = match first {
            _ if first.is_whitespace() => {
                at += first.len_utf8();
                continue;
            }
            '0'..='9' => number(rest, at)?,
            '\'' => character(rest, at)?,
            _ if is_name(first) => {
                let name: String = rest.chars().take_while(|next| is_name(*next)).collect();
                let length = name.len();
                (Kind::Name(name), length)
            }
            _ => symbol(rest, at)?,
        };
        words.push(Word { kind, at });
        at += length;
    }
    words.push(Word {
        kind: Kind::End,
        at,
    });
    Ok(words)
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

fn symbol(rest: &str, at: usize) -> Result<(Kind, usize), Trouble> {
    let found = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
    match found {
        Some(symbol) => Ok((Kind::Symbol(symbol), symbol.len())),
        None if rest.starts_with('=') => Err(Trouble::new(at, "nothing is assigned here: use ==")),
        None if rest.starts_with('?') => {
            Err(Trouble::new(at, "there is no ?: here: use => and ||"))
        }
        None => Err(Trouble::new(at, "this means nothing here")),
    }
}

/// `12`, `0x1f`, `017`, `0b11`, `3u`, `4L`, with the type that C gives it.
fn number(rest: &str, at: usize) -> Result<(Kind, usize), Trouble> {
    let word: String = rest.chars().take_while(|next| is_name(*next)).collect();
    let lower = word.to_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    let end = digits.trim_end_matches(['u', 'l']).len();
    let (digits, suffix) = digits.split_at(end);
    let digits = if digits.is_empty() && radix == 8 {
        "0"
    } else {
        digits
    };
    let suffixes = ["", "u", "l", "ul", "lu", "ll", "ull", "llu"];
    let value = u64::from_str_radix(digits, radix)
        .ok()
        .filter(|_| suffixes.contains(&suffix))
        .ok_or_else(|| Trouble::new(at, format!("{word} is no integer of C")))?;
    let value = i128::from(value);
    let candidates = CType::ALL.iter().filter(|ctype| {
        let fits_suffix = match suffix.contains('u') {
            true => !ctype.signed,
            // C makes decimal numbers unsigned only if it is told to.
            false => ctype.signed || radix != 10,
        };
        fits_suffix && (ctype.wide || !suffix.contains('l')) && ctype.holds(value)
    });
    match candidates.copied().next() {
        Some(ctype) => Ok((Kind::Number(value, ctype), word.len())),
        None => Err(Trouble::new(
            at,
            format!("{word} is too large for a long: add u"),
        )),
    }
}

/// `'a'`, `'\n'`, `'\x41'`, `'\0'`: an int, as in C.
fn character(rest: &str, at: usize) -> Result<(Kind, usize), Trouble> {
    let wrong = || Trouble::new(at, "no character of C; write it as 'a', '\\n' or '\\x41'");
    let mut inside = rest[1..].char_indices();
    let end = loop {
        match inside.next().ok_or_else(wrong)? {
            (_, '\\') => drop(inside.next()),
            (end, '\'') => break end,
            _ => {}
        }
    };
    let value = match &rest.as_bytes()[1..][..end] {
        [byte] if *byte != b'\\' => i128::from(*byte as i8),
        [b'\\', escape @ ..] => escaped(escape).ok_or_else(wrong)?,
        _ => return Err(wrong()),
    };
    Ok((Kind::Number(value, CType::INT), end + 2))
}

fn escaped(escape: &[u8]) -> Option<i128> {
    let digits = |digits: &[u8], radix| {
        let text = std::str::from_utf8(digits).ok()?;
        let value = u8::from_str_radix(text, radix).ok()?;
        // Plain characters are signed here.
        Some(i128::from(value as i8))
    };
    match escape {
        [b'x', rest @ ..] => digits(rest, 16),
        [b'0'..=b'7', ..] => digits(escape, 8),
        [letter] => {
            let known = b"abtnvfr\\'\"?".iter().zip(b"\x07\x08\t\n\x0b\x0c\r\\'\"?");
            let mut known = known.filter(|(name, _)| *name == letter);
            known.next().map(|(_, value)| i128::from(*value))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        let words = words(text).unwrap();
        words.into_iter().map(|word| word.kind).collect()
    }

    #[test]
    fn ranges_are_not_fractions() {
        let int = |value| Kind::Number(value, CType::INT);
        assert_eq!(
            kinds("0..n-1"),
            [
                int(0),
                Kind::Symbol(".."),
                Kind::Name("n".into()),
                Kind::Symbol("-"),
                int(1),
                Kind::End
            ]
        );
        assert_eq!(kinds("a<<b")[1], Kind::Symbol("<<"));
    }

    #[test]
    fn numbers_have_the_types_of_c() {
        for (text, value, ctype) in [
            ("0", 0, CType::INT),
            ("2147483647", 0x7fff_ffff, CType::INT),
            ("2147483648", 0x8000_0000, CType::LONG),
            ("0xffffffff", 0xffff_ffff, CType::UNSIGNED),
            ("0x7fffffffffffffff", i128::from(i64::MAX), CType::LONG),
            (
                "0xffffffffffffffff",
                i128::from(u64::MAX),
                CType::UNSIGNED_LONG,
            ),
            ("017", 15, CType::INT),
            ("0b101", 5, CType::INT),
            ("3u", 3, CType::UNSIGNED),
            ("0u", 0, CType::UNSIGNED),
            ("3L", 3, CType::LONG),
            ("3uLL", 3, CType::UNSIGNED_LONG),
            ("'a'", 97, CType::INT),
            ("'\\n'", 10, CType::INT),
            ("'\\''", 39, CType::INT),
            ("'\\xff'", -1, CType::INT),
            ("'\\0'", 0, CType::INT),
        ] {
            assert_eq!(kinds(text)[0], Kind::Number(value, ctype), "{text}");
        }
    }

    #[test]
    fn what_is_no_word_is_named_with_its_place() {
        for (text, at, message) in [
            ("a = 3", 2, "use =="),
            ("a # b", 2, "means nothing"),
            ("a ? b", 2, "use =>"),
            ("1 + 09", 4, "09 is no integer"),
            ("1.5", 1, ""),
            ("12ab", 0, "12ab is no integer"),
            ("18446744073709551615", 0, "add u"),
            ("'ab'", 0, "no character"),
            ("x + '", 4, "no character"),
        ] {
            match words(text) {
                Err(trouble) => {
                    assert_eq!(trouble.at, at, "{text}");
                    assert!(trouble.message.contains(message), "{}", trouble.message);
                }
                Ok(_) => assert_eq!(message, "", "{text}"),
            }
        }
    }
}
