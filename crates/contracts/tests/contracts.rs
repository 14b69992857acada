//! Texts and formulas: there and back, and what is wrong is named where it is.

use nearmiss_contracts::print::{Dialect, text};
use nearmiss_contracts::{Contract, Formula, Subject, merge, parse, read, write};

#[test]
fn a_formula_is_printed_as_it_was_read() {
    for line in [
        "bounds(dest) > strlen(src)",
        "n == 0 || (n <= bounds(a) && n <= bounds(b))",
        "(a <= 1 || b <= 1) && c != 3",
        "bounds(p) > strlen(p) + strlen(q)",
        "bounds(m) >= rows * columns",
        "a - (b - c) <= 2 * (d + 1)",
        "p->length <= bounds(p->data) && p->data != NULL",
        "find(path, '/') < bounds(path)",
        "t[0] >= -1 && least(t) >= 0",
        "(flags & 8) == 0 || n % 4 != 0",
        "(a + b) % c < bounds(t) && (a & b)",
        "1",
    ] {
        assert_eq!(parse(line).unwrap().to_string(), line);
    }
}

#[test]
fn the_other_dialects() {
    let formula = parse("bounds(d) > strlen(s) && p != NULL").unwrap();
    assert_eq!(text(&formula, Dialect::C), "d_bounds > s_length && p != 0");
    assert_eq!(
        text(&formula, Dialect::Require),
        "count(d) > strlen(s) && p != NULL"
    );
    assert!(text(&formula, Dialect::Cbmc).starts_with("(__CPROVER_OBJECT_SIZE(d) - "));
    assert!(text(&formula, Dialect::Acsl).contains("p != \\null"));
}

/// C would compute and compare in the types of parameters.
#[test]
fn the_c_form_is_as_wide_as_sizes() {
    for (line, printed) in [
        ("x + 1073741824 >= 0", "(__int128)x + 1073741824 >= 0"),
        ("2 * n < bounds(t)", "2 * (__int128)n < t_bounds"),
        ("a * b + c <= 7", "(__int128)a * b + c <= 7"),
        ("a <= b && a == b", "(__int128)a <= b && a == b"),
        ("n >= -1 && n <= 3", "(__int128)n >= -1 && n <= 3"),
        ("(f & 8) != 0", "((__int128)f & 8) != 0"),
        ("n % 4 == 0", "(__int128)n % 4 == 0"),
        ("n % m == 0", "(m != 0 ? (__int128)n % m : n) == 0"),
    ] {
        assert_eq!(text(&parse(line).unwrap(), Dialect::C), printed);
    }
}

#[test]
fn a_division_by_zero_leaves_all() {
    let value = |line: &str| parse(line).unwrap().evaluate(&|_| 0);
    assert_eq!(value("7 % n == 7"), 1);
    assert_eq!(value("-7 % 4 == -3 && (12 & 10) == 8"), 1);
}

#[test]
fn an_implication_is_a_disjunction() {
    for (line, printed) in [
        ("n > 0 ==> bounds(p) > 0", "n <= 0 || bounds(p) > 0"),
        ("a == 1 && b ==> c < 2", "a != 1 || !b || c < 2"),
        ("a < 1 ==> b < 1 ==> c < 1", "a >= 1 || b >= 1 || c < 1"),
    ] {
        assert_eq!(parse(line).unwrap().to_string(), printed);
    }
    assert!(parse(&"a ==> ".repeat(10_000)).is_err());
}

#[test]
fn hoisting_replaces_what_it_wrote_and_nothing_else() {
    let text = "# nearmiss contracts 1\n# mine\nfunction f(n)\n  requires n > 3\nend\n\n\
                function g(n)\n  from hoist ./t: 1 call\n  requires n > 0\nend\n# the end\n";
    let hoisted = |function: &str| Contract {
        function: function.into(),
        parameters: vec!["n".into()],
        from: "hoist ./t: 9 calls".into(),
        requires: vec![parse("n > 1").unwrap()],
        ..Contract::default()
    };
    let merged = merge(text, &[hoisted("f"), hoisted("g"), hoisted("h")]).unwrap();
    let expected = "# nearmiss contracts 1\n# mine\nfunction f(n)\n  requires n > 3\nend\n\n\
                    function g(n)\n  from hoist ./t: 9 calls\n  requires n > 1\nend\n# the end\n\
                    function h(n)\n  from hoist ./t: 9 calls\n  requires n > 1\nend\n";
    assert_eq!(merged, expected);
    assert_eq!(merge("", &[hoisted("h")]).unwrap(), write(&[hoisted("h")]));
}

#[test]
fn mistakes_are_shown_where_they_are() {
    for (line, at) in [
        ("bounds(p) >", 11),
        ("bound(p) > 0", 0),
        ("a < b)", 5),
        ("a < 99999999999999999999", 4),
        ("", 0),
    ] {
        let error = parse(line).unwrap_err();
        assert_eq!(error.at, at, "{error}");
    }
    assert!(parse(&"(".repeat(10_000)).is_err());
}

#[test]
fn negation_turns_truth() {
    let formula = parse("(a < b && b != 3) || a == 7").unwrap();
    let negated = formula.negated();
    for a in 0..9i128 {
        for b in 0..9i128 {
            let value = |term: &nearmiss_contracts::Term| if term.place == "a" { a } else { b };
            assert_ne!(formula.evaluate(&value), negated.evaluate(&value));
        }
    }
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let contract = |function: &str, requires: &[&str]| Contract {
        function: function.into(),
        parameters: vec!["dest".into(), "src".into()],
        from: "infer string.h: complete, 60 of 60 assignments, 7680 tests".into(),
        subject: Subject {
            file: "string.c".into(),
            ..Subject::default()
        },
        requires: requires.iter().map(|line| parse(line).unwrap()).collect(),
        ..Contract::default()
    };
    let contracts = [
        contract(
            "strcpy",
            &["bounds(dest) > strlen(src)", "bounds(src) > strlen(src)"],
        ),
        contract("nothing", &[]),
        Contract {
            requires: vec![Formula::truth(false)],
            ..contract("never", &[])
        },
    ];
    let mut expected = contracts.to_vec();
    expected[2].requires = vec![Formula::Number(0)];
    assert_eq!(read(&write(&contracts)).unwrap(), expected);
}

#[test]
fn a_bad_file_names_its_line() {
    for (text, start) in [
        ("requires a < b\n", "line 1: expected: function"),
        ("\nfunction f\n", "line 2: expected a name"),
        (
            "function f(a)\n  requires a <\nend\n",
            "line 2: expected a number",
        ),
        ("function f(a)\n", "line 1: function f has no end"),
        (
            "function f(a)\n  needs a\nend\n",
            "line 2: expected one of from",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(start), "{error}");
    }
}
