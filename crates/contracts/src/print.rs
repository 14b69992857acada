//! Formula → text: as contracts have it, as C, as ACSL, and as `explore --require` reads it.

use std::fmt;

use crate::code::INTEGER;
use crate::formula::{Attribute, Comparison, Formula, Term};

/// How terms and operators are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Of contracts: `bounds(p)`.
    Contract,
    /// Of C: `p_bounds` is a variable, the length of a string is computed.
    C,
    /// Of ACSL: `\block_length` counts bytes from the start of a block.
    Acsl,
    /// Of CBMC: `__CPROVER_OBJECT_SIZE` counts bytes from the start of an object.
    Cbmc,
    /// Of `explore --require`: `count(p)`.
    Require,
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self, Dialect::Contract))
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&term(self, Dialect::Contract))
    }
}

/// A formula as text.
pub fn text(formula: &Formula, dialect: Dialect) -> String {
    write(formula, dialect, 0)
}

/// How tightly an operator binds: what binds weaker than its surroundings gets brackets.
fn strength(formula: &Formula) -> u8 {
    match formula {
        Formula::Any(parts) if parts.len() > 1 => 1,
        Formula::All(parts) if parts.len() > 1 => 2,
        Formula::All(parts) | Formula::Any(parts) => parts.first().map_or(9, strength),
        Formula::BitAnd(..) => 3,
        Formula::Compare(..) => 4,
        Formula::Add(..) | Formula::Subtract(..) => 5,
        Formula::Multiply(..) | Formula::Remainder(..) => 6,
        _ => 9,
    }
}

fn write(formula: &Formula, dialect: Dialect, around: u8) -> String {
    let here = strength(formula);
    let one = |part: &Formula, around| write(part, dialect, around);
    let words = match formula {
        Formula::Number(number) => number.to_string(),
        Formula::Null if dialect == Dialect::Acsl => "\\null".into(),
        // C has no NULL without a header.
        Formula::Null if dialect == Dialect::C => "0".into(),
        Formula::Null => "NULL".into(),
        Formula::Term(known) => term(known, dialect),
        Formula::Add(left, right) => operation("+", left, right, (5, 6), dialect),
        Formula::Subtract(left, right) => operation("-", left, right, (5, 6), dialect),
        Formula::Multiply(left, right) => operation("*", left, right, (6, 7), dialect),
        Formula::Remainder(left, right) => {
            let words = operation("%", left, right, (6, 7), dialect);
            match (dialect, &**right) {
                (Dialect::C, Formula::Number(divisor)) if *divisor != 0 => words,
                // What C leaves undefined.
                (Dialect::C, _) => {
                    let divisor = one(right, 5);
                    format!("({divisor} != 0 ? {words} : {})", one(left, 5))
                }
                _ => words,
            }
        }
        Formula::BitAnd(left, right) => operation("&", left, right, (5, 5), dialect),
        Formula::Compare(comparison, left, right) => {
            let sign = sign(*comparison);
            let is_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
            let (mut first, second) = (one(left, 5), one(right, 5));
            if dialect == Dialect::C && is_order && !fits(left, right) {
                first = format!("({INTEGER}){first}");
            }
            format!("{first} {sign} {second}")
        }
        Formula::All(parts) if parts.is_empty() => truth(true, dialect),
        Formula::Any(parts) if parts.is_empty() => truth(false, dialect),
        Formula::All(parts) => joined(parts, " && ", |part| one(part, 4)),
        // Compilers warn where `&&` stands between `||` without brackets.
        Formula::Any(parts) => joined(parts, " || ", |part| one(part, 4)),
        Formula::Not(inner) => format!("!{}", one(inner, 9)),
    };
    if here < around {
        format!("({words})")
    } else {
        words
    }
}

/// An operation on two numbers. C would compute it in their own types, in which it may not fit: there one of them is
/// made as wide as sizes are.
fn operation(
    sign: &str,
    left: &Formula,
    right: &Formula,
    (before, behind): (u8, u8),
    dialect: Dialect,
) -> String {
    let (mut first, mut second) = (write(left, dialect, before), write(right, dialect, behind));
    if dialect == Dialect::C && !is_wide(left) && !is_wide(right) {
        match left {
            Formula::Number(_) => second = format!("({INTEGER}){second}"),
            _ => first = format!("({INTEGER}){first}"),
        }
    }
    format!("{first} {sign} {second}")
}

/// Whether the C form of it is as wide as sizes are.
fn is_wide(formula: &Formula) -> bool {
    match formula {
        Formula::Term(term) => term.attribute != Attribute::Value,
        Formula::Number(_) | Formula::Null => false,
        _ => true,
    }
}

/// Whether C compares two sides as numbers, whatever their types: one is wide, or a constant that every type has.
fn fits(left: &Formula, right: &Formula) -> bool {
    let is_small = |side: &Formula| matches!(side, Formula::Number(0..=127) | Formula::Null);
    is_wide(left) || is_wide(right) || is_small(left) || is_small(right)
}

fn joined(parts: &[Formula], between: &str, one: impl Fn(&Formula) -> String) -> String {
    let words: Vec<String> = parts.iter().map(one).collect();
    words.join(between)
}

fn truth(holds: bool, dialect: Dialect) -> String {
    match (dialect, holds) {
        (Dialect::Acsl, true) => "\\true".into(),
        (Dialect::Acsl, false) => "\\false".into(),
        (_, true) => "1".into(),
        (_, false) => "0".into(),
    }
}

/// As C writes it.
pub fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Less => "<",
        Comparison::LessEqual => "<=",
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
        Comparison::GreaterEqual => ">=",
        Comparison::Greater => ">",
    }
}

fn term(term: &Term, dialect: Dialect) -> String {
    let place = &term.place;
    match dialect {
        Dialect::Contract => match term.attribute {
            Attribute::Value => place.clone(),
            Attribute::Bounds => format!("bounds({place})"),
            Attribute::Before => format!("before({place})"),
            Attribute::Find(0) => format!("strlen({place})"),
            Attribute::Find(byte) => format!("find({place}, {})", character(byte)),
            Attribute::Least => format!("least({place})"),
            Attribute::Greatest => format!("greatest({place})"),
        },
        Dialect::C => match term.attribute {
            Attribute::Value => place.clone(),
            _ => variable(term),
        },
        Dialect::Acsl => match term.attribute {
            Attribute::Value => place.clone(),
            Attribute::Bounds => {
                format!("(\\block_length({place}) - \\offset({place})) / (integer)sizeof(*{place})")
            }
            Attribute::Before => format!("\\offset({place}) / (integer)sizeof(*{place})"),
            Attribute::Find(0) => format!("strlen({place})"),
            Attribute::Find(byte) => format!("find({place}, {})", character(byte)),
            Attribute::Least => format!("least({place})"),
            Attribute::Greatest => format!("greatest({place})"),
        },
        Dialect::Cbmc => match term.attribute {
            Attribute::Bounds => format!(
                "(__CPROVER_OBJECT_SIZE({place}) - __CPROVER_POINTER_OFFSET({place})) / sizeof(*{place})"
            ),
            Attribute::Before => format!("__CPROVER_POINTER_OFFSET({place}) / sizeof(*{place})"),
            _ => self::term(term, Dialect::Contract),
        },
        Dialect::Require => match term.attribute {
            Attribute::Bounds => format!("count({place})"),
            _ => self::term(term, Dialect::Contract),
        },
    }
}

/// The C variable that holds an attribute: `dest_bounds`, `p_data_length`.
pub fn variable(term: &Term) -> String {
    let word = |letter: char| {
        if letter.is_alphanumeric() {
            letter
        } else {
            '_'
        }
    };
    let place: String = (term.place.replace("->", "_").chars()).map(word).collect();
    let place = place.trim_matches('_');
    match term.attribute {
        Attribute::Value => place.to_string(),
        Attribute::Bounds => format!("{place}_bounds"),
        Attribute::Before => format!("{place}_before"),
        Attribute::Find(0) => format!("{place}_length"),
        Attribute::Find(byte) => format!("{place}_first_{byte:02x}"),
        Attribute::Least => format!("{place}_least"),
        Attribute::Greatest => format!("{place}_greatest"),
    }
}

/// A byte as a character of C.
pub fn character(byte: u8) -> String {
    match byte {
        b'\n' => "'\\n'".into(),
        b'\t' => "'\\t'".into(),
        b'\'' | b'\\' => format!("'\\{}'", byte as char),
        0x20..=0x7e => format!("'{}'", byte as char),
        _ => format!("'\\x{byte:02x}'"),
    }
}
