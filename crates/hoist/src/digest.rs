//! Whether a function is still the one that a contract was derived from: a digest of its tokens.
//!
//! Of the source and not of the compiler's code: a library is tested at one level of optimisation and used at another.
//! White space and comments do not count.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

/// A digest of the body of the function that is defined at a line of a source (from 1); `None` if there is no body.
pub fn of_body(source: &str, line: u32) -> Option<String> {
    let skipped: usize = (source.split_inclusive('\n'))
        .take(line.saturating_sub(1) as usize)
        .map(str::len)
        .sum();
    let tokens = tokens(source.get(skipped..)?);
    let open = tokens.iter().position(|token| *token == "{")?;
    let mut hasher = SipHasher13::new();
    let mut depth = 0usize;
    for token in &tokens[open..] {
        hasher.write(token.as_bytes());
        hasher.write_u8(0);
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(format!("{:016x}", hasher.finish()));
        }
    }
    None
}

/// The tokens of C, without comments.
fn tokens(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let size = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else {
            let size = match first {
                '"' | '\'' => quoted(rest, first),
                _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                _ => first.len_utf8(),
            };
            found.push(&rest[..size]);
            size
        };
        rest = &rest[size..];
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Bytes of a text in quotes, with these.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_count() {
        let body = |text: &str| of_body(text, 2);
        let one = body("int a;\nint f(int x)\n{ return x + 1; }\nint g;");
        assert!(one.is_some());
        for same in [
            "int a;\nint f(int x) /* { */\n{\n  // back\n  return x\n+1;\n}\n",
            "\nint f(int y) { return x /* } */ + 1; } int h() { return 2; }",
        ] {
            assert_eq!(body(same), one);
        }
        for other in [
            "\nint f(int x) { return x + 2; }",
            "\nint f(int x) { return x + '}'; }",
            "\nint f(int x) { return x1; }",
            "\nint f(int x);",
            "\nint f(int x) { return \"}\" + 1; ",
        ] {
            assert_ne!(body(other), one, "{other}");
        }
    }
}
