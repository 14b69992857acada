//! Writing to the two standard streams.

use std::io::{self, IsTerminal, Write};

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

/// Shows what a program wrote to its two streams: as it is where it goes into a file or a program, in
/// visible form on a terminal. Its input was chosen by a solver, and what a program makes of that may
/// steer the terminal.
pub fn said_by_program(stdout: &[u8], stderr: &[u8]) -> Result<(), String> {
    match io::stdout().is_terminal() {
        true => result(visible(stdout).as_bytes())?,
        false => result(stdout)?,
    }
    match io::stderr().is_terminal() {
        true => message(visible(stderr).as_bytes()),
        false => message(stderr),
    }
    Ok(())
}

/// Text as it is, but what would steer a terminal, and what is no text, as escapes.
fn visible(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' | '\t' => shown.push(character),
                _ => shown += &nearmiss_report::escape::text(character.encode_utf8(&mut [0; 4])),
            }
        }
        for byte in chunk.invalid() {
            shown += &format!("\\x{byte:02x}");
        }
    }
    shown
}

/// Writes a report for people to standard error.
pub fn message(text: &[u8]) {
    // Nobody could be told that this failed.
    let _ = io::stderr().lock().write_all(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_program_says_steers_the_terminal() {
        assert_eq!(visible("plain\tä\n".as_bytes()), "plain\tä\n");
        assert_eq!(visible(b"\x1b]0;title\x07"), "\\u{1b}]0;title\\u{7}");
        assert_eq!(visible(b"a\r\xff\x9b2J"), "a\\r\\xff\\x9b2J");
    }
}
