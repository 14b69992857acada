//! Traces made by hand, read back: whole, cut off, damaged, lying.

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::event::{Event, EventKind};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::Term;
use nearmiss_abi::trace::HEADER_SIZE;
use nearmiss_expr::{Evaluator, InputByte, Terms};
use nearmiss_sites::{Site, SiteKind, Sites, Unit};
use nearmiss_trace::build::TraceBuilder;
use nearmiss_trace::{End, RawTrace, ReadError, RecordedPath, State, dump};

const UNIT: u64 = 7;

fn site(local: u32) -> SiteId {
    SiteId::new(UNIT, local)
}

/// Site 2 is a switch: 'a' and 'b' go to target 1, 'c' to 2, all others to 0.
fn sites() -> Sites {
    let kind = |kind| Site {
        kind,
        file: 0,
        function: 0,
        line: 3,
        column: 1,
        in_loop: None,
    };
    let mut sites = Sites::default();
    sites.add(Unit {
        hash: UNIT,
        files: vec!["a.c".into()],
        functions: vec!["main".into()],
        sites: vec![
            kind(SiteKind::Branch),
            kind(SiteKind::Check {
                kind: 12,
                message: "x".into(),
            }),
            kind(SiteKind::Switch {
                cases: vec![(b'a' as u64, 1), (b'b' as u64, 1), (b'c' as u64, 2)],
                default: 0,
            }),
        ],
        ..Unit::default()
    });
    sites
}

/// `if (argv[1][0] < 'x') switch (argv[1][0]) …; assert(stdin[1] != 0)`
fn sample(argument: &[u8]) -> TraceBuilder {
    let mut builder = TraceBuilder::new("/bin/prog");
    let argv = builder.channel(ChannelKind::Argument, 1, "", argument);
    let stdin = builder.channel(ChannelKind::Stdin, 0, "", b"hi");
    let first = builder.input(argv, 0);
    let limit = builder.constant(8, b'x' as u128);
    let less = builder.operation(Op::Ult, first, limit);
    builder.event(EventKind::Branch, less, site(0));
    builder.event(EventKind::Switch, first, site(2));
    let second = builder.input(stdin, 1);
    let zero = builder.constant(8, 0);
    let check = builder.operation(Op::Ne, second, zero);
    builder.event(EventKind::Check, check, site(1));
    builder.note(NoteKind::Float, site(0), 3);
    builder
}

fn read(bytes: &[u8], stdin: Option<&[u8]>) -> RecordedPath {
    read_with_terms(bytes, stdin).1
}

fn read_with_terms(bytes: &[u8], stdin: Option<&[u8]>) -> (Terms, RecordedPath) {
    RecordedPath::read_alone(&RawTrace::from_bytes(bytes).unwrap(), &sites(), stdin)
}

#[test]
fn a_whole_trace() {
    let path = read(&sample(b"a").finish(), Some(b"hi"));
    assert_eq!(path.program, b"/bin/prog");
    assert_eq!(path.state, State::Exited(0));
    assert_eq!(path.end, End::Whole);
    assert_eq!(path.inconsistent, 0);
    assert_eq!(path.notes.len(), 1);
    let labels: Vec<String> = path
        .channels
        .iter()
        .map(|channel| channel.label())
        .collect();
    assert_eq!(labels, ["argv[1]", "stdin"]);
    let shape: Vec<_> = path
        .events
        .iter()
        .map(|event| (event.kind, event.truth))
        .collect();
    assert_eq!(
        shape,
        [
            (EventKind::Branch, true),
            (EventKind::Switch, false),
            (EventKind::Check, true)
        ]
    );
}

/// A flag is read with its event, and moves on if that event cannot be used.
#[test]
fn sensitive_segments_are_known_by_the_event_behind_them() {
    let mut builder = TraceBuilder::new("/bin/prog");
    let argv = builder.channel(ChannelKind::Argument, 1, "", b"a");
    let byte = builder.input(argv, 0);
    let compare = |builder: &mut TraceBuilder, limit: u8| {
        let limit = builder.constant(8, limit as u128);
        builder.operation(Op::Ult, byte, limit)
    };
    let branch = |builder: &mut TraceBuilder, label, local| {
        builder.event(EventKind::Branch, label, site(local));
    };
    let labels: Vec<_> = [1, 2, 3, 4]
        .map(|limit| compare(&mut builder, limit))
        .into();
    branch(&mut builder, labels[0], 0);
    branch(&mut builder, labels[1], 1);
    builder.after_sensitive();
    // It says that the branch went the other way.
    let lie = Event::new(EventKind::Branch, true, labels[2], site(2));
    builder.raw_event(lie.after_sensitive(true));
    branch(&mut builder, labels[3], 3);
    branch(&mut builder, labels[0], 4);
    let bytes = builder.finish();
    let path = read(&bytes, None);
    assert_eq!(path.inconsistent, 1);
    let flags: Vec<_> = path.events.iter().map(|event| event.sensitive).collect();
    assert_eq!(flags, [false, true, true, false]);
    assert!(path.events.iter().all(|event| !event.truth));
    let mut text = Vec::new();
    dump::dump(&RawTrace::from_bytes(&bytes).unwrap(), &sites(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(
        text.matches(", after something sensitive").count(),
        2,
        "{text}"
    );
}

#[test]
fn standard_input_is_gathered_when_unknown() {
    let path = read(&sample(b"a").finish(), None);
    assert_eq!(path.channels[1].content, [0, b'i']);
    assert_eq!(path.events.len(), 3);
}

#[test]
fn switches_hold_for_all_values_of_the_same_target() {
    let same_target = |argument: u8, other: u8| {
        let (terms, path) = read_with_terms(&sample(&[argument]).finish(), Some(b"hi"));
        let condition = path.events[1].condition.unwrap();
        let inputs = |_: InputByte| other;
        Evaluator::new().holds(&terms, &inputs, condition)
    };
    assert!(same_target(b'a', b'b'));
    assert!(!same_target(b'a', b'c'));
    assert!(same_target(b'c', b'c'));
    assert!(!same_target(b'c', b'a'));
    assert!(same_target(b'q', b'r'));
    assert!(!same_target(b'q', b'c'));
}

#[test]
fn any_prefix_is_a_shorter_path() {
    let bytes = sample(b"a").finish();
    let whole = read(&bytes, None).events.len();
    let mut longest = 0;
    for size in (0..bytes.len()).filter(|size| *size < 64 || size % 7 == 0 || *size > 200_000) {
        match RawTrace::from_bytes(&bytes[..size]) {
            Err(ReadError::NotATrace) => assert!(size < HEADER_SIZE),
            Err(other) => panic!("{size}: {other}"),
            Ok(raw) => {
                let (_, path) = RecordedPath::read_alone(&raw, &sites(), None);
                assert!(path.events.len() >= longest && path.events.len() <= whole);
                longest = path.events.len();
            }
        }
    }
}

#[test]
fn garbage_is_refused() {
    let bytes = sample(b"a").finish();
    let with = |at: usize, value: u8| {
        let mut other = bytes.clone();
        other[at] = value;
        RawTrace::from_bytes(&other).err()
    };
    assert!(matches!(with(0, b'X'), Some(ReadError::NotATrace)));
    assert!(matches!(with(8, 99), Some(ReadError::Version(99))));
    assert!(matches!(with(70, 0xff), Some(ReadError::Damaged(_))));
    assert!(RawTrace::from_bytes(&vec![0xa5; 100_000]).is_err());
}

#[test]
fn damage_never_panics() {
    let bytes = sample(b"a").finish();
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize
    };
    let header = 0..128;
    let records = bytes.len() - 400..bytes.len();
    for round in 0..3000 {
        let mut other = bytes.clone();
        for _ in 0..1 + round % 4 {
            let place = if random() % 2 == 0 { &header } else { &records };
            let at = place.start + random() % place.len();
            other[at] = random() as u8;
        }
        if let Ok(raw) = RawTrace::from_bytes(&other) {
            let (_, path) = RecordedPath::read_alone(&raw, &sites(), None);
            assert!(path.events.len() <= raw.events.len());
            dump::dump(&raw, &sites(), &mut std::io::sink()).unwrap();
        }
    }
}

#[test]
fn lies_are_dropped_and_counted() {
    let mut builder = sample(b"a");
    // A term whose recorded value is wrong, something made of it, and an event about that.
    let mut wrong = Term::new(Op::Ult, 1, 1, 2, 5);
    wrong.value = 0;
    let wrong = builder.term(wrong);
    let negated = builder.operation(Op::Not, wrong, 0);
    builder.event(EventKind::Branch, negated, site(0));
    // An event whose truth is not its term's.
    builder.raw_event(Event::new(EventKind::Branch, false, 3, site(0)));
    let path = read(&builder.finish(), Some(b"hi"));
    assert_eq!(path.events.len(), 3);
    assert_eq!(path.inconsistent, 3);
    assert_eq!(path.end, End::Whole);
}

#[test]
fn a_lie_about_standard_input_is_noticed() {
    let path = read(&sample(b"a").finish(), Some(b"hX"));
    assert_eq!(path.events.len(), 2);
    assert_eq!(path.inconsistent, 2);
}

#[test]
fn the_path_ends_where_terms_make_no_sense() {
    let bad_terms = [
        Term::new(Op::Add, 8, 1, 99, 0),
        Term::new(Op::Add, 16, 1, 1, 0),
        Term::new(Op::Extract, 8, 1, 1, 0),
        Term::new(Op::Read, 8, 1, 0, 0),
        Term::new(Op::Concat, 8, 1, 1, 0),
        Term::new(Op::Not, 1, 0, 0, 0),
        Term {
            op: 200,
            ..Term::default()
        },
    ];
    for term in bad_terms {
        let mut builder = sample(b"a");
        let bad = builder.term(term);
        builder.raw_event(Event::new(EventKind::Concretized, true, bad, site(0)));
        builder.event(EventKind::Branch, 3, site(0));
        let path = read(&builder.finish(), Some(b"hi"));
        assert_eq!(path.end, End::Before(3), "{term:?}");
        assert_eq!(path.events.len(), 3);
    }
}

#[test]
fn reads_and_failures() {
    let mut builder = TraceBuilder::new("p");
    let argv = builder.channel(ChannelKind::Argument, 1, "", &[2]);
    let byte = builder.input(argv, 0);
    let index = builder.zext(byte, 64);
    let snapshot = builder.snapshot(b"wxyz");
    let read_byte = builder.read(index, snapshot, b'y');
    builder.event(EventKind::Concretized, read_byte, site(0));
    builder.raw_event(Event::new(EventKind::CheckFailed, false, 0, site(1)));
    let path = read(&builder.finish(), None);
    assert_eq!(path.inconsistent, 0);
    assert_eq!(path.events[0].choice, b'y' as u64);
    assert!(path.events[1].is_failure());
    assert_eq!(path.events[1].condition, None);
}

#[test]
fn dumps_name_everything() {
    let raw = RawTrace::from_bytes(&sample(b"a").finish()).unwrap();
    let mut text = Vec::new();
    dump::dump(&raw, &sites(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    for expected in [
        "program /bin/prog\n",
        "process 4711: exited with status 0\n",
        "channel 0: argv[1] (1 bytes)\n",
        "note float x 3 at a.c:3:1\n",
        "%1 = input 0[0]  ; 0x61\n",
        "%3 = ult.1 %1 %2  ; 0x1\n",
        "2: check %6 1 at a.c:3:1 (assertion)\n",
    ] {
        assert!(text.contains(expected), "{expected:?} in\n{text}");
    }
}
