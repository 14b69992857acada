//! Numbers that a function may treat in a special way: what its code compares with, divides by and masks with, and what
//! macros of its header name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::patterns::Pattern;
use crate::subject::{Origin, Subject};

/// More are not tried.
const MAX_CONSTANTS: usize = 96;

/// More masks and divisors are not tried.
const MAX_PATTERNS: usize = 24;

/// What is known of a function's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// What it compares with, and all that stands in patterns.
    pub numbers: Vec<i64>,
    /// What it masks with and divides by.
    pub patterns: Vec<Pattern>,
    /// Whether it divides by what is no constant.
    pub has_remainders: bool,
}

/// What is found on the way.
#[derive(Debug, Default)]
struct Found {
    numbers: BTreeSet<i64>,
    patterns: BTreeSet<Pattern>,
    has_remainders: bool,
}

/// The numbers for a function; none if the compiler has no answer, since nothing depends on them but what is tried.
pub fn constants(subject: &Subject, function: &str, directory: &Path) -> Constants {
    let found = match &subject.origin {
        Origin::Source(path) => of_code(&intermediate(subject, path).unwrap_or_default(), function),
        Origin::Header(header) => of_header(subject, header, directory),
    };
    let is_usual = |number: &i64| *number != 0 && number.unsigned_abs() < 1 << 40;
    let mut numbers: Vec<i64> = found.numbers.into_iter().filter(is_usual).collect();
    // Small ones first: tables of the system's headers go far.
    numbers.sort_by_key(|number| number.unsigned_abs());
    numbers.truncate(MAX_CONSTANTS);
    let is_tried = |pattern: &Pattern| match pattern {
        Pattern::Mask(mask) => (1..1 << 31).contains(mask),
        Pattern::Divisor(divisor) => (2..=1 << 12).contains(divisor),
    };
    Constants {
        numbers,
        patterns: (found.patterns.into_iter().filter(is_tried))
            .take(MAX_PATTERNS)
            .collect(),
        has_remainders: found.has_remainders,
    }
}

/// Divisors that are tried where there is no code.
const UNKNOWN_DIVISORS: [i64; 2] = [2, 4];

/// Macros that are one bit are flags.
fn of_header(subject: &Subject, header: &str, directory: &Path) -> Found {
    let numbers = of_macros(subject, header, directory).unwrap_or_default();
    let is_bit = |number: &&i64| **number > 0 && number.count_ones() == 1;
    let masks = numbers.iter().filter(is_bit).copied().map(Pattern::Mask);
    // What the code divides by is not known: it may be anything.
    let divisors = UNKNOWN_DIVISORS.map(Pattern::Divisor);
    Found {
        patterns: masks.chain(divisors).collect(),
        numbers,
        has_remainders: true,
    }
}

/// Constants that are bytes, and those beside them: characters that code looks for.
pub fn bytes(constants: &[i64]) -> Vec<u8> {
    let is_byte = |number: &&i64| (-128..256).contains(*number);
    let beside = |number: &i64| [number - 1, *number, number + 1].map(|near| near as u8);
    let found = constants.iter().filter(is_byte).flat_map(beside);
    let found: BTreeSet<u8> = found.filter(|byte| *byte != 0).collect();
    found.into_iter().collect()
}

/// Whether the code of a subject calls a function.
pub fn calls(subject: &Subject, function: &str) -> bool {
    let Origin::Source(path) = &subject.origin else {
        return true;
    };
    let code = intermediate(subject, path);
    code.is_none_or(|code| code.contains(&format!("@{function}(")))
}

/// The code of a file as the compiler sees it, nothing folded.
fn intermediate(subject: &Subject, path: &Path) -> Option<String> {
    let mut command = Command::new(&subject.clang);
    command
        .args(&subject.flags)
        .args(["-w", "-O0", "-g0", "-S", "-emit-llvm", "-o", "-"]);
    let said = command.arg(path).stdin(Stdio::null()).output().ok()?;
    said.status
        .success()
        .then(|| String::from_utf8_lossy(&said.stdout).into_owned())
}

/// What a function and those of the file that it calls compare with, divide by, mask with, and the sizes of arrays that
/// they look into.
fn of_code(code: &str, function: &str) -> Found {
    let bodies = bodies(code);
    let mut open = vec![function];
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut found = Found::default();
    while let Some(name) = open.pop() {
        let Some(body) = bodies.get(name).filter(|_| seen.insert(name)) else {
            continue;
        };
        for line in body {
            open.extend(callee(line));
            found.numbers.extend(number(line));
            found.patterns.extend(pattern(line));
            found.has_remainders |= is_remainder(line) && pattern(line).is_none();
        }
    }
    found
}

/// The lines of each function.
fn bodies(code: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut bodies: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current = None;
    for line in code.lines() {
        if line.starts_with("define ") {
            current = name_behind_at(line);
        } else if line == "}" {
            current = None;
        } else if let Some(name) = current {
            bodies.entry(name).or_default().push(line.trim());
        }
    }
    bodies
}

/// `name` of `@name(`.
fn name_behind_at(line: &str) -> Option<&str> {
    let from = line.find('@')? + 1;
    let length = line[from..].find('(')?;
    Some(&line[from..from + length])
}

fn callee(line: &str) -> Option<&str> {
    line.contains("call ")
        .then(|| name_behind_at(line))
        .flatten()
}

/// The number of a line: a comparison, a case, a mask, a divisor, the size of an array.
fn number(line: &str) -> Option<i64> {
    if line.contains(", label %") && line.starts_with('i') {
        return line.split([' ', ',']).nth(1)?.parse().ok();
    }
    let operation = line.split(" = ").nth(1)?;
    let kind = operation.split(' ').next()?;
    match kind {
        "icmp" | "and" | "srem" | "urem" | "sdiv" | "udiv" => {
            operation.rsplit(", ").next()?.parse().ok()
        }
        "getelementptr" => {
            let array = operation.split('[').nth(1)?;
            array.split(" x ").next()?.parse().ok()
        }
        _ => None,
    }
}

/// What a line masks with or divides by, of which the remainder counts.
fn pattern(line: &str) -> Option<Pattern> {
    let constant = number(line);
    match line.split(" = ").nth(1)?.split(' ').next()? {
        "and" => constant.map(Pattern::Mask),
        _ if is_remainder(line) => constant.map(Pattern::Divisor),
        _ => None,
    }
}

fn is_remainder(line: &str) -> bool {
    let operation = line.split(" = ").nth(1).unwrap_or_default();
    operation.starts_with("srem ") || operation.starts_with("urem ")
}

/// The macros of a header, and of those that belong to it, that are plain numbers.
fn of_macros(subject: &Subject, header: &str, directory: &Path) -> Option<BTreeSet<i64>> {
    let unit = directory.join("header.c");
    let text = subject.headers(header, &unit).ok()?;
    let named: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('#'))
        .filter_map(|line| line.trim_start().strip_prefix("define"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let mut command = Command::new(&subject.clang);
    command.args(&subject.flags).args(["-E", "-dM"]);
    let said = command.arg(&unit).stdin(Stdio::null()).output().ok()?;
    let all = String::from_utf8_lossy(&said.stdout);
    let value = |line: &str| {
        let (name, value) = line.strip_prefix("#define ")?.split_once(' ')?;
        literal(value).filter(|_| named.contains(name))
    };
    Some(all.lines().filter_map(value).collect())
}

/// `(-1)`, `0x7fU`, `017`, `'a'`.
fn literal(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(inner) = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return literal(inner);
    }
    if let Some(rest) = text.strip_prefix('-') {
        return literal(rest).map(|number| -number);
    }
    if let Some(inner) = text
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
    {
        return (inner.len() == 1).then(|| i64::from(inner.as_bytes()[0]));
    }
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => i64::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_code() {
        let code = "define dso_local i32 @f(i32 noundef %0) #0 {\n  switch i32 %6, label %13 [\n    i32 -5, label %7\n  ]\n\
                    \x20 %1 = icmp sgt i32 %0, 200\n  %2 = getelementptr inbounds [40 x i32], ptr @t, i64 0, i64 %1\n\
                    \x20 %3 = call i32 @g(i32 noundef 3)\n  store i32 9, ptr %2\n}\n\
                    define internal i32 @g(i32 noundef %0) {\n  %2 = and i32 %0, 8\n}\ndefine i32 @h() {\n  %1 = icmp eq i32 %0, 6\n}\n";
        let found = of_code(code, "f");
        assert_eq!(found.numbers, BTreeSet::from([-5, 8, 40, 200]));
        assert_eq!(found.patterns, BTreeSet::from([Pattern::Mask(8)]));
        assert!(!found.has_remainders);
    }

    #[test]
    fn macros_that_are_numbers() {
        let known = [
            ("(-1)", Some(-1)),
            ("0x10UL", Some(16)),
            ("017", Some(15)),
            ("'a'", Some(97)),
            ("0", Some(0)),
            ("f(1)", None),
            ("1.5", None),
        ];
        for (text, expected) in known {
            assert_eq!(literal(text), expected, "{text}");
        }
    }
}
