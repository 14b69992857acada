//! Twins of programs whose sections are made by hand: clang's own bitcode, framed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nearmiss_abi::site::{LINK_SECTION, SITES_SECTION, TWIN_SECTION};
use nearmiss_sites::{Link, Twin, Unit, frame};
use nearmiss_twin::{Config, Judge, TwinError, TwinProgram, build, inspect};
use tempfile::TempDir;

/// A directory with programs that say about themselves what `nearmiss cc` would have them say.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Place {
        Place {
            root: TempDir::new().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn shell(&self, script: &str) -> Output {
        let output = Command::new("sh")
            .args(["-ec", script])
            .current_dir(self.root.path())
            .output();
        let output = output.unwrap();
        assert!(
            output.status.success(),
            "{script}: {}",
            text(&output.stderr)
        );
        output
    }

    /// An "instrumented" object: plain code, with the sections.
    fn object(&self, name: &str, source: &str, functions: &[&str], number: u64) {
        fs::write(self.path(&format!("{name}.c")), source).unwrap();
        self.shell(&format!(
            "clang-19 -g -O1 -fPIC -fsanitize=address,signed-integer-overflow -Xclang -disable-llvm-passes \
             -emit-llvm -c {name}.c -o {name}.bc; clang-19 -fPIC -c {name}.c -o {name}.plain.o"
        ));
        let unit = Unit {
            hash: number,
            source: format!("{name}.c"),
            functions: functions.iter().map(|name| name.to_string()).collect(),
            ..Unit::default()
        };
        let twin = Twin {
            command: Vec::new(),
            unit: number,
            bitcode: fs::read(self.path(&format!("{name}.bc"))).unwrap(),
            options: vec!["-fPIC".to_string()],
            keeps_allocations: false,
        };
        let sections = [
            (SITES_SECTION, frame::write(&unit)),
            (TWIN_SECTION, frame::write(&twin)),
        ];
        self.frames(name, &sections);
        self.shell(&format!("ld -r {name}.plain.o {name}.frames.o -o {name}.o"));
    }

    fn frames(&self, name: &str, sections: &[(&str, Vec<u8>)]) {
        let mut assembly = String::from(".section .note.GNU-stack,\"\",@progbits\n");
        for (section, bytes) in sections {
            let file = self.path(&format!("{name}{section}"));
            fs::write(&file, bytes).unwrap();
            assembly += &format!(
                ".section {section},\"R\",@progbits\n.incbin \"{}\"\n",
                file.display()
            );
        }
        fs::write(self.path(&format!("{name}.frames.s")), assembly).unwrap();
        self.shell(&format!("clang-19 -c {name}.frames.s -o {name}.frames.o"));
    }

    /// Links `arguments` into `name`, which records `recorded`.
    fn link(&self, name: &str, arguments: &str, recorded: &str, shared: bool) {
        let root = self.root.path().to_string_lossy().into_owned();
        let link = Link {
            directory: root.clone(),
            arguments: recorded
                .replace("$R", &root)
                .split_whitespace()
                .map(str::to_string)
                .collect(),
            shared,
        };
        let frame_name = format!("{name}.link");
        self.frames(&frame_name, &[(LINK_SECTION, frame::write(&link))]);
        self.shell(&format!(
            "clang-19 {arguments} {frame_name}.frames.o -o {name}"
        ));
    }

    fn build(&self, program: &str, libraries: &[&str]) -> Result<TwinProgram, TwinError> {
        let libraries: Vec<PathBuf> = libraries.iter().map(|name| self.path(name)).collect();
        build(
            &self.path(program),
            &libraries,
            Judge::Address,
            &self.path("out"),
            &self.config(),
        )
    }

    fn config(&self) -> Config {
        Config {
            clang: "clang-19".into(),
            library_directory: self.path("home"),
            units: self.path("units"),
            jobs: 2,
            quick: false,
        }
    }
}

fn run(twin: &TwinProgram, arguments: &[&str]) -> Output {
    let mut command = Command::new(&twin.program);
    command
        .args(arguments)
        .env("ASAN_OPTIONS", "detect_leaks=0");
    if let Some(path) = &twin.library_path {
        command.env("LD_LIBRARY_PATH", path);
    }
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const OVERFLOW: &str = "#include <stdlib.h>
int helper(int);
int main(int argc, char **argv) {
    char *bytes = malloc(4);
    bytes[helper(argc)] = 1;
    volatile int sum = 2147483647;
    sum = sum + argc;
    free(bytes);
    return 0;
}
";

#[test]
fn a_twin_sees_what_the_program_does_wrong() {
    let place = Place::new();
    place.object("main", OVERFLOW, &["main"], 1);
    place.object(
        "model",
        "int __nm_model_x(void) { extern int __nm_y(void); return __nm_y(); }",
        &["__nm_model_x"],
        2,
    );
    place.shell(
        "echo 'int helper(int n) { return n + 1; } int __nm_y;' > plain.c; clang-19 -c plain.c",
    );
    place.link(
        "prog",
        "main.o model.o plain.o -s -Wl,--gc-sections",
        "$R/plain.o -s -static",
        false,
    );

    let twin = place.build("prog", &[]).unwrap();
    assert_eq!(twin.library_path, None);
    let good = run(&twin, &[]);
    assert!(good.status.success(), "{}", text(&good.stderr));
    assert!(text(&good.stderr).contains("main.c:7:15: runtime error: signed integer overflow"));
    let bad = run(&twin, &["x", "y"]);
    assert!(!bad.status.success());
    assert!(
        text(&bad.stderr).contains("heap-buffer-overflow"),
        "{}",
        text(&bad.stderr)
    );
    assert!(
        text(&bad.stderr).contains("main.c:5"),
        "{}",
        text(&bad.stderr)
    );

    // Nothing changed: nothing is built. Then something did.
    let built = || fs::metadata(&twin.program).unwrap().modified().unwrap();
    let before = built();
    place.build("prog", &[]).unwrap();
    assert_eq!(built(), before);
    place.shell("echo 'int helper(int n) { return 0; }' > plain.c; clang-19 -c plain.c");
    place.build("prog", &[]).unwrap();
    assert_ne!(built(), before);
    assert!(run(&twin, &["x", "y"]).status.success());

    fs::remove_file(place.path("plain.o")).unwrap();
    assert!(matches!(place.build("prog", &[]), Err(TwinError::Gone(_))));
}

/// The optimiser removes a call whose result is not used, and with it the only reason to take a member
/// of an archive. The twin still has the call.
#[test]
fn members_that_only_the_twin_needs_come_from_the_archive() {
    let place = Place::new();
    let main = "\
#if __has_feature(address_sanitizer)
int pure(int);
#define CALL pure(1)
#else
#define CALL 0
#endif
int main(void) { CALL; return 0; }
";
    place.object("main", main, &["main"], 1);
    place.object("pure", "int pure(int n) { return n; }", &["pure"], 2);
    place.shell("ar qcs lib.a pure.o");
    place.link("prog", "main.o lib.a", "$R/lib.a", false);
    let twin = place.build("prog", &[]).unwrap();
    assert!(run(&twin, &[]).status.success());
}

/// Two programs at once, with a unit in common: it is compiled once, and nothing is left lying.
#[test]
fn programs_share_their_units() {
    let place = Place::new();
    place.object("helper", "int helper(int n) { return n; }", &["helper"], 1);
    for (name, status, unit) in [("one", 1, 2), ("two", 2, 3)] {
        let source = format!("int helper(int); int main(void) {{ return helper({status}); }}");
        place.object(name, &source, &["main"], unit);
        place.link(
            &format!("{name}.prog"),
            &format!("{name}.o helper.o"),
            "",
            false,
        );
    }
    let make = |name: &str| {
        let program = place.path(&format!("{name}.prog"));
        let twin = build(
            &program,
            &[],
            Judge::Address,
            &place.path(name),
            &place.config(),
        )
        .unwrap();
        run(&twin, &[]).status.code()
    };
    let (one, two) = std::thread::scope(|scope| {
        let other = scope.spawn(|| make("two"));
        (make("one"), other.join().unwrap())
    });
    assert_eq!((one, two), (Some(1), Some(2)));
    let kept = || {
        let entries = fs::read_dir(place.path("units"))
            .unwrap()
            .map(|entry| entry.unwrap());
        let row =
            |entry: fs::DirEntry| (entry.path(), entry.metadata().unwrap().modified().unwrap());
        entries
            .map(row)
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let before = kept();
    assert_eq!(before.len(), 3, "{before:?}");
    assert!(
        before
            .keys()
            .all(|path| path.extension().is_some_and(|end| end == "o"))
    );
    // A third program that has nothing new.
    let program = place.path("one.prog");
    build(
        &program,
        &[],
        Judge::Address,
        &place.path("three"),
        &place.config(),
    )
    .unwrap();
    assert_eq!(kept(), before);
}

#[test]
fn archives_lose_their_instrumented_members_only() {
    let place = Place::new();
    place.object("main", OVERFLOW, &["main"], 1);
    place.object(
        "helper",
        "int other(int); int helper(int n) { return other(n) + 1; }",
        &["helper"],
        2,
    );
    place.shell(
        "echo 'int other(int n) { return n; }' > other.c; clang-19 -c other.c
         ar rcs libhelp.a helper.o other.o; ar rcsT thin.a other.o",
    );
    let recorded = "-L$R -Wl,--whole-archive -lhelp -Wl,--no-whole-archive $R/thin.a";
    place.link("prog", "main.o -L. -lhelp", recorded, false);
    let twin = place.build("prog", &[]).unwrap();
    assert!(run(&twin, &[]).status.success());
    assert!(text(&run(&twin, &["x", "y"]).stderr).contains("heap-buffer-overflow"));
}

#[test]
fn shared_libraries_have_twins() {
    let place = Place::new();
    place.object("main", OVERFLOW, &["main"], 1);
    place.object(
        "helper",
        "int helper(int n) { int a[2] = {0}; a[n] = 3; return a[0]; }",
        &["helper"],
        2,
    );
    let recorded = "-shared -fPIC -Wl,-soname,libhelp.so.1 -Wl,-z,defs";
    place.link(
        "libhelp.so",
        "-shared helper.o -Wl,-soname,libhelp.so.1",
        recorded,
        true,
    );
    place.shell("ln -s libhelp.so libhelp.so.1");
    place.link(
        "prog",
        "main.o -L. -lhelp -Wl,-rpath,.",
        "-L$R -lhelp -Wl,-rpath,$R",
        false,
    );

    let twin = place.build("prog", &["libhelp.so.1"]).unwrap();
    assert!(
        twin.library_path
            .as_ref()
            .unwrap()
            .join("libhelp.so.1")
            .exists()
    );
    assert!(run(&twin, &[]).status.success());
    let bad = run(&twin, &["x"]);
    assert!(
        text(&bad.stderr).contains("stack-buffer-overflow"),
        "{}",
        text(&bad.stderr)
    );
    let info = inspect(&place.path("prog"), &[place.path("libhelp.so")]).unwrap();
    assert!(info.instrumented);
    assert_eq!(info.sites.units().count(), 2);
    assert_eq!(info.libraries.len(), 1);
}

#[test]
fn harness_functions_are_linked() {
    let place = Place::new();
    let source = "void nearmiss_symbolic(void *, unsigned long, const char *);
                  int main(void) { int x = 1; nearmiss_symbolic(&x, sizeof x, \"x\"); return x; }";
    place.object("main", source, &["main"], 1);
    // What twins are linked with by `--wrap` is taken from the archive, too.
    let libc = concat!(env!("CARGO_MANIFEST_DIR"), "/../../libc");
    place.shell(&format!(
        "mkdir home
         echo 'void nearmiss_symbolic(int *p) {{ *p = 0; }} int __nm_replay_row(void) {{ return 0; }}' > replay.c
         echo 'int __real_main(int, char **); int __wrap_main(int c, char **v) {{ return __real_main(c, v); }}' > wrap.c
         clang-19 -c replay.c wrap.c {libc}/flow.c {libc}/chance.c
         ar rcs home/libnearmiss_replay.a replay.o wrap.o flow.o chance.o",
    ));
    place.link("prog", "main.o replay.o", "", false);
    assert!(
        run(&place.build("prog", &[]).unwrap(), &[])
            .status
            .success()
    );
}

#[test]
fn what_is_wrong_is_said() {
    let place = Place::new();
    let say = |name: &str| {
        inspect(&place.path(name), &[])
            .unwrap_err()
            .to_string()
            .replace(&*place.root.path().to_string_lossy(), "")
    };
    assert_eq!(say("none"), "/none: no such file");
    fs::write(place.path("script"), "#!/bin/sh\n").unwrap();
    assert_eq!(say("script"), "/script: not a 64-bit ELF program");
    place.shell("echo 'int main(void) {}' > plain.c; clang-19 plain.c -o plain");
    assert_eq!(
        say("plain"),
        "/plain: not instrumented; build it with CC=\"nearmiss cc\""
    );
    let mut old = frame::write(&Unit::default());
    old[8] += 1;
    place.frames("old", &[(SITES_SECTION, old)]);
    place.shell("clang-19 plain.c old.frames.o -o old");
    assert!(say("old").contains("rebuild the program"), "{}", say("old"));
    assert!(matches!(
        build(
            &place.path("plain"),
            &[],
            Judge::Address,
            Path::new("/tmp"),
            &place.config()
        ),
        Err(TwinError::NotInstrumented(_))
    ));
}
