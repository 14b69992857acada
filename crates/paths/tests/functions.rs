//! Functions of real files, called by harnesses that were written for them.

mod support;

use std::ffi::OsString;
use std::time::Duration;

use nearmiss_abi::server::MODE_FUNCTION;
use nearmiss_harness::{INPUT, Request, Rule, RuleKind};
use nearmiss_paths::build::{MISSING, MISSING_STATUS, Programs, twin};
use nearmiss_paths::coverage::Meter;
use nearmiss_sandbox::Sandbox;
use nearmiss_server::{Ended, Run, Server, Settings};
use support::{Place, request, rows};

/// Runs a program once, served.
fn run(place: &Place, program: &std::path::Path, input: &[u8]) -> Run {
    let settings = Settings {
        program: program.to_path_buf(),
        environment: vec![(OsString::from("ASAN_OPTIONS"), "detect_leaks=0".into())],
        record: None,
        restarts: None,
        directory: place.path("served"),
        working_directory: place.path(""),
    };
    let mut server = Server::start(&Sandbox::none(), settings).unwrap();
    let rows = rows(INPUT, input);
    let request = nearmiss_server::Request {
        mode: MODE_FUNCTION,
        rows: &rows,
        time: PATIENCE,
        fresh: false,
    };
    server.run(&request).unwrap()
}

/// Longer than any run takes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

fn first_input(programs: &Programs) -> Vec<u8> {
    programs.plan.as_ref().unwrap().first_input()
}

const MIDDLE: &str = r#"#include "middle.h"
#include <stdio.h>
static int counter = 5;
static const char *name(void) { return __FILE__; }
static int clamp(int x, int low, int high)
{
    counter++;
    if (x < low)
        return low;
    return x > high ? high : x + SHIFT;
}
int main(int argc, char **argv) { return printf("%s %d", name(), clamp(argc, 1, 3)); }
"#;

#[test]
fn a_static_function_in_the_middle_of_a_file_with_a_main() {
    let place = Place::with(&[
        ("src/middle.c", MIDDLE),
        ("src/middle.h", "#define SHIFT 0\n"),
        (
            "src/other.c",
            "int main(void) { return 1; }\nint unused(void) { return 2; }",
        ),
    ]);
    // The function need not be in the first file.
    let files = ["src/other.c", "src/middle.c"];
    let programs = place.build(&files, &[], Some(&request("clamp"))).unwrap();
    assert_eq!(programs.function, "clamp");
    assert_eq!(programs.source, place.path("src/middle.c"));
    let input = first_input(&programs);
    assert!(input.len() >= 12);
    assert_eq!(
        run(&place, &programs.recording, &input).ended,
        Some(Ended::Exited(0))
    );
    let twin = twin(&programs).unwrap();
    assert_eq!(
        run(&place, &twin.program, &input).ended,
        Some(Ended::Exited(0))
    );

    let mut meter = Meter::start(&Sandbox::none(), &programs, Vec::new(), PATIENCE).unwrap();
    assert!(meter.run(&rows(INPUT, &input)).unwrap().branches > 0);
    let (coverage, lcov) = meter.report().unwrap();
    assert_eq!((coverage.branches.total, coverage.lines.total), (4, 6));
    assert!(
        lcov.contains("middle.c\n") && !lcov.contains("harness.c"),
        "{lcov}"
    );
    let open = meter.open(nearmiss_paths::Cover::Branches);
    assert!(
        open.iter()
            .all(|goal| goal.file == programs.source.to_string_lossy())
    );
}

#[test]
fn a_function_that_nobody_defines_ends_the_run() {
    let text = "int helper(int, ...); extern int (*table[])(int);\n\
                int unknown(int);\n\
                int f(int x) { return x ? helper(x, 2) : 1; }\n\
                int g(int x) { int (*p)(int) = unknown; return x ? p(x) : 1; }\n";
    for (function, missing) in [("f", "helper"), ("g", "unknown")] {
        let place = Place::with(&[("f.c", text)]);
        let programs = place
            .build(&["f.c"], &[], Some(&request(function)))
            .unwrap();
        assert!(
            programs.undefined.functions.contains(&missing.to_string()),
            "{:?}",
            programs.undefined.functions
        );
        let zero = run(&place, &programs.recording, &[0; 4]);
        assert_eq!(zero.ended, Some(Ended::Exited(0)));
        let one = run(&place, &programs.recording, &[1, 0, 0, 0]);
        assert_eq!(one.ended, Some(Ended::Exited(MISSING_STATUS)));
        let row = (MISSING.to_string(), missing.as_bytes().to_vec());
        assert!(one.results.contains(&row), "{:?}", one.results);
        let twin = twin(&programs).unwrap();
        let one = run(&place, &twin.program, &[1, 0, 0, 0]);
        assert_eq!(one.ended, Some(Ended::Exited(MISSING_STATUS)));
    }
}

#[test]
fn a_variable_is_missed_only_where_it_may_be_needed() {
    let text = "extern int nowhere, needed; int other(int);\n\
                int unused(void) { return nowhere + other(1); }\n\
                static int (*const table[])(int) = { other };\n\
                int f(int x) { return x ? 2 : 1; }\n\
                int g(int x) { return table[0](x) + needed; }\n";
    let place = Place::with(&[("f.c", text)]);
    let programs = place.build(&["f.c"], &[], Some(&request("f"))).unwrap();
    let input = first_input(&programs);
    for program in [programs.recording.clone(), twin(&programs).unwrap().program] {
        assert_eq!(run(&place, &program, &input).ended, Some(Ended::Exited(0)));
    }
    let time = PATIENCE;
    assert!(Meter::start(&Sandbox::none(), &programs, Vec::new(), time).is_ok());
    let storage = &programs.undefined.storage;
    assert_eq!(*storage, ["needed", "nowhere"]);
    assert!(programs.undefined.variables.is_empty() && programs.notes.is_empty());
    let programs = place.build(&["f.c"], &[], Some(&request("g"))).unwrap();
    assert_eq!(programs.undefined.variables, ["needed"]);
    let notes = programs.notes.join("\n");
    assert!(notes.contains("`needed`: it is zero"), "{notes}");
}

#[test]
fn preconditions_and_globals_may_lie_in_other_files() {
    let place = Place::with(&[
        (
            "f.c",
            "extern int limit;\nint f(int x) { return x > limit; }\nint main(void) { return 0; }",
        ),
        ("p.c", "int limit = 3;\nint p(int x) { return x > 0; }\n"),
        (
            "s.c",
            "static int q(int x) { return x > 1; }\nint main(void) { return q(2); }",
        ),
    ]);
    for precondition in ["p", "q"] {
        let wanted = Request {
            precondition: Some(precondition.to_string()),
            globals: vec!["limit".to_string()],
            ..request("f")
        };
        let programs = place
            .build(&["f.c", "p.c", "s.c"], &[], Some(&wanted))
            .unwrap();
        let input = first_input(&programs);
        assert!(input.len() >= 8);
        assert_eq!(
            run(&place, &programs.recording, &input).ended,
            Some(Ended::Exited(0))
        );
    }
}

#[test]
fn a_fuzz_target_is_a_function_of_bytes() {
    let text = "#include <stddef.h>\n#include <stdint.h>\n\
                int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size)\n\
                { return Size > 2 && Data[0] == 'x' && Data[2] == 'y' ? 1 : 0; }\n";
    let place = Place::with(&[("fuzz.c", text)]);
    let programs = place.build(&["fuzz.c"], &[], None).unwrap();
    assert_eq!(programs.function, "LLVMFuzzerTestOneInput");
    let input = first_input(&programs);
    assert!(input.len() > 16);
    assert_eq!(
        run(&place, &programs.recording, &input).ended,
        Some(Ended::Exited(0))
    );
}

#[test]
fn old_functions_and_old_standards() {
    let text = "int sum(a, n) int *a; int n;\n\
                { int i, s; s = 0; for (i = 0; i < n; i++) s += a[i]; return s; }\n\
                main() { return 0; }\n";
    for flags in [
        vec![],
        vec!["-std=c89", "-pedantic-errors", "-Wall", "-Werror"],
    ] {
        let place = Place::with(&[("old.c", text)]);
        let mut wanted = request("sum");
        wanted.rules = vec![Rule {
            kind: RuleKind::Size,
            target: "a".into(),
            value: "n".into(),
            is_general: false,
        }];
        let programs = place.build(&["old.c"], &flags, Some(&wanted)).unwrap();
        let input = first_input(&programs);
        assert_eq!(
            run(&place, &programs.recording, &input).ended,
            Some(Ended::Exited(0))
        );
    }
}
