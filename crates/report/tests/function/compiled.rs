//! The generated C files compile without a warning, with gcc and with clang, and pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nearmiss_report::function::Framework;
use nearmiss_report::function::files::{Format, files};
use nearmiss_results::FunctionReport;

use crate::random::Inventor;
use crate::{here, options, reports};

/// A directory of its own, which goes when the test ends.
struct Workplace(PathBuf);

impl Workplace {
    fn new(name: &str) -> Workplace {
        let name = format!("nearmiss-report-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(path.join("out")).unwrap();
        Workplace(path)
    }

    /// The tests of a report, and the source that they include by its relative path.
    fn write(&self, report: &FunctionReport, framework: Framework) -> PathBuf {
        let source = here().join("c").join(&report.file);
        self.write_with(&fs::read_to_string(source).unwrap(), report, framework)
    }

    fn write_with(&self, text: &str, report: &FunctionReport, framework: Framework) -> PathBuf {
        fs::create_dir_all(self.0.join("c")).unwrap();
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

const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror", "-O1", "-g"];

/// Compiles and runs the tests of all reports with every compiler.
fn compiled(framework: Framework, extra: &[&str], compilers: &[&str]) -> Vec<String> {
    let mut said = Vec::new();
    for compiler in compilers {
        let place = Workplace::new(&format!("{}-{compiler}", framework.name()));
        for report in reports::all() {
            let source = place.write(&report, framework);
            let program = source.with_extension("");
            let mut command = Command::new(compiler);
            command
                .args(STRICT)
                .arg(&source)
                .args(extra)
                .arg("-o")
                .arg(&program);
            command.args(framework.libraries_of_debian());
            succeed(&mut command);
            // What a function makes and gives back is nobody's leak.
            let mut run = Command::new(&program);
            let output = succeed(run.env("ASAN_OPTIONS", "detect_leaks=0"));
            said.push(String::from_utf8_lossy(&output.stdout).into_owned());
        }
    }
    said
}

trait Libraries {
    fn libraries_of_debian(self) -> &'static [&'static str];
}

impl Libraries for Framework {
    fn libraries_of_debian(self) -> &'static [&'static str] {
        match self {
            Framework::Cmocka => &["-lcmocka"],
            Framework::Check => &["-lcheck", "-lsubunit", "-lm", "-lrt", "-lpthread"],
            _ => &[],
        }
    }
}

#[test]
fn plain() {
    let said = compiled(Framework::Plain, &[], &["gcc", "clang-19"]);
    assert!(
        said.contains(&"4 of 4 tests passed\n".to_string()),
        "{said:?}"
    );
    // Those that are known to fail are not run.
    assert!(
        said.contains(&"2 of 2 tests passed\n".to_string()),
        "{said:?}"
    );
}

#[test]
fn plain_with_sanitizers() {
    let flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    compiled(Framework::Plain, &flags, &["clang-19"]);
}

#[test]
fn cmocka() {
    compiled(Framework::Cmocka, &[], &["gcc", "clang-19"]);
}

#[test]
fn check() {
    compiled(Framework::Check, &[], &["gcc", "clang-19"]);
}

/// Unity is no package of Debian: its documented macros, in a header of ours.
#[test]
fn unity() {
    let include = format!("-I{}", here().join("unity").display());
    let said = compiled(Framework::Unity, &[&include], &["gcc", "clang-19"]);
    assert!(
        said.contains(&"4 Tests 0 Failures 0 Ignored\nOK\n".to_string()),
        "{said:?}"
    );
}

/// The C half of all reports with both compilers; the C++ half, which takes long, of two.
#[test]
fn google_test() {
    let place = Workplace::new("gtest");
    for report in reports::all() {
        let source = place.write(&report, Framework::GoogleTest);
        let object = source.with_extension("o");
        for compiler in ["clang-19", "gcc"] {
            let mut command = Command::new(compiler);
            command.args(STRICT).arg("-c").arg(&source);
            succeed(command.arg("-o").arg(&object));
        }
        if ["upper", "merge"].contains(&report.function.as_str()) {
            let program = source.with_extension("");
            let mut command = Command::new("g++");
            command.args(STRICT).arg(source.with_extension("cc"));
            command.arg(&object).arg("-o").arg(&program);
            succeed(command.args(["-lgtest_main", "-lgtest", "-lpthread"]));
            succeed(&mut Command::new(&program));
        }
    }
}

fn run_with_failures(framework: Framework, path: &Path) -> Output {
    let program = path.with_extension("");
    let mut command = Command::new("gcc");
    command
        .args(STRICT)
        .arg("-DNEARMISS_KNOWN_FAILURES=1")
        .arg(path);
    command
        .arg("-o")
        .arg(&program)
        .args(framework.libraries_of_debian());
    succeed(&mut command);
    Command::new("timeout")
        .arg("20")
        .arg(&program)
        .output()
        .unwrap()
}

#[test]
fn known_failures_fail_when_they_are_wanted() {
    let place = Workplace::new("failures");
    let path = place.write(&reports::text(), Framework::Plain);
    let output = run_with_failures(Framework::Plain, &path);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        said,
        "test_upper_3 failed\ntest_upper_5 failed\n3 of 5 tests passed\n"
    );
    assert!(!output.status.success());
}

/// Another result than the observed one is noticed, in each framework.
#[test]
fn tests_can_fail() {
    let place = Workplace::new("wrong");
    for framework in [Framework::Plain, Framework::Cmocka, Framework::Check] {
        let path = place.write(&reports::merge(), framework);
        let source = place.0.join("c/merge.c");
        let text = fs::read_to_string(&source).unwrap();
        fs::write(&source, text.replace("t1[i] < t2[j]", "t1[i] > t2[j]")).unwrap();
        let output = run_with_failures(framework, &path);
        assert!(!output.status.success(), "{framework:?}");
    }
}

#[test]
fn random_values_come_back() {
    let place = Workplace::new("random");
    for seed in 1..=20 {
        let (source, report) = Inventor::new(seed).function();
        let framework = Framework::ALL[seed as usize % 4];
        let path = place.write_with(&source, &report, framework);
        let program = path.with_extension("");
        let mut command = Command::new(["gcc", "clang-19"][seed as usize / 4 % 2]);
        command.args(STRICT).arg(&path).arg("-o").arg(&program);
        command.arg(format!("-I{}", here().join("unity").display()));
        succeed(command.args(framework.libraries_of_debian()));
        succeed(&mut Command::new(&program));
    }
}
