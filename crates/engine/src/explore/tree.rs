//! A recorded path in the execution tree: its forks, and the names of the nodes along it.

use std::hash::{Hash, Hasher};
use std::path::Path;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_results::BoundaryCall;
use nearmiss_search::strategy::Outcome;
use nearmiss_search::{Node, Trail};
use nearmiss_trace::{Channel, Event, RecordedPath};
use siphasher::sip::SipHasher13;

/// Whether an event is a fork: a decision on input data.
pub fn is_fork(event: &Event) -> bool {
    event.is_decision()
}

/// The outcomes at the forks of a path.
pub fn outcomes_of(path: &RecordedPath) -> impl Iterator<Item = Outcome> {
    let forks = path.events.iter().filter(|event| is_fork(event));
    forks.map(|event| (event.site.0, event.choice))
}

/// The nodes of the execution tree along a path: the root, then one for each fork. That an input
/// is long enough is no part of a path's name.
///
/// Of calls of a unit test only those to the same functions go the same way: what the test does with what a call returns is
/// part of it.
pub fn nodes(path: &RecordedPath, program: &Path, calls: &[BoundaryCall]) -> Vec<Node> {
    let mut trail = Trail::root(shape(path, program, calls));
    let mut nodes = vec![trail.node()];
    for event in path.events.iter().filter(|event| is_fork(event)) {
        nodes.push(match event.implied.is_some() {
            true => trail.node(),
            false => trail.go(event.site.0, way(event)),
        });
    }
    nodes
}

/// Which way a fork went, as nodes have it: what models decide by lengths at one call are several things.
pub fn way(event: &Event) -> u64 {
    let what = event.by_length.map_or(0, |what| u64::from(what) + 1);
    event.choice | what << 32
}

/// What two executions must have in common for their forks to be comparable: the program, its
/// arguments but for what is in them, and which functions its calls are to. Whether two have the same files shows only later.
fn shape(path: &RecordedPath, program: &Path, calls: &[BoundaryCall]) -> u64 {
    let mut hasher = SipHasher13::new();
    program.hash(&mut hasher);
    for call in calls {
        call.function.hash(&mut hasher);
    }
    let is_argument = |one: &&Channel| one.kind == ChannelKind::Argument;
    path.channels
        .iter()
        .filter(is_argument)
        .count()
        .hash(&mut hasher);
    hasher.finish()
}

/// What two tests must have in common for one of them to be enough: the end of their paths, and
/// how large their inputs are. The same path with a larger input may do more on concrete data.
pub fn sameness(path: &RecordedPath, end: Node) -> u64 {
    let mut hasher = SipHasher13::new();
    (end.0, path.events.len()).hash(&mut hasher);
    for channel in path.channels.iter().filter(|one| one.piece.is_none()) {
        (channel.kind as u8, channel.index, channel.content.len()).hash(&mut hasher);
    }
    hasher.finish()
}
