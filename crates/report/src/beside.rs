//! The test's input beside the new one, changed bytes marked: arguments as a command line, texts
//! line by line, everything else as a hex dump.

use std::collections::BTreeSet;
use std::fmt::Write;

use nearmiss_results::{Finding, Input};

use crate::aligned::{Cell, align};
use crate::text::{Detail, Lookup};
use crate::words::{counted, shortened};
use crate::{changes, escape, hexdump, marked, shell};

/// Most changes of one channel that are listed.
const MAX_CHANGES: usize = 12;
/// Longest command line that is shown where it has other arguments.
const MAX_COMMAND: usize = 100;
/// What stands before each line.
const INDENT: &str = "    ";
/// What stands before the content of a channel.
const DEEPER: &str = "      ";

/// Every input that has changed.
pub fn block(found: &Finding, lookup: &dyn Lookup, detail: Detail) -> String {
    let mut text = String::new();
    let mut channels = changed_channels(found);
    if let Some(line) = command_lines(found, detail) {
        text += &line;
        channels.retain(|channel| argument_number(channel).is_none());
    }
    // What a call is given is shown as C.
    channels.retain(|channel| !channel.starts_with("call:"));
    for channel in channels {
        text += &one_channel(found, channel, lookup, detail);
    }
    text
}

/// The channels in the order in which their changes are listed.
fn changed_channels(found: &Finding) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let channels = found.changes.iter().map(|change| change.channel.as_str());
    channels.filter(|channel| seen.insert(*channel)).collect()
}

/// The command lines of both runs, if an argument has changed.
fn command_lines(found: &Finding, detail: Detail) -> Option<String> {
    let is_argument = |channel: &&str| argument_number(channel).is_some();
    if !changed_channels(found).iter().any(is_argument) {
        return None;
    }
    if let Some(line) = other_arguments(found) {
        return Some(line);
    }
    let mut arguments: Vec<Vec<Cell>> = Vec::new();
    for (number, argument) in found.test.argv.iter().enumerate() {
        let channel = format!("argv[{number}]");
        arguments.push(match found.input.get(&channel) {
            Some(Input::Bytes(new)) => align(found, &channel, new)?,
            _ => argument.bytes().map(Cell::same).collect(),
        });
    }
    let is_shown = |channel: &str| argument_number(channel).is_some_and(|it| it < arguments.len());
    let mut channels = found.changes.iter().map(|change| change.channel.as_str());
    if !channels.all(|channel| argument_number(channel).is_none() || is_shown(channel)) {
        return None;
    }
    let mut text = lengths(found, |channel| argument_number(channel).is_some());
    text += &marked::rows(&shell::glyphs(&arguments), INDENT, detail.rows());
    Some(text)
}

/// Both command lines where the new one has more or fewer arguments.
fn other_arguments(found: &Finding) -> Option<String> {
    let old = &found.test.argv;
    let is_there = |number: &usize| found.input.contains_key(&format!("argv[{number}]"));
    let mut new = vec![old.first()?.clone()];
    for number in (1..).take_while(is_there) {
        new.push(match &found.input[&format!("argv[{number}]")] {
            Input::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Input::File(path) => path.display().to_string(),
        });
    }
    // Where arguments are no input none is listed, and something else is what changed.
    let are_inputs = new.len() > 1 || found.changes.is_empty() && found.lengths.is_empty();
    if new.len() == old.len() || !are_inputs {
        return None;
    }
    let line = |arguments: &[String]| shortened(&shell::command_line(arguments), MAX_COMMAND);
    let (test, new) = (line(old), line(&new));
    Some(format!("{INDENT}test: {test}\n{INDENT}new:  {new}\n"))
}

/// The number in `argv[1]`.
fn argument_number(channel: &str) -> Option<usize> {
    channel
        .strip_prefix("argv[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

fn lengths(found: &Finding, is_wanted: impl Fn(&str) -> bool) -> String {
    let resized = found.lengths.iter().filter(|one| is_wanted(&one.channel));
    let line = |one| format!("{INDENT}{}\n", changes::length(one));
    resized.take(MAX_CHANGES).map(line).collect()
}

fn one_channel(found: &Finding, channel: &str, lookup: &dyn Lookup, detail: Detail) -> String {
    let mut text = lengths(found, |one| one == channel);
    let input = found.input.get(channel);
    let content = match input {
        Some(Input::Bytes(bytes)) => Some(bytes.clone()),
        Some(Input::File(path)) => lookup.content(path),
        None => None,
    };
    let name = escape::text(channel);
    match content.and_then(|new| align(found, channel, &new)) {
        None => text += &listed(found, channel),
        Some(cells) if is_text(&cells) => text += &lines(&name, &cells, detail),
        Some(cells) => {
            // Writing into a string does not fail.
            let size = counted(
                cells.iter().filter(|cell| cell.old.is_some()).count() as u64,
                "byte",
            );
            let _ = writeln!(text, "{INDENT}{name}, {size}:");
            text += &hexdump::rows(&cells, DEEPER, detail.rows() * 3);
        }
    }
    if let Some(Input::File(path)) = input {
        let path = escape::text(&path.display().to_string());
        let _ = writeln!(text, "{INDENT}new content in {path}");
    }
    text
}

/// The changes one by one.
fn listed(found: &Finding, channel: &str) -> String {
    let here = found.changes.iter().filter(|one| one.channel == channel);
    let line = |change| format!("{INDENT}{}\n", changes::change(change));
    let mut text: String = here.clone().take(MAX_CHANGES).map(line).collect();
    let more = here.count().saturating_sub(MAX_CHANGES);
    if more > 0 {
        let _ = writeln!(text, "{INDENT}… and {}", counted(more as u64, "more place"));
    }
    text
}

/// Whether the test's content, or the new one if there was none, is for people to read.
fn is_text(cells: &[Cell]) -> bool {
    let mut bytes: Vec<u8> = cells.iter().filter_map(|cell| cell.old).collect();
    if bytes.is_empty() {
        bytes = cells.iter().filter_map(|cell| cell.new).collect();
    }
    let is_strange = |byte: &&u8| byte.is_ascii_control() && !b"\t\n\r\x0c".contains(byte);
    let chunks = bytes.utf8_chunks();
    let invalid: usize = chunks.map(|chunk| chunk.invalid().len()).sum();
    let strange = bytes.iter().filter(is_strange).count() + invalid;
    !bytes.contains(&0) && strange * 20 <= bytes.len()
}

/// The lines with a change. A line ends where both contents have a newline.
fn lines(name: &str, cells: &[Cell], detail: Detail) -> String {
    let mut text = String::new();
    let (mut number, mut shown, mut more) = (1, 0, 0);
    for line in cells.split_inclusive(|cell| cell.is_same(b'\n')) {
        if line.iter().any(Cell::is_changed) {
            if shown < detail.rows() {
                let _ = writeln!(text, "{INDENT}{name}, line {number}:");
                let line = line.strip_suffix(&[Cell::same(b'\n')]).unwrap_or(line);
                let glyphs = marked::glyphs(line, escape::byte);
                text += &marked::rows(&glyphs, DEEPER, detail.rows());
                shown += 1;
            } else {
                more += 1;
            }
        }
        number += line.iter().filter(|cell| cell.old == Some(b'\n')).count();
    }
    if more > 0 {
        let _ = writeln!(text, "{INDENT}… and {}", counted(more, "more line"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &[u8]) -> Vec<Cell> {
        text.iter().copied().map(Cell::same).collect()
    }

    #[test]
    fn texts_are_told_from_binaries() {
        assert!(is_text(&cells(b"a line\n\tand another\r\n")));
        assert!(is_text(&cells("Größe".as_bytes())));
        assert!(is_text(&cells(b"")));
        assert!(!is_text(&cells(b"text and \0")));
        assert!(!is_text(&cells(b"\x7fELF\x02\x01\x01")));
        assert!(!is_text(&cells(b"caf\xe9")));
    }

    #[test]
    fn lines_end_where_both_have_a_newline() {
        let mut cells = cells(b"one\ntwo\nthree\n");
        cells[7].new = Some(b';');
        assert_eq!(
            lines("stdin", &cells, Detail::Brief),
            "    stdin, line 2:
      test: two\\nthree
               ^^
      new:  two;three
               ^
"
        );
    }

    #[test]
    fn many_lines_are_counted() {
        let mut cells = cells(&b"ab\n".repeat(9));
        cells
            .iter_mut()
            .step_by(3)
            .for_each(|cell| cell.new = Some(b'x'));
        let text = lines("stdin", &cells, Detail::Brief);
        assert!(text.contains("stdin, line 3:"));
        assert!(text.ends_with("    … and 6 more lines\n"), "{text}");
    }
}
