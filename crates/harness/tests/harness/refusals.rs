//! What cannot be built is named, with the option that would help.

use crate::workbench::{Workbench, request};
use nearmiss_harness::Request;

const TEXT: &str = r#"
#include <stdarg.h>
#include <stdio.h>
int listed(va_list list) { return va_arg(list, int); }
struct hidden;
struct big { char bytes[100000]; };
const int fixed = 3;
int file(FILE *stream) { return fgetc(stream); }
int opaque(struct hidden *handle) { return handle != 0; }
int untyped(void *data, int n) { return n; }
int printed(const char *format, ...) { return 0; }
int variable(int n, int m[n][n]) { return m[0][0]; }
int plain(int *t, int n, float x) { return t[n]; }
int large(struct big *t) { return t->bytes[0]; }
int text(short *s) { return s[0]; }
int stubbed(void *make(int)) { return make(1) != 0; }
int written(void write(int *, int)) { int n; write(&n, 1); return n; }
int unnamed(struct { int x; } s) { return s.x; }
"#;

#[test]
fn errors_name_the_input_and_the_option() {
    let bench = Workbench::new(&[("file.c", TEXT)]);
    let cases = [
        (
            "opaque",
            "",
            "`handle` points to the incomplete type `struct hidden`: `--size handle=BYTES`",
        ),
        (
            "file",
            "",
            "`stream` is a stream (`FILE`): a function that opens one",
        ),
        ("file", "null stream", ""),
        (
            "stubbed",
            "stub make = writes",
            "`--stub make=writes`: it has no pointer to write through",
        ),
        (
            "written",
            "stub write = writes; size write().argument1 = n",
            "`--size write().argument1=n`: a stub writes a fixed number of elements",
        ),
        ("listed", "", "`list` is a list of arguments (`va_list`)"),
        ("untyped", "", "`data` has no type: `--size data=BYTES`"),
        (
            "printed",
            "",
            "`printed` takes a variable number of arguments (`...`)",
        ),
        (
            "variable",
            "",
            "`m` points to an array of unknown length: `--size m=ELEMENTS`",
        ),
        (
            "plain",
            "size u = 3",
            "`--size u=3`: there is no input `u`; there are `t`, `n`, `x`",
        ),
        (
            "plain",
            "size n = 3",
            "`--size n=3`: that is nothing to say of `n`",
        ),
        (
            "plain",
            "range x = 3..4",
            "`--range x=3..4`: that is nothing to say of `x`",
        ),
        ("plain", "range n = 0..9999999999", ""),
        (
            "plain",
            "range n = 9999999999..99999999999",
            "`n` is from -2147483648 to 2147483647",
        ),
        (
            "plain",
            "size t = m",
            "no integer input is called `m`; there are `n`",
        ),
        ("plain", "alias t = q", "no pointer is called `q`"),
        (
            "plain",
            "size t = 99999999",
            "more than 262144 bytes with `t`",
        ),
        ("large", "size t = 8", "more than 262144 bytes with `t`"),
        (
            "text",
            "string s",
            "`s` cannot be a string: it points to `short`",
        ),
        ("unnamed", "", "`s` has a structure without a name"),
        (
            "missing",
            "",
            "there is no function `missing`; the file has `listed`, `file`",
        ),
    ];
    for (function, rules, expected) in cases {
        match bench.plan(&request(function, rules)) {
            Ok(_) => assert!(expected.is_empty(), "{function} {rules}: {expected}"),
            Err(error) => {
                assert!(
                    !expected.is_empty() && error.0.contains(expected),
                    "{function} {rules}: {}",
                    error.0
                );
            }
        }
    }
}

#[test]
fn globals_that_cannot_be_inputs_are_named() {
    let bench = Workbench::new(&[
        ("file.c", TEXT),
        (
            "other.c",
            "static int secret = 1; int get(void) { return secret; }",
        ),
    ]);
    let cases = [
        ("fixed", "it is const"),
        ("secret", "it is static in another file"),
        (
            "nobody",
            "there is no such variable of static storage; there are `fixed`",
        ),
        ("n", "there is no such variable"),
    ];
    for (name, expected) in cases {
        let wanted = Request {
            globals: vec![name.into()],
            ..request("plain", "")
        };
        let error = bench.plan(&wanted).expect_err(name);
        assert!(error.0.contains(expected), "{}", error.0);
    }
}

#[test]
fn choices_that_nobody_made_are_told() {
    let bench = Workbench::new(&[("file.c", TEXT)]);
    let notes = |function, rules| {
        bench
            .plan(&request(function, rules))
            .expect("a plan")
            .notes()
            .join("; ")
    };
    assert!(notes("plain", "").contains("`t` points to one element: `--size t=N`"));
    assert!(notes("plain", "size t = n").contains("`n` is 0 to 4, because it counts"));
    assert_eq!(
        notes("plain", "size t = n; range n = 0..3"),
        "`x` is no integer: it is 0 in every test"
    );
    let twice = notes("stubbed", "");
    assert_eq!(
        twice
            .matches("`make()[]` has no type: `--size make()[]=BYTES`")
            .count(),
        1,
        "{twice}"
    );
    assert_eq!(notes("stubbed", "size make()[] = 4"), "");
    assert_eq!(notes("variable", "size m = n*n; range n = 1..2"), "");
}

#[test]
fn what_is_no_object_is_refused() {
    use nearmiss_harness::Unit;
    let no_debug = Workbench::new(&[("file.c", "int f(void) { return 0; }")]);
    let object = no_debug.object("file.c", &["-g0"]);
    let error = Unit::read(&object).expect_err("no debug information");
    assert!(error.0.contains("compile with -g"), "{error}");
    assert!(
        Unit::read(b"int f(void);")
            .expect_err("text")
            .0
            .contains("not an object file")
    );
    // Any part of an object is an error or debug information, never a panic.
    let object = no_debug.object("file.c", &[]);
    for end in (0..object.len()).step_by(7) {
        let _ = Unit::read(&object[..end]);
    }
}
