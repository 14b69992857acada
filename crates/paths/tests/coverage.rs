//! What tests cover of real C files, and that clang's own tools agree.

mod support;

use std::time::{Duration, Instant};

use nearmiss_paths::Cover;
use nearmiss_paths::coverage::{Gain, Meter};
use nearmiss_results::Uncovered;
use nearmiss_sandbox::Sandbox;
use support::{Place, request, rows};

const DECISIONS: &str = r#"#include <nearmiss.h>
#include <stdlib.h>
#include <unistd.h>
#define LARGE(x) ((x) > 100)

static int f(int a, int b, int c)
{
    int n = 0;
    while (1) {
        if (n++ > 1)
            break;
    }
    if (a && (b || c))
        n += 2;
    if (LARGE(a))
        abort();
    if (b == 77)
        _exit(3);
    if (c == 78)
        for (;;)
            continue;
    return n;
}

int main(void)
{
    int v[3] = {0};
    nearmiss_symbolic(v, sizeof v, "v");
    return f(v[0], v[1], v[2]) == 99;
}
"#;

/// Longer than any run takes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// The same for programs of which one run does not end.
const LIMITED: Duration = Duration::from_secs(5);

fn meter(place: &Place) -> Meter {
    let programs = place.build(&["d.c"], &[], None).unwrap();
    Meter::start(&Sandbox::none(), &programs, Vec::new(), LIMITED).unwrap()
}

fn run(meter: &mut Meter, values: [i32; 3]) -> Gain {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    meter.run(&rows("v", &bytes)).unwrap()
}

fn lines(goals: &[Uncovered]) -> Vec<(u32, &str)> {
    goals
        .iter()
        .map(|goal| (goal.line, goal.what.as_str()))
        .collect()
}

#[test]
fn every_outcome_counts_whatever_becomes_of_the_run() {
    let place = Place::with(&[("d.c", DECISIONS)]);
    let mut meter = meter(&place);
    let first = run(&mut meter, [1, 0, 0]);
    assert_eq!((first.branches, first.combinations), (8, 1));
    let again = run(&mut meter, [1, 0, 0]);
    assert_eq!((again.branches, again.combinations), (0, 0));
    assert_eq!(again.way, first.way, "the same run has the same way");
    // The same counters as before, but a difference of counters that was 0.
    let other = run(&mut meter, [0, 0, 0]);
    assert_eq!((other.branches, other.combinations), (1, 1));
    assert_ne!(other.way, first.way);
    let open = meter.open(Cover::Branches);
    let expected = [
        (13, "true"),
        (13, "true"),
        (15, "true"),
        (17, "true"),
        (19, "true"),
    ];
    assert_eq!(lines(&open), expected);
    assert!(open.iter().all(|goal| goal.file.ends_with("d.c")));
    // By abort, by _exit, and killed when its time was over.
    assert_eq!(run(&mut meter, [101, 0, 1]).branches, 2);
    assert_eq!(run(&mut meter, [1, 77, 0]).branches, 2);
    assert!(!meter.is_full(Cover::Branches));
    assert_eq!(run(&mut meter, [0, 0, 78]).branches, 1);
    assert!(meter.is_full(Cover::Branches) && meter.is_full(Cover::Mcdc));
    assert!(meter.open(Cover::Mcdc).is_empty());
}

/// Numbers of `llvm-cov` for the user's file: branches and MC/DC, covered and all.
fn counted_by_clang(place: &Place) -> [(u64, u64); 2] {
    let output = place.shell(
        "llvm-cov-19 export out/coverage/program -instr-profile=out/coverage/merged.profdata",
    );
    let export: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = export["data"][0]["files"].as_array().unwrap();
    let is_ours = |file: &&serde_json::Value| file["filename"].as_str().unwrap().ends_with("d.c");
    let summary = &files.iter().find(is_ours).unwrap()["summary"];
    ["branches", "mcdc"].map(|kind| {
        let number = |name: &str| summary[kind][name].as_u64().unwrap();
        (number("covered"), number("count"))
    })
}

#[test]
fn clangs_tools_count_the_same() {
    let place = Place::with(&[("d.c", DECISIONS)]);
    let mut meter = meter(&place);
    for values in [[1, 0, 0], [0, 0, 0], [1, 1, 0]] {
        run(&mut meter, values);
        let (coverage, lcov) = meter.report().unwrap();
        let numbers = [coverage.branches, coverage.mcdc].map(|it| (it.covered, it.total));
        assert_eq!(numbers, counted_by_clang(&place));
        assert_eq!((coverage.branches.total, coverage.mcdc.total), (14, 3));
        assert!(lcov.contains("d.c\n") && lcov.contains(",f\n"), "{lcov}");
        assert!(!lcov.contains("nearmiss.h"));
    }
    let (coverage, _) = meter.report().unwrap();
    assert_eq!(coverage.mcdc.covered, 2);
    assert_eq!((coverage.lines.covered, coverage.lines.total), (18, 22));
    let open = meter.open(Cover::Mcdc);
    let conditions: Vec<_> = open
        .iter()
        .filter(|goal| goal.what.contains("on its own"))
        .collect();
    assert_eq!(conditions.len(), 1);
    assert_eq!((conditions[0].line, conditions[0].column), (13, 20));
    assert_eq!(conditions[0].what, "condition 3 of 3 at 13:9 on its own");
}

const NESTED: &str = r#"#include <nearmiss.h>
#define BETWEEN(x, low, high) ((low) <= (x) && (x) < (high))
#define EITHER(p, q) (p || q)
int g(int x) { return x; }
int main(void)
{
    int v[3] = {0};
    nearmiss_symbolic(v, sizeof v, "v");
    int a = v[0], b = v[1], c = v[2], n = 0;
    if ((a && b) || (b && c) || (a && !c && 1))
        n++;
    if (!(a || b) && c)
        n++;
    if (BETWEEN(a, 1, 3) || BETWEEN(b, 0, 2))
        n++;
    while (n < 9 && EITHER(a == 2, BETWEEN(c, 0, 1)))
        n += 3;
    n += (a > 1 || b > 1) ? g(a && c) : g(a == 1);
    do n++; while (n < 5 && (a || (b && c) || (n < 4 && g(b || c))));
    switch (a & 3) {
    case 0: n += b && c; break;
    case 1: break;
    }
    return n == 99 && a;
}
"#;

#[test]
fn nested_decisions_are_counted_as_clang_does() {
    let place = Place::with(&[("d.c", NESTED)]);
    let mut meter = meter(&place);
    let mut before = 0;
    for round in 0..14_i32 {
        run(
            &mut meter,
            [round * 5 % 4, round * 3 % 7 % 3, round % 3 - 1],
        );
        let (coverage, _) = meter.report().unwrap();
        let numbers = [coverage.branches, coverage.mcdc].map(|it| (it.covered, it.total));
        assert_eq!(numbers, counted_by_clang(&place), "round {round}");
        assert!(coverage.mcdc.covered >= before);
        before = coverage.mcdc.covered;
    }
    assert!(before > 10, "{before}");
}

#[test]
fn files_may_be_named_from_anywhere() {
    for name in ["tests/c/named.c", "../paths/tests/c/named.c"] {
        let place = Place::with(&[]);
        let mut sources = place.sources(&[], &[]);
        sources.files = vec![name.into()];
        let programs = nearmiss_paths::build::build(&sources, None, &place.path("out")).unwrap();
        let time = PATIENCE;
        let mut meter = Meter::start(&Sandbox::none(), &programs, Vec::new(), time).unwrap();
        meter.run(&[]).unwrap();
        let (coverage, lcov) = meter.report().unwrap();
        assert!(coverage.lines.total >= 3, "{coverage:?}");
        assert_eq!(coverage.lines.covered, coverage.lines.total);
        assert!(lcov.contains("tests/c/named.c\n"), "{lcov}");
    }
}

#[test]
fn a_function_in_a_header_has_its_lines_there() {
    let header = "static inline int sign(int n)\n{\n    if (n < 0)\n        return -1;\n    return n > 0;\n}\n";
    // As many lines before it as make the numbers of lines differ.
    let file = "\n\n\n\n\n\n#include <deep/sign.h>\nint other(int n) { return sign(n); }\n";
    let place = Place::with(&[("d.c", file), ("include/deep/sign.h", header)]);
    let include = format!("-I{}", place.path("include").display());
    let programs = place
        .build(&["d.c"], &[&include], Some(&request("sign")))
        .unwrap();
    let time = PATIENCE;
    let mut meter = Meter::start(&Sandbox::none(), &programs, Vec::new(), time).unwrap();
    let plan = programs.plan.as_ref().unwrap();
    meter.run(&rows("input", &plan.first_input())).unwrap();
    let (coverage, lcov) = meter.report().unwrap();
    assert_eq!((coverage.lines.covered, coverage.lines.total), (4, 5));
    assert_eq!(coverage.uncovered.len(), 1, "{coverage:?}");
    assert!(
        lcov.contains("deep/sign.h\n") && lcov.contains("d.c\n"),
        "{lcov}"
    );
}

#[test]
fn a_run_is_fast() {
    let place = Place::with(&[("d.c", DECISIONS)]);
    let mut meter = meter(&place);
    let mut time_of = |value: i32| {
        let start = Instant::now();
        run(&mut meter, [value % 100, value, 5]);
        start.elapsed()
    };
    // The machine may be busy: the fastest counts, and the limit is far above what is usual.
    let fastest = (0..1000).map(&mut time_of).min().unwrap();
    println!("{fastest:?} a run");
    assert!(fastest < Duration::from_millis(10), "{fastest:?}");
}
