//! Frames of code that is not optimised: at most twice the plain ones.
//!
//! A program that recurses deeply in a plain build must do so in an instrumented one. How large a frame
//! is, is known once code is generated. Where one is too large, the unit is instrumented once more, with a
//! list of such functions and how their frames are to be kept small ([`Thrift`]). Most units have none.
//!
//! ```text
//!   instrument ─► plain-frames   what each function takes in the plain program, estimated
//!   clang      ─► stack-usage    what it takes here
//!   instrument ◄─ thrifty-frames what to do otherwise, if anything
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use nearmiss_sites::frame;
use nearmiss_sites::stack_frames::{PlainFrames, Thrift, ThriftyFrames};

use crate::plan::{Instrumented, Word, temporary};

/// What clang's figures leave out: the return address.
const RETURN_ADDRESS: u64 = 8;

/// A frame may be so many times the plain one.
const LIMIT: u64 = 2;

/// The search for small frames of one unit.
#[derive(Debug)]
pub struct FrameSearch {
    plain: PathBuf,
    thrifty: PathBuf,
    usage: PathBuf,
    /// How the object in place was made.
    current: ThriftyFrames,
    /// The smallest frame of each function that was too large, and how it came about.
    smallest: BTreeMap<String, (u64, Option<Thrift>)>,
    /// Functions for which every way was tried.
    settled: BTreeSet<String>,
}

impl FrameSearch {
    /// Prepares to look at the frames of `job`, if that is wanted: its code is not optimised, and the figures are
    /// not the user's own.
    pub fn new(job: &Instrumented, directory: &Path) -> Option<FrameSearch> {
        let usage_is_the_users = job.code.contains(&Word::Text("-fstack-usage".to_string()));
        if job.optimised || usage_is_the_users {
            return None;
        }
        let file = |suffix: &str| directory.join(temporary(job.number, suffix));
        Some(FrameSearch {
            plain: file("plain-frames"),
            thrifty: file("thrifty-frames"),
            usage: file("stack-usage"),
            current: ThriftyFrames::new(),
            smallest: BTreeMap::new(),
            settled: BTreeSet::new(),
        })
    }

    /// What `nearmiss-instrument` is asked for in addition.
    pub fn instrument_arguments(&self) -> Vec<String> {
        let mut words = vec!["--plain-frames".to_string(), text(&self.plain)];
        if !self.current.is_empty() {
            words.extend(["--thrifty-frames".to_string(), text(&self.thrifty)]);
        }
        words
    }

    /// What code generation is asked for in addition.
    pub fn code_arguments(&self) -> Vec<String> {
        let words = ["-Xclang", "-stack-usage-file", "-Xclang"].map(str::to_string);
        words.into_iter().chain([text(&self.usage)]).collect()
    }

    /// Looks at the object in place. Whether the unit should be instrumented once more; without figures it should not.
    pub fn wants_another(&mut self) -> bool {
        let Some((plain, usage)) = self.figures() else {
            return false;
        };
        let mut next = self.current.clone();
        for (name, plain) in plain {
            let Some(used) = usage.get(&name) else {
                continue;
            };
            let used = used + RETURN_ADDRESS;
            if used > LIMIT * plain && !self.settled.contains(&name) {
                match self.next_try(&name, used) {
                    Some(thrift) => next.insert(name, thrift),
                    None => next.remove(&name),
                };
            }
        }
        let is_new = next != self.current;
        self.current = next;
        is_new && std::fs::write(&self.thrifty, frame::write(&self.current)).is_ok()
    }

    /// How a function is to be treated next, whose frame is too large: in the end, as it was smallest.
    fn next_try(&mut self, name: &str, used: u64) -> Option<Thrift> {
        let now = self.current.get(name).copied();
        let smallest = self.smallest.entry(name.to_string()).or_insert((used, now));
        *smallest = (*smallest).min((used, now));
        let untried = Thrift::ALL.into_iter().find(|thrift| Some(*thrift) > now);
        if untried.is_none() {
            self.settled.insert(name.to_string());
        }
        untried.or(smallest.1)
    }

    fn figures(&self) -> Option<(PlainFrames, BTreeMap<String, u64>)> {
        let plain = std::fs::read(&self.plain).ok()?;
        let plain = frame::read_all(&plain).ok()?.pop()?;
        let usage = std::fs::read_to_string(&self.usage).ok()?;
        Some((plain, usage.lines().filter_map(usage_of).collect()))
    }
}

/// A row of clang's figures: `file.c:12:name`, the bytes, and whether that is all.
fn usage_of(line: &str) -> Option<(String, u64)> {
    let mut columns = line.split('\t');
    let (_, name) = columns.next()?.rsplit_once(':')?;
    Some((name.to_string(), columns.next()?.parse().ok()?))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search() -> (tempfile::TempDir, FrameSearch) {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str| directory.path().join(name);
        let search = FrameSearch {
            plain: file("plain"),
            thrifty: file("thrifty"),
            usage: file("usage"),
            current: ThriftyFrames::new(),
            smallest: BTreeMap::new(),
            settled: BTreeSet::new(),
        };
        let plain = PlainFrames::from([("f".to_string(), 32), ("g".to_string(), 48)]);
        std::fs::write(&search.plain, frame::write(&plain)).expect("written");
        (directory, search)
    }

    /// What is tried where frames turn out as in `usages`, one after the other.
    fn tries(usages: &[(u64, u64)]) -> Vec<Vec<(String, Thrift)>> {
        let (_directory, mut search) = search();
        let mut tries = Vec::new();
        for (f, g) in usages {
            let text = format!("x.c:1:f\t{f}\tstatic\nx.c:g\t{g}\tdynamic,bounded\n");
            std::fs::write(&search.usage, text).expect("written");
            if search.wants_another() {
                tries.push(search.current.clone().into_iter().collect());
            }
        }
        tries
    }

    #[test]
    fn frames_within_the_limit_are_left_alone() {
        assert!(tries(&[(56, 88)]).is_empty());
    }

    #[test]
    fn ways_are_tried_in_turn_and_the_smallest_is_kept() {
        let (in_memory, outside) = (Thrift::InMemory, Thrift::GuardsOutside);
        let row = |name: &str, thrift| (name.to_string(), thrift);
        let f = |thrift| vec![row("f", thrift)];
        assert_eq!(tries(&[(57, 88), (56, 88)]), [f(in_memory)]);
        assert_eq!(
            tries(&[(80, 88), (72, 88), (76, 88), (72, 88)]),
            [f(in_memory), f(outside), f(in_memory)]
        );
        let both = vec![row("f", outside), row("g", in_memory)];
        assert_eq!(
            tries(&[(80, 120), (72, 88), (56, 88)]),
            [vec![row("f", in_memory), row("g", in_memory)], both]
        );
        assert_eq!(
            tries(&[(72, 88), (80, 88), (80, 88), (72, 88)]),
            [f(in_memory), f(outside), vec![]]
        );
    }

    #[test]
    fn without_figures_nothing_is_tried() {
        let (_directory, mut search) = search();
        assert!(!search.wants_another());
    }
}
