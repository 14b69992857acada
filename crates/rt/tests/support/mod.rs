//! Compiling C programs against the runtime, running them, and reading what they recorded.
#![allow(dead_code)]

pub mod trace;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use nearmiss_abi::hook::{HOOKS, Word};
use trace::Trace;

/// Where the tests put their files.
fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// A new directory for one test.
pub fn directory(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = scratch().join(format!("{name}-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The runtime as programs get it: the release archive, built once.
pub fn archive() -> &'static Path {
    static ARCHIVE: OnceLock<PathBuf> = OnceLock::new();
    ARCHIVE.get_or_init(|| {
        let target = scratch().join("archive");
        let status = Command::new(env!("CARGO"))
            .args(["build", "--release", "--quiet", "-p", "nearmiss-rt"])
            .arg("--target-dir")
            .arg(&target)
            .status()
            .unwrap();
        assert!(status.success());
        target.join("release/libnearmiss_rt.a")
    })
}

/// Declarations of all hooks, made from the table.
fn header() -> String {
    let mut text = String::new();
    for hook in HOOKS {
        let result = if hook.returns_label {
            "uint32_t"
        } else {
            "void"
        };
        let arguments: Vec<_> = hook
            .arguments
            .iter()
            .map(|word| match word {
                Word::U32 => "uint32_t",
                Word::U64 => "uint64_t",
            })
            .collect();
        let arguments = arguments.join(", ");
        let symbol = hook.symbol;
        text += &format!("__attribute__((preserve_most)) {result} {symbol}({arguments});\n");
    }
    text
}

/// Compiles `tests/c/<source>` into `directory` with these options; links the runtime in if
/// `linked`.
pub fn compile(
    directory: &Path,
    source: &str,
    output: &str,
    linked: bool,
    options: &[&str],
) -> PathBuf {
    std::fs::write(directory.join("hooks.h"), header()).unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let program = directory.join(output);
    let mut command = Command::new("clang-19");
    command
        .args(["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"])
        .arg("-I")
        .arg(directory)
        .arg(sources.join(source))
        .arg("-o")
        .arg(&program);
    if linked {
        command.arg(archive());
    }
    let output = command.args(options).output().expect("clang-19");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

/// What a program printed, and what it recorded.
pub struct Run {
    pub output: Output,
    pub text: String,
    pub labels: HashMap<String, u32>,
    pub traces: Vec<Trace>,
}

impl Run {
    /// The only trace.
    pub fn trace(&self) -> &Trace {
        assert_eq!(self.traces.len(), 1, "{}", self.text);
        &self.traces[0]
    }

    /// The term that the program printed as `name=label`, drawn.
    pub fn term(&self, name: &str) -> String {
        let label = self.labels.get(name);
        let label = *label.unwrap_or_else(|| panic!("no {name} in {}", self.text));
        self.trace().draw(label)
    }

    /// The program must have ended well.
    pub fn succeeded(self) -> Run {
        let error = String::from_utf8_lossy(&self.output.stderr);
        assert!(
            self.output.status.success(),
            "{:?}\n{}{error}",
            self.output.status,
            self.text
        );
        self
    }
}

/// A program about to be run.
pub struct Runner {
    pub command: Command,
    pub record: Option<PathBuf>,
    pub stdin: Vec<u8>,
}

impl Runner {
    pub fn new(program: impl AsRef<std::ffi::OsStr>) -> Runner {
        let mut command = Command::new(program);
        for name in ["NEARMISS_RECORD", "NEARMISS_OPTIONS", "NEARMISS_REPLAY"] {
            command.env_remove(name);
        }
        Runner {
            command,
            record: None,
            stdin: Vec::new(),
        }
    }

    pub fn args(mut self, args: &[&str]) -> Runner {
        self.command.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Runner {
        self.command.env(name, value);
        self
    }

    pub fn stdin(mut self, text: &[u8]) -> Runner {
        self.stdin = text.to_vec();
        self
    }

    /// Records into `directory/traces`.
    pub fn record(mut self, directory: &Path) -> Runner {
        let traces = directory.join("traces");
        std::fs::create_dir_all(&traces).unwrap();
        self.command.env("NEARMISS_RECORD", &traces);
        self.record = Some(traces);
        self
    }

    pub fn run(mut self) -> Run {
        let mut child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let stdin = self.stdin;
        let writer = std::thread::spawn(move || {
            let _ = pipe.write_all(&stdin);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let labels = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .filter_map(|(name, label)| Some((name.to_owned(), label.parse().ok()?)))
            .collect();
        Run {
            output,
            text,
            labels,
            traces: self
                .record
                .map_or_else(Vec::new, |traces| read_all(&traces)),
        }
    }
}

/// Reads and validates every trace of a directory.
pub fn read_all(directory: &Path) -> Vec<Trace> {
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|name| name == "trace"))
        .collect();
    paths.sort();
    let traces = paths.iter().map(|path| Trace::read(path)).collect();
    for path in paths {
        std::fs::remove_file(path).unwrap();
    }
    traces
}
