//! Preconditions and oracles: what they are given, what they say, in this file and in others.

use crate::workbench::{Workbench, request};
use nearmiss_harness::{ACCEPTED, Request, VERDICT};

const FUNCTION: &str = "struct p { int x, y; };\nstatic int total = 3;\n\
    int f(struct p p, int *t, int n) { total += t[n - 1]; t[0] = 9; return p.x + n; }\n";

const HELPERS: &str = "struct q { int x, y; };\nextern int shared[2];\n\
    int pre(const int *t, int n, struct q p) { return t[n - 1] >= p.x && shared[1] == 0; }\n\
    _Bool positional(struct q a, const int *b, int c) { return b[c - 1] == a.y; }\n\
    int judge(int result, const int *t, const int *old_t, int n, struct q p_before)\n\
    { return result == p_before.x + n && t[0] == 9 && old_t[0] == 0; }\n\
    int wrong(int return_value) { return return_value < 0; }\n\
    int shared[2] = { 5, 5 };\n";

fn wanted(precondition: Option<&str>, oracle: Option<&str>) -> Request {
    Request {
        precondition: precondition.map(str::to_string),
        oracle: oracle.map(str::to_string),
        globals: vec!["shared".into()],
        ..request("f", "size t = n; range n = 1..3; range p.x = -5..5")
    }
}

#[test]
fn they_may_lie_in_another_file_with_types_of_its_own() {
    let bench = Workbench::new(&[("file.c", FUNCTION), ("other.c", HELPERS)]);
    let plan = bench
        .plan(&wanted(Some("pre"), Some("judge")))
        .expect("a plan");
    bench.build(&plan, &["-fsanitize=address,undefined"]);
    let mut staging = plan.first_input();
    let alone = bench.run(&staging, 1);
    assert_eq!(
        (alone.status, alone.byte(ACCEPTED)),
        (Some(0), Some(1)),
        "{alone:?}"
    );
    assert_eq!(alone.byte("mark"), Some(0));
    assert!(alone.byte("returned").is_none());
    let both = bench.run(&staging, 2);
    assert_eq!(both.byte(VERDICT), Some(1), "{both:?}");
    // The first element is less than p.x.
    staging[0] = 4;
    assert_eq!(bench.run(&staging, 1).byte(ACCEPTED), Some(0));
    assert_eq!(bench.run(&staging, 2).status, Some(77));
    assert_eq!(bench.run(&staging, 0).byte(VERDICT), Some(1));
}

#[test]
fn names_that_are_unknown_are_matched_by_position() {
    let together = format!(
        "{FUNCTION}{}",
        HELPERS
            .replace("struct q", "struct p")
            .replacen("struct p { int x, y; };", "", 1)
    );
    let bench = Workbench::new(&[("file.c", &together)]);
    let plan = bench
        .plan(&wanted(Some("positional"), Some("wrong")))
        .expect("a plan");
    bench.build(&plan, &[]);
    let outcome = bench.run(&plan.first_input(), 2);
    assert_eq!(outcome.byte(VERDICT), Some(0), "{outcome:?}");
}

#[test]
fn what_does_not_fit_is_an_error() {
    let more = "void nothing(int n) {}\nint unknown(int n, int limit) { return 1; }\n\
        int many(int n, ...) { return 1; }\nint kind(int *n) { return 1; }\n\
        struct p gives(int n) { struct p p = { 0 }; return p; }\n\
        int strange(int n, int colour) { return 1; }\nint shape(struct p n) { return 1; }\n\
        int shared[2];\n";
    let together = format!("{FUNCTION}{more}");
    let bench = Workbench::new(&[("file.c", &together)]);
    let cases = [
        (Some("nothing"), None, "must give back a number"),
        (Some("unknown"), None, "no input is called `limit`"),
        (Some("many"), None, "variable number of arguments"),
        (
            Some("kind"),
            None,
            "its parameter `n` is `int *`, but the input is `int`",
        ),
        (Some("shape"), None, "is `struct p`, but the input is `int`"),
        (
            Some("missing"),
            None,
            "`--pre missing`: no file has a function of that name",
        ),
        (None, Some("gives"), "must give back a number"),
        (None, Some("strange"), "what is its parameter `colour`?"),
    ];
    for (precondition, oracle, expected) in cases {
        let error = bench
            .plan(&wanted(precondition, oracle))
            .expect_err(expected);
        assert!(error.0.contains(expected), "{}", error.0);
    }
}
