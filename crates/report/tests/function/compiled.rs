//! The generated C files compile without a warning, with gcc and with clang, and pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nearmiss_report::function::Framework;
use nearmiss_report::function::files::{Format, files};
use nearmiss_results::FunctionReport;

use crate::random::Inventor;
use crate::{here, options, reports};

const COMPILERS: [&str; 2] = ["gcc", "clang-19"];
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror", "-O1", "-g"];

/// A directory of its own, which goes when the test ends.
struct Workplace(PathBuf);

impl Workplace {
    fn new(name: &str) -> Workplace {
        let name = format!("nearmiss-report-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(path.join("out")).unwrap();
        fs::create_dir_all(path.join("c")).unwrap();
        Workplace(path)
    }

    /// The tests of a report, and the source that they include by its relative path.
    fn write(&self, report: &FunctionReport, framework: Framework) -> PathBuf {
        let source = here().join("c").join(&report.file);
        self.write_with(&fs::read_to_string(source).unwrap(), report, framework)
    }

    fn write_with(&self, text: &str, report: &FunctionReport, framework: Framework) -> PathBuf {
        fs::write(self.0.join("c").join(&report.file), text).unwrap();
        let files = files(report, Format::C(framework), &options(report));
        for file in &files {
            fs::write(self.0.join("out").join(&file.name), &file.bytes).unwrap();
        }
        self.0.join("out").join(&files[0].name)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("the command starts");
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Compiles a test file. Unity is no package of Debian: a header of ours has its documented macros.
fn build(framework: Framework, source: &Path, compiler: &str, extra: &[&str]) -> PathBuf {
    let program = source.with_extension("");
    let mut command = Command::new(compiler);
    command.args(STRICT).args(extra).arg(source);
    command.arg(format!("-I{}", here().join("unity").display()));
    if framework == Framework::GoogleTest {
        let object = source.with_extension("o");
        succeed(command.arg("-c").arg("-o").arg(&object));
        command = Command::new("g++");
        command.args(STRICT).arg(source.with_extension("cc"));
        command.arg(object);
    }
    command.arg("-o").arg(&program).args(match framework {
        Framework::Cmocka => &["-lcmocka"][..],
        Framework::Check => &["-lcheck", "-lsubunit", "-lm", "-lrt", "-lpthread"],
        Framework::GoogleTest => &["-lgtest_main", "-lgtest", "-lpthread"],
        Framework::Plain | Framework::Unity => &[],
    });
    succeed(&mut command);
    program
}

/// Compiles and runs the tests of all reports; what they say.
fn pass(framework: Framework, extra: &[&str], compilers: &[&str]) -> Vec<String> {
    let mut said = Vec::new();
    for compiler in compilers {
        let place = Workplace::new(&format!("{}-{compiler}-{}", framework.name(), extra.len()));
        for report in reports::all() {
            let source = place.write(&report, framework);
            let program = build(framework, &source, compiler, extra);
            // What a function makes and gives back is nobody's leak.
            let mut run = Command::new(&program);
            let output = succeed(run.env("ASAN_OPTIONS", "detect_leaks=0"));
            said.push(String::from_utf8_lossy(&output.stdout).into_owned());
        }
    }
    said
}

#[test]
fn plain() {
    let said = pass(Framework::Plain, &[], &COMPILERS);
    assert!(
        said.contains(&"4 of 4 tests passed\n".to_string()),
        "{said:?}"
    );
    // Of five, three are known to fail.
    assert!(
        said.contains(&"2 of 2 tests passed\n".to_string()),
        "{said:?}"
    );
}

#[test]
fn plain_with_sanitizers() {
    let flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    pass(Framework::Plain, &flags, &["clang-19"]);
}

#[test]
fn cmocka() {
    pass(Framework::Cmocka, &[], &COMPILERS);
}

#[test]
fn check() {
    pass(Framework::Check, &[], &COMPILERS);
}

#[test]
fn unity() {
    let said = pass(Framework::Unity, &[], &COMPILERS);
    let passed = "1 Tests 0 Failures 0 Ignored\nOK\n".repeat(4);
    assert!(said.contains(&passed), "{said:?}");
}

/// The C++ half takes long: two reports.
#[test]
fn google_test() {
    let place = Workplace::new("gtest");
    for (report, compiler) in [reports::text(), reports::shapes()].iter().zip(COMPILERS) {
        let source = place.write(report, Framework::GoogleTest);
        succeed(&mut Command::new(build(
            Framework::GoogleTest,
            &source,
            compiler,
            &[],
        )));
    }
}

#[test]
fn known_failures_fail_when_they_are_wanted() {
    let place = Workplace::new("failures");
    let source = place.write(&reports::text(), Framework::Plain);
    let flags = ["-DNEARMISS_KNOWN_FAILURES=1"];
    let program = build(Framework::Plain, &source, "gcc", &flags);
    let output = Command::new(program).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "test_upper_3 failed\ntest_upper_5 failed\n3 of 5 tests passed\n"
    );
    assert!(!output.status.success());
}

/// What a function leaves in its own variables does not reach the next test; another result than
/// the observed one is noticed.
#[test]
fn tests_are_apart_and_can_fail() {
    let place = Workplace::new("state");
    let report = reports::state();
    for framework in Framework::ALL {
        let source = place.write(&report, framework);
        succeed(&mut Command::new(build(framework, &source, "gcc", &[])));
        let wrong = ["-Dincrement=2"];
        let output = Command::new(build(framework, &source, "gcc", &wrong)).output();
        assert!(!output.unwrap().status.success(), "{framework:?}");
    }
}

#[test]
fn random_values_come_back() {
    let place = Workplace::new("random");
    for seed in 1..=20 {
        let (text, report) = Inventor::new(seed).function();
        let framework = Framework::ALL[seed as usize % 4];
        let source = place.write_with(&text, &report, framework);
        let compiler = COMPILERS[seed as usize / 4 % 2];
        succeed(&mut Command::new(build(framework, &source, compiler, &[])));
    }
}
