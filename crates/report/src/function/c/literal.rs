//! Numbers and strings as C writes them.

use crate::function::ctype;

/// A number: by the name it has in its enumeration, as a character, else in digits.
pub fn integer(value: i128, name: Option<&str>, ctype: &str) -> String {
    if let Some(name) = name {
        return name.to_string();
    }
    match u8::try_from(value) {
        Ok(byte) if ctype::is_character(ctype) && is_printable(byte) => {
            format!("'{}'", byte.escape_ascii())
        }
        _ => digits(value),
    }
}

fn is_printable(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' '
}

/// The largest negative number of a width has no digits of its own: its minus is an operator.
fn digits(value: i128) -> String {
    const SMALLEST: i128 = i64::MIN as i128;
    if value == SMALLEST {
        return format!("({} - 1)", value + 1);
    }
    if i64::try_from(value).is_ok() {
        return value.to_string();
    }
    match u64::try_from(value) {
        Ok(value) => format!("{value}u"),
        Err(_) => {
            let (high, low) = ((value as u128) >> 64, value as u64);
            format!("(__int128)((unsigned __int128){high:#x}u << 64 | {low:#x}u)")
        }
    }
}

/// A floating-point number that a compiler reads as exactly these bits.
pub fn float(size: u8, bits: u64) -> String {
    let (value, shortest) = match size {
        4 => {
            let value = f32::from_bits(bits as u32);
            (f64::from(value), format!("{value:?}f"))
        }
        _ => {
            let value = f64::from_bits(bits);
            (value, format!("{value:?}"))
        }
    };
    match (value.is_finite(), size) {
        (true, _) => shortest,
        (false, 4) => format!("nearmiss_float({bits:#x})"),
        (false, _) => format!("nearmiss_double({bits:#x})"),
    }
}

/// Whether the bits are no number.
pub fn is_nan(size: u8, bits: u64) -> bool {
    match size {
        4 => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits).is_nan(),
    }
}

/// A string literal. Escapes have three octal digits, so that no digit behind them is taken for one
/// of theirs; question marks do not become trigraphs.
pub fn string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    let mut previous = 0;
    for byte in bytes {
        match byte {
            b'\n' => text += "\\n",
            b'\t' => text += "\\t",
            b'\r' => text += "\\r",
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            b'?' if previous == b'?' => text += "\\?",
            byte if is_printable(*byte) => text.push(char::from(*byte)),
            byte => text += &format!("\\{byte:03o}"),
        }
        previous = *byte;
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_edges() {
        let digits = |value| integer(value, None, "int");
        assert_eq!(digits(-7), "-7");
        assert_eq!(digits(i64::MIN.into()), "(-9223372036854775807 - 1)");
        assert_eq!(digits(u64::MAX.into()), "18446744073709551615u");
        assert_eq!(
            digits(-1 << 64),
            "(__int128)((unsigned __int128)0xffffffffffffffffu << 64 | 0x0u)"
        );
        assert_eq!(integer(97, None, "const char"), "'a'");
        assert_eq!(integer(39, None, "char"), "'\\''");
        assert_eq!(integer(-1, None, "char"), "-1");
        assert_eq!(integer(2, Some("RED"), "enum color"), "RED");
    }

    #[test]
    fn floats_are_exact() {
        assert_eq!(float(8, 0.1_f64.to_bits()), "0.1");
        assert_eq!(float(4, 0.1_f32.to_bits().into()), "0.1f");
        assert_eq!(float(8, (-0.0_f64).to_bits()), "-0.0");
        assert_eq!(
            float(8, f64::INFINITY.to_bits()),
            "nearmiss_double(0x7ff0000000000000)"
        );
        assert_eq!(
            float(4, f32::NAN.to_bits().into()),
            "nearmiss_float(0x7fc00000)"
        );
    }

    #[test]
    fn strings() {
        assert_eq!(string(b"a\x011\"\\"), r#""a\0011\"\\""#);
        assert_eq!(string(b"??="), r#""?\?=""#);
        assert_eq!(string("é\n".as_bytes()), r#""\303\251\n""#);
    }
}
