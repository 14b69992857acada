//! The driver at work, beside clang: what a build system can notice must be the same.
//!
//! `nearmiss-instrument` is a script that copies its input, the runtime an archive of stubs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nearmiss_cc::{Config, main_with};
use tempfile::TempDir;

const ARGUMENTS: &str = "NEARMISS_TEST_ARGUMENTS";
const HOME: &str = "NEARMISS_TEST_HOME";

/// Not a test: this program again as the driver, so that no other binary has to be built.
#[test]
fn as_driver() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else {
        return;
    };
    let arguments: Vec<_> = (arguments
        .split('\x1f')
        .filter(|word| !word.is_empty())
        .map(Into::into))
    .collect();
    let home = std::env::var_os(HOME).expect("set with the arguments");
    let config = Config::from_lookup(Path::new(&home), |name| std::env::var(name).ok());
    std::process::exit(main_with(&arguments, &config.expect("known checks")));
}

const INSTRUMENT: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
    --input) input=$2; shift ;;
    --output) output=$2; shift ;;
    --options) break ;;
    esac
    shift
done
cp "$input" "$output"
"#;

const RUNTIME: &str = "
__attribute__((weak)) int __real_main(int, char **, char **);
int __wrap_main(int count, char **words, char **variables) { return __real_main(count, words, variables); }
int __nm_hook(int x) { return x; }
#define STUB(name) void __ubsan_handle_##name(void) {}
STUB(type_mismatch_v1) STUB(out_of_bounds) STUB(shift_out_of_bounds) STUB(divrem_overflow)
STUB(add_overflow) STUB(sub_overflow) STUB(mul_overflow) STUB(negate_overflow)
";

/// How the line starts that names what a link has in it without instrumentation.
const NO_COUNTERS: &str = "nearmiss: no counters are in instrumented code: ";
const UNINSTRUMENTED: &str = "nearmiss: without instrumentation: ";

const HELLO: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";

/// A directory to work in, and an installation.
struct Place {
    root: TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        let place = Place {
            root: TempDir::new().unwrap(),
        };
        for directory in ["home", "work", "clang", "tmp"] {
            fs::create_dir(place.path(directory)).unwrap();
        }
        place.write_instrument(INSTRUMENT);
        fs::write(place.path("home/rt.c"), RUNTIME).unwrap();
        let script = "clang-19 -w -fPIC -c rt.c && ar rcs libnearmiss_rt.a rt.o";
        assert!(shell(script, &place.path("home")).status.success());
        for (name, text) in files {
            for side in ["work", "clang"] {
                let path = place.path(side).join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write_instrument(&self, script: &str) {
        let path = self.path("home/nearmiss-instrument");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs the driver.
    fn cc_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        Command::new(std::env::current_exe().unwrap())
            .args(["as_driver", "--exact", "--nocapture", "--quiet"])
            .env(ARGUMENTS, arguments.join("\x1f"))
            .env(HOME, self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .envs(variables.iter().copied())
            .current_dir(self.path("work"))
            .output()
            .unwrap()
    }

    fn cc(&self, arguments: &[&str]) -> Output {
        self.cc_with(arguments, &[])
    }

    /// Runs the driver and clang; they must say the same.
    fn both(&self, arguments: &[&str]) -> Output {
        let ours = self.cc(arguments);
        let theirs = Command::new("clang-19")
            .args(arguments)
            .current_dir(self.path("clang"))
            .output()
            .unwrap();
        // Nothing here is really instrumented, and links say so; nor does anything count.
        let said = text(&ours.stderr);
        let said = said.split_inclusive('\n');
        let said: String = said
            .filter(|line| !line.starts_with(UNINSTRUMENTED) && !line.starts_with(NO_COUNTERS))
            .collect();
        assert_eq!(said, text(&theirs.stderr), "{arguments:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{arguments:?}");
        assert_eq!(self.list("work"), self.list("clang"), "{arguments:?}");
        assert!(self.list("tmp").is_empty(), "temporary files are left");
        ours
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let output = shell("find . -type f | sort", &self.path(directory));
        text(&output.stdout).lines().map(str::to_string).collect()
    }

    fn same(&self, name: &str) -> String {
        let [ours, theirs] =
            ["work", "clang"].map(|side| fs::read_to_string(self.path(side).join(name)).unwrap());
        assert_eq!(ours, theirs, "{name}");
        ours
    }

    fn runs(&self, program: &str) -> String {
        let output = shell(program, &self.path("work"));
        assert!(
            output.status.success(),
            "{program}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shell(script: &str, directory: &Path) -> Output {
    Command::new("sh")
        .args(["-c", script])
        .current_dir(directory)
        .output()
        .unwrap()
}

#[test]
fn objects_are_named_as_clang_names_them() {
    let place = Place::new(&[
        ("a.c", HELLO),
        ("sub/b.c", "int b;\n"),
        ("my dir/c d.c", "int c;\n"),
    ]);
    place.both(&["-c", "a.c"]);
    place.both(&["-O2", "-c", "sub/b.c"]);
    place.both(&["-c", "sub/b.c", "-o", "sub/out.o"]);
    place.both(&["-c", "my dir/c d.c", "-o", "my dir/c d.o"]);
    place.both(&["-c", "a.c", "sub/b.c"]);
    place.both(&["-c", "a.c", "-o", "/dev/null"]);
    assert!(place.list("work").contains(&"./my dir/c d.o".to_string()));
}

#[test]
fn files_of_dependencies_are_clangs() {
    let source = "#include \"x y.h\"\n#include <stdio.h>\nint main(void) { return X; }\n";
    let commands: &[(&[&str], &str)] = &[
        (&["-MD", "-c", "a.c"], "a.d"),
        (&["-MMD", "-c", "a.c", "-o", "sub/b.o"], "sub/b.d"),
        (&["-MMD", "-MP", "-MF", "x.d", "-c", "a.c"], "x.d"),
        (
            &["-MD", "-MT", "t.lo", "-MFx.d", "-c", "a.c", "-o", "a.o"],
            "x.d",
        ),
        (&["-MMD", "-MQ", "a b$.o", "-c", "a.c"], "a.d"),
        (&["-MMD", "-c", "a.c", "-o", "a b.o"], "a b.d"),
        (&["-Wp,-MD,x.d", "-c", "a.c", "-o", "a.o"], "x.d"),
        (&["-Wp,-MMD,x.d,-MT,y", "-c", "a.c", "-o", "a.o"], "a.d"),
        (&["-MMD", "a.c", "-o", "prog"], "prog.d"),
        (&["-MMD", "a.c"], "a.d"),
        (&["-MMD", "a.c", "-o", "sub/prog.x"], "sub/prog.d"),
    ];
    for (arguments, file) in commands {
        let place = Place::new(&[("a.c", source), ("x y.h", "#define X 0\n"), ("sub/x", "")]);
        place.both(arguments);
        assert!(place.same(file).contains("x\\ y.h"), "{arguments:?}");
    }
}

#[test]
fn messages_and_status_are_clangs() {
    let place = Place::new(&[
        ("good.c", HELLO),
        (
            "warn.c",
            "int f(void) { int x; return x; }\nint g(void) { return \"s\"; }\n",
        ),
        ("bad.c", "int f(void) { return y; }\n"),
        (
            "assembler.c",
            "int f(void) { int x; __asm__(\"bogus\"); return x; }\n",
        ),
    ]);
    place.both(&["-c", "good.c", "-fbogus-option"]);
    place.both(&["-Wall", "-c", "warn.c", "-Wno-int-conversion"]);
    place.both(&["-Wall", "-c", "warn.c"]);
    place.both(&["-Wall", "-Werror", "-c", "warn.c"]);
    place.both(&["-c", "bad.c"]);
    place.both(&["-c", "bad.c", "good.c"]);
    place.both(&["bad.c", "good.c", "-o", "prog"]);
    place.both(&["-c", "none.c"]);
    place.both(&["-c", "good.c", "-o", "no/such/dir.o"]);
    place.both(&["-c", "good.c", "-lm", "-Wl,-z,now", "-shared"]);
    place.both(&["-c", "good.c", "-Wbogus-warning"]);
    place.both(&["none.o", "good.o", "-o", "prog"]);
    place.both(&["good.c", "-lno_such_library", "-o", "prog"]);
    place.both(&[]);
    // An error of the assembler comes after the front end's warnings, which are counted apart.
    let output = place.cc(&["-Wall", "-c", "assembler.c"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr)
            .matches("invalid instruction mnemonic 'bogus'")
            .count(),
        1
    );
    assert_eq!(text(&output.stderr).matches("uninitialized").count(), 2);
}

#[test]
fn questions_are_answered_by_clang() {
    let place = Place::new(&[("a.c", HELLO), ("a.s", "nop\n")]);
    for arguments in [
        &["--version"][..],
        &["-dumpmachine"],
        &["-print-search-dirs"],
        &["-E", "a.c"],
        &["-S", "a.c"],
        &["-MM", "a.c"],
        &["-c", "a.s"],
        &["-fsyntax-only", "a.c"],
        &["-c", "a.c", "b.c", "-o", "c.o"],
    ] {
        place.both(arguments);
    }
}

#[test]
fn an_object_goes_to_standard_output() {
    let place = Place::new(&[("a.c", HELLO)]);
    let output = place.both(&["-c", "a.c", "-o", "-"]);
    let is_object = |bytes: &[u8]| bytes == b"\x7fELF";
    assert!(output.stdout.windows(4).any(is_object));
}

#[test]
fn coverage_has_its_notes() {
    let place = Place::new(&[("a.c", HELLO), ("d/b.c", "int b;\n")]);
    place.both(&["--coverage", "-c", "d/b.c", "-o", "d/x.o"]);
    place.both(&["-fprofile-arcs", "-ftest-coverage", "-c", "a.c"]);
    place.both(&["--coverage", "a.c", "d/b.c", "-o", "d/prog"]);
    place.both(&["--coverage", "a.c"]);
    assert!(place.path("work/d/prog-a.gcno").exists());
}

#[test]
fn temporary_files_are_saved() {
    let place = Place::new(&[("a.c", HELLO), ("d/b.c", "int b;\n")]);
    place.both(&["-save-temps", "-c", "a.c"]);
    place.both(&["-save-temps=obj", "-c", "d/b.c", "-o", "d/x.o"]);
    place.both(&["-save-temps", "a.c", "d/b.c", "-o", "prog"]);
    place.both(&["-save-temps=obj", "-O2", "a.c", "-o", "d/prog"]);
    assert!(place.path("work/d/a.s").exists());
    assert_eq!(place.runs("./d/prog"), "hello\n");
}

#[test]
fn what_is_put_aside_or_not_instrumented_is_said_at_the_link() {
    let place = Place::new(&[("a.c", HELLO), ("b.c", "int b;\n"), ("c.cc", "int c;\n")]);
    let sanitizers = "-fsanitize=address,undefined";
    for source in ["b.c", "c.cc"] {
        let compiled = place.cc(&[sanitizers, "-save-temps", "-c", source]);
        assert_eq!(text(&compiled.stderr), "");
    }
    let objects = shell("nm b.o c.o", &place.path("work"));
    assert!(!text(&objects.stdout).contains("asan"));
    let linked = place.cc(&[sanitizers, "a.c", "b.o", "c.o", "-o", "prog"]);
    let said = text(&linked.stderr);
    let aside = format!("nearmiss: put aside: {sanitizers} (");
    assert!(said.starts_with(&aside), "{said}");
    assert!(
        said.ends_with(&format!("{UNINSTRUMENTED}b.o, c.o\n")),
        "{said}"
    );
    assert_eq!(place.runs("./prog"), "hello\n");
    let linked = place.cc(&["a.c", "-x", "c", "-", "-o", "prog"]);
    assert_eq!(text(&linked.stderr), format!("{UNINSTRUMENTED}-\n"));
    let linked = place.cc(&["a.c", "--coverage", "-o", "prog"]);
    assert_eq!(text(&linked.stderr), format!("{NO_COUNTERS}--coverage\n"));
    assert_eq!(place.runs("./prog"), "hello\n");
}

#[test]
fn programs_are_linked() {
    let place = Place::new(&[
        (
            "main.c",
            "#include <stdio.h>\nint f(int), g(int);\nint main(void) { printf(\"%d\\n\", f(1) + g(2)); }\n",
        ),
        ("f.c", "int f(int x) { return x + 10; }\n"),
        ("g.c", "int g(int x) { return x * 100; }\n"),
        (
            "g.s",
            ".globl g\ng: movl $7, %eax\nret\n.section .note.GNU-stack,\"\",@progbits\n",
        ),
        ("line", "-O2 main.c \"f.c\"\n'g.c' -o\tresponse"),
    ]);
    place.both(&["main.c", "f.c", "g.c", "-o", "one"]);
    assert_eq!(place.runs("./one"), "211\n");
    place.both(&["-O2", "-g", "main.c", "f.c", "g.s", "-o", "two"]);
    assert_eq!(place.runs("./two"), "18\n");
    place.both(&["-c", "main.c", "f.c", "g.c"]);
    place.both(&["main.o", "f.o", "g.o"]);
    assert_eq!(place.runs("./a.out"), "211\n");
    place.both(&["-r", "f.o", "g.o", "-o", "fg.o"]);
    place.both(&[
        "main.o",
        "fg.o",
        "-o",
        "three",
        "-Wl,--gc-sections",
        "-static",
        "-s",
    ]);
    assert_eq!(place.runs("./three"), "211\n");
    assert!(place.runs("readelf -SW three").contains(".nearmiss.link"));
    for side in ["work", "clang"] {
        shell("ar rcs libfg.a f.o g.o", &place.path(side));
    }
    place.both(&["main.o", "-L.", "-lfg", "-o", "four"]);
    assert_eq!(place.runs("./four"), "211\n");
    place.both(&["@line"]);
    assert_eq!(place.runs("./response"), "211\n");
}

#[test]
fn shared_libraries_are_linked() {
    let place = Place::new(&[
        (
            "main.c",
            "int f(int);\nint main(void) { return f(1) != 2; }\n",
        ),
        (
            "f.c",
            "int __nm_hook(int) __attribute__((weak));\nint f(int x) { return x + 1; }\nint h(void) { return __nm_hook ? 1 : 0; }\n",
        ),
        ("script", "V1 { global: f; local: *; };\n"),
    ]);
    let script = "-Wl,--version-script=script";
    place.both(&[
        "-fPIC",
        "-shared",
        "f.c",
        "-o",
        "libf.so",
        "-Wl,-soname,libf.so",
        script,
        "-Wl,-z,defs",
    ]);
    let symbols = place.runs("nm -D libf.so");
    assert!(symbols.contains(" T __nm_hook"), "{symbols}");
    assert!(!symbols.contains(" h"), "{symbols}");
    place.both(&["main.c", "-L.", "-lf", "-Wl,-rpath,.", "-o", "prog"]);
    place.runs("./prog");
}

#[test]
fn harnesses_find_our_headers() {
    let place = Place::new(&[(
        "a.c",
        "#include <nearmiss.h>\nint main(void) { return ZERO; }\n",
    )]);
    fs::create_dir(place.path("home/include")).unwrap();
    fs::write(place.path("home/include/nearmiss.h"), "enum { ZERO };\n").unwrap();
    let output = place.cc(&["a.c", "-o", "prog"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    place.runs("./prog");
}

#[test]
fn long_command_lines_work() {
    let place = Place::new(&[("a.c", HELLO)]);
    let definitions: Vec<String> = (0..9000)
        .map(|number| format!("-DNUMBER_{number}={number}"))
        .collect();
    fs::write(place.path("work/line"), definitions.join("\n")).unwrap();
    let output = place.cc(&["@line", "a.c", "-o", "prog"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(place.runs("./prog"), "hello\n");
}

#[test]
fn what_cannot_be_instrumented_is_compiled_plainly() {
    for script in [
        "#!/bin/sh\nexit 3\n",
        "#!/bin/sh\nkill -ABRT $$\n",
        "#!/bin/sh\necho noise >&2; echo bad > \"$4\"\n",
    ] {
        let place = Place::new(&[("a.c", HELLO)]);
        place.write_instrument(script);
        place.both(&["-Wall", "-MMD", "-c", "a.c"]);
        place.both(&["a.c", "-o", "prog"]);
        assert_eq!(place.runs("./prog"), "hello\n");
        let output = place.cc_with(&["-c", "a.c"], &[("NEARMISS_VERBOSE", "1")]);
        assert!(text(&output.stderr).contains("nearmiss: a.c is compiled without instrumentation"));
    }
}

#[test]
fn what_is_missing_is_said() {
    let place = Place::new(&[
        ("a.c", HELLO),
        (
            "old.c",
            "extern char __nm_abi_0; int main(void) { return __nm_abi_0; }\n",
        ),
    ]);
    let output = place.cc_with(&["-c", "a.c"], &[("NEARMISS_CLANG", "/none/clang-19")]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        "nearmiss: cannot find /none/clang-19: install it with: apt-get install clang-19\n"
    );
    let output = place.cc(&["old.c", "-o", "old"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).ends_with("compiled by another version of nearmiss: rebuild it\n")
    );
    fs::remove_file(place.path("home/nearmiss-instrument")).unwrap();
    let output = place.cc(&["-c", "a.c"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("the installation of nearmiss is not complete"));
}
