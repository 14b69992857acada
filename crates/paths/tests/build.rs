//! Programs made of real C files: harnesses of other tools, and what nobody defines.

mod support;

use std::fs;

use nearmiss_paths::build::{build, twin};
use support::{Place, request};

const KLEE: &str = r#"
#include <klee/klee.h>
#include <assert.h>
#include <stdio.h>
int twice(int x);
int main(void)
{
    int x;
    klee_make_symbolic(&x, sizeof x, "x");
    klee_assume(x < 1000);
    assert(twice(x) == 2 * x);
    puts(__FILE__);
    return 0;
}
"#;

#[test]
fn a_harness_of_another_tool_is_built_as_it_is() {
    let place = Place::with(&[
        ("klee.c", KLEE),
        ("twice.c", "int twice(int x) { return x + x; }"),
    ]);
    let programs = place.build(&["klee.c", "twice.c"], &[], None).unwrap();
    assert_eq!(programs.function, "main");
    assert!(programs.plan.is_none() && programs.undefined.is_empty());
    assert_eq!(programs.source, place.path("klee.c"));
    let output = place.shell(&programs.recording.display().to_string());
    assert!(output.status.success());
    let twin = twin(&programs).unwrap();
    let output = place.shell(&twin.program.display().to_string());
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn files_are_named_as_the_user_named_them() {
    // Tests run in the directory of their crate.
    let place = Place::with(&[]);
    let mut sources = place.sources(&[], &[]);
    sources.files = vec!["tests/c/named.c".into()];
    let programs = build(&sources, None, &place.path("out")).unwrap();
    let output = place.shell(&programs.recording.display().to_string());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text, "tests/c/named.c tests/c/named.h\n");
    let info = nearmiss_twin::inspect(&programs.recording, &[]).unwrap();
    assert!(
        format!("{info:?}").contains("\"tests/c/named.c\""),
        "{info:?}"
    );
}

#[test]
fn errors_are_clangs_own_and_hint_at_the_words_behind_the_dashes() {
    let place = Place::with(&[
        ("a.c", "#include <nothere.h>\nint f(int x) { return x; }"),
        ("b.c", "int f(int x) { return x }"),
        ("inc/nothere.h", ""),
    ]);
    let error = place.build(&["a.c"], &[], None).unwrap_err();
    assert!(error.contains("'nothere.h' file not found"), "{error}");
    assert!(error.contains("-- -I"), "{error}");
    let error = place.build(&["b.c"], &[], None).unwrap_err();
    assert!(error.contains("b.c:1:24: error: expected ';'"), "{error}");
    let include = format!("-I{}", place.path("inc").display());
    let error = place.build(&["a.c"], &[&include], None).unwrap_err();
    assert!(error.contains("a.c has f"), "{error}");
    let error = place
        .build(&["a.c"], &[&include], Some(&request("ff")))
        .unwrap_err();
    assert!(
        error.contains("defines no function ff; there is f"),
        "{error}"
    );
    let error = place.build(&["c.c"], &[], None).unwrap_err();
    assert!(error.contains("no such file"), "{error}");
}

#[test]
fn a_variable_that_the_harness_of_another_tool_misses_is_an_error() {
    let place = Place::with(&[
        (
            "main.c",
            "extern int level; int main(void) { return level; }",
        ),
        ("other.c", "extern int level;\nint level = 3;\n"),
    ]);
    let error = place.build(&["main.c"], &[], None).unwrap_err();
    assert!(error.contains("the variable level"), "{error}");
    assert!(error.contains("other.c"), "{error}");
    assert!(place.build(&["main.c", "other.c"], &[], None).is_ok());
}

#[test]
fn variables_that_nobody_defines_are_made() {
    let text = "extern int level; extern const short limits[3]; extern int rows[];\n\
                extern _Thread_local long own; extern struct hidden hidden; void use(void *);\n\
                int f(int i) { use(&hidden); return level + limits[1] + rows[i & 7] + (int)own; }\n\
                int unused(void) { extern int never; return never; }\n";
    let place = Place::with(&[
        ("f.c", text),
        ("other.c", "extern int level;\nint level = 3;\n"),
    ]);
    let programs = place.build(&["f.c"], &[], Some(&request("f"))).unwrap();
    let undefined = &programs.undefined;
    assert_eq!(undefined.functions, ["use"]);
    assert_eq!(undefined.variables, ["level", "limits"]);
    assert_eq!(undefined.of_threads, ["own"]);
    assert_eq!(undefined.storage, ["hidden", "never", "rows"]);
    let notes = programs.notes.join("\n");
    assert!(
        notes.contains("`level`: it is zero") && notes.contains("other.c"),
        "{notes}"
    );
    assert!(
        notes.contains("`rows`, and nothing says how large"),
        "{notes}"
    );
    assert!(!notes.contains("never"), "{notes}");
    assert!(twin(&programs).is_ok());
    // Named as an input it needs no note.
    let mut wanted = request("f");
    wanted.globals = vec!["level".into()];
    let programs = place.build(&["f.c"], &[], Some(&wanted)).unwrap();
    assert!(!programs.notes.join("").contains("`level`"));
    assert_eq!(
        programs.plan.unwrap().decode(&[]).variables[1].name,
        "level"
    );
    wanted.globals = vec!["depth".into()];
    let error = place.build(&["f.c"], &[], Some(&wanted)).unwrap_err();
    assert!(error.contains("there is no such variable"), "{error}");
}

#[test]
fn old_c_is_welcome() {
    let text = "f(x) int x; { return g(x); }\n g(y) { return y + 1; }\n\
                main() { return f(2) == 3 ? 0 : 1; }";
    for flags in [
        vec![],
        vec!["-std=c89"],
        vec!["-std=c99", "-Werror", "-pedantic-errors"],
    ] {
        let place = Place::with(&[("old.c", text)]);
        let programs = place.build(&["old.c"], &flags, None).unwrap();
        let output = place.shell(&programs.recording.display().to_string());
        assert!(output.status.success());
    }
}

#[test]
fn words_come_from_the_list_of_the_build_system() {
    let place = Place::with(&[
        (
            "src/a.c",
            "#include \"a.h\"\nint main(void) { return A - WANTED; }",
        ),
        ("inc/a.h", "#define A 4"),
    ]);
    fs::create_dir(place.path("obj")).unwrap();
    let list = format!(
        r#"[{{"directory": "{}", "file": "../src/a.c", "arguments":
           ["gcc", "-O2", "-fconserve-stack", "-DWANTED=5", "-I../inc", "-c", "../src/a.c", "-o", "a.o"]}}]"#,
        place.path("obj").display()
    );
    fs::write(place.path("list.json"), list).unwrap();
    let mut sources = place.sources(&["src/a.c"], &["-UWANTED", "-DWANTED=4"]);
    sources.compile_commands = Some(place.path("list.json"));
    let programs = build(&sources, None, &place.path("out")).unwrap();
    assert!(programs.notes[0].contains("-fconserve-stack"));
    let output = place.shell(&programs.recording.display().to_string());
    assert!(output.status.success());
}

#[test]
fn objects_archives_and_libraries_are_linked() {
    let place = Place::with(&[
        (
            "main.c",
            "#include <math.h>\nint a(int), b(int);\n\
             int main(int n, char **v) { return a(1) + b(2) + (int)floor(n * 1.5) - 31; }",
        ),
        (
            "a.c",
            "int a(int x) { return x + 9; } int main(void) { return 7; }",
        ),
        ("b.c", "int b(int x) { return x + 18; }"),
    ]);
    assert!(
        place
            .shell("cc -c a.c b.c && ar rc libb.a b.o")
            .status
            .success()
    );
    let library = format!("-L{}", place.path("").display());
    let programs = place
        .build(&["main.c", "a.o"], &[&library, "-lb"], None)
        .unwrap();
    let output = place.shell(&programs.recording.display().to_string());
    assert!(output.status.success(), "{output:?}");
    assert!(twin(&programs).is_ok());
}
