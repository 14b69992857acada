//! A finding next to a unit test, written as a test function of its own.

use std::fmt::Write;

use nearmiss_results::{BoundaryCall, Finding};

use crate::function::Framework;

/// What stands for an argument that cannot be written down.
const UNKNOWN: &str = "…";

/// The test function, for the framework that the failing test uses unless another is wanted. `source` is the text of the
/// file that the test is in, as far as it is known. `None`: the finding is of no unit test.
pub fn c(found: &Finding, framework: Option<Framework>, source: &str) -> Option<String> {
    if found.test.calls.is_empty() {
        return None;
    }
    let framework = framework.unwrap_or_else(|| used_by(found, source));
    let name = found.id.to_lowercase().replace('-', "_");
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "/* {} {} at {}:{} in {}. */",
        found.id,
        found.kind.name(),
        comment(&found.file),
        found.line,
        found.function
    );
    let mut body = String::new();
    for call in &found.test.calls {
        let _ = write_call(&mut body, call);
    }
    text += match framework {
        // The suite itself is in C++.
        Framework::GoogleTest => format!("TEST(nearmiss, {name})\n{{\n{body}}}\n"),
        framework => framework.test(&name, &body),
    }
    .trim_start();
    Some(text)
}

/// One call of the test. Where something of it cannot be written down, the test's own line has it.
fn write_call(body: &mut String, call: &BoundaryCall) -> std::fmt::Result {
    let arguments = match call.failing.is_empty() {
        true => &call.arguments,
        false => &call.failing,
    };
    let is_whole = !arguments.iter().any(|argument| argument.contains(UNKNOWN));
    let written = format!("{}({});", call.function, arguments.join(", "));
    if is_whole {
        return writeln!(body, "    {written}");
    }
    let (file, line) = (comment(&call.file), call.line);
    writeln!(
        body,
        "    /* as in {}, {file}:{line}, with what it has for {UNKNOWN}: */",
        call.caller
    )?;
    writeln!(body, "    /* {} */", comment(&written))
}

/// Text that does not end a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /")
}

/// The framework that ran the test, by the header that its file includes or by the functions that called it.
fn used_by(found: &Finding, source: &str) -> Framework {
    let headers = [
        ("cmocka.h", Framework::Cmocka),
        ("unity.h", Framework::Unity),
        ("unity/unity.h", Framework::Unity),
        ("check.h", Framework::Check),
        ("gtest/gtest.h", Framework::GoogleTest),
    ];
    let includes = |header: &str| {
        let mut lines = source.lines().map(str::trim_start);
        lines.any(|line| {
            let rest = line.strip_prefix("#include").unwrap_or_default();
            let name = rest.trim().trim_matches(['<', '>', '"']);
            name == header
        })
    };
    if let Some((_, framework)) = headers.into_iter().find(|(header, _)| includes(header)) {
        return framework;
    }
    let is_called_by = |prefix: &str| {
        let mut stack = found.stack.iter();
        stack.any(|frame| frame.function.starts_with(prefix))
    };
    let known = [
        ("Unity", Framework::Unity),
        ("_cmocka", Framework::Cmocka),
        ("cmocka", Framework::Cmocka),
        ("srunner", Framework::Check),
        ("tcase", Framework::Check),
        ("testing::", Framework::GoogleTest),
    ];
    let used = known.into_iter().find(|(prefix, _)| is_called_by(prefix));
    used.map_or(Framework::Plain, |(_, framework)| framework)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_results::{Frame, Test};

    fn finding(caller: &str) -> Finding {
        let call = |number: u64, arguments: &[&str], failing: &[&str]| BoundaryCall {
            number,
            function: "count".into(),
            caller: "test_count".into(),
            file: "test.c".into(),
            line: 9,
            arguments: arguments.iter().map(|it| it.to_string()).collect(),
            failing: failing.iter().map(|it| it.to_string()).collect(),
            bare: None,
        };
        let calls = vec![
            call(3, &["\"[7]\"", "3"], &["\"[7\"", "2"]),
            call(4, &["…", "1"], &[]),
        ];
        let mut finding = Finding::new(Test {
            calls,
            ..Test::default()
        });
        (finding.id, finding.file, finding.line) = ("NM-2".into(), "json.c".into(), 5);
        finding.function = "count".into();
        finding.stack = vec![Frame {
            function: caller.into(),
            ..Frame::default()
        }];
        finding
    }

    #[test]
    fn calls_become_a_test_of_the_suites_own_framework() {
        let text = c(&finding("UnityDefaultTestRun"), None, "").unwrap();
        assert!(text.contains("crash at json.c:5 in count"), "{text}");
        assert!(text.contains("void") && text.contains("nm_2"), "{text}");
        assert!(text.contains("    count(\"[7\", 2);\n"), "{text}");
        assert!(text.contains("/* count(…, 1); */"), "{text}");
        let check = c(
            &finding("main"),
            None,
            "int x;\n# include <check.h>\n#include <check.h>",
        )
        .unwrap();
        assert!(check.contains("START_TEST"), "{check}");
        assert_eq!(c(&Finding::new(Test::default()), None, ""), None);
    }
}
