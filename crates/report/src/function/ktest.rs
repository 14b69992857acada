//! An input in the form of KLEE's `.ktest` files.
//!
//! Big-endian: `KTEST`, version, how many arguments and each of them, two words about symbolic
//! arguments, how many objects and of each its name and its bytes. Texts have their size before them.

use crate::function::rows::Row;

const MAGIC: &[u8] = b"KTEST";
const VERSION: u32 = 3;

/// What stands for the program's name in our files.
const PROGRAM: &str = "nearmiss-explore";

/// The file.
pub fn file(function: &str, rows: &[Row]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    number(&mut bytes, VERSION);
    number(&mut bytes, 1);
    text(&mut bytes, format!("{PROGRAM}:{function}").as_bytes());
    number(&mut bytes, 0);
    number(&mut bytes, 0);
    number(&mut bytes, rows.len() as u32);
    for row in rows {
        text(&mut bytes, name(row).as_bytes());
        text(&mut bytes, &row.content);
    }
    bytes
}

/// Whether a file is one of ours.
pub fn is_ours(bytes: &[u8]) -> bool {
    let start = MAGIC.len() + 12;
    let program = bytes.get(start..).unwrap_or_default();
    bytes.starts_with(MAGIC) && program.starts_with(PROGRAM.as_bytes())
}

/// KLEE counts objects of one name: `x`, `x_1`, `x_2`.
fn name(row: &Row) -> String {
    match row.index {
        0 => row.name.clone(),
        index => format!("{}_{index}", row.name),
    }
}

fn number(bytes: &mut Vec<u8>, number: u32) {
    bytes.extend(number.to_be_bytes());
}

fn text(bytes: &mut Vec<u8>, text: &[u8]) {
    number(bytes, text.len() as u32);
    bytes.extend(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let row = |index, content: &[u8]| Row {
            name: "x".into(),
            index,
            content: content.to_vec(),
        };
        let bytes = file("f", &[row(0, &[7, 0]), row(1, &[])]);
        let expected = [
            &b"KTEST\0\0\0\x03\0\0\0\x01\0\0\0\x12nearmiss-explore:f"[..],
            &b"\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\x01x\0\0\0\x02\x07\0\0\0\0\x03x_1\0\0\0\0"[..],
        ];
        assert_eq!(bytes, expected.concat());
        assert!(is_ours(&bytes));
        assert!(!is_ours(b"KTEST\0\0\0\x03\0\0\0\x01\0\0\0\x04a.bc"));
    }
}
