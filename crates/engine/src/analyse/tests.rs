//! The walk over small paths.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nearmiss_abi::channel::{ChannelKind, ChannelSet, PIECE_WHOLE};
use nearmiss_abi::check::Kind;
use nearmiss_abi::op::Op;
use nearmiss_abi::term::Label;
use nearmiss_sandbox::Sandbox;
use nearmiss_sites::{Site, SiteKind, Unit};
use nearmiss_trace::RawTrace;
use nearmiss_trace::build::TraceBuilder;

use super::*;
use crate::Output;
use crate::lengths::resizes;

static STOP: AtomicBool = AtomicBool::new(false);
const STRCPY: SiteId = SiteId::new(1, 0);
const BRANCH: SiteId = SiteId::new(1, 1);
const MALLOC: SiteId = SiteId::new(1, 2);

pub(crate) fn config() -> Config {
    Config {
        directory: "/nowhere".into(),
        time: Duration::from_secs(60),
        query_time: Duration::from_secs(10),
        run_time: None,
        grow: 0,
        distance: Some(0),
        runs: None,
        rules: Vec::new(),
        jobs: 1,
        checks: None,
        sandbox: Sandbox::none(),
        solver: None,
        channels: ChannelSet::NONE.with(ChannelKind::Argument),
        options: Default::default(),
        output: Output::Through,
        compiler: nearmiss_compile::Config::from_lookup("/nowhere".as_ref(), |_| None),
        calls: Default::default(),
        contracted: Default::default(),
        stop: &STOP,
    }
}

fn sites() -> Sites {
    let kinds = [
        SiteKind::Call("strcpy".into()),
        SiteKind::Branch,
        SiteKind::Call("malloc".into()),
    ];
    let sites = kinds.into_iter().zip(1..).map(|(kind, line)| Site {
        kind,
        file: 0,
        function: 0,
        line,
        column: 1,
        in_loop: None,
    });
    let mut all = Sites::default();
    all.add(Unit {
        hash: 1,
        files: vec!["a.c".into()],
        functions: vec!["main".into()],
        sites: sites.collect(),
        ..Unit::default()
    });
    all
}

/// A program with the argument `hello`; the second number is its length.
fn program() -> (TraceBuilder, Label) {
    let mut trace = TraceBuilder::new("/bin/prog");
    let argument = trace.channel(ChannelKind::Argument, 1, "", b"hello");
    let length = trace.length(argument, PIECE_WHOLE, 0, 5);
    (trace, length)
}

/// `length < most`.
fn below(trace: &mut TraceBuilder, length: Label, most: u128) -> Label {
    let most = trace.constant(32, most);
    trace.operation(Op::Ult, length, most)
}

fn look_at(trace: TraceBuilder) -> (Analysis, Vec<Channel>) {
    let sites = sites();
    let raw = RawTrace::from_bytes(&trace.finish()).unwrap();
    let (mut terms, path) = RecordedPath::read_alone(&raw, &sites, None);
    assert_eq!(path.inconsistent, 0);
    let context = Context {
        sites: &sites,
        config: &config(),
        stack: &Stack::default(),
        tally: &Tally::default(),
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let analysis = analyse(&mut terms, &path, &Task::CHECKS, &context);
    (analysis, path.channels)
}

/// The new length of the first candidate at the first place.
fn new_length(analysis: &Analysis, channels: &[Channel]) -> u32 {
    let resizes = resizes(channels, &analysis.places[0][0].changes);
    assert_eq!(resizes.len(), 1);
    resizes[0].to
}

#[test]
fn a_longer_argument_leaves_its_destination() {
    let (mut trace, length) = program();
    let fits = below(&mut trace, length, 16);
    trace.kind_event(EventKind::Check, Kind::OutOfBoundsWrite, fits, STRCPY);
    let (analysis, channels) = look_at(trace);
    assert_eq!(new_length(&analysis, &channels), 16);
    let candidate = &analysis.places[0][0];
    assert_eq!(candidate.check.spot.kind, Kind::OutOfBoundsWrite);
    assert_eq!(
        candidate.check.message,
        "strcpy writes outside its destination"
    );
    assert_eq!(candidate.changes.len(), 1);
}

#[test]
fn a_checked_length_fits() {
    let (mut trace, length) = program();
    let fits = below(&mut trace, length, 16);
    trace.event(EventKind::Branch, fits, BRANCH);
    trace.kind_event(EventKind::Check, Kind::OutOfBoundsWrite, fits, STRCPY);
    let (analysis, _) = look_at(trace);
    assert!(analysis.places.is_empty());
    assert_eq!(analysis.checks.met, 1);
}

#[test]
fn what_was_read_stays_and_open_ends_bind() {
    let (mut trace, length) = program();
    let last = trace.input(0, 4);
    let letter = trace.constant(8, b'o'.into());
    let is_letter = trace.operation(Op::Eq, last, letter);
    trace.event(EventKind::Branch, is_letter, BRANCH);
    let four = below(&mut trace, length, 5);
    let at_least_five = trace.operation(Op::Xor, four, four);
    let not_shorter = trace.operation(Op::Eq, four, at_least_five);
    trace.kind_event(EventKind::Check, Kind::OutOfBoundsRead, not_shorter, STRCPY);
    // `*s == 0` at the open end.
    let end = trace.constant(32, 5);
    let is_longer = trace.operation(Op::Ult, end, length);
    let (next, zero) = (trace.input(0, 5), trace.constant(8, 0));
    let open_end = trace.ite(is_longer, next, zero);
    let is_end = trace.operation(Op::Eq, open_end, zero);
    trace.event(EventKind::Branch, is_end, BRANCH);
    let fits = below(&mut trace, length, 16);
    trace.kind_event(EventKind::Check, Kind::OutOfBoundsWrite, fits, MALLOC);
    let (analysis, _) = look_at(trace);
    assert!(analysis.places.is_empty(), "{:?}", analysis.places);
    assert_eq!(analysis.checks.met, 2);
}

#[test]
fn probes_leave_the_path() {
    let (mut trace, length) = program();
    let is_small = below(&mut trace, length, 100);
    trace.kind_event(EventKind::Probe, Kind::NullDereference, is_small, MALLOC);
    trace.kind_event(EventKind::Probe, Kind::NullDereference, is_small, MALLOC);
    let fits = below(&mut trace, length, 200);
    trace.kind_event(EventKind::Check, Kind::OutOfBoundsWrite, fits, STRCPY);
    let (analysis, channels) = look_at(trace);
    assert_eq!(analysis.probes.len(), 1);
    let resizes = resizes(&channels, &analysis.probes[0].changes);
    assert_eq!(resizes[0].to, 100);
    assert!(analysis.places.is_empty(), "the path stays as it was");
    assert_eq!(analysis.checks.met, 1, "a probe is no check");
}
