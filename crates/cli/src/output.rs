//! Writing to the two standard streams.

use std::io::{self, Write};

/// Says what is wrong: one line, and perhaps more that explain it.
pub fn complain(trouble: &str) {
    let lines: Vec<String> = trouble.lines().map(nearmiss_report::escape::text).collect();
    // Nobody could be told that this failed.
    let _ = writeln!(io::stderr(), "nearmiss: {}", lines.join("\n"));
}

/// Writes a result to standard output. A reader that has seen enough is no trouble.
pub fn result(text: &[u8]) -> Result<(), String> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// Writes a report for people to standard error.
pub fn message(text: &[u8]) {
    // Nobody could be told that this failed.
    let _ = io::stderr().lock().write_all(text);
}
