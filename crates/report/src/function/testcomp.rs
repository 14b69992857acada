//! Inputs in the exchange format of Test-Comp: `metadata.xml` and one `testcase-N.xml` for each.

use nearmiss_results::{FunctionReport, Memory, PathTest, Role, Value};

use crate::function::files::{MARKER, Options};
use crate::function::rows::{self, Row};
use crate::function::value::Short;
use crate::text::Detail;

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n";

/// The types of Test-Comp's functions: the end of the function's name, what C calls it, whether it
/// has a sign.
const TYPES: &[(&str, &str, bool)] = &[
    ("char", "char", true),
    ("uchar", "unsigned char", false),
    ("unsigned_char", "unsigned char", false),
    ("short", "short", true),
    ("ushort", "unsigned short", false),
    ("unsigned_short", "unsigned short", false),
    ("int", "int", true),
    ("uint", "unsigned int", false),
    ("unsigned_int", "unsigned int", false),
    ("unsigned", "unsigned int", false),
    ("long", "long", true),
    ("ulong", "unsigned long", false),
    ("unsigned_long", "unsigned long", false),
    ("longlong", "long long", true),
    ("ulonglong", "unsigned long long", false),
    ("int128", "__int128", true),
    ("uint128", "unsigned __int128", false),
    ("size_t", "size_t", false),
    ("loff_t", "long long", true),
    ("sector_t", "unsigned long", false),
    ("bool", "_Bool", false),
    ("_Bool", "_Bool", false),
    ("u8", "unsigned char", false),
    ("u16", "unsigned short", false),
    ("u32", "unsigned int", false),
    ("u64", "unsigned long", false),
    ("U8", "unsigned char", false),
    ("U16", "unsigned short", false),
    ("U32", "unsigned int", false),
    ("U64", "unsigned long", false),
    ("S8", "signed char", true),
    ("S16", "short", true),
    ("S32", "int", true),
    ("S64", "long", true),
];

/// What all tests have in common.
pub fn metadata(report: &FunctionReport, options: &Options) -> String {
    let goal = match report.cover.as_str() {
        "branches" => "COVER EDGES(@DECISIONEDGE)",
        "mcdc" => "COVER EDGES(@CONDITIONEDGE)",
        _ => "COVER PATHS",
    };
    let entries = [
        ("sourcecodelang", "C".to_string()),
        ("producer", "nearmiss explore".to_string()),
        (
            "specification",
            format!("COVER( init({}()), FQL({goal}) )", report.function),
        ),
        ("programfile", report.file.clone()),
        ("programhash", options.source_hash.clone()),
        ("entryfunction", report.function.clone()),
        ("architecture", "64bit".to_string()),
        ("creationtime", options.created.clone()),
    ];
    let mut text = head("test-metadata");
    text += "<test-metadata>\n";
    for (name, value) in entries {
        text += &format!("  <{name}>{}</{name}>\n", escaped(&value));
    }
    text + "</test-metadata>\n"
}

/// One test: its inputs in the order in which the program asks for them.
pub fn testcase(test: &PathTest) -> String {
    let mut text = head("testcase");
    text += "<testcase>\n";
    match test.before.variables.is_empty() {
        true => rows::read(&test.rows)
            .iter()
            .for_each(|row| text += &of_row(row)),
        false => text += &of_memory(&test.before),
    }
    text + "</testcase>\n"
}

fn head(root: &str) -> String {
    format!(
        "{DECLARATION}<!DOCTYPE {root} PUBLIC \"+//IDN sosy-lab.org//DTD test-format {root} 1.1//EN\" \
         \"https://sosy-lab.org/test-format/{root}-1.1.dtd\">\n<!-- {MARKER}. -->\n"
    )
}

/// A value that `__VERIFIER_nondet_int` gave back, or bytes that something else did.
fn of_row(row: &Row) -> String {
    let known = TYPES.iter().find(|(name, _, _)| *name == row.name);
    let (ctype, value) = match (known, row.name.as_str(), row.content.as_slice()) {
        (Some((_, ctype, signed)), _, bytes) if bytes.len() <= 16 => {
            (*ctype, number(bytes, *signed))
        }
        (_, "float", [a, b, c, d]) => {
            let value = f32::from_le_bytes([*a, *b, *c, *d]);
            ("float", format!("{value:?}"))
        }
        (_, "double", bytes) => match bytes.try_into() {
            Ok(bytes) => ("double", format!("{:?}", f64::from_le_bytes(bytes))),
            Err(_) => ("", hex(bytes)),
        },
        (_, _, bytes) => ("", hex(bytes)),
    };
    match ctype {
        "" => format!(
            "  <input variable=\"{}\">{value}</input>\n",
            escaped(&row.name)
        ),
        ctype => format!("  <input type=\"{ctype}\">{value}</input>\n"),
    }
}

fn number(bytes: &[u8], signed: bool) -> String {
    let is_negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if is_negative { 0xff } else { 0 }; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    match signed {
        true => i128::from_le_bytes(wide).to_string(),
        false => u128::from_le_bytes(wide).to_string(),
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// The inputs of a function: they have names.
fn of_memory(memory: &Memory) -> String {
    let mut short = Short::new(memory, Detail::Full);
    let inputs = memory
        .variables
        .iter()
        .filter(|it| !matches!(it.role, Role::Result | Role::Told));
    let lines = inputs.map(|variable| {
        let value = match &variable.value {
            Value::Integer { value, .. } => value.to_string(),
            value => short.typed(value, &variable.ctype),
        };
        format!(
            "  <input variable=\"{}\" type=\"{}\">{}</input>\n",
            escaped(&variable.name),
            escaped(&variable.ctype),
            escaped(&value)
        )
    });
    lines.collect()
}

/// Text in XML. Characters that it cannot hold are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\t' | '\n' => escaped.push(character),
            control if control.is_control() || control == '\u{fffe}' || control == '\u{ffff}' => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, content: &[u8]) -> String {
        of_row(&Row {
            name: name.into(),
            index: 0,
            content: content.to_vec(),
        })
    }

    #[test]
    fn rows_have_types() {
        assert_eq!(
            row("int", &[0xfe, 0xff, 0xff, 0xff]),
            "  <input type=\"int\">-2</input>\n"
        );
        assert_eq!(
            row("uchar", &[0xfe]),
            "  <input type=\"unsigned char\">254</input>\n"
        );
        assert_eq!(
            row("double", &1.5_f64.to_le_bytes()),
            "  <input type=\"double\">1.5</input>\n"
        );
        assert_eq!(
            row("a<b", &[1, 2]),
            "  <input variable=\"a&lt;b\">0x0102</input>\n"
        );
        assert_eq!(
            row("double", &[1]),
            "  <input variable=\"double\">0x01</input>\n"
        );
    }
}
