//! Untrusted text and bytes made fit for a terminal.

/// Text with control characters, and those that change the direction of what follows,
/// written as escapes.
pub fn text(untrusted: &str) -> String {
    let mut escaped = String::with_capacity(untrusted.len());
    for character in untrusted.chars() {
        if steers(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Whether a character does something to a terminal.
pub fn steers(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Bytes as a C string literal.
pub fn bytes(untrusted: &[u8]) -> String {
    format!("\"{}\"", untrusted.escape_ascii())
}

/// One byte as it stands in a string: printable as it is, else as an escape.
pub fn byte(untrusted: u8) -> String {
    match untrusted {
        b'\'' | b'"' => char::from(untrusted).to_string(),
        _ => untrusted.escape_ascii().to_string(),
    }
}

/// Bytes as hexadecimal digits, in pairs.
pub fn hex(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_not_steered() {
        assert_eq!(text("a\x1b[2Jb\r\nc"), "a\\u{1b}[2Jb\\r\\nc");
        assert_eq!(text("x\u{202e}y"), "x\\u{202e}y");
        assert_eq!(text("Größe ✓"), "Größe ✓");
        assert_eq!(bytes(b"a\"\x00\xff"), r#""a\"\x00\xff""#);
        assert_eq!(hex(b"\x00\x7f"), "00 7f");
    }
}
