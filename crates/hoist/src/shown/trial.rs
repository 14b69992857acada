//! A call of the tests made again in the sanitizer twin, with other inputs (`libc/hoist.c`): does it fail?

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nearmiss_abi::check::Kind;
use nearmiss_abi::environment::{HOIST, REPLAY};
use nearmiss_judge::{Complaint, complaints_of, twin_spec};
use nearmiss_sandbox::{Limits, Sandbox, Spec, Stdin};
use nearmiss_twin::TwinProgram;

use super::given::Given;
use super::sample::Sample;
use crate::clock::Clock;
use crate::inputs::{Input, Role};
use crate::record::ONE_PROCESS;

/// The twin says so where the inputs of the call are in place.
const BEGINS: &str = "nearmiss: the call begins\n";
/// What a call may take: it took no time in the tests.
const TIME: Duration = Duration::from_secs(5);

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It fails here: `file.c:12`.
    Fails(String),
    /// Nothing goes wrong.
    Safe,
    /// It could not be made, or went on for too long: why.
    Unknown(String),
}

/// How calls are made.
#[derive(Clone, Debug)]
pub struct Bench {
    /// Where programs run.
    pub sandbox: Sandbox,
    /// The twin of the variant that announces calls.
    pub twin: TwinProgram,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// The environment of the tests.
    pub environment: Vec<(OsString, OsString)>,
    /// Where they run.
    pub working_directory: PathBuf,
    /// A directory for files.
    pub directory: PathBuf,
    /// The file of the tests.
    pub tests: Option<String>,
}

/// What calls of one function came to: the call, and its inputs in the order of their names.
pub type Known = HashMap<(usize, Vec<(String, Vec<u8>)>), Outcome>;

/// The calls of one function.
pub struct Trials<'a> {
    /// How they are made.
    pub bench: &'a Bench,
    /// The number of the function.
    pub number: usize,
    /// Its inputs.
    pub inputs: &'a [Input],
    /// What the tests' calls were given.
    pub calls: &'a [Given],
    /// Numbers on which the function decides, and 0.
    pub fillers: &'a [i128],
    /// What is known of earlier rounds.
    pub known: &'a mut Known,
    /// How many may still be made.
    pub left: usize,
    /// Until when.
    pub clock: Clock<'a>,
}

impl Trials<'_> {
    /// Makes a call, unless it was made before.
    pub fn run(&mut self, sample: &Sample) -> Outcome {
        let rows = self.rows(sample);
        let key = (sample.call, rows);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        if self.left == 0 {
            return Outcome::Unknown("no run was left for it".into());
        }
        if self.clock.is_over() {
            return Outcome::Unknown("no time was left for it".into());
        }
        self.left -= 1;
        let outcome = self.bench.run((self.number, key.0), &key.1);
        self.known.insert(key, outcome.clone());
        outcome
    }

    /// The inputs that differ from the tests' call, and the sizes of the blocks that they lie in: these may be constant.
    fn rows(&self, sample: &Sample) -> Vec<(String, Vec<u8>)> {
        let own = &self.calls[sample.call];
        let differs = |number: &u32| own.get(number) != sample.given.get(number);
        let changed: Vec<u32> = (sample.given.keys().copied()).filter(differs).collect();
        let is_around = |pointer: &Input, inner: &Input| {
            let rest = inner.place.strip_prefix(pointer.place.as_str());
            rest.is_some_and(|it| it.is_empty() || it.starts_with("->") || it.starts_with('['))
        };
        let is_needed = |number: u32| {
            let input = &self.inputs[number as usize];
            let inner = |it: &u32| is_around(input, &self.inputs[*it as usize]);
            let is_moved = input.role == Role::Bounds && changed.iter().any(inner);
            changed.contains(&number) || is_moved
        };
        let needed = sample
            .given
            .iter()
            .filter(|(number, _)| is_needed(**number));
        let mut rows: Vec<(String, Vec<u8>)> = Vec::new();
        for (number, bytes) in needed {
            let input = &self.inputs[*number as usize];
            if let Some(was) = own.get(number).filter(|_| input.role == Role::Bounds) {
                rows.push((format!("was {}", input.channel()), was.clone()));
            }
            rows.push((input.channel(), bytes.clone()));
        }
        rows.sort();
        rows
    }
}

impl Bench {
    fn run(&self, (number, call): (usize, usize), rows: &[(String, Vec<u8>)]) -> Outcome {
        let file = self.directory.join("call.rows");
        if let Err(error) = fs::write(&file, encoded(rows)) {
            return Outcome::Unknown(error.to_string());
        }
        let spec = self.spec(&file, format!("{number}:{call}"));
        let outcome = match self.sandbox.run(&twin_spec(&self.twin, spec)) {
            Ok(outcome) => outcome,
            Err(error) => return Outcome::Unknown(error.to_string()),
        };
        let stderr = String::from_utf8_lossy(&outcome.stderr).into_owned();
        let Some((_, told)) = stderr.split_once(BEGINS) else {
            return Outcome::Unknown("the call cannot be made with these inputs".into());
        };
        let complaints = complaints_of(told.as_bytes().to_vec(), outcome.ended, &self.twin);
        let is_failure = |it: &&Complaint| !it.kinds.contains(&Kind::Precondition);
        match complaints.iter().find(is_failure) {
            Some(complaint) => self.place_of(complaint),
            None if outcome.exceeded.is_some() => {
                Outcome::Unknown("the call came to no end".into())
            }
            None => Outcome::Safe,
        }
    }

    /// Where a call fails: in the code under test, as far as that is known.
    fn place_of(&self, complaint: &Complaint) -> Outcome {
        let places = complaint.places.iter().chain(&complaint.stack);
        let is_source = |it: &&nearmiss_judge::complaint::Place| !it.file.is_empty() && it.line > 0;
        let Some(place) = places.clone().find(is_source) else {
            return Outcome::Fails("a place that is not known".into());
        };
        let is_tests = |tests: &String| nearmiss_judge::complaint::same_file(tests, &place.file);
        if self.tests.as_ref().is_some_and(is_tests) {
            return Outcome::Unknown("the tests' own code fails".into());
        }
        let name = Path::new(&place.file).file_name().unwrap_or_default();
        Outcome::Fails(format!("{}:{}", name.to_string_lossy(), place.line))
    }

    fn spec(&self, rows: &Path, which: String) -> Spec {
        let is_own = |name: &OsString| {
            name == HOIST || name == REPLAY || ONE_PROCESS.iter().any(|(own, _)| name == own)
        };
        let is_other = |(name, _): &&(OsString, OsString)| !is_own(name);
        let mut environment: Vec<(OsString, OsString)> =
            self.environment.iter().filter(is_other).cloned().collect();
        environment.push((HOIST.into(), which.into()));
        environment.push((REPLAY.into(), rows.into()));
        environment.extend(ONE_PROCESS.map(|(name, value)| (name.into(), value.into())));
        let mut arguments = vec![self.twin.program.clone().into_os_string()];
        arguments.extend(self.arguments.iter().cloned());
        Spec {
            program: self.twin.program.clone(),
            arguments,
            environment,
            directory: self.working_directory.clone(),
            stdin: Stdin::Null,
            umask: None,
            process: None,
            world: Vec::new(),
            files: Vec::new(),
            stand_ins: Vec::new(),
            writable: Vec::new(),
            limits: Limits {
                wall: TIME,
                cpu_seconds: TIME.as_secs(),
                ..Limits::default()
            },
        }
    }
}

/// Rows as `abi::environment::REPLAY` has them.
fn encoded(rows: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, content) in rows {
        for number in [name.len(), 0, content.len()] {
            bytes.extend((number as u32).to_le_bytes());
        }
        bytes.extend(name.as_bytes());
        bytes.extend(content);
    }
    bytes
}
