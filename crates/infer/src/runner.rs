//! The program that runs tests: written for one function, compiled once, started in the sandbox for many tests.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nearmiss_harness::Prototype;
use nearmiss_sandbox::{Limits, Sandbox, Spec, Stdin};

use crate::InferError;
use crate::environment::{Environment, Home};
use crate::inputs::TestCase;
use crate::stubs;
use crate::subject::Subject;

/// Tests of one valuation.
#[derive(Clone, Debug)]
pub struct Group {
    pub tests: Vec<TestCase>,
    /// Whether a new process runs it: nothing that earlier calls left can matter.
    pub fresh: bool,
}

/// How a test failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which test of the group.
    pub test: usize,
    /// The signal, or one of [`TIME`], [`ENDED`] and [`WAITS`].
    pub signal: i32,
    /// The block whose guard page was touched.
    pub block: Option<usize>,
    /// Bytes behind its end, or before its start if negative.
    pub distance: i64,
}

/// It did not end in time.
pub const TIME: i32 = 1000;
/// It ended the process.
pub const ENDED: i32 = 1001;
/// It slept, and would not wake up.
pub const WAITS: i32 = 1002;

impl Failure {
    /// What happened, in words.
    pub fn words(&self, environment: &Environment) -> String {
        let block = self.block.and_then(|block| environment.blocks.get(block));
        match (self.signal, block) {
            (TIME, _) => "does not end".into(),
            (ENDED, _) => "ends the process".into(),
            (WAITS, _) => "waits".into(),
            (_, Some(block)) if self.distance > 0 => {
                format!("touches byte {} behind {}", self.distance, block.place)
            }
            (_, Some(block)) => format!("touches byte {} before {}", -self.distance, block.place),
            (8, _) => "divides by zero (SIGFPE)".into(),
            (11 | 7, _) => "touches no memory (SIGSEGV)".into(),
            (4 | 5, _) => "does what C leaves undefined (trap)".into(),
            (6, _) => "aborts (SIGABRT)".into(),
            (signal, _) => format!("ends by signal {signal}"),
        }
    }
}

/// A runner that was built.
#[derive(Debug)]
pub struct Runner {
    program: PathBuf,
    directory: PathBuf,
    sandbox: Sandbox,
    rounds: usize,
}

/// The part that is the same for all functions.
const TEMPLATE: &str = include_str!("runner.c");

impl Runner {
    /// Writes and compiles it.
    pub fn build(
        subject: &Subject,
        prototype: &Prototype,
        environment: &Environment,
        sandbox: &Sandbox,
        directory: &Path,
    ) -> Result<Runner, InferError> {
        let source = directory.join("runner.c");
        let text = format!(
            "{}\n{}\n{TEMPLATE}",
            subject.include(),
            calls(prototype, environment)
        );
        write(&source, text.as_bytes())?;
        let program = directory.join("runner");
        let mut command = Command::new(&subject.clang);
        command
            .args(["-w", "-O1", "-g0", "-fno-builtin", "-fstack-protector-all"])
            .args(subject.checks())
            .args(&subject.flags)
            .arg(&source)
            .args(&subject.linked)
            .arg("-o")
            .arg(&program)
            .stdin(Stdio::null());
        let said = command
            .output()
            .map_err(|error| InferError::Io(subject.clang.clone(), error))?;
        if !said.status.success() {
            let messages = String::from_utf8_lossy(&said.stderr).into_owned();
            return Err(InferError::NotBuilt(messages));
        }
        Ok(Runner {
            program,
            directory: directory.to_path_buf(),
            sandbox: sandbox.clone(),
            rounds: 0,
        })
    }

    /// Runs all groups; the first failure of each.
    pub fn run(&mut self, groups: &[Group]) -> Result<Vec<Option<Failure>>, InferError> {
        self.rounds += 1;
        let tests = self.directory.join("tests");
        let results = self.directory.join("results");
        write(&tests, &tests_file(groups))?;
        let mut empty = Vec::with_capacity(groups.len() * RESULT);
        for _ in groups {
            empty.extend((-2i32).to_le_bytes());
            empty.extend([0; RESULT - 4]);
        }
        write(&results, &empty)?;
        let outcome = self.sandbox.run(&self.spec(&tests, &results));
        let outcome = outcome.map_err(|error| InferError::Runner(error.to_string()))?;
        let bytes = fs::read(&results).map_err(|error| InferError::Io(results.clone(), error))?;
        let _ = (fs::remove_file(&tests), fs::remove_file(&results));
        let rows: Vec<Option<Option<Failure>>> = bytes.chunks_exact(RESULT).map(result).collect();
        let rows: Option<Vec<Option<Failure>>> = rows.into_iter().collect();
        rows.ok_or_else(|| InferError::Runner(format!("the runner ended early: {}", outcome.ended)))
    }

    fn spec(&self, tests: &Path, results: &Path) -> Spec {
        let word = |path: &Path| OsString::from(path);
        Spec {
            program: self.program.clone(),
            arguments: vec![word(&self.program), word(tests), word(results)],
            environment: vec![
                ("LC_ALL".into(), "C".into()),
                ("PATH".into(), "/usr/bin:/bin".into()),
            ],
            directory: self.directory.clone(),
            stdin: Stdin::Null,
            umask: None,
            process: None,
            world: Vec::new(),
            files: Vec::new(),
            stand_ins: Vec::new(),
            writable: vec![self.directory.clone()],
            limits: Limits {
                wall: Duration::from_secs(600),
                cpu_seconds: 600,
                memory: 1 << 30,
                ..Limits::default()
            },
        }
    }
}

/// Bytes of a result: `struct nm_result`.
const RESULT: usize = 24;

fn write(path: &Path, bytes: &[u8]) -> Result<(), InferError> {
    fs::write(path, bytes).map_err(|error| InferError::Io(path.to_path_buf(), error))
}

/// A row of results; `None` if the group was not run.
fn result(row: &[u8]) -> Option<Option<Failure>> {
    let word = |at: usize| i32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]);
    let distance = i64::from_le_bytes(row[16..24].try_into().ok()?);
    match word(0) {
        -2 => None,
        -1 => Some(None),
        test => Some(Some(Failure {
            test: test as usize,
            signal: word(4),
            block: usize::try_from(word(12))
                .ok()
                .filter(|_| [7, 11].contains(&word(4))),
            distance,
        })),
    }
}

/// The number of groups, where each one starts, and their tests.
fn tests_file(groups: &[Group]) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend((groups.len() as u64).to_le_bytes());
    let mut body = Vec::new();
    let head = 8 + 16 * groups.len();
    for group in groups {
        file.extend((group.tests.len() as u32).to_le_bytes());
        file.extend(u32::from(group.fresh).to_le_bytes());
        file.extend(((head + body.len()) as u64).to_le_bytes());
        group.tests.iter().for_each(|test| test.write(&mut body));
    }
    file.extend(body);
    file
}

/// The part of the runner that knows the function.
fn calls(prototype: &Prototype, environment: &Environment) -> String {
    let mut text = format!(
        "#include <stdint.h>\n#include <string.h>\n#include <stdlib.h>\n#define NUMBERS {}\n#define BLOCKS {}\nstruct nm_home {{ int block; unsigned long offset, size; }};\n",
        environment.numbers.len(),
        environment.blocks.len()
    );
    text += "static const struct nm_home nm_homes[] = {\n";
    let numbers = environment
        .numbers
        .iter()
        .map(|number| (number.home, number.bytes.min(8)));
    let blocks = environment.blocks.iter().map(|block| (block.home, 8));
    for (home, size) in numbers.chain(blocks) {
        text += &match home {
            Home::Parameter(_) => format!("    {{-1, 0, {size}}},\n"),
            Home::Member(block, offset) => format!("    {{{block}, {offset}, {size}}},\n"),
        };
    }
    text += "    {-1, 0, 0}};\n";
    text += &stubs::definitions(prototype, environment);
    let name = &prototype.function;
    text += &format!("static __typeof__(&{name}) volatile nm_subject = {name};\n");
    text += "static void nm_call(const int64_t *numbers, void *const *pointers)\n{\n    nm_numbers = numbers;\n";
    let arguments = stubs::arguments(prototype, environment);
    text += &format!("    nm_subject({arguments});\n}}\n");
    text
}
