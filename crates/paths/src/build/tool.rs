//! Running a tool and keeping what it says.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a tool left.
#[derive(Debug)]
pub struct Said {
    /// Whether it did its work.
    pub done: bool,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Its standard error.
    pub messages: String,
}

/// Runs `program` in `directory`. The error says that there is no such tool, or why it did not start.
pub fn run(program: &Path, words: &[String], directory: &Path) -> Result<Said, String> {
    let output = Command::new(program)
        .args(words)
        .current_dir(directory)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| not_started(program, &error))?;
    Ok(Said {
        done: output.status.success(),
        messages: String::from_utf8_lossy(&output.stderr).into_owned(),
        output: output.stdout,
    })
}

fn not_started(program: &Path, error: &io::Error) -> String {
    let name = program.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("cannot find {name}: install it with: apt-get install clang-19 llvm-19")
        }
        _ => format!("{name}: {error}"),
    }
}

/// A path as a word.
pub fn word(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Several words.
pub fn words<const N: usize>(words: [&str; N]) -> impl Iterator<Item = String> {
    words.map(str::to_string).into_iter()
}
