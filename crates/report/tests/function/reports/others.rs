//! Strings, failures, functions that are given.

use nearmiss_abi::check::Kind;
use nearmiss_abi::note::NoteKind;
use nearmiss_results::{Finding, FunctionReport, Memory, Note, Role, Status, Test, Value, Verdict};

use super::{constant, parameter, report, result, test};
use crate::samples::{block, integer, integers, pointer, variable};

/// Strings, a result that points into one, a failure, a run that ended, a result that is rejected.
pub fn text() -> FunctionReport {
    let memory = |s: &str, stop: &str, bytes: Value| Memory {
        variables: vec![
            parameter("s", "char *", pointer(0, 0)),
            parameter("stop", "const char *", pointer(1, 0)),
            parameter("bytes", "unsigned char *", bytes),
        ],
        blocks: vec![
            block("s", "char", Value::Text(s.into())),
            constant("stop", "const char", Value::Text(stop.into())),
        ],
    };
    let with = |mut memory: Memory, index: u64| {
        memory.variables.push(result("char *", pointer(0, index)));
        Some(memory)
    };
    let mut alias = test(
        2,
        memory("x\x01y\x7f", "", pointer(0, 3)),
        with(memory("X\x01Y\u{83}", "", pointer(0, 3)), 4),
    );
    if let Some(after) = &mut alias.after {
        after.blocks[0].content = Value::Text(b"X\x01Y\x83".to_vec());
    }
    let mut fails = test(3, memory("", "!", Value::Null), None);
    fails.verdict = Verdict::Failure("NM-1".into());
    let mut ended = test(4, memory("loop */ \x1b", "", Value::Null), None);
    ended.verdict = Verdict::Ended("no end after 1 s".into());
    let mut rejected = test(
        5,
        memory("a", "", Value::Null),
        with(memory("B", "", Value::Null), 1),
    );
    rejected.verdict = Verdict::Fail;
    let first = test(
        1,
        memory("ab,c", ",", Value::Null),
        with(memory("AB,c", ",", Value::Null), 2),
    );
    let finding = Finding {
        id: "NM-1".into(),
        kind: Kind::Assertion,
        status: Status::Confirmed,
        file: "text.c".into(),
        line: 13,
        column: 5,
        function: "upper".into(),
        distance: 0,
        tests: 1,
        leads: Vec::new(),
        stack: Vec::new(),
        object: String::new(),
        test: Test::default(),
        input: Default::default(),
        changes: Vec::new(),
        lengths: Vec::new(),
        repeated: Vec::new(),
        message: "Assertion `stop[0] != '!'' failed.".into(),
        replay: "nearmiss replay NM-1".into(),
        your_build: String::new(),
    };
    FunctionReport {
        oracle: Some("check_upper".into()),
        findings: vec![finding],
        incomplete: vec!["3 partial paths were left at the bound of 4 iterations".into()],
        notes: vec![Note {
            kind: NoteKind::ALL[0],
            file: "text.c".into(),
            line: 8,
            callee: String::new(),
            count: 2,
        }],
        ..report(
            "text.c",
            "upper",
            "char *upper(char *s, const char *stop, unsigned char *bytes)",
            vec![first, alias, fails, ended, rejected],
        )
    }
}

/// Functions that are given, in a structure; memory without a type.
pub fn calls() -> FunctionReport {
    let members = vec![
        ("next".into(), Value::Function("operations->next".into())),
        ("done".into(), Value::Function("operations->done".into())),
    ];
    let stub = |name: &str, ctype: &str, values: &[i128]| {
        variable(name, Role::Stub, ctype, integers(values))
    };
    let done = "void (const char *, int (*)(void))";
    let before = |values: &[i128]| Memory {
        variables: vec![
            parameter("operations", "const struct operations *", pointer(0, 0)),
            parameter("context", "void *", pointer(1, 0)),
            parameter("most", "int", integer(5)),
            stub("operations->next", "int (void *)", values),
            stub("operations->done", done, &[]),
        ],
        blocks: vec![
            constant(
                "operations",
                "const struct operations",
                Value::Array(vec![Value::Structure(members.clone())]),
            ),
            block("context", "unsigned char", Value::Bytes(vec![1, 2, 255])),
        ],
    };
    let one = |number, values: &[i128], sum| {
        let mut after = before(values);
        after.variables.push(result("int", integer(sum)));
        test(number, before(values), Some(after))
    };
    let tests = vec![one(1, &[3, 4, -1], 7), one(2, &[-2], 0), one(3, &[1], 5)];
    let prototype = "int drain(const struct operations *operations, void *context, int most)";
    report("calls.c", "drain", prototype, tests)
}
