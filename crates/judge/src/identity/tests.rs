//! Findings that are one, and findings that are not.

use super::*;
use nearmiss_results::{Change, Test};

fn frame(function: &str, file: &str, line: u32) -> Frame {
    Frame {
        function: function.into(),
        file: file.into(),
        line,
        column: 3,
    }
}

/// A confirmed finding at the first of these frames, for a change of the input's byte `byte`.
fn finding(kind: Kind, column: u32, byte: u64, stack: &[Frame]) -> Finding {
    Finding {
        id: String::new(),
        kind,
        status: nearmiss_results::Status::Confirmed,
        file: stack[0].file.clone(),
        line: stack[0].line,
        column,
        function: stack[0].function.clone(),
        distance: 0,
        tests: 1,
        leads: Vec::new(),
        stack: stack
            .iter()
            .enumerate()
            .map(|(number, frame)| Frame {
                column: if number == 0 { column } else { frame.column },
                ..frame.clone()
            })
            .collect(),
        object: String::new(),
        test: Test::default(),
        input: Default::default(),
        changes: vec![Change {
            channel: "stdin".into(),
            offset: byte,
            from: vec![0],
            to: vec![1],
        }],
        lengths: Vec::new(),
        repeated: Vec::new(),
        message: String::new(),
        replay: String::new(),
        your_build: String::new(),
    }
}

#[test]
fn one_access_is_one_defect() {
    let at = [frame("main", "x.c", 5)];
    let read = finding(Kind::OutOfBoundsRead, 9, 0, &at);
    for kind in [Kind::OutOfBoundsWrite, Kind::NullDereference, Kind::Crash] {
        assert!(is_same(&read, &finding(kind, 9, 3, &at)), "{kind:?}");
        assert!(!is_same(&read, &finding(kind, 12, 0, &at)), "{kind:?}");
    }
    assert!(!is_same(&read, &finding(Kind::SignedOverflow, 9, 0, &at)));
    let below = [frame("main", "x.c", 6)];
    assert!(!is_same(
        &read,
        &finding(Kind::OutOfBoundsRead, 9, 0, &below)
    ));
}

#[test]
fn the_index_and_the_access_are_one_defect() {
    let at = [frame("main", "x.c", 5)];
    let access = finding(Kind::OutOfBoundsRead, 13, 0, &at);
    let mut index = finding(Kind::OutOfBoundsWrite, 9, 1, &at);
    assert!(!is_same(&index, &access));
    index.stack[0].column = 13;
    assert!(is_same(&index, &access) && is_same(&access, &index));
}

#[test]
fn names_of_a_file_are_one() {
    let relative = finding(Kind::Assertion, 5, 0, &[frame("main", "src/x.c", 5)]);
    let absolute = finding(
        Kind::Assertion,
        0,
        0,
        &[frame("main", "/home/me/src/x.c", 5)],
    );
    let other = finding(Kind::Assertion, 5, 0, &[frame("main", "lib/x.c", 5)]);
    let abort = finding(Kind::Abort, 5, 0, &[frame("main", "src/x.c", 5)]);
    assert!(is_same(&relative, &absolute) && is_same(&relative, &abort));
    assert!(!is_same(&relative, &other));
}

#[test]
fn a_null_that_three_programs_give_is_three_defects() {
    let given = |kind, program: &str, line| {
        let stack = [
            frame("quote_n", "lib/quote.c", 30),
            frame("quote", "lib/quote.c", 50),
            frame("main", program, line),
        ];
        finding(kind, 7, 0, &stack)
    };
    let null = Kind::NullDereference;
    let mkdir = given(null, "src/mkdir.c", 180);
    assert!(!is_same(&mkdir, &given(null, "src/mkfifo.c", 90)));
    assert!(!is_same(&mkdir, &given(null, "src/mkdir.c", 200)));
    assert!(is_same(&mkdir, &given(null, "src/mkdir.c", 180)));
    // An overflow in the library itself is one, whatever leads there.
    let overflow = Kind::SignedOverflow;
    let one = given(overflow, "src/mkdir.c", 180);
    assert!(is_same(&one, &given(overflow, "src/mknod.c", 44)));
}

#[test]
fn one_pointer_read_byte_by_byte_is_one_defect() {
    let byte = |line, caller, changed| {
        let stack = [
            frame("byte_get", "elfcomm.c", line),
            frame("process", "readelf.c", caller),
            frame("main", "readelf.c", 900),
        ];
        finding(Kind::OutOfBoundsRead, 12, changed, &stack)
    };
    assert!(is_same(&byte(80, 400, 7), &byte(83, 400, 7)));
    assert!(!is_same(&byte(80, 400, 7), &byte(83, 500, 7)));
    assert!(!is_same(&byte(80, 400, 7), &byte(83, 400, 9)));
    // Without a caller each line is a place of its own.
    let alone = |line| finding(Kind::OutOfBoundsRead, 12, 7, &[frame("main", "x.c", line)]);
    assert!(!is_same(&alone(80), &alone(83)));
}
