//! Requirements are what they say: texts, mistakes, and agreement of the written C with an evaluation.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::evaluate::holds;
use super::parse::parse;
use super::samples::{Input, Layout, ROWS};
use super::{check, write};

fn written(text: &str) -> String {
    write(text, &Layout).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn quantifiers_are_unrolled_as_far_as_their_bounds_may_be() {
    assert_eq!(
        written("forall i in 0..few: i < b"),
        "(((!(0 < ((int)((unsigned)in[3]))) | (0 < ((unsigned char)in[5]))) \
         & (!(1 < ((int)((unsigned)in[3]))) | (1 < ((unsigned char)in[5])))) \
         & (!(2 < ((int)((unsigned)in[3]))) | (2 < ((unsigned char)in[5]))))"
    );
    assert_eq!(written("forall i in 2..2: k == i"), "1");
    assert_eq!(
        written("exists i in 0..=1: k == i"),
        "((((int)in[1]) == 0) | (((int)in[1]) == 1))"
    );
    assert_eq!(
        written("forall i in 0..2: forall j in 0..i: m[i][j] == 0"),
        "(((unsigned char)in[15]) == 0)"
    );
}

#[test]
fn what_is_known_is_not_computed() {
    assert_eq!(written("1 + 2 * 3 == 7 && k == 3"), "(((int)in[1]) == 3)");
    assert_eq!(written("n >= 0"), "1");
    assert_eq!(written("c < 200"), "1");
    assert_eq!(
        written("p == NULL || k > 0"),
        "(((int)in[20]) | (((int)in[1]) > 0))"
    );
}

#[test]
fn elements_are_needed_to_be_there() {
    assert_eq!(
        written("t[1] == 5"),
        "((1 < ((int)in[0])) & (((int)in[10]) == 5))"
    );
    assert_eq!(written("m[1][0] == 5"), "(((unsigned char)in[15]) == 5)");
}

/// Each mistake, where it is, and a part of what is said.
const MISTAKES: &[(&str, usize, &str)] = &[
    ("", 0, "expected a number, a name"),
    ("t[0] >=", 7, "expected a number, a name"),
    ("(n > 1", 6, "expected )"),
    ("n > 1)", 5, "closes nothing"),
    ("n k", 2, "expected an operator"),
    ("0 <= n <= 3", 7, "a < b && b < c"),
    ("forall i 0..n: i", 9, "expected in"),
    ("forall i in 0 n: i", 14, "expected .."),
    ("forall i in 0..n i", 17, "expected :"),
    ("forall 3 in 0..n: i", 7, "the name of a variable"),
    ("exists i in 0..k: t[i] == 3", 15, "--range n=0..8"),
    (
        "forall i in 0..4000: forall j in 0..4000: i + j > k",
        36,
        "too many turns",
    ),
    ("isalpha(b) > 3", 0, "--pre"),
    ("strlen(t) > 3", 0, "t is no string"),
    ("w[4] == 3", 2, "never has an element"),
    ("what > 3", 0, "what: no number"),
    ("n > 1 && what[2] > 3", 9, "what has no elements"),
    ("t[4] == 1", 2, "never has an element"),
    ("3[1] == 1", 0, "neither elements nor members"),
    ("p == p->next", 2, "compared with NULL"),
    ("p + 1", 2, "compared with NULL"),
    ("-p", 0, "with a pointer"),
    ("count(n + 1) == 2", 8, "expected an array"),
];

#[test]
fn mistakes_have_a_place() {
    for (text, at, expected) in MISTAKES {
        let said = write(text, &Layout).unwrap_err().0;
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines[0].starts_with("--require: ") && lines[0].contains(expected),
            "{text}: {said}"
        );
        assert_eq!(lines[1], format!("  {text}"));
        assert_eq!(lines[2], format!("  {}^", " ".repeat(*at)), "{said}");
    }
    assert!(check("what > 3").is_ok(), "only the syntax is looked at");
    assert!(check("what >").is_err());
    assert!(check(&"(".repeat(10_000)).is_err());
    assert!(check(&"-".repeat(10_000)).is_err());
}

/// Written by hand: each with something that the random ones have rarely.
const REQUIREMENTS: &[&str] = &[
    "forall i in 0..n-1: t[i] <= t[i+1]",
    "forall i in 0..n: 0 <= t[i] && t[i] < n",
    "forall i in 0..n: exists j in 0..n: t[j] == i",
    "forall i in 0..n: forall j in 0..i: t[i] != t[j]",
    "forall i, j in 0..n: i != j => t[i] != t[j]",
    "forall i in 0..few - 1: m[0][i & 1] > 3 || i > 5 - few",
    "n > 0 => t[n-1] == 0",
    "t[t[0] & 3] == k || t[few] > 0",
    "p != NULL => p->value > 0 && (p->next == NULL || p->next->value > p->value)",
    "!p || (*p->next).value > 3",
    "p && !p->next",
    "*t > 3 && *t < k",
    "forall i in 0..count(w)-1: w[i] > 2",
    "strlen(w) > 1 => w[0] < w[1]",
    "w[few] == 0 || w[1] == 1",
    "w[3] == 0",
    "strlen(w) - 2 < few",
    "k / c > 2 || k % b == 1",
    "l / -1 < l || l % k > 2",
    "k << c > 4 || u >> b < 3 || l >> 3 << few > ul",
    "k < u && c < ul",
    "-k > ~u",
    "count(t) > 2 => k > 0",
    "s.x * s.x == b",
    "forall i in -2..few: i * k < l",
    "forall i in 0..few-1: m[i & 1][0] < b",
    "exists i in 1-few..few: i == k",
    "forall i in c-c..=few: i != 2 => k != 3",
    "2147483647 + 1 < 0 && k + 1 < k || u - 1 > u",
    "k & 1 == 1",
    "(k ^ b | c) != 0 => 'a' < b",
];

/// A requirement that is nothing but sound.
fn random(next: &mut dyn FnMut(u64) -> u64, depth: u32) -> String {
    const LEAVES: &[&str] = &[
        "n",
        "k",
        "u",
        "few",
        "c",
        "b",
        "l",
        "ul",
        "s.x",
        "t[0]",
        "t[1]",
        "t[3]",
        "m[1][0]",
        "p->value",
        "p->next->value",
        "0",
        "1",
        "2u",
        "7",
        "0xffffffff",
        "count(t)",
    ];
    const SIGNS: &[&str] = &[
        "=>", "||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-",
        "*", "/", "%",
    ];
    let mut pick = |words: &[&'static str]| words[next(words.len() as u64) as usize];
    if depth == 0 {
        return pick(LEAVES).to_string();
    }
    let (sign, unary) = (pick(SIGNS), pick(&["-", "~", "!", "+"]));
    let quantifier = pick(&["forall", "exists"]);
    match next(10) {
        0 => format!("{unary}({})", random(next, depth - 1)),
        1 => format!("t[({}) & 3]", random(next, depth - 1)),
        2 => format!(
            "({quantifier} i in 0..few: i + ({}))",
            random(next, depth - 1)
        ),
        3 => format!(
            "({quantifier} j in 0..n: t[j] {sign} ({}))",
            random(next, depth - 1)
        ),
        _ => {
            let (left, right) = (random(next, depth - 1), random(next, depth - 1));
            format!("({left}) {sign} ({right})")
        }
    }
}

/// Numbers that look random and are the same every time.
fn generator() -> impl FnMut(u64) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) % below
    }
}

const INPUTS: usize = 200;

#[test]
fn the_c_text_agrees_with_the_evaluation_and_never_branches() {
    let mut next = generator();
    let mut requirements: Vec<String> = REQUIREMENTS.iter().map(|text| text.to_string()).collect();
    requirements.extend((0..300).map(|number| random(&mut next, 1 + number % 3)));
    let inputs: Vec<Input> = (0..INPUTS).map(|_| Input::random(&mut next)).collect();
    let directory = tempfile::tempdir().unwrap();
    let lines = compiled_and_run(&requirements, &inputs, directory.path());
    let mut both_ways = 0;
    for (text, line) in requirements.iter().zip(lines.lines()) {
        let expression = parse(text).unwrap();
        for (input, found) in inputs.iter().zip(line.chars()) {
            let expected = holds(&expression, input);
            assert_eq!(
                found == '1',
                expected,
                "{text}\n{}\n{input:?}",
                written(text)
            );
        }
        both_ways += usize::from(line.contains('0') && line.contains('1'));
    }
    assert_eq!(lines.lines().count(), requirements.len());
    assert!(
        both_ways > 150,
        "only {both_ways} requirements say something"
    );
}

/// A line for each requirement with 0 or 1 for each input.
fn compiled_and_run(requirements: &[String], inputs: &[Input], directory: &Path) -> String {
    let mut text = String::from("#include <stdio.h>\nstatic long in[64];\n");
    for (number, requirement) in requirements.iter().enumerate() {
        let expression = written(requirement);
        writeln!(text, "int r{number}(void) {{ return {expression}; }}").unwrap();
    }
    let rows: Vec<String> = inputs
        .iter()
        .map(|input| {
            let values = ROWS
                .iter()
                .map(|row| format!("{}ul", input.0[row.path] as u64));
            format!("{{{}}}", values.collect::<Vec<_>>().join(","))
        })
        .collect();
    let calls: Vec<String> = (0..requirements.len())
        .map(|number| format!("r{number}"))
        .collect();
    writeln!(
        text,
        "static const unsigned long inputs[][{}] = {{{}}};\n\
         static int (*const all[])(void) = {{{}}};\n\
         int main(void) {{\n\
         for (unsigned r = 0; r < {}; r++) {{\n\
         for (unsigned i = 0; i < {}; i++) {{\n\
         for (unsigned k = 0; k < {}; k++) in[k] = (long)inputs[i][k];\n\
         int value = all[r](); putchar(value == 0 ? '0' : value == 1 ? '1' : '?'); }}\n\
         putchar('\\n'); }} }}",
        ROWS.len(),
        rows.join(",\n"),
        calls.join(", "),
        requirements.len(),
        inputs.len(),
        ROWS.len(),
    )
    .unwrap();
    let clang = |words: &str| {
        let status = Command::new("clang-19")
            .args(words.split(' '))
            .current_dir(directory)
            .status();
        assert!(status.expect("clang-19").success());
    };
    std::fs::write(directory.join("all.c"), text).unwrap();
    clang("-w -O0 -S -emit-llvm all.c -o all.ll");
    let code = std::fs::read_to_string(directory.join("all.ll")).unwrap();
    let functions = code
        .split("define")
        .filter(|function| !function.contains("@main"));
    for function in functions {
        assert!(!function.contains("br i1"), "{function}");
    }
    clang("-w -fsanitize=undefined -fno-sanitize-recover=all all.c -o all");
    let output = Command::new(directory.join("all")).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
