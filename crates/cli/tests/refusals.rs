//! What cannot be done is said in one clear line, with status 2.

use std::path::Path;
use std::process::{Command, Output};

fn nearmiss(directory: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nearmiss"))
        .args(line.split_whitespace())
        .current_dir(directory)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("nearmiss starts")
}

/// Each command line, and a part of what is said about it.
const REFUSALS: &[(&str, &str)] = &[
    ("run -- ./no-such-program", "no such program"),
    (
        "run -- no-such-program-in-path",
        "no-such-program-in-path: no such program",
    ),
    (
        "run -- /bin/true",
        "not built by nearmiss: rebuild it with CC=\"nearmiss cc\"",
    ),
    ("run -- ./script", "not a 64-bit ELF program"),
    (
        "test --format json -- ./no-such-command",
        "./no-such-command: cannot be started",
    ),
    (
        "test --format json -- true",
        "ran no program that was built by nearmiss",
    ),
    ("show", "no report here"),
    ("show --dir /no/such/place", "no report here"),
    ("report --format json", "no report here"),
    ("replay NM-1", "no report here"),
    ("report --function f", "nearmiss explore makes one"),
    ("explore none.c", "none.c: No such file"),
    (
        "explore script --function f --tests script",
        "script was not written by nearmiss",
    ),
    (
        "explore script --function f --sizes none",
        "none: No such file",
    ),
    ("trace dump script", "not a nearmiss trace"),
    ("trace dump missing", "missing: No such file"),
];

#[test]
fn refusals_are_one_line_and_status_2() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("script"), "#!/bin/sh\n").unwrap();
    for (line, expected) in REFUSALS {
        let output = nearmiss(directory.path(), line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(
            said.starts_with("nearmiss: ") && said.contains(expected),
            "{line}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{line}: {said}");
        assert!(output.stdout.is_empty(), "{line}");
    }
}

#[test]
fn mistakes_in_the_command_line_have_status_2() {
    let directory = tempfile::tempdir().unwrap();
    for line in [
        "",
        "frobnicate",
        "run",
        "run --time soon -- x",
        "run --checks all -- x",
        "test",
        "test --disk much -- x",
        "explore",
        "explore x.c --size t=4",
        "explore x.c --function f --size t",
    ] {
        assert_eq!(
            nearmiss(directory.path(), line).status.code(),
            Some(2),
            "{line}"
        );
    }
}

#[test]
fn reports_of_other_versions_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join(".nearmiss")).unwrap();
    std::fs::write(
        directory.path().join(".nearmiss/report.json"),
        r#"{"version":99}"#,
    )
    .unwrap();
    let output = nearmiss(directory.path(), "show");
    assert!(String::from_utf8_lossy(&output.stderr).contains("report version 99"));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn help_teaches_by_example() {
    let directory = tempfile::tempdir().unwrap();
    let explore = nearmiss(directory.path(), "explore --help");
    assert_eq!(explore.status.code(), Some(0));
    let said = String::from_utf8_lossy(&explore.stdout).into_owned();
    assert!(said.contains("nearmiss explore tritype.c --function tritype"));
    for line in ["--help", "run --help"] {
        let output = nearmiss(directory.path(), line);
        assert_eq!(output.status.code(), Some(0));
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("nearmiss run -- ./packet packet.bin")
        );
    }
}
