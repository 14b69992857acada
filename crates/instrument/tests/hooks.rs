//! What instrumentation adds to small functions: C in, instrumented IR out, looked at as text.
//!
//! Each row of [`CASES`] says which hooks a function calls and how often; a hook that is not named
//! there is not looked at.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const CLANG: &str = "clang-19";

/// A C function `f` with what it needs, and how often `f` calls which hooks.
struct Case {
    source: &'static str,
    options: &'static [&'static str],
    hooks: &'static [(&'static str, usize)],
}

const OPTIMISED: &[&str] = &["-O1"];
const UNOPTIMISED: &[&str] = &["-O0", "-Xclang", "-disable-O0-optnone"];

const CASES: &[Case] = &[
    // An array has a start and an end, by markers or at the return.
    Case {
        source: "void g(char *); void f(void) { char a[8]; g(a); }",
        options: OPTIMISED,
        hooks: &[("stack_object", 1), ("stack_object_ends", 1)],
    },
    Case {
        source: "void g(char *); int f(int x) { char a[8]; if (x) return 1; g(a); return 2; }",
        options: UNOPTIMISED,
        hooks: &[("stack_object", 1), ("stack_object_ends", 1)],
    },
    // No symbolic address lies in a variable that is only read and written.
    Case {
        source: "int f(int x) { volatile int a = x; return a; }",
        options: OPTIMISED,
        hooks: &[("stack_object", 1), ("stack_object_ends", 0)],
    },
    // Room of symbolic size; all of it ends with the scope, and again with the function.
    Case {
        source: "void g(int *); void f(unsigned n) { int a[n]; g(a); }",
        options: OPTIMISED,
        hooks: &[
            ("stack_object", 0),
            ("stack_object_sized", 1),
            ("stack_object_ends", 2),
        ],
    },
    Case {
        source: "void g(char *); void f(void) { for (int i = 1; i < 9; i++) g(__builtin_alloca(i)); }",
        options: OPTIMISED,
        hooks: &[
            ("stack_object", 1),
            ("stack_object_sized", 0),
            ("stack_object_ends", 1),
        ],
    },
    // A store with and without a symbolic address.
    Case {
        source: "char a[9]; void f(int i) { a[i] = 1; }",
        options: OPTIMISED,
        hooks: &[
            ("store_symbolic", 1),
            ("store", 0),
            ("fix", 0),
            ("range", 0),
        ],
    },
    Case {
        source: "char a[9]; void f(void) { a[3] = 1; }",
        options: OPTIMISED,
        hooks: &[("store_symbolic", 0), ("store", 1)],
    },
    // Volatile memory is not read where the program does not read it.
    Case {
        source: "void f(volatile int *p) { *p = 1; }",
        options: OPTIMISED,
        hooks: &[
            ("store_symbolic", 0),
            ("range", 1),
            ("fix", 1),
            ("store", 1),
        ],
    },
    // What has no hook of its own is checked as a range, then fixed.
    Case {
        source: "double f(double *p) { return *p; }",
        options: OPTIMISED,
        hooks: &[("range", 1), ("fix", 1), ("opaque", 1)],
    },
    Case {
        source: "void f(double *p) { *p = 1; }",
        options: OPTIMISED,
        hooks: &[("range", 1), ("fix", 1), ("clear", 1)],
    },
    // Both sides of a copy, one of a fill.
    Case {
        source: "struct s { int a[9]; }; void f(struct s *p, struct s *q) { *p = *q; }",
        options: OPTIMISED,
        hooks: &[("range", 2), ("copy", 1)],
    },
    Case {
        source: "void f(char *p, unsigned long n) { __builtin_memset_inline(p, 0, 9); }",
        options: OPTIMISED,
        hooks: &[("range", 1), ("fill", 1)],
    },
    // A pointer given to an unknown function is swallowed, and so may be what its arguments
    // themselves are: two hooks. A constant, a model or a function defined here has none.
    Case {
        source: "void g(char *, const char *); void f(char *p) { g(p, \"text\"); }",
        options: OPTIMISED,
        hooks: &[("swallowed", 2)],
    },
    Case {
        source: "unsigned long strlen(const char *); unsigned long f(char *p) { return strlen(p); }",
        options: OPTIMISED,
        hooks: &[("swallowed", 0)],
    },
    Case {
        source: "__attribute__((noinline)) void g(char *p) { *p = 1; } void f(char *p) { g(p); }",
        options: OPTIMISED,
        hooks: &[("swallowed", 0)],
    },
];

#[test]
fn functions_call_their_hooks() {
    for case in CASES {
        let text = instrumented(case.source, case.options);
        let body = with_cold_functions(&text, "f");
        for (hook, count) in case.hooks {
            let found = body.matches(&format!("@__nm_{hook}(")).count();
            assert_eq!(found, *count, "{hook} in {}:\n{body}", case.source);
        }
    }
}

#[test]
fn the_old_value_is_loaded_before_the_store() {
    let text = instrumented("char a[9]; void f(int i) { a[i] = 77; }", OPTIMISED);
    let body = function(&text, "f");
    let store = body.find("store i8 77").expect("the store");
    assert!(body[..store].contains("load i8, ptr"), "{body}");
}

#[test]
fn a_call_of_a_model_says_where_it_is() {
    let declared = "unsigned long strlen(const char *);";
    let calls = format!("{declared} unsigned long f(void) {{ return strlen(\"x\" + 1) + 1; }}");
    let offset = format!("i64 {}", nearmiss_abi::shadow::MODEL_SITE_OFFSET);
    let options = ["-O1", "-fno-builtin"];
    let body = function(&instrumented(&calls, &options), "f").to_string();
    assert!(body.contains("call i64 @__nm_model_strlen"), "{body}");
    assert!(body.contains(&offset), "{body}");
    // The models' own calls are not the program's.
    let model = format!("{calls} void __nm_model_g(void) {{}}");
    let body = function(&instrumented(&model, &options), "f").to_string();
    assert!(!body.contains(&offset), "{body}");
}

/// Functions `f`, and how often each says that it did something sensitive.
const SENSITIVE: &[(&str, usize)] = &[
    // An index, a pointer that moves, a pointer from somewhere.
    ("int v[9]; void f(int i) { v[i] = 0; }", 1),
    ("int f(const char *p) { while (*p) p++; return 1; }", 1),
    (
        "struct s { int a, b; }; int f(struct s *p) { return p->b; }",
        1,
    ),
    ("int *p; int f(void) { return *p; }", 1),
    // Once a region, however many there are.
    ("int f(int *p, int *q) { return *p + *q + p[7]; }", 1),
    // A variable, a constant part of one, errno.
    ("int v[9]; int f(int i) { v[3] = i; return v[4]; }", 0),
    (
        "int f(int i) { volatile struct { int a, b[3]; } s; s.b[1] = i; return s.a; }",
        0,
    ),
    (
        "extern int *__errno_location(void); int f(void) { return *__errno_location(); }",
        0,
    ),
    // Divisions by what may be zero.
    ("int f(int a, int b) { return a / b; }", 1),
    ("unsigned f(unsigned a) { return a % 7; }", 0),
    // Assertions; a branch and arithmetic are none.
    ("void abort(void); void f(int a) { if (a) abort(); }", 1),
    (
        "void g(void); int f(int a) { if (a) g(); return a + 1; }",
        0,
    ),
    // Models that move memory, and others.
    (
        "char b[9]; char *strcpy(char *, const char *); void f(char *p) { strcpy(b, p); }",
        1,
    ),
    (
        "char a[9], b[9]; void f(unsigned long n) { __builtin_memcpy(a, b, n); }",
        1,
    ),
    ("struct s { char c[40]; } a, b; void f(void) { a = b; }", 0),
    ("int puts(const char *); void f(void) { puts(\"x\"); }", 0),
    // The accesses of models are their callers'.
    (
        "int v[9]; void f(int i) { v[i] = 0; } void __nm_model_g(void) {}",
        0,
    ),
];

#[test]
fn what_is_sensitive_says_so() {
    let offset = nearmiss_abi::shadow::CALM_OFFSET;
    let word = format!("@__nm_summary, i64 {offset})");
    for (source, count) in SENSITIVE {
        let text = instrumented(source, OPTIMISED);
        let body = with_cold_functions(&text, "f");
        let is_store = |line: &&str| line.contains("store i32 0, ") && line.contains(&word);
        let found = body.lines().filter(is_store).count();
        assert_eq!(found, *count, "{source}:\n{body}");
    }
}

#[test]
fn variables_are_listed() {
    let source = "
        int defined[3]; static char local[5]; extern int declared; _Thread_local int thread;
        __attribute__((section(\"mine\"))) int placed; const char *text(void) { return \"seven..\"; }
        int *f(int i) { local[i]++; thread++; return &declared + placed; }";
    let text = instrumented(source, OPTIMISED);
    let table = text
        .lines()
        .find(|line| line.contains("section \"nearmiss_globals\""))
        .expect("a table");
    for row in [
        "{ ptr @defined, i64 12 }",
        "{ ptr @local, i64 5 }",
        "{ ptr @.str, i64 8 }",
    ] {
        assert!(table.contains(row), "{row} in {table}");
    }
    for other in ["@declared", "@thread", "@placed", "@llvm", "@__nm"] {
        assert!(!table.contains(other), "{other} in {table}");
    }
    let kept = text.lines().find(|line| line.starts_with("@llvm.used"));
    assert!(kept.is_some_and(|line| line.contains("@nearmiss.table")));
}

/// Lazy binding would lose registers that `preserve_most` promises to keep (bzip2 with its library).
#[test]
fn hooks_are_bound_when_the_program_is_loaded() {
    let text = instrumented("int f(int a, int b) { return a / b; }", &["-fPIC"]);
    let attributes = |line: &str| {
        line.rsplit('#')
            .next()
            .map(|number| number.trim().to_string())
    };
    let hook = text
        .lines()
        .find(|line| line.starts_with("declare preserve_mostcc"))
        .expect("a hook");
    let group = format!("attributes #{} =", attributes(hook).expect("attributes"));
    let group = text.lines().find(|line| line.starts_with(&group));
    assert!(
        group.is_some_and(|line| line.contains("nonlazybind")),
        "{hook}"
    );
}

const CHECKED: &[&str] = &[
    "-O1",
    "-fsanitize=shift,signed-integer-overflow,array-bounds,null,integer-divide-by-zero,float-cast-overflow",
    "-fsanitize-recover=all",
];

/// Functions whose reports inlining moves among other code, or that are not instrumented.
const REPORTING: &[&str] = &[
    "static long g(long w) { static long n; if (n == ~0L << 63) n = w; return n; }
     long f(long w) { return g(w); }",
    "static int g(int *p, int n) { p[0] = n; p[1] = ~0 << n; p[2] = 1; return p[1]; }
     int f(int *p) { return g(p, 40) + g(p, 41); }",
    "static int v[3]; static int g(int i) { int x = v[i]; v[1] = x; return x; }
     int f(int a) { while (a--) v[0] += g(7); return g(9); }",
    "static int g(int *p) { return *p; } int f(void) { return g(0); }",
    "static int g(int a, int b) { return a / b; } int f(int a) { return a ? g(a, 0) : g(7, 0); }",
    "int f(double x) { return x; }",
    "static void g(void) {} static void *pick(int *p) { return p[p[0] + 1] ? g : (void *)0; }
     static void *resolve(void) { static int v[2]; return pick(v); }
     void f(void) __attribute__((ifunc(\"resolve\")));",
];

/// The handlers are defined nowhere: a call that is left is an undefined reference.
#[test]
fn no_report_calls_a_handler_of_clangs() {
    for source in REPORTING {
        let text = instrumented(source, CHECKED);
        assert!(!text.contains("@__ubsan_handle"), "{source}:\n{text}");
    }
}

/// A failure that is known when the program is compiled is told all the same.
#[test]
fn what_always_fails_is_told() {
    for source in &REPORTING[..5] {
        let text = instrumented(source, CHECKED);
        let body = function(&text, "f");
        assert!(body.contains("@__nm_check_failed("), "{source}:\n{body}");
    }
}

#[test]
fn allocations_are_left_out_where_clang_does_so() {
    let declared = "void *malloc(unsigned long); void *calloc(unsigned long, unsigned long);
                    void free(void *);";
    let stays = |code: &str, options: &[&str], optimised: bool| {
        let source = format!("{declared} {code}");
        let text = instrumented_as(&source, options, optimised);
        text.contains("call ptr @__nm_model_malloc") || text.contains("call ptr @__nm_model_calloc")
    };
    let compared = "int f(void) { return !calloc(1ul << 61, 8); }";
    let freed =
        "int f(unsigned long n) { void *p = malloc(n); if (!p) return 1; free(p); return 2; }";
    let written =
        "int f(void) { char *p = malloc(9); if (!p) return 1; *p = 1; free(p); return 2; }";
    let given = "void g(void *); void f(void) { g(malloc(9)); }";
    assert!(!stays(compared, OPTIMISED, true));
    assert!(!stays(freed, OPTIMISED, true));
    assert!(stays(compared, UNOPTIMISED, false));
    assert!(stays(written, OPTIMISED, true));
    assert!(stays(given, OPTIMISED, true));
    let strict = ["-O1", "-fno-builtin-calloc"];
    assert!(stays(compared, &strict, true));
}

/// In the program's own function a region leaves one call, which keeps all registers.
#[test]
fn hooks_stand_in_functions_of_their_own() {
    let source = "long f(long a, long *p) { p[1] = a + 1; p[2] = p[3] * a; return p[4]; }";
    let text = instrumented(source, OPTIMISED);
    let body = function(&text, "f");
    for hook in ["@__nm_store", "@__nm_load", "@__nm_binary"] {
        assert!(!body.contains(hook), "{body}");
        assert!(with_cold_functions(&text, "f").contains(hook), "{text}");
    }
    assert!(body.contains("call preserve_mostcc"), "{body}");
}

/// A function of many statements in a row: sums over an array, with and without calls between them.
fn long_function(statements: usize, with_calls: bool) -> String {
    let statement = |number: usize| {
        let (from, to) = (number % 61, number % 53);
        let call = if with_calls { "x = g(x);" } else { "" };
        format!("x += a[{from}] ^ y; y = a[{to}] * x; b[{to}] = x - y; {call}\n")
    };
    let body: String = (0..statements).map(statement).collect();
    format!(
        "unsigned g(unsigned); unsigned f(unsigned *a, unsigned *b, unsigned x, unsigned y) {{ {body} return x ^ y; }}"
    )
}

/// Code generation takes more than linear time where many values live at once, so what instrumentation
/// makes of a function grows as the function does, and no cold function takes all of its values.
#[test]
fn long_functions_grow_in_proportion() {
    for (options, most_parameters) in [(OPTIMISED, 160), (UNOPTIMISED, 48)] {
        for with_calls in [false, true] {
            let text_of = |count| instrumented(&long_function(count, with_calls), options);
            let (short, long) = (text_of(150), text_of(600));
            let growth = long.lines().count() as f64 / short.lines().count() as f64;
            assert!(
                growth < 4.4,
                "{options:?}: {growth} times for 4 times the statements"
            );
            let widest = (long.lines())
                .filter(|line| line.starts_with("define private preserve_mostcc"))
                .map(|line| line.matches('%').count())
                .max();
            let widest = widest.expect("a cold function");
            assert!(
                widest <= most_parameters,
                "{options:?}: {widest} parameters"
            );
            let merged = |text: &str| text.matches(" = phi i32 ").count();
            let (few, many) = (merged(&short), merged(&long));
            assert!(
                many <= 5 * few + 20,
                "{options:?}: {few} labels merged, then {many}"
            );
        }
    }
}

/// Register allocation takes time in the square of a function's length where values live long, so none
/// does in a huge one: variables stay in memory, and cold blocks stand where they are reached from. Guards
/// are in the functions of the hooks: a statement has its own branch, and one to the hook of that.
#[test]
fn huge_functions_are_spared() {
    // A line each: to find a column takes clang time in proportion to it.
    let branch = "if (a[x & 63] > y) x += 3; else y = b[7] / (x | 1);\n";
    for options in [OPTIMISED, UNOPTIMISED] {
        let text_of = |count| {
            let statements = branch.repeat(count);
            let head = "unsigned f(unsigned *a, int *b, unsigned x, unsigned y)";
            instrumented(&format!("{head} {{ {statements} return x ^ y; }}"), options)
        };
        let branches = |text: &str| function(text, "f").matches("br i1 ").count();
        assert!(branches(&text_of(10)) > 20, "{options:?}");
        let text = text_of(2500);
        assert!(branches(&text) <= 2 * 2500, "{options:?}");
        let body = function(&text, "f");
        assert!(!body.contains(" = phi "), "{options:?}");
        let longest = longest_life(body);
        assert!(longest < 100, "{options:?}: {longest} lines");
        assert!(body.contains("@nm.slow"), "hooks stand apart");
        assert!(with_cold_functions(&text, "f").contains("@__nm_summary"));
    }
}

/// Over how many lines of a function a value lives that is no variable.
fn longest_life(body: &str) -> usize {
    let mut made: HashMap<&str, usize> = HashMap::new();
    let mut longest = 0;
    for (number, line) in body.lines().enumerate() {
        let words = line.split([' ', ',', '(', ')']);
        for value in words.filter(|word| word.starts_with('%')) {
            longest = longest.max(made.get(value).map_or(0, |at| number - at));
        }
        if let Some((name, value)) = line.trim_start().split_once(" = ")
            && !value.starts_with("alloca")
        {
            made.insert(name, number);
        }
    }
    longest
}

/// Lives start in the first region, however many variables there are.
#[test]
fn a_function_may_have_many_arrays() {
    let arrays: String = (0..200).map(|n| format!("int a{n}[4]; g(a{n});")).collect();
    let source = format!("void g(int *); void f(void) {{ {arrays} }}");
    for options in [OPTIMISED, UNOPTIMISED] {
        let text = with_cold_functions(&instrumented(&source, options), "f");
        assert!(
            text.matches("@__nm_stack_object(").count() >= 200,
            "{options:?}"
        );
    }
}

/// The instrumented IR of a unit, as text.
fn instrumented(source: &str, options: &[&str]) -> String {
    instrumented_as(source, options, options.contains(&"-O1"))
}

fn instrumented_as(source: &str, options: &[&str], optimised: bool) -> String {
    let place = TempDir::new().expect("a directory");
    let path = |name: &str| place.path().join(name);
    std::fs::write(path("x.c"), source).expect("a source");
    let front_end = [
        "-w",
        "-gline-tables-only",
        "-Xclang",
        "-disable-llvm-passes",
    ];
    let mut clang = Command::new(CLANG);
    clang
        .args(options)
        .args(front_end)
        .args(["-emit-llvm", "-c", "x.c", "-o", "x.bc"]);
    run(&mut clang, place.path());
    let mut instrument = Command::new(env!("CARGO_BIN_EXE_nearmiss-instrument"));
    instrument
        .args(["--input", "x.bc", "--output", "y.bc", "--sites", "sites"])
        .args(["--twin", "twin", "--source", "x.c", "--directory", "."])
        .args(optimised.then_some("--optimised"));
    run(&mut instrument, place.path());
    let mut text = Command::new(CLANG);
    text.args(["-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"])
        .args(["y.bc", "-o", "y.ll"]);
    run(&mut text, place.path());
    std::fs::read_to_string(path("y.ll")).expect("text")
}

fn run(command: &mut Command, place: &Path) {
    let status = command.current_dir(place).status().expect("the tool runs");
    assert!(status.success(), "{command:?}");
}

/// The text of one function.
fn function<'a>(text: &'a str, name: &str) -> &'a str {
    let mut functions = text.split("\ndefine ").skip(1);
    let is_named = |function: &&str| {
        function
            .lines()
            .next()
            .is_some_and(|line| line.contains(&format!("@{name}(")))
    };
    let function = functions.find(is_named).expect("the function");
    function.split("\n}").next().expect("a body")
}

/// The text of one function and of all that its hooks were moved to.
fn with_cold_functions(text: &str, name: &str) -> String {
    let is_cold = |function: &&str| {
        let first = function.lines().next();
        first.is_some_and(|line| line.contains("@nm.slow"))
    };
    let cold = text.split("\ndefine ").skip(1).filter(is_cold);
    let cold: String = cold
        .filter_map(|function| function.split("\n}").next())
        .collect();
    format!("{}{cold}", function(text, name))
}
