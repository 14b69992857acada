//! Unit tests, whose data is in their code: calls from test code into the code under test are the inputs.
//!
//! ```text
//!  program ─► which files are test code (sides) ─► variant whose functions under test announce their calls
//!  variant ─► one run that lists them (list) ─► groups of calls that one test makes ─► a test case for each group
//! ```
//!
//! A test case of this kind is run, recorded, explored and judged like any other: its channels are what the
//! pointers of its calls lead to (`abi::boundary`), its program is the variant. What test code decides is a condition of
//! the path and no alternative, and what goes wrong in test code is no failure (`trace::path`, `judge::spot`).

mod data;
mod list;
mod sides;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nearmiss_abi::boundary::{CALLS, LOOKS, TEST_ENDS};
use nearmiss_abi::channel::{ChannelKind, ChannelSet};
use nearmiss_campaign::{Capsule, TestCase};
use nearmiss_results::{BoundaryCall, UnitTests};
use nearmiss_sandbox::Stdin;
use nearmiss_search::Phase;
use nearmiss_sites::rewrite::{Boundary, Rewrite};
use nearmiss_twin::{TwinError, TwinProgram};

use crate::CallsOf;
use crate::contracts::{LIBRARY_PATH, contracts_beside, loading_from};
use crate::subject::{Subject, Subjects, build_variant};
use crate::worker::{Shared, limits};
pub use data::{fitting, shown};
use list::{Bare, List, ListedCall};
use sides::Sides;

/// Most groups of calls of one execution.
const MOST_GROUPS: usize = 4096;
/// Lines of an error that are shown.
const MOST_LINES: usize = 4;
/// Calls behind a group that are still made (`libc/calls.c` ends the run then), and words about what the test passed there.
const MOST_LATER: usize = 256;

/// Adds the calls of unit tests to the tests of a suite, and says what was taken for test code.
pub fn add_unit_tests(
    tests: &mut Vec<TestCase>,
    shared: &Shared,
    subjects: &Subjects,
) -> Vec<UnitTests> {
    let mut all = Vec::new();
    let mut added = Vec::new();
    if shared.config.calls.of == CallsOf::None {
        return all;
    }
    let mut known = HashSet::new();
    let own_units = nearmiss_twin::own_units(&shared.config.compiler.library_directory);
    for test in tests.iter() {
        let program = test.capsule.program.display();
        shared.tally.enter(Phase::Building(format!(
            "{program} with its calls as inputs"
        )));
        let Ok(subject) = subjects.get(&test.capsule) else {
            continue;
        };
        let sides = match sides_of(test, &subject, shared, &own_units) {
            Ok(Some(sides)) => sides,
            Ok(None) => continue,
            Err(error) => {
                all.push(UnitTests {
                    test: test.id.clone(),
                    trouble: error.to_string(),
                    ..UnitTests::default()
                });
                continue;
            }
        };
        let mut figures = UnitTests {
            test: test.id.clone(),
            test_files: sides.shown_tests(),
            files: sides.shown_others(),
            functions: sides.functions,
            ..UnitTests::default()
        };
        match groups_of(test, &subject, &sides, shared) {
            // A framework that starts its program for each test: all of them make the same calls in the variant.
            Ok((_, list)) if !known.insert(sameness(test, &list)) => continue,
            Ok((groups, list)) => {
                figures.calls = groups.iter().map(|it| it.calls.len() as u64).sum();
                figures.left_out = list.calls.len() as u64 - figures.calls;
                figures.is_cut = list.is_cut;
                let ends = groups.iter().filter_map(|group| group.calls.last());
                let first_end = ends.map(|call| call.number as usize).min();
                figures.ends_early =
                    first_end.is_some_and(|end| end + MOST_LATER < list.calls.len());
                (figures.numbers, figures.structures) = list::kept(&list.calls);
                added.extend(groups);
            }
            Err(why) => figures.trouble = why,
        }
        all.push(figures);
    }
    tests.extend(added);
    all
}

/// What two executions share whose calls are the same.
fn sameness(test: &TestCase, list: &List) -> (PathBuf, Vec<OsString>, u64) {
    let Capsule {
        program, arguments, ..
    } = &test.capsule;
    let arguments = arguments.iter().skip(1).cloned().collect();
    (program.clone(), arguments, list.digest())
}

/// What is test code in an execution's program; `None` if its calls are no inputs.
fn sides_of(
    test: &TestCase,
    subject: &Subject,
    shared: &Shared,
    own_units: &HashSet<u64>,
) -> Result<Option<Sides>, TwinError> {
    let calls = &shared.config.calls;
    let libraries = &subject.program.libraries;
    let mut flows = nearmiss_twin::flows_of(&subject.file, libraries)?;
    flows.retain(|flow| !own_units.contains(&flow.unit));
    let sides = Sides::of(&flows, &calls.tests);
    let is_unit_test = || {
        let reads_nothing = !test.reads_files && !reads_stdin(&test.capsule);
        reads_nothing && (sides.is_named_as_test || test.capsule.arguments.len() <= 1)
    };
    let is_wanted = calls.of == CallsOf::All || is_unit_test();
    Ok((is_wanted && sides.functions > 0).then_some(sides))
}

fn reads_stdin(capsule: &Capsule) -> bool {
    match &capsule.stdin {
        Stdin::Null => false,
        Stdin::File(path) | Stdin::Pipe(path) => {
            std::fs::metadata(path).is_ok_and(|it| it.len() > 0)
        }
    }
}

/// The groups of calls of an execution, as test cases, and all its calls; or why there are none.
fn groups_of(
    test: &TestCase,
    subject: &Subject,
    sides: &Sides,
    shared: &Shared,
) -> Result<(Vec<TestCase>, List), String> {
    let (config, root) = (shared.config, shared.campaign.root());
    let libraries = &subject.program.libraries;
    // A contract is what the tests' own calls promise, and a check of all others.
    let beside = contracts_beside(&subject.file, libraries, config, root)?;
    let (checks, sources) = (beside.checks, beside.sources);
    let rewrite = Rewrite {
        checks,
        boundary: Some(Boundary {
            test_files: sides.test_files.clone(),
            functions: Vec::new(),
        }),
    };
    let variant = build_variant(config, root, &subject.file, libraries, &rewrite, &sources);
    let variant = variant.map_err(|error| brief(&error.to_string()))?;
    let capsule = capsule_of(test, &variant);
    let list = list_calls(&capsule, test, shared, "")?;
    let bare = match list.texts.is_empty() {
        true => Bare::new(),
        // Without an answer texts keep their zero.
        false => list_calls(&capsule, test, shared, LOOKS).map_or(Bare::new(), |it| list.bare(&it)),
    };
    let listed = &list.calls;
    let mut groups = list::groups(listed);
    groups.truncate(MOST_GROUPS);
    let words: Arc<Vec<u64>> = Arc::new(listed.iter().map(|call| call.summary).collect());
    let calls = &config.calls;
    let kinds = [(calls.has_numbers, "n"), (calls.has_structures, "s")];
    let kinds: String = (kinds.iter())
        .filter_map(|(is_wanted, letter)| is_wanted.then_some(*letter))
        .collect();
    let (formats, texts) = (list.formats.join(","), words_of(&bare));
    let cases = groups.into_iter().map(|group| {
        let (first, last) = (group[0].number, group[group.len() - 1].number);
        let mut capsule = capsule.clone();
        let kept = format!("{kinds}/{formats}/{texts}/{}", group[0].forks);
        capsule.environment.set(
            CALLS.into(),
            chosen(first, last, &kept, &words, list::test_end(listed, first)),
        );
        TestCase {
            id: format!("{}.{first}", test.id),
            capsule,
            executions: test.executions,
            ended: test.ended.clone(),
            seconds: test.seconds,
            trace: None,
            calls: group.iter().map(|call| call.shown(&bare)).collect(),
            reads_files: false,
        }
    });
    Ok((cases.collect(), list))
}

/// The first lines of what a linker has to say: it may name every function of a library.
fn brief(error: &str) -> String {
    let mut lines = error.lines();
    let first: Vec<&str> = lines.by_ref().take(MOST_LINES).collect();
    let more = lines.count();
    let cut = format!("\n… and {more} more lines");
    format!("{}{}", first.join("\n"), if more > 0 { &cut } else { "" })
}

/// Parameters as `abi::boundary::CALLS` has them.
fn words_of(bare: &Bare) -> String {
    let words: Vec<&str> = bare.keys().map(String::as_str).collect();
    words.join(",")
}

/// What says which calls have inputs, and how (`abi::boundary::CALLS`).
fn chosen(first: u64, last: u64, how: &str, words: &[u64], test_end: usize) -> OsString {
    let from = first as usize - 1;
    let until = words.len().min(last as usize + MOST_LATER);
    let own: Vec<String> = (from..until)
        .map(|number| {
            let end = if number + 1 == test_end {
                TEST_ENDS
            } else {
                ""
            };
            format!("{:x}{end}", words[number])
        })
        .collect();
    format!("{first}-{last}/{how}:{}", own.join(",")).into()
}

/// The execution by a variant, with calls as its only inputs.
fn capsule_of(test: &TestCase, variant: &TwinProgram) -> Capsule {
    let mut capsule = test.capsule.clone();
    capsule.run_by(variant.program.clone());
    capsule.channels = ChannelSet::NONE.with(ChannelKind::Call);
    for (name, value) in nearmiss_hoist::record::ONE_PROCESS {
        capsule.environment.set(name.into(), value.into());
    }
    if let Some(directory) = &variant.library_path {
        let mut variables = capsule.environment.iter();
        let before = variables.find(|(name, _)| *name == LIBRARY_PATH);
        let (name, path) = loading_from(directory, before.map(|it| &it.1));
        capsule.environment.set(name, path);
    }
    capsule
}

/// Runs the variant once; gives the calls at its boundary, and what `how` asks for.
fn list_calls(
    capsule: &Capsule,
    test: &TestCase,
    shared: &Shared,
    how: &str,
) -> Result<List, String> {
    let directory: PathBuf = shared.new_directory();
    std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let file = directory.join("calls");
    let limits = limits(shared.config, Duration::from_secs_f64(test.seconds));
    let wanted = OsString::from(format!("{how}{}", file.display()));
    let mut spec = capsule.spec(&capsule.program, &[(CALLS, wanted)], &limits);
    spec.writable.push(directory.clone());
    let outcome = shared.config.sandbox.run(&spec);
    let listed = std::fs::read_to_string(&file).unwrap_or_default();
    let _ = std::fs::remove_dir_all(&directory);
    let outcome = outcome.map_err(|error| error.to_string())?;
    if let Some(limit) = outcome.exceeded {
        return Err(format!("run again with its calls announced, it {limit}"));
    }
    let mut list = list::read(&listed, &spec.stand_ins);
    for call in &mut list.calls {
        let file = Path::new(&call.file);
        let relative = file.strip_prefix(&capsule.directory).unwrap_or(file);
        call.file = relative.to_string_lossy().into_owned();
    }
    Ok(list)
}

impl ListedCall {
    fn shown(&self, bare: &Bare) -> BoundaryCall {
        let mut parameters = (0..self.values.len()).map(|it| format!("{}#{it}", self.function));
        BoundaryCall {
            bare: parameters.find_map(|parameter| bare.get(&parameter).copied()),
            number: self.number,
            function: self.function.clone(),
            caller: self.caller.clone(),
            file: self.file.clone(),
            line: self.line,
            arguments: self.arguments(),
            failing: Vec::new(),
        }
    }
}
