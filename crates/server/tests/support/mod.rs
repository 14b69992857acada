//! C programs, built as users build them, and served.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nearmiss_abi::server::MODE_FUNCTION;
use nearmiss_sandbox::Sandbox;
use nearmiss_server::{Request, Run, Server, ServerError, Settings};
use nearmiss_trace::RawTrace;

/// A directory with a program in it.
pub struct Place {
    /// It goes away with this value.
    root: tempfile::TempDir,
}

/// How a program is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// By `nearmiss cc`, to be recorded.
    Recording,
    /// By `nearmiss cc`, not recorded.
    Instrumented,
    /// As a sanitizer twin is.
    Twin,
}

fn target() -> PathBuf {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/release/nearmiss");
    let binary = std::env::var_os("NEARMISS_BIN").unwrap_or(built.into());
    let binary = PathBuf::from(binary);
    assert!(binary.exists(), "./nm build makes {}", binary.display());
    binary.parent().expect("a directory").into()
}

fn shell(command: &mut Command) {
    let output = command.output().expect("a command");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

/// The sandbox that programs run in.
pub fn sandbox() -> Sandbox {
    Sandbox::confined(vec![target().join("nearmiss").into(), "__sandbox".into()])
}

impl Place {
    /// Builds a program of this source.
    pub fn new(source: &str, build: Build) -> Place {
        let place = Place {
            root: tempfile::tempdir().expect("a directory"),
        };
        let file = place.path("program.c");
        let text = format!("{PROLOGUE}{source}");
        std::fs::write(&file, text).expect("a file");
        let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../include");
        let program = place.path("program");
        if build == Build::Twin {
            shell(
                Command::new("clang-19")
                    .args(["-g", "-fsanitize=address,undefined", "-Wl,--wrap=main"])
                    .args([include, "-o"])
                    .args([&program, &file, &target().join("libnearmiss_replay.a")]),
            );
        } else {
            shell(
                Command::new(target().join("nearmiss"))
                    .args(["__compile", "-g", include, "-o"])
                    .args([&program, &file]),
            );
        }
        place
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// What is to be served.
    pub fn settings(&self, build: Build) -> Settings {
        Settings {
            program: self.path("program"),
            environment: vec![("ASAN_OPTIONS".into(), "detect_leaks=0".into())],
            record: (build == Build::Recording).then(|| "channels=n".into()),
            directory: self.path("server"),
            working_directory: self.root.path().into(),
            restarts: None,
        }
    }

    /// Serves the program.
    pub fn serve(&self, build: Build) -> Server {
        Server::start(&sandbox(), self.settings(build)).expect("a server")
    }

    /// Serves the program by processes that make many runs each.
    pub fn serve_restarting(&self, build: Build) -> Server {
        let settings = Settings {
            restarts: Some(1),
            ..self.settings(build)
        };
        Server::start(&sandbox(), settings).expect("a server")
    }
}

const PROLOGUE: &str = "#include <nearmiss.h>\n\
    #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    #include <signal.h>\n#include <unistd.h>\n\
    unsigned __nm_mode(void); void __nm_mark(unsigned);\n\
    unsigned long __nm_concrete(unsigned long);\n\
    #line 1\n";

/// A row of a named input.
pub fn row(name: &str, content: &[u8]) -> Vec<u8> {
    let numbers = [name.len() as u32, 0, content.len() as u32];
    let mut row: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    row.extend(name.as_bytes());
    row.extend(content);
    row
}

/// Longer than any run takes that ends, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);
/// For runs that do not end: enough to come as far as they come.
const SHORT: Duration = Duration::from_secs(1);

/// One run with `x` as the input of this name.
pub fn run(server: &mut Server, x: i32) -> Run {
    try_run(server, x, MODE_FUNCTION).expect("an answer")
}

/// The same by a process that made no run before.
pub fn run_fresh(server: &mut Server, x: i32) -> Run {
    let request = Request {
        mode: MODE_FUNCTION,
        rows: &row("x", &x.to_le_bytes()),
        time: PATIENCE,
        fresh: true,
    };
    server.run(&request).expect("an answer")
}

/// One run that does not end.
pub fn run_endlessly(server: &mut Server, x: i32) -> Run {
    run_for(server, x, MODE_FUNCTION, SHORT).expect("an answer")
}

/// One run in this mode.
pub fn try_run(server: &mut Server, x: i32, mode: u32) -> Result<Run, ServerError> {
    run_for(server, x, mode, PATIENCE)
}

fn run_for(server: &mut Server, x: i32, mode: u32, time: Duration) -> Result<Run, ServerError> {
    let rows = row("x", &x.to_le_bytes());
    server.run(&Request {
        mode,
        rows: &rows,
        time,
        fresh: false,
    })
}

/// What the last run recorded.
pub fn trace(server: &Server) -> RawTrace {
    let file: &Path = server.trace_file().expect("a trace");
    RawTrace::open(file).expect("a valid trace")
}
