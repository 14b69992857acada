//! One golden text per way to show results; hostile bytes are in all of them.

use std::collections::BTreeMap;
use std::path::Path;

use nearmiss_abi::check::Kind;
use nearmiss_abi::note::NoteKind;
use nearmiss_report::text::{self, Lookup};
use nearmiss_results::{
    Change, Checks, Finding, Input, LostCall, Note, Queries, Report, Resized, Status, Summary, Test,
};

fn overflow() -> Finding {
    Finding {
        id: "NM-1".into(),
        kind: Kind::OutOfBoundsWrite,
        status: Status::Confirmed,
        file: "src/x.c".into(),
        line: 42,
        column: 8,
        function: "fill".into(),
        distance: 0,
        tests: 1,
        leads: Vec::new(),
        stack: Vec::new(),
        object: String::new(),
        test: Test {
            argv: vec!["./fill".into(), "16\x1b[2J".into(), "in file".into()],
            ..Test::default()
        },
        input: BTreeMap::from([
            ("argv[1]".into(), Input::bytes(b"18\x1b[2J")),
            ("argv[2]".into(), Input::bytes(b"in file")),
            (
                "file:/data/in".into(),
                Input::File("inputs/NM-1/file-0".into()),
            ),
        ]),
        lengths: Vec::new(),
        repeated: Vec::new(),
        changes: vec![
            Change {
                channel: "argv[1]".into(),
                offset: 1,
                from: vec![b'6'],
                to: vec![b'8'],
            },
            Change {
                channel: "file:/data/in".into(),
                offset: 10,
                from: vec![0, 1],
                to: vec![0xff, b'A'],
            },
        ],
        message: "index out of bounds\x1b[31m".into(),
        replay: "nearmiss replay NM-1".into(),
        your_build: "signal 8".into(),
    }
}

fn assertion() -> Finding {
    Finding {
        id: "NM-2".into(),
        kind: Kind::Assertion,
        status: Status::Unconfirmed,
        file: "gone.c".into(),
        line: 7,
        column: 0,
        function: String::new(),
        input: BTreeMap::new(),
        lengths: Vec::new(),
        repeated: Vec::new(),
        changes: Vec::new(),
        message: String::new(),
        replay: "nearmiss replay NM-2".into(),
        ..overflow()
    }
}

fn summary() -> Summary {
    Summary {
        complete: false,
        checks: Checks {
            met: 12,
            without_solver: BTreeMap::from([("constant".into(), 1), ("ranges".into(), 5)]),
            by_solver: 2,
            undecided: 1,
            failing: 2,
            skipped: 1,
        },
        queries: Queries {
            count: 9,
            median_ms: 0.25,
            p95_ms: 3.5,
            total_ms: 120.0,
        },
        notes: vec![
            Note {
                kind: NoteKind::Float,
                file: "x.c".into(),
                line: 3,
                callee: String::new(),
                count: 4,
            },
            Note {
                kind: NoteKind::Call,
                file: "x.c".into(),
                line: 9,
                callee: "qsort".into(),
                count: 1,
            },
        ],
        lost_calls: vec![LostCall {
            function: "qsort".into(),
            count: 1,
            places: vec!["x.c:9".into()],
        }],
        divergences: 1,
        inconsistent: 0,
        events: 100,
        stopped: false,
        unconfirmable: None,
        uninstrumented: Vec::new(),
        ..Summary::default()
    }
}

struct Disk;

impl Lookup for Disk {
    fn source_line(&self, file: &str, line: u32) -> Option<String> {
        (file == "src/x.c" && line == 42).then(|| "\tx = a[i]; /* \u{1b}[0m */".to_string())
    }

    fn content(&self, file: &Path) -> Option<Vec<u8>> {
        let content = b"\x7fELF\x02\x01\x01\0\0\0\xffA\0\0\0\0".to_vec();
        (file == Path::new("inputs/NM-1/file-0")).then_some(content)
    }
}

const REPORT: &str = r#"NM-1 out-of-bounds-write (confirmed) at src/x.c:42:8 in fill
  42 |     x = a[i]; /* \u{1b}[0m */
     |           ^
  index out of bounds\u{1b}[31m
  input that fails:
    test: ./fill $'16\x1b[2J' 'in file'
    new:  ./fill $'18\x1b[2J' 'in file'
                    ^
    file:/data/in, 16 bytes:
      offset    test                     | new
      00000000  7f 45 4c 46 02 01 01 00  | 7f 45 4c 46 02 01 01 00
      00000008  00 00[00 01]00 00 00 00  | 00 00[ff 41]00 00 00 00
    new content in inputs/NM-1/file-0
  your build: SIGFPE
  replay: nearmiss replay NM-1

NM-2 assertion (unconfirmed) at gone.c:7
  the recorded input itself fails
  your build: SIGFPE
  replay: nearmiss replay NM-2

2 failures found, 1 confirmed and 1 unconfirmed.
Checks on input data: 12 met, 6 hold without the solver (constant 1, ranges 5), 2 hold by the solver, 1 not decided, 2 can fail, 1 not asked.
Queries: 9, median 0.2 ms, 95 % within 3.5 ms, 0.1 s in all.
Not complete, because:
  1 check was not decided: out of time, or input was fixed
  1 new input left the predicted path
  symbolic data went into a function that is neither instrumented nor modelled:
    qsort at x.c:9
  symbolic data became a floating-point number at x.c:3 (4 times)
"#;

#[test]
fn the_whole_report() {
    let report = Report::new(vec![overflow(), assertion()], summary());
    assert_eq!(text::report(&report, &Disk), REPORT);
}

#[test]
fn lengths_that_change() {
    let mut found = overflow();
    found.lengths = vec![
        Resized {
            channel: "argv[1]".into(),
            offset: 0,
            line: false,
            from: 3,
            to: 1024,
        },
        Resized {
            channel: "stdin".into(),
            offset: 6,
            line: true,
            from: 3,
            to: 2,
        },
    ];
    let change = |channel: &str, offset, from: &[u8], to: &[u8]| Change {
        channel: channel.into(),
        offset,
        from: from.to_vec(),
        to: to.to_vec(),
    };
    found.changes = vec![
        change("argv[1]", 3, b"", &[b'A'; 1021]),
        change("stdin", 8, b"\n", b""),
    ];
    let text = nearmiss_report::text::finding(&found, &Disk);
    let listed = "\
  input that fails:
    argv[1]: 3 -> 1024 bytes
    argv[1], at byte 3: 1021 bytes \"AAAAAAAAAAAAAAAA\"… put in
    stdin, line at byte 6: 3 -> 2 bytes
    stdin, at byte 8: 1 byte \"\\n\" taken out
";
    assert!(text.contains(listed), "{text}");

    let long = [b"abc", &[b'A'; 1021][..]].concat();
    let stdin = Input::bytes(b"hello\nabdef\n");
    found.test.argv = vec!["./fill".into(), "abc".into()];
    found.input = BTreeMap::from([
        ("argv[1]".into(), Input::bytes(&long)),
        ("stdin".into(), stdin),
    ]);
    let text = nearmiss_report::text::finding(&found, &Disk);
    let beside = "\
  input that fails:
    argv[1]: 3 -> 1024 bytes
    test: ./fill abc
    new:  ./fill abcAAAAAAAAAAAAAAAAAAAAAAAA…AAAAAAAA
                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    stdin, line at byte 6: 3 -> 2 bytes
    stdin, line 2:
      test: ab\\ndef
              ^^
      new:  abdef
";
    assert!(text.contains(beside), "{text}");
}

#[test]
fn a_finding_of_a_suite() {
    let mut found = overflow();
    found.distance = 2;
    found.tests = 3;
    found.test.id = "T7".into();
    found.test.argv = ["cut", "-c3-5,6-", "--output-delimiter=:", "file.txt"]
        .map(String::from)
        .to_vec();
    found.input = BTreeMap::from([
        ("argv[1]".into(), Input::bytes(b"-c3-5,8-")),
        ("argv[2]".into(), Input::bytes(b"--output-delimiter=:")),
        ("argv[3]".into(), Input::bytes(b"file.txt")),
    ]);
    found.changes = vec![Change {
        channel: "argv[1]".into(),
        offset: 6,
        from: b"6".to_vec(),
        to: b"8".to_vec(),
    }];
    assert_eq!(
        text::finding(&found, &Disk),
        r"NM-1 out-of-bounds-write (confirmed) at src/x.c:42:8 in fill
  42 |     x = a[i]; /* \u{1b}[0m */
     |           ^
  index out of bounds\u{1b}[31m
  distance 2: two branches from the test's path
  3 tests lead to it; nearest: T7 `cut -c3-5,6- --output-delimiter=: file.txt`
  input that fails:
    test: cut -c3-5,6- --output-delimiter=: file.txt
    new:  cut -c3-5,8- --output-delimiter=: file.txt
                    ^
  your build: SIGFPE
  replay: nearmiss replay NM-1
"
    );
    found.tests = 1;
    found.distance = 0;
    let text = text::finding(&found, &Disk);
    assert!(text.contains("  distance 0: on the test's own path\n  1 test leads to it: T7 `cut"));
}

#[test]
fn nothing_found_and_nothing_lost() {
    let summary = Summary {
        complete: true,
        ..Summary::default()
    };
    assert_eq!(
        text::report(&Report::new(Vec::new(), summary), &Disk),
        "No check can fail, for any input that takes the same path.\n\
         Checks on input data: 0 met.\n"
    );
}

#[test]
fn a_list() {
    let report = Report::new(vec![overflow(), assertion()], summary());
    assert_eq!(
        text::list(&report),
        "NM-1 out-of-bounds-write (confirmed) at src/x.c:42:8 in fill\n\
         NM-2 assertion (unconfirmed) at gone.c:7\n"
    );
}

#[test]
fn json_has_a_version() {
    let report = Report::new(vec![overflow()], summary());
    assert!(nearmiss_report::json(&report).starts_with("{\n  \"version\": 1,"));
}
